// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a user may choose from: the one place that knows which policies, disks, ways to boot and
 * the like exist. Options, job keys, error messages and --list all read these tables.
 */
#ifndef RUN_CHOICE_H
#define RUN_CHOICE_H

#include <stddef.h>
#include <stdint.h>

#define PAGE_BYTES UINT64_C(4096) /* i386's page, and the kernel's */

struct choice {
    const char *name; /* NULL ends a table */
    const char *what; /* a few words for --list */
};

/* A policy is a choice with a cap: the most bytes that it puts into one store_write. */
struct policy {
    struct choice choice;
    uint64_t cap_bytes; /* 0: what --merge-max says, for it puts several messages into one */
    const char *cap_words;
};

/* A disk as the job's machine has it. */
struct disk {
    struct choice choice;
    const char *device;       /* its name in Mach */
    const char *kernel_words; /* kernel command line that probes for it and nothing else */
};

extern const struct choice choice_accels[];
extern const struct choice choice_archs[];
extern const struct choice choice_boots[];
extern const struct choice choice_firmwares[];
extern const struct choice choice_machines[];
extern const struct choice choice_mediums[];
extern const struct choice choice_origins[];
extern const struct choice choice_traces[];
extern const struct choice choice_variants[];

/* What servers record (docs/trace.md), in the order of the layers. */
extern const struct choice choice_trace_kinds[];

extern const struct policy policies[];
extern const size_t policies_count;
extern const struct disk disks[];
extern const size_t disks_count;

/* The entry of that name, whatever its case, or NULL. */
const struct choice *choice_lookup(const struct choice *table, const char *name);
const struct policy *policy_lookup(const char *name);
const struct disk *disk_lookup(const char *name);

/* Write the names, with a comma and a blank between, to TEXT. Return TEXT. */
const char *choice_names(const struct choice *table, char *text, size_t bytes);
const char *policy_names(char *text, size_t bytes);
const char *disk_names(char *text, size_t bytes);

#endif
