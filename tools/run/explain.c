// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The caps that are known by name:
 *
 *   32 pages a data_return   DATA_WRITE_MAX, vm/memory_object.c of GNU Mach, for lock requests;
 *                            the pageout daemon always sends single pages
 *   8 pages a disk command   the kernel's IDE and AHCI drivers hand the disk the buffers of one
 *                            call 8 at a time (MAX_BUF of the glue, a page each)
 *   one page a data_request  vm_fault.c of GNU Mach
 *   a policy's own           choice.c
 *   a piece of the file      where its next block lies elsewhere on the disk, a write ends
 *
 * TUNE changes the first two in a kernel that is built from source.
 *
 * A sentence compares the largest request that was seen with these, and with the layer above. It
 * says what was measured; a cap that was not reached is not blamed. It is about the file data: a
 * few requests for metadata have shapes of their own.
 */
#include "explain.h"

#include <stdio.h>
#include <string.h>

#include "size.h"

#define EXPLAIN_MESSAGE_PAGES 32 /* if TUNE does not say otherwise */
#define EXPLAIN_COMMAND_PAGES 8

struct explain {
    struct layer request; /* data_request */
    struct layer message; /* data_return */
    struct layer call;    /* store_write */
    struct layer command; /* disk_write */
    const struct explain_case *explained;
    char *text;
};

static uint64_t explain_limit(const struct explain *explain, const char *name, uint64_t unchanged)
{
    const struct tune *tune = explain->explained->tune;

    return tune == NULL ? unchanged : tune_value(tune, name, unchanged);
}

typedef void explain_t(const struct explain *explain);

static void explain_message(const struct explain *explain)
{
    uint64_t max = explain->message.max;
    uint64_t most = explain_limit(explain, "DATA_WRITE_MAX", EXPLAIN_MESSAGE_PAGES);
    const char *pages = NUMBER_TEXT(most);
    const char *cap = NUMBER_TEXT(most * PAGE_BYTES);

    if (max == most * PAGE_BYTES)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "capped by the kernel: at most %s pages (%s bytes) in one message, its "
                 "DATA_WRITE_MAX",
                 pages, cap);
    else if (max > most * PAGE_BYTES)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "larger than a kernel with DATA_WRITE_MAX at %s pages (%s bytes) can send", pages,
                 cap);
    else if (max == PAGE_BYTES)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "single pages: what the pageout daemon sends, or a return of pages that have no "
                 "dirty neighbour");
    else
        snprintf(explain->text, EXPLAIN_BYTES,
                 "not capped: every run of dirty pages ended before the kernel's %s pages (%s "
                 "bytes)",
                 pages, cap);
}

static void explain_request(const struct explain *explain)
{
    if (explain->request.max == PAGE_BYTES)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "capped by the kernel: a page fault asks for one page (%s bytes)",
                 NUMBER_TEXT(PAGE_BYTES));
}

static const char *explain_subject(const struct explain *explain)
{
    return explain->explained->nrfiles > 1 ? "the files lie" : "the file lies";
}

/* Adds to the sentence that some messages became several calls, if the file's pieces can be why. */
static void explain_cuts(const struct explain *explain)
{
    size_t used = strlen(explain->text);
    uint64_t messages = explain->message.count;
    uint64_t calls = explain->call.count;
    uint64_t pieces = explain->explained->map->count;

    if (calls > messages && calls - messages < pieces)
        snprintf(explain->text + used, EXPLAIN_BYTES - used,
                 "; %s messages became %s calls, for %s in %s pieces on the disk",
                 NUMBER_TEXT(messages), NUMBER_TEXT(calls), explain_subject(explain),
                 NUMBER_TEXT(pieces));
}

/* The most bytes that the policy puts into one call. */
static uint64_t explain_call_cap(const struct explain *explain)
{
    const struct policy *policy = explain->explained->policy;

    return policy->cap_bytes != 0 ? policy->cap_bytes : explain->explained->merge_bytes;
}

static void explain_call_below_cap(const struct explain *explain)
{
    const struct policy *policy = explain->explained->policy;
    const struct file_map *map = explain->explained->map;
    uint64_t max = explain->call.max;

    if (map->count > 1 && max == file_map_longest(map) && max < explain->message.max) {
        snprintf(explain->text, EXPLAIN_BYTES,
                 "capped by where the blocks are: %s in %s pieces of at most %s bytes on the disk",
                 explain_subject(explain), NUMBER_TEXT(map->count), NUMBER_TEXT(max));
    } else if (policy->cap_bytes == 0) {
        snprintf(explain->text, EXPLAIN_BYTES,
                 "not capped: no run of more blocks was queued at once; the policy's %s (%s bytes) "
                 "is out of reach",
                 policy->cap_words, NUMBER_TEXT(explain_call_cap(explain)));
    } else if (max == explain->message.max) {
        snprintf(explain->text, EXPLAIN_BYTES,
                 "capped by the message: no call holds more than one data_return; the policy's %s "
                 "(%s bytes) are out of reach",
                 policy->cap_words, NUMBER_TEXT(policy->cap_bytes));
        explain_cuts(explain);
    } else {
        snprintf(explain->text, EXPLAIN_BYTES,
                 "not capped: every run ended before the message's end and the policy's %s",
                 policy->cap_words);
    }
}

