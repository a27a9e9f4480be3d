// SPDX-License-Identifier: GPL-2.0-or-later
/* One boot: a fresh disk, QEMU, the checks, and what came of it. */
#ifndef RUN_BOOT_H
#define RUN_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "claims.h"
#include "command.h"
#include "console.h"
#include "content.h"
#include "ctf.h"
#include "folder.h"
#include "job.h"
#include "layer.h"
#include "mbr.h"
#include "options.h"
#include "qemu.h"
#include "qemu-trace.h"
#include "ram.h"
#include "volume.h"

struct boot {
    const struct options *options;
    const struct job *job;
    const struct policy *policy;
    uint64_t seed;
    char folder[FOLDER_PATH_BYTES];
    struct console console;
    struct qemu_ending ending;
    struct trace trace;
    struct ctf ctf;
    struct mbr mbr;
    struct ram_memory memory;              /* the machine's, with a disk in it */
    struct file_map map;                   /* where the job's bytes lie on the disk */
    struct volume volume;                  /* for an ext2 job: what e2fsprogs found */
    struct layers layers;                  /* those of the server under test, and the disk's */
    bool ran;                              /* QEMU did */
    bool traced;                           /* QEMU's trace was read */
    char content[CONTENT_RESULT_BYTES];    /* "": not checked */
    char disk_agrees[CLAIMS_RESULT_BYTES]; /* "": not checked */
    char fsck[VOLUME_RESULT_BYTES];        /* "": not checked */
    bool disk_kept;
    struct failure failure;
};

/* => BOOT points to the arguments. */
void boot_init(struct boot *boot, const struct options *options, const struct job *job,
               const struct policy *policy, uint64_t seed);
void boot_destroy(struct boot *boot);

/*
 * Boot in a folder of its own in RUN, with COMMAND as QEMU's command line, and check. The outcome
 * is in BOOT; its failure is the boot's status and sentence. The disk is removed when all is well,
 * unless the options say otherwise.
 */
void boot_run(struct boot *boot, const struct folder *run, const struct command *command);

/* Where the job's bytes lie on the disk. => empty before the boot was judged. */
const struct file_map *boot_map(const struct boot *boot);

/* Whether it is known what the disk was asked to do: QEMU has said so, and there is a disk. */
bool boot_knows_disk(const struct boot *boot);

/* Bytes of a block: the file system's, or for a bare object the page. 0: not known. */
uint64_t boot_block_bytes(const struct boot *boot);

#endif
