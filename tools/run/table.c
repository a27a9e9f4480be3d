// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table has a group of rows for each layer, from the workload down to the disk, and in each a
 * row for each policy, so that what a policy changes stands side by side. Where there are both file
 * data and metadata, the rows of each follow. Below a group stands what capped it: once, if that is
 * the same for all policies.
 *
 * Rates: the workload's bytes over the time of filling, the layers of write-out over the time of
 * the sync. Reads and metadata have none, for part of them happens outside the clock.
 */
#include "table.h"

#include <inttypes.h>
#include <string.h>

#include "explain.h"
#include "libpattern/pattern.h"
#include "ram.h"
#include "size.h"
#include "yardstick.h"

#define TABLE_SIZES_COLUMN 76u /* where the histogram starts */
#define TABLE_CHECKS_MAX   16u
#define TABLE_WORKLOAD     LAYER_KINDS /* a row that no layer of the guest stands behind */

/* What of a layer a row shows. */
enum table_part { TABLE_ALL, TABLE_FILE, TABLE_META };

struct table_row {
    const char *layer;
    const struct boot *boot;
    struct layer counts;
    uint64_t microseconds; /* 0: no rate */
};

/* Prints a word at *COLUMN, or on a line of its own if it does not fit, and moves *COLUMN. */
static void table_word(const char *word, size_t length, unsigned *column, unsigned indent,
                       FILE *stream)
{
    if (*column > indent && *column + 1 + length > TABLE_COLUMNS) {
        fprintf(stream, "\n%*s", (int)indent, "");
        *column = indent;
    } else if (*column > indent) {
        fputc(' ', stream);
        ++*column;
    }
    fwrite(word, 1, length, stream);
    *column += (unsigned)length;
}

void table_wrap(const char *text, unsigned column, unsigned indent, FILE *stream)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " ");

        table_word(text, length, &column, indent, stream);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

static void table_hist_print(const struct layer *layer, FILE *stream)
{
    unsigned column = TABLE_SIZES_COLUMN;

    for (unsigned i = 0; i < LAYER_CLASSES; i++) {
        char text[2 * SIZE_TEXT_BYTES + 2];

        if (layer->hist[i] == 0)
            continue;
        snprintf(text, sizeof(text), "%s:%s", SIZE_TEXT(layer_class_floor(i)),
                 NUMBER_TEXT(layer->hist[i]));
        table_word(text, strlen(text), &column, TABLE_SIZES_COLUMN, stream);
    }
    fputc('\n', stream);
}

static const char *table_rate(uint64_t bytes, uint64_t microseconds, char text[SIZE_TEXT_BYTES])
{
    if (microseconds == 0)
        return "-";
    snprintf(text, SIZE_TEXT_BYTES, "%.1f", (double)bytes / (double)microseconds);
    return text;
}

void table_columns_print(FILE *stream)
{
    fprintf(stream, "%-13s%-7s %10s %13s %9s %9s %8s  %s\n", "layer", "policy", "count", "bytes",
            "average", "largest", "MB/s", "sizes from:count");
}

void table_layer_print(const char *layer, const char *policy, const struct layer *counts,
                       uint64_t microseconds, FILE *stream)
{
    char rate[SIZE_TEXT_BYTES];
    /* A longer policy's name takes its room from the count. */
    int policy_width = strlen(policy) < 7 ? 7 : (int)strlen(policy);

    fprintf(stream, "%-13s%-7s %*s %13s %9s %9s %8s  ", layer, policy, 17 - policy_width,
            NUMBER_TEXT(counts->count), NUMBER_TEXT(counts->bytes),
            NUMBER_TEXT(layer_average(counts)), NUMBER_TEXT(counts->max),
            table_rate(counts->bytes, microseconds, rate));
    table_hist_print(counts, stream);
}

static void table_row_print(const struct table_row *row, FILE *stream)
{
    table_layer_print(row->layer, row->boot->policy->choice.name, &row->counts, row->microseconds,
                      stream);
}

/* The job's calls, or the pages of the mapping that it touches. */
static struct layer table_workload(const struct boot *boot)
{
    const struct job *job = boot->job;
    uint64_t unit = job_is_rpc(job) ? job->bs : PAGE_BYTES;
    uint64_t nfiles = boot->console.job.said ? job->nrfiles : 0;
    struct layer layer = {0};

    for (uint64_t i = 0; i < nfiles; i++) {
        uint64_t offset;
        uint64_t bytes = pattern_part(job->size, nfiles, i, &offset);

        for (; bytes > unit; bytes -= unit)
            layer_add(&layer, unit);
        layer_add(&layer, bytes);
    }
    return layer;
}

