// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef WORKLOAD_JOB_H
#define WORKLOAD_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "libpattern/pattern.h"
#include "workload/target.h"

#define JOB_REASON_MAX 256 /* bytes of the sentence on how a job ended */

/* What a job works on: a file, or a memory object. It holds a part of the job's stream. */
struct job_file {
    struct target target;
    uint32_t number;      /* from 0 */
    uint64_t start;       /* of its part, bytes */
    vm_size_t size;       /* bytes */
    vm_address_t address; /* of the mapping, for mmap */
};

/* A job as the configuration says it (docs/jobs.md). Sizes are bytes. */
struct job {
    vm_size_t size; /* of all files together */
    vm_size_t block;
    bool reads;      /* rw=read */
    bool operations; /* rw=operations: every call once, then as rw=write */
    bool rpc;        /* ioengine=rpc, else mmap */
    bool create;     /* the files are not there yet */
    bool end_fsync;
    bool unmap;
    bool fsync_on_close;
    unsigned int linger; /* seconds */
    bool verify;
    bool plain_before; /* a plain loop of device_writes, before the files are synced */
    bool plain_after;  /* or last of all */
    struct pattern pattern;
    const struct target_ops *ops;
    mach_port_t server;
    const char *path; /* of the file; of several, what stands before their numbers */
    uint32_t nclients;
    uint32_t nfiles;
    struct job_file *files;
};

/* Moments of a job, in nanoseconds of rt_clock_ns. */
struct job_times {
    bool filled; /* else the job failed before */
    uint64_t start_ns;
    uint64_t filled_ns; /* all bytes are in memory */
    uint64_t sync_ns;   /* they are asked to be written out */
    uint64_t synced_ns; /* they are, or sync_ns without end_fsync */
};

/* Read the configuration and make the pattern. => blocks; a failure is a panic. */
void job_init(struct job *job);

/*
 * Do JOB: write its files and have them written out, or read them and compare. Returns the run's
 * status, 0, 2 or 99, and says why in REASON (JOB_REASON_MAX bytes).
 * => blocks; once.
 */
int job_run(struct job *job, struct job_times *times, char *reason);

#endif
