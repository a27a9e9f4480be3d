// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two sets of figures exist for a new file of 128 MiB that is made right after the boot and then
 * synced, on ext2 with blocks of 4,096 bytes:
 *
 * - those that were published for the GNU Hurd's ext2fs, of store_writes only;
 * - the Hurd's ext2fs of June 2026, cross-built and run in this QEMU, with the AHCI disk, which
 * adds the commands that the disk got. It has no chunk2.
 *
 * They count all writes, data and metadata; so do ours beside them.
 */
#include "yardstick.h"

#include <string.h>

#include "size.h"

#define YARDSTICK_BYTES (UINT64_C(128) << 20)
#define YARDSTICK_BLOCK 4096u
#define YARDSTICK_BS    65536u

struct yardstick_figure {
    uint64_t count; /* 0: there is none */
    uint64_t average;
};

struct yardstick {
    enum layer_kind kind;
    const char *policy;
    struct yardstick_figure published;
    struct yardstick_figure hurd;
};

static const struct yardstick yardsticks[] = {
    {LAYER_STORE_WRITE, "page", {32874, 4096}, {32802, 4096}},
    {LAYER_STORE_WRITE, "chunk2", {16510, 8132}, {0, 0}},
    {LAYER_STORE_WRITE, "run128", {1300, 103474}, {1091, 123150}},
    {LAYER_DISK_WRITE, "page", {0, 0}, {32810, 4096}},
    {LAYER_DISK_WRITE, "run128", {0, 0}, {4171, 32220}},
};

static bool yardstick_job_compares(const struct job *job)
{
    return job_is_ext2(job) && job_is_rpc(job) && !job_is_read(job) && !job->overwrite &&
           job->fragment == 0 && job->end_fsync && job->size == YARDSTICK_BYTES &&
           job->bs == YARDSTICK_BS && job->nrfiles == 1;
}

/* Whether the figures compare with what this boot did. */
static bool yardstick_boot_compares(const struct boot *boot, const struct yardstick *yardstick)
{
    return boot->console.job.said && boot_block_bytes(boot) == YARDSTICK_BLOCK &&
           strcmp(boot->policy->choice.name, yardstick->policy) == 0 &&
           layers_sum(&boot->layers, yardstick->kind).count != 0;
}

static void yardstick_figure_print(struct yardstick_figure figure, FILE *stream)
{
    if (figure.count == 0)
        fprintf(stream, " %11s %9s", "-", "-");
    else
        fprintf(stream, " %11s %9s", NUMBER_TEXT(figure.count), NUMBER_TEXT(figure.average));
}

static void yardstick_row_print(const char *layer, const struct boot *boot,
                                const struct yardstick *yardstick, FILE *stream)
{
    struct layer ours = layers_sum(&boot->layers, yardstick->kind);

    fprintf(stream, "%-13s%-7s ", layer, yardstick->policy);
    yardstick_figure_print((struct yardstick_figure){ours.count, layer_average(&ours)}, stream);
    yardstick_figure_print(yardstick->published, stream);
    yardstick_figure_print(yardstick->hurd, stream);
    fputc('\n', stream);
}

static const struct boot *yardstick_boot_lookup(const struct run *run,
                                                const struct yardstick *yardstick)
{
    for (size_t i = 0; i < run->boots_count; i++) {
        if (yardstick_boot_compares(&run->boots[i], yardstick))
            return &run->boots[i];
    }
    return NULL;
}

static void yardstick_head_print(FILE *stream)
{
    fprintf(stream, "%-13s%-7s ", "all writes", "policy");
    fprintf(stream, " %11s %9s %11s %9s %11s %9s\n", "here", "average", "published", "average",
            "GNU Hurd", "average");
}

static void yardstick_foot_print(FILE *stream)
{
    fprintf(stream,
            "  of a new file of 128 MiB in blocks of 4,096 bytes, data and metadata; published: "
            "for the GNU\n  Hurd's ext2fs; GNU Hurd: its ext2fs of June 2026, run in this QEMU "
            "with the AHCI disk\n\n");
}

void yardstick_print(const struct run *run, FILE *stream)
{
    const char *last = NULL;

    if (!yardstick_job_compares(run->job) || run->options->image != NULL)
        return;
    for (size_t i = 0; i < sizeof(yardsticks) / sizeof(yardsticks[0]); i++) {
        const struct boot *boot = yardstick_boot_lookup(run, &yardsticks[i]);
        const char *layer = layer_kind_name(yardsticks[i].kind);

        if (boot == NULL)
            continue;
        if (last == NULL)
            yardstick_head_print(stream);
        yardstick_row_print(last == layer ? "" : layer, boot, &yardsticks[i], stream);
        last = layer;
    }
    if (last != NULL)
        yardstick_foot_print(stream);
}
