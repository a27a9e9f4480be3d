// SPDX-License-Identifier: GPL-2.0-or-later
/* The disk of a boot: made by the recipe, or a copy of an image that the user names. */
#ifndef RUN_DISK_H
#define RUN_DISK_H

#include "job.h"
#include "mbr.h"
#include "options.h"

/*
 * Check that what makes a disk is there: the recipe, or an image that holds the job's partition
 * whole and does not lie in the folder of the run NAME, which is emptied. Nothing is made.
 */
int disk_check(const struct options *options, const struct job *job, const char *name,
               struct failure *failure);

/*
 * Make the disk in FOLDER, put into it what JOB wants to find there (a given image is left as it
 * is), and read its partition table to MBR. SEED is the run's.
 */
int disk_make(struct mbr *mbr, const struct options *options, const struct job *job, uint64_t seed,
              const char *folder, struct failure *failure);

#endif
