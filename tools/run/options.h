// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of machbed-run. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "choice.h"
#include "failure.h"
#include "tune.h"

#define OPTIONS_POLICIES_MAX     16
#define OPTIONS_POLICIES_DEFAULT 4 /* the first of choice.c */
#define OPTIONS_MODULES_MAX      16
#define OPTIONS_NO_SECTOR        UINT64_MAX

struct options_module {
    const char *name;
    const char *path;
};

struct options {
    const struct policy *policies[OPTIONS_POLICIES_MAX]; /* one boot each */
    size_t policies_count;
    struct options_module modules[OPTIONS_MODULES_MAX]; /* for direct boot */
    size_t modules_count;
    const struct disk *disk;
    const struct choice *accel;
    const struct choice *arch;
    const struct choice *boot;
    const struct choice *firmware;
    const struct choice *machine;
    const struct choice *medium;
    const struct choice *origin; /* of the kernel */
    const struct choice *trace;
    const struct choice *variant; /* of the kernel */
    const char *boot_disk;
    struct tune tune;     /* of the kernel */
    const char *build;    /* the folder that runs/ is made in */
    const char *debugger; /* NULL: none */
    const char *fragment; /* NULL: the one in BUILD */
    const char *image;    /* NULL: a fresh disk */
    const char *iso;
    const char *job;
    const char *jobs; /* folder, for --list */
    const char *kernel;
    const char *kernel_version;
    const char *make_disk;
    const char *name; /* NULL: the job's name */
    const char *qemu; /* NULL: firmware_qemu() */
    const char *qemu_config;
    uint64_t block_bytes; /* of the ext2 file system of a fresh disk */
    uint64_t disk_bytes;  /* of a fresh disk */
    uint64_t fail_sector; /* of the disk, that fails; OPTIONS_NO_SECTOR: none does */
    uint64_t fail_times;  /* so many requests of it, then it works again; 0: for good */
    uint64_t mem_bytes;
    uint64_t merge_bytes; /* the largest store_write of policies that merge messages */
    uint64_t skip_status; /* what a run that was skipped exits with */
    uint64_t sync_every;  /* seconds between two rounds of write-behind; 0: there is none */
    uint64_t seed;        /* 0: a new one */
    uint64_t size;        /* 0: what the job says */
    uint64_t timeout;     /* seconds, for one boot */
    uint64_t watchdog;    /* seconds without progress that are a hang; 0: none are */
    uint32_t kinds;       /* bit i: entry i of choice_trace_kinds is recorded; 0: all are */
    bool dry;
    bool end_with_parent; /* the process that has started the runner */
    bool keep;
    bool help;
    bool list;
};

/*
 * Read the command line, which starts at ARGV[1]; defaults for what it does not say.
 * => the result points into ARGV. An option may be given twice, the last one counts, but for
 *    --module, which adds up.
 */
int options_parse(struct options *options, int argc, char **argv, struct failure *failure);

/* Print what --help says. */
void options_print_help(FILE *stream);

/*
 * Check a run's name: 1 to 64 letters, digits, dots, underscores and hyphens, no dot in front.
 */
int options_name_check(const char *name, struct failure *failure);

#endif