/* The write-out's time: the sync, or all there is where it was not the sync alone that wrote. */
static uint64_t table_write_time(const struct boot *boot)
{
    const struct console_job *job = &boot->console.job;
    bool in_sync =
        job->sync_us != 0 && boot->options->sync_every == 0 && !boot->job->fsync_on_close;

    return in_sync ? job->sync_us : job->runtime_us;
}

static struct layer table_part_counts(const struct boot *boot, unsigned kind, enum table_part part)
{
    if (part == TABLE_ALL)
        return layers_sum(&boot->layers, (enum layer_kind)kind);
    return boot->layers.at[kind][part == TABLE_FILE ? LAYER_FILE : LAYER_META];
}

/* Makes the row of a layer for one boot. Returns whether there is anything in it. */
static bool table_row_make(struct table_row *row, const struct boot *boot, unsigned kind,
                           enum table_part part)
{
    static const char *const parts[] = {NULL, "  file data", "  metadata"};
    const struct console_job *job = &boot->console.job;

    row->boot = boot;
    if (kind == TABLE_WORKLOAD) {
        row->layer = "workload";
        row->counts = table_workload(boot);
        row->microseconds = job->fill_us;
    } else {
        row->layer = part == TABLE_ALL ? layer_kind_name((enum layer_kind)kind) : parts[part];
        row->counts = table_part_counts(boot, kind, part);
        row->microseconds = layer_kind_is_write((enum layer_kind)kind) && part != TABLE_META
                                ? table_write_time(boot)
                                : 0;
    }
    return row->counts.count != 0;
}

static void table_explain(const struct boot *boot, unsigned kind, char text[EXPLAIN_BYTES])
{
    const struct console *console = &boot->console;
    struct explain_case explained = {.layers = &boot->layers,
                                     .policy = boot->policy,
                                     .tune = &boot->options->tune,
                                     .merge_bytes = boot->options->merge_bytes,
                                     .map = boot_map(boot),
                                     .nrfiles = boot->job->nrfiles};

    for (size_t i = 0; i < console->stores_count; i++) {
        explained.device_block = console->stores[i].block;
        explained.rmw_bytes += console->stores[i].rmw_bytes;
    }
    if (kind == TABLE_WORKLOAD)
        explain_workload(boot->job, text);
    else
        explain_layer(&explained, (enum layer_kind)kind, text);
}

static void table_sentence_print(const char *policy, const char *sentence, FILE *stream)
{
    char text[EXPLAIN_BYTES + 32];

    snprintf(text, sizeof(text), "%s%s%s", policy, policy[0] != '\0' ? ": " : "", sentence);
    fprintf(stream, "  ");
    table_wrap(text, 2, 2, stream);
}

/* Whether all boots that have rows in the group share the first one's sentence. */
static bool table_sentence_is_common(const struct run *run, unsigned kind, const char *sentence)
{
    for (size_t i = 0; i < run->boots_count; i++) {
        char other[EXPLAIN_BYTES];
        struct table_row row;

        table_explain(&run->boots[i], kind, other);
        if (table_row_make(&row, &run->boots[i], kind, TABLE_ALL) && strcmp(other, sentence) != 0)
            return false;
    }
    return true;
}

static void table_sentences_print(const struct run *run, unsigned kind, FILE *stream)
{
    for (size_t i = 0; i < run->boots_count; i++) {
        const struct boot *boot = &run->boots[i];
        char sentence[EXPLAIN_BYTES];
        struct table_row row;

        table_explain(boot, kind, sentence);
        if (!table_row_make(&row, boot, kind, TABLE_ALL) || sentence[0] == '\0')
            continue;
        if (table_sentence_is_common(run, kind, sentence)) {
            table_sentence_print("", sentence, stream);
            return;
        }
        table_sentence_print(boot->policy->choice.name, sentence, stream);
    }
}

/* Prints the rows of one part of a layer. Returns how many there are. */
static unsigned table_rows_print(const struct run *run, unsigned kind, enum table_part part,
                                 FILE *stream)
{
    unsigned rows = 0;

    for (size_t i = 0; i < run->boots_count; i++) {
        struct table_row row;

        if (!table_row_make(&row, &run->boots[i], kind, part))
            continue;
        if (rows++ > 0)
            row.layer = "";
        table_row_print(&row, stream);
    }
    return rows;
}

/* Whether a boot has both file data and metadata in that layer. */
static bool table_is_split(const struct run *run, unsigned kind)
{
    for (size_t i = 0; i < run->boots_count && kind != TABLE_WORKLOAD; i++) {
        const struct layer *parts = run->boots[i].layers.at[kind];

        if (parts[LAYER_FILE].count != 0 && parts[LAYER_META].count != 0)
            return true;
    }
    return false;
}