static void explain_call(const struct explain *explain)
{
    const struct policy *policy = explain->explained->policy;
    uint64_t max = explain->call.max;
    uint64_t most = explain_call_cap(explain);
    const char *cap = NUMBER_TEXT(most);

    if (max == most)
        snprintf(explain->text, EXPLAIN_BYTES, "capped by the policy: %s (%s bytes) a call",
                 policy->cap_words, cap);
    else if (max > most)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "larger than the policy allows: %s (%s bytes) a call", policy->cap_words, cap);
    else
        explain_call_below_cap(explain);
}

/* Adds to the sentence what the driver writes more than it was told to. */
static void explain_rounding(const struct explain *explain)
{
    const struct explain_case *explained = explain->explained;
    size_t used = strlen(explain->text);

    if (explained->rmw_bytes != 0)
        snprintf(explain->text + used, EXPLAIN_BYTES - used,
                 "; of a disk block (%s bytes) that is written in part the driver reads, changes "
                 "and writes the whole: %s bytes more",
                 NUMBER_TEXT(explained->device_block), NUMBER_TEXT(explained->rmw_bytes));
}

static void explain_command(const struct explain *explain)
{
    uint64_t max = explain->command.max;
    uint64_t most = explain_limit(explain, "MAX_BUF", EXPLAIN_COMMAND_PAGES);

    if (max == most * PAGE_BYTES && explain->call.max > max)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "capped by the kernel's disk driver: %s buffers of a page (%s bytes) a command, "
                 "however large the call",
                 NUMBER_TEXT(most), NUMBER_TEXT(most * PAGE_BYTES));
    else if (max == explain->call.max && explain->command.count == explain->call.count)
        snprintf(explain->text, EXPLAIN_BYTES, "not capped: each call is one command");
    else if (max == explain->call.max)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "not capped: the largest command is as large as the largest call");
    else
        snprintf(explain->text, EXPLAIN_BYTES, "at most %s bytes a command, calls have up to %s",
                 NUMBER_TEXT(max), NUMBER_TEXT(explain->call.max));
    explain_rounding(explain);
}

/* Adds to the sentence who shares the work. */
static void explain_shares(const struct job *job, char text[EXPLAIN_BYTES])
{
    size_t used = strlen(text);

    if (job->nrfiles > 1)
        snprintf(text + used, EXPLAIN_BYTES - used, "; %s files, by %s client%s",
                 NUMBER_TEXT(job->nrfiles), NUMBER_TEXT(job->numjobs),
                 job->numjobs > 1 ? "s at once" : "");
}

void explain_workload(const struct job *job, char text[EXPLAIN_BYTES])
{
    const char *bs = NUMBER_TEXT(job->bs);

    if (job_is_rpc(job))
        snprintf(text, EXPLAIN_BYTES, "the job: %s of %s bytes",
                 job_is_read(job) ? "io_read calls" : "io_write calls", bs);
    else if (job_is_read(job))
        snprintf(text, EXPLAIN_BYTES,
                 "the job: loads of %s bytes from a mapping; counted are the pages that they touch",
                 bs);
    else
        snprintf(
            text, EXPLAIN_BYTES,
            "the job: stores of %s bytes into a mapping; counted are the pages that they dirty",
            bs);
    explain_shares(job, text);
}

/* File data, or all if there is none. */
static struct layer explain_counts(const struct layers *layers, enum layer_kind kind)
{
    const struct layer *file = &layers->at[kind][LAYER_FILE];

    return file->count != 0 ? *file : layers_sum(layers, kind);
}

void explain_layer(const struct explain_case *explained, enum layer_kind kind,
                   char text[EXPLAIN_BYTES])
{
    static explain_t *const explains[LAYER_KINDS] = {
        [LAYER_DATA_REQUEST] = explain_request,
        [LAYER_DATA_RETURN] = explain_message,
        [LAYER_STORE_WRITE] = explain_call,
        [LAYER_DISK_WRITE] = explain_command,
    };
    const struct layers *layers = explained->layers;
    const struct explain explain = {
        .request = explain_counts(layers, LAYER_DATA_REQUEST),
        .message = explain_counts(layers, LAYER_DATA_RETURN),
        .call = explain_counts(layers, LAYER_STORE_WRITE),
        .command = explain_counts(layers, LAYER_DISK_WRITE),
        .explained = explained,
        .text = text,
    };

    text[0] = '\0';
    if (explains[kind] != NULL && layers_sum(layers, kind).count != 0)
        explains[kind](&explain);
}
