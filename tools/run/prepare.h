// SPDX-License-Identifier: GPL-2.0-or-later
/* What an ext2 job wants to find on a fresh disk; done before the boot, by tools of the host. */
#ifndef RUN_PREPARE_H
#define RUN_PREPARE_H

#include <stdint.h>

#include "job.h"
#include "mbr.h"
#include "options.h"

/* Check that the tools are there which JOB needs. */
int prepare_check(const struct options *options, const struct job *job, struct failure *failure);

/*
 * On the disk in FOLDER, whose PARTITION holds a fresh ext2 file system: cut free space into holes,
 * make the folders on the way to the job's file, and for a job that reads or overwrites it the file
 * itself: with the pattern of SEED for reading, of SEED + 1 for overwriting, so that a sector which
 * is not overwritten shows.
 */
int prepare_run(const struct options *options, const struct job *job, uint64_t seed,
                const struct mbr_partition *partition, const char *folder, struct failure *failure);

#endif