/* How well neighbouring metadata is written together: 1 is a write for each page. */
static void table_metadata_print(const struct run *run, FILE *stream)
{
    const char *separator = "  metadata, writes for each page of it:";

    for (size_t i = 0; i < run->boots_count; i++) {
        const struct layer *layer = &run->boots[i].layers.at[LAYER_STORE_WRITE][LAYER_META];

        if (layer->count == 0)
            continue;
        fprintf(stream, "%s %s %.3f", separator, run->boots[i].policy->choice.name,
                layer_per(layer, PAGE_BYTES));
        separator = ",";
    }
    fputc('\n', stream);
}

/* With DISK=ram nothing comes below the store. */
static void table_no_disk_print(const struct run *run, FILE *stream)
{
    if (ram_is_chosen(run->options))
        fprintf(stream, "%-13snone: the store is memory, into which each call is copied\n\n",
                layer_kind_name(LAYER_DISK_WRITE));
}

static void table_group_print(const struct run *run, unsigned kind, FILE *stream)
{
    if (table_rows_print(run, kind, TABLE_ALL, stream) == 0) {
        if (kind == LAYER_DISK_WRITE)
            table_no_disk_print(run, stream);
        return;
    }
    if (table_is_split(run, kind)) {
        table_rows_print(run, kind, TABLE_FILE, stream);
        table_rows_print(run, kind, TABLE_META, stream);
    }
    if (kind == LAYER_STORE_WRITE && table_is_split(run, kind))
        table_metadata_print(run, stream);
    table_sentences_print(run, kind, stream);
    fputc('\n', stream);
}

/* What a key of the job says that not every job has. */
static void table_extras_print(const struct job *job, FILE *stream)
{
    if (strcmp(job->filename, "job.data") != 0)
        fprintf(stream, " filename=%.40s", job->filename);
    if (job->nrfiles != 1)
        fprintf(stream, " nrfiles=%s", NUMBER_TEXT(job->nrfiles));
    if (job->numjobs != 1)
        fprintf(stream, " numjobs=%s", NUMBER_TEXT(job->numjobs));
    if (job->fsync_on_close)
        fprintf(stream, " fsync_on_close=1");
    if (job->unmap)
        fprintf(stream, " unmap=1");
    if (job->overwrite)
        fprintf(stream, " overwrite=1");
    if (job->fragment != 0)
        fprintf(stream, " fragment=%s", NUMBER_TEXT(job->fragment));
    if (job->verify)
        fprintf(stream, " verify=1");
    if (job_has_plain(job))
        fprintf(stream, " plain=%s", job->plain);
    fputc('\n', stream);
}

/* The size of the file system's blocks, as a boot found it. */
static void table_blocks_print(const struct run *run, FILE *stream)
{
    if (job_is_ext2(run->job) && run->boots_count != 0 && boot_block_bytes(&run->boots[0]) != 0)
        fprintf(stream, " in blocks of %s", SIZE_TEXT(boot_block_bytes(&run->boots[0])));
}

static void table_side_job_print(const struct job *side, FILE *stream)
{
    fprintf(stream, "beside it %s: rw=%s filename=%.40s size=%s", side->name, side->rw,
            side->filename, SIZE_TEXT(side->size));
    if (strcmp(side->rw, "sync") != 0)
        fprintf(stream, " ioengine=%s bs=%s", side->ioengine, SIZE_TEXT(side->bs));
    if (side->loops != 0)
        fprintf(stream, " loops=%s", NUMBER_TEXT(side->loops));
    fputc('\n', stream);
}

static void table_job_print(const struct run *run, FILE *stream)
{
    const struct job *job = run->job;

    fprintf(stream, "job %s: %s, fs=%s", job->name, SIZE_TEXT(job->size), job->fs);
    table_blocks_print(run, stream);
    fprintf(stream, ", rw=%s ioengine=%s bs=%s", job->rw, job->ioengine, SIZE_TEXT(job->bs));
    if (!job_is_read(job))
        fprintf(stream, " end_fsync=%d", job->end_fsync);
    table_extras_print(job, stream);
    for (size_t i = 0; i < job->sides_count; i++)
        table_side_job_print(&job->sides[i], stream);
}

