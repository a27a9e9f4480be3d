// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef WORKLOAD_JOB_H
#define WORKLOAD_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "libpattern/pattern.h"
#include "workload/target.h"

#define JOB_REASON_MAX 256 /* bytes of the sentence on how a job ended */

/* A job as the configuration says it (docs/jobs.md). Sizes are bytes. */
struct job {
    vm_size_t size;
    vm_size_t block;
    bool reads;      /* rw=read */
    bool operations; /* rw=operations: every call once, then as rw=write */
    bool rpc;        /* ioengine=rpc, else mmap */
    bool end_fsync;
    bool verify;
    bool plain;
    struct pattern pattern;
    struct target target;
    struct target_open open;
    vm_address_t address; /* of the mapping, for mmap */
    vm_address_t buffer;  /* of block bytes */
};

/* Moments of a job, in nanoseconds of rt_clock_ns. */
struct job_times {
    uint64_t start_ns;
    uint64_t filled_ns; /* all bytes are in memory */
    uint64_t synced_ns; /* all bytes are written out, or filled_ns without end_fsync */
};

/* Read the configuration and make the pattern. => blocks; a failure is a panic. */
void job_init(struct job *job);

/*
 * Do JOB: write its target and have it written out, or read it and compare. Returns the run's
 * status, 0, 2 or 99, and says why in REASON (JOB_REASON_MAX bytes).
 * => blocks.
 */
int job_run(struct job *job, struct job_times *times, char *reason);

#endif
