// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef WORKLOAD_PLAIN_H
#define WORKLOAD_PLAIN_H

#include "workload/job.h"

/*
 * Write as many bytes as JOB has to partition 3, in a loop of device_writes of PLAIN_BYTES: what
 * the disk and its driver can do without any pager. Prints the time, the store's counters and its
 * claims (docs/protocol.md). Returns the run's status, with a sentence in REASON (JOB_REASON_MAX
 * bytes) unless it is 0.
 * => blocks.
 */
int plain_run(const struct job *job, char *reason);

#endif