static void table_fault_print(const struct options *options, FILE *stream)
{
    if (options->fail_sector != OPTIONS_NO_SECTOR && options->fail_times == 0)
        fprintf(stream, "fault: sector %s of the disk fails\n", NUMBER_TEXT(options->fail_sector));
    else if (options->fail_sector != OPTIONS_NO_SECTOR)
        fprintf(stream, "fault: sector %s of the disk fails in the first %s requests for it\n",
                NUMBER_TEXT(options->fail_sector), NUMBER_TEXT(options->fail_times));
    fputc('\n', stream);
}

static void table_behind_print(const struct options *options, FILE *stream)
{
    if (options->sync_every != 0)
        fprintf(stream, "write-behind: every %s s\n", NUMBER_TEXT(options->sync_every));
}

static void table_kernel_print(const struct options *options, FILE *stream)
{
    char tune[256];

    fprintf(stream, "GNU Mach %s (%s", options->kernel_version, options->origin->name);
    if (options->variant != &choice_variants[0])
        fprintf(stream, ", %s", options->variant->name);
    if (options->tune.count != 0)
        fprintf(stream, ", %s", tune_print(&options->tune, tune, sizeof(tune)));
    fprintf(stream, ")\n");
}

static void table_machine_print(const struct options *options, FILE *stream)
{
    fprintf(stream, "machine: %s, ", options->machine->name);
    if (options->arch != &choice_archs[0])
        fprintf(stream, "%s, ", options->arch->name);
    if (options->firmware != &choice_firmwares[0])
        fprintf(stream, "%s, ", options->firmware->name);
    fprintf(stream, "%s disk, %s of memory, %s, boot by %s%s; ", options->disk->choice.name,
            SIZE_TEXT(options->mem_bytes), options->accel->name, options->boot->name,
            options->medium == &choice_mediums[0] ? "" : " from a hard disk");
    table_kernel_print(options, stream);
}

static void table_head_print(const struct run *run, FILE *stream)
{
    const struct options *options = run->options;

    table_job_print(run, stream);
    table_machine_print(options, stream);
    table_behind_print(options, stream);
    table_fault_print(options, stream);
    table_columns_print(stream);
}

/* The beginning of a row without counts. Returns its width. */
static int table_label_print(const char *layer, const struct boot *boot, FILE *stream)
{
    return fprintf(stream, "%-13s%-8s ", layer, boot->policy->choice.name);
}

/* The plain loop beside the sync: at which part of its speed was the job written? */
static void table_plain_print(const struct boot *boot, FILE *stream)
{
    const struct console_plain *plain = &boot->console.plain;
    const struct console_job *job = &boot->console.job;

    if (!plain->said || plain->us == 0)
        return;
    table_label_print("", boot, stream);
    fprintf(stream, "plain loop of 1M %.3f s, %.1f MB/s", (double)plain->us / 1e6,
            (double)plain->bytes / (double)plain->us);
    if (job->said && job->sync_us != 0 && plain->bytes != 0)
        fprintf(stream, "; the sync ran at %.2f of that",
                (double)job->bytes / (double)job->sync_us /
                    ((double)plain->bytes / (double)plain->us));
    fputc('\n', stream);
}

static void table_times_print(const struct run *run, FILE *stream)
{
    for (size_t i = 0; i < run->boots_count; i++) {
        const struct boot *boot = &run->boots[i];
        const struct console_job *job = &boot->console.job;

        if (job->said) {
            table_label_print(i == 0 ? "time" : "", boot, stream);
            fprintf(stream, "fill %.3f s, sync %.3f s, both %.3f s\n", (double)job->fill_us / 1e6,
                    (double)job->sync_us / 1e6, (double)job->runtime_us / 1e6);
        }
        table_plain_print(boot, stream);
    }
    fprintf(stream, "  MB/s are 1,000,000 bytes a second: the workload's over the fill, the "
                    "writes' over the sync\n\n");
}

static void table_sides_print(const struct run *run, FILE *stream)
{
    bool any = false;

    for (size_t i = 0; i < run->boots_count; i++) {
        const struct console *console = &run->boots[i].console;

        for (size_t j = 0; j < console->sides_count; j++) {
            const struct console_side *side = &console->sides[j];

            table_label_print(any ? "" : "side jobs", &run->boots[i], stream);
            fprintf(stream, "%s: %s calls: p99 %.3f ms, worst %.3f ms", side->name,
                    NUMBER_TEXT(side->count), (double)side->p99_ns / 1e6,
                    (double)side->max_ns / 1e6);
            if (side->faults != 0)
                fprintf(stream, "; %s met no file", NUMBER_TEXT(side->faults));
            fputc('\n', stream);
            any = true;
        }
    }
    if (any)
        fputc('\n', stream);
}

