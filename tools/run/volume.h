// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ext2 file system on a boot's disk after the run, looked at with e2fsprogs, which share no
 * code with the guest.
 */
#ifndef RUN_VOLUME_H
#define RUN_VOLUME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "failure.h"
#include "file-map.h"
#include "job.h"
#include "mbr.h"

#define VOLUME_RESULT_BYTES 512
#define VOLUME_DATA         "content.data" /* copies of the job's files: this, a point, a number */

/* One of the job's files. */
struct volume_file {
    bool found;    /* it is there */
    uint64_t size; /* in bytes */
};

struct volume {
    uint64_t block_bytes;               /* 0: debugfs could not open it */
    char state[64];                     /* "clean", or how the super block is marked else */
    struct volume_file *files;          /* the job's, in their order */
    size_t files_count;                 /* of those that debugfs was asked about */
    struct file_map map;                /* where the job's bytes lie */
    char fsck[VOLUME_RESULT_BYTES];     /* "ok", or what is wrong */
    char said[VOLUME_RESULT_BYTES / 2]; /* debugfs's first complaint, or "" */
};

/* Check that e2fsprogs is installed. */
int volume_check(struct failure *failure);

void volume_init(struct volume *volume);
void volume_destroy(struct volume *volume);

/*
 * Look at the file system in PARTITION of the disk in FOLDER, check it, and with COPY write JOB's
 * files to VOLUME_DATA.0 and so on in FOLDER.
 * => fails only when a tool cannot be run or the runner is asked to end; the rest is in VOLUME.
 */
int volume_examine(struct volume *volume, const struct job *job,
                   const struct mbr_partition *partition, const char *folder, bool copy,
                   struct failure *failure);

/* The parts of it, for tests: read what debugfs and e2fsck (which exited with CODE) printed. START
   is the partition's first byte. */
void volume_report_read(struct volume *volume, const struct job *job, FILE *stream, uint64_t start);
void volume_fsck_read(struct volume *volume, FILE *stream, int code);

#endif
