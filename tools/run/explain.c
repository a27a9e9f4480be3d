// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The caps that are known by name:
 *
 *   32 pages a data_return   DATA_WRITE_MAX, vm/memory_object.c of GNU Mach, for lock requests;
 *                            the pageout daemon always sends single pages
 *   8 pages a disk command   the kernel's IDE and AHCI drivers hand the disk the buffers of one
 *                            call 8 at a time (MAX_BUF of the glue, a page each)
 *   a policy's own           choice.c
 *
 * A sentence compares the largest request that was seen with these, and with the layer above. It
 * says what was measured; a cap that was not reached is not blamed.
 */
#include "explain.h"

#include <stdio.h>

#include "size.h"

#define EXPLAIN_MESSAGE_CAP (32 * PAGE_BYTES)
#define EXPLAIN_COMMAND_CAP (8 * PAGE_BYTES)

struct explain {
    struct layer message; /* data_return */
    struct layer call;    /* store_write */
    struct layer command; /* disk_write */
    const struct policy *policy;
    char *text;
};

typedef void explain_t(const struct explain *explain);

static void explain_message(const struct explain *explain)
{
    uint64_t max = explain->message.max;
    const char *cap = NUMBER_TEXT(EXPLAIN_MESSAGE_CAP);

    if (max == EXPLAIN_MESSAGE_CAP)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "capped by the kernel: at most 32 pages (%s bytes) in one message, its "
                 "DATA_WRITE_MAX",
                 cap);
    else if (max > EXPLAIN_MESSAGE_CAP)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "larger than a kernel with DATA_WRITE_MAX at 32 pages (%s bytes) can send", cap);
    else if (max == PAGE_BYTES)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "single pages: what the pageout daemon sends, or a return of pages that have no "
                 "dirty neighbour");
    else
        snprintf(explain->text, EXPLAIN_BYTES,
                 "not capped: every run of dirty pages ended before the kernel's 32 pages (%s "
                 "bytes)",
                 cap);
}

static void explain_call(const struct explain *explain)
{
    const struct policy *policy = explain->policy;
    uint64_t max = explain->call.max;
    const char *cap = NUMBER_TEXT(policy->cap_bytes);

    if (max == policy->cap_bytes)
        snprintf(explain->text, EXPLAIN_BYTES, "capped by the policy: %s (%s bytes) a call",
                 policy->cap_words, cap);
    else if (max > policy->cap_bytes)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "larger than the policy allows: %s (%s bytes) a call", policy->cap_words, cap);
    else if (max == explain->message.max)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "capped by the message: no call holds more than one data_return; the policy's %s "
                 "(%s bytes) are out of reach",
                 policy->cap_words, cap);
    else
        snprintf(explain->text, EXPLAIN_BYTES,
                 "not capped: every run ended before the message's end and the policy's %s",
                 policy->cap_words);
}

static void explain_command(const struct explain *explain)
{
    uint64_t max = explain->command.max;
    const char *cap = NUMBER_TEXT(EXPLAIN_COMMAND_CAP);

    if (max == EXPLAIN_COMMAND_CAP && explain->call.max > max)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "capped by the kernel's disk driver: 8 buffers of a page (%s bytes) a command, "
                 "however large the call",
                 cap);
    else if (max == explain->call.max && explain->command.count == explain->call.count)
        snprintf(explain->text, EXPLAIN_BYTES, "not capped: each call is one command");
    else if (max == explain->call.max)
        snprintf(explain->text, EXPLAIN_BYTES,
                 "not capped: the largest command is as large as the largest call");
    else
        snprintf(explain->text, EXPLAIN_BYTES, "at most %s bytes a command, calls have up to %s",
                 NUMBER_TEXT(max), NUMBER_TEXT(explain->call.max));
}

void explain_workload(const struct job *job, char text[EXPLAIN_BYTES])
{
    snprintf(text, EXPLAIN_BYTES,
             "the job: stores of %s bytes into a mapping; counted are the pages that they dirty",
             NUMBER_TEXT(job->bs));
}

void explain_layer(const struct layers *layers, enum layer_kind kind, const struct policy *policy,
                   char text[EXPLAIN_BYTES])
{
    static explain_t *const explains[LAYER_KINDS] = {
        [LAYER_DATA_RETURN] = explain_message,
        [LAYER_STORE_WRITE] = explain_call,
        [LAYER_DISK_WRITE] = explain_command,
    };
    const struct explain explain = {
        .message = layers_sum(layers, LAYER_DATA_RETURN),
        .call = layers_sum(layers, LAYER_STORE_WRITE),
        .command = layers_sum(layers, LAYER_DISK_WRITE),
        .policy = policy,
        .text = text,
    };

    text[0] = '\0';
    if (explains[kind] != NULL && layers_sum(layers, kind).count != 0)
        explains[kind](&explain);
}
