// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Side jobs: further sections of the job's file. Each is a client in a thread of its own that does
 * one thing again and again, while the job writes its bytes out, and then ends.
 */
#ifndef WORKLOAD_SIDES_H
#define WORKLOAD_SIDES_H

#include "workload/job.h"

/* Read the configuration and open the files of JOB's side jobs. Returns 0; or a status, with a
   sentence in REASON (JOB_REASON_MAX bytes). => once, when the job's own files are open; blocks. */
int sides_open(const struct job *job, char *reason);

/* Start them. => may block. */
void sides_begin(void);

/* Have those end that go on for as long as the job syncs, wait for all, and print what they did.
   Returns 0; or the status of the first that failed, and its sentence. => behind sides_begin;
   blocks. */
int sides_end(char *reason);

#endif