/* Behind it the time of one write of 128 KiB, to compare with. */
static void table_wait_print(const char *layer, const struct boot *boot, FILE *stream)
{
    const struct console_wait *wait = &boot->console.alloc_lock;
    const struct console_plain *plain = &boot->console.plain;

    table_label_print(layer, boot, stream);
    fprintf(stream, "%s waits: p99 %.1f us, worst %.1f us", NUMBER_TEXT(wait->count),
            (double)wait->p99_ns / 1000, (double)wait->max_ns / 1000);
    if (plain->said)
        fprintf(stream, "; one write of 128K takes %.1f us", (double)plain->one_ns / 1000);
    fputc('\n', stream);
}

static void table_waits_print(const struct run *run, FILE *stream)
{
    const char *layer = "alloc_lock";

    for (size_t i = 0; i < run->boots_count; i++) {
        if (run->boots[i].console.alloc_lock.count == 0)
            continue;
        table_wait_print(layer, &run->boots[i], stream);
        layer = "";
    }
    if (layer[0] == '\0')
        fprintf(stream,
                "  for the lock, or for blocks under I/O, by others than the write-out while "
                "it went on\n\n");
}

static struct console_trace table_trace_sum(const struct console *console)
{
    struct console_trace sum = {0};

    for (size_t i = 0; i < console->servers_count; i++) {
        const struct console_trace *trace = &console->servers[i].trace;

        sum.said = sum.said || trace->said;
        sum.events += trace->events;
        sum.dropped += trace->dropped;
        sum.drain_us += trace->drain_us;
    }
    return sum;
}

static void table_traces_print(const struct run *run, FILE *stream)
{
    const char *layer = "trace";

    for (size_t i = 0; i < run->boots_count; i++) {
        struct console_trace trace = table_trace_sum(&run->boots[i].console);

        if (!trace.said)
            continue;
        table_label_print(layer, &run->boots[i], stream);
        fprintf(stream, "%s events, %s dropped; giving them out took %.2f s\n",
                NUMBER_TEXT(trace.events), trace.dropped == 0 ? "none" : NUMBER_TEXT(trace.dropped),
                (double)trace.drain_us / 1e6);
        layer = "";
    }
    if (layer[0] == '\0')
        fputc('\n', stream);
}

/* A check of a boot by its name. */
struct table_check {
    const char *name;
    const char *result; /* "": not made */
};

/* Names of those that are ok on one line; what failed on lines of their own. */
static void table_results_print(const char *layer, const struct boot *boot,
                                const struct table_check *checks, size_t count, FILE *stream)
{
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(checks[i].result, "ok") != 0)
            continue;
        if (!any) {
            table_label_print(layer, boot, stream);
            fputs("ok:", stream);
        }
        fprintf(stream, "%s %s", any ? "," : "", checks[i].name);
        any = true;
    }
    if (any)
        fputc('\n', stream);
    for (size_t i = 0; i < count; i++) {
        int column;

        if (checks[i].result[0] == '\0' || strcmp(checks[i].result, "ok") == 0)
            continue;
        column = table_label_print(any ? "" : layer, boot, stream);
        column += fprintf(stream, "%s:", checks[i].name);
        table_wrap(checks[i].result, column < 0 ? 0 : (unsigned)column, 24, stream);
        any = true;
    }
}

static void table_boot_checks_print(const char *layer, const struct boot *boot, FILE *stream)
{
    const struct console *console = &boot->console;
    struct table_check checks[TABLE_CHECKS_MAX] = {
        {"content", boot->content}, {"fsck", boot->fsck}, {"disk_agrees", boot->disk_agrees}};
    size_t count = 3;

    for (size_t i = 0; i < console->checks_count && count < TABLE_CHECKS_MAX; i++)
        checks[count++] = (struct table_check){console->checks[i].name, console->checks[i].result};
    table_results_print(layer, boot, checks, count, stream);
}

static void table_checks_print(const struct run *run, FILE *stream)
{
    for (size_t i = 0; i < run->boots_count; i++)
        table_boot_checks_print(i == 0 ? "checks" : "", &run->boots[i], stream);
}

void table_print(const struct run *run, FILE *stream)
{
    static const unsigned kinds[] = {
        TABLE_WORKLOAD,    LAYER_DATA_REQUEST, LAYER_STORE_READ, LAYER_DISK_READ,
        LAYER_DATA_RETURN, LAYER_STORE_WRITE,  LAYER_DISK_WRITE,
    };

    table_head_print(run, stream);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        table_group_print(run, kinds[i], stream);
    yardstick_print(run, stream);
    table_times_print(run, stream);
    table_sides_print(run, stream);
    table_waits_print(run, stream);
    table_traces_print(run, stream);
    table_checks_print(run, stream);
}
