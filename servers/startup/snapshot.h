// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What every task is doing at one moment, as far as their memory (librt/state.h) and the kernel
 * tell: for the report of a hang. All of it is static memory, so that taking it allocates none.
 */
#ifndef STARTUP_SNAPSHOT_H
#define STARTUP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "librt/frames.h"
#include "librt/mach.h"
#include "librt/thread-private.h"
#include "startup/peek.h"
#include "startup/startup.h"

#define SNAPSHOT_TASKS   (STARTUP_TASKS_MAX + 1) /* startup is one too */
#define SNAPSHOT_THREADS 256
#define SNAPSHOT_PORTS   4096
#define SNAPSHOT_NAME    40

struct snapshot_task {
    const char *name;
    task_t task;
    struct peek_image image;
    struct rt_state state;
};

/* What the kernel says that a thread does. */
enum snapshot_state {
    SNAPSHOT_UNKNOWN,
    SNAPSHOT_RUNS,
    SNAPSHOT_WAITS,
    SNAPSHOT_STUCK, /* it waits, and cannot be interrupted: where is not known */
};

/* A receive right. */
struct snapshot_port {
    const struct snapshot_task *task; /* who receives */
    mach_port_t name;                 /* in that task */
    mach_port_t right;                /* startup's name of a send right for it */
    mach_port_t set;                  /* the port set that it is in, or null */
    unsigned int nqueued;
    unsigned int limit;
};

struct snapshot_thread {
    const struct snapshot_task *task;
    vm_address_t address; /* of its struct rt_thread */
    char label[SNAPSHOT_NAME];
    char waits_for[SNAPSHOT_NAME]; /* the name of wait.object */
    struct rt_wait wait;
    struct rt_transfer transfer;
    struct rt_handling handling;
    mach_port_t serves;
    struct rt_held held[RT_HELD_MAX];
    unsigned int nheld;
    vm_address_t trace_chunk; /* what it records into, or null */
    enum snapshot_state state;
    uintptr_t pc;                     /* where it is; 0: not known */
    struct rt_frames frames;          /* and who called */
    const struct snapshot_port *port; /* what it sends to; null: the kernel's, or one nobody has */
    bool idle;                        /* it waits for requests, and for nothing else */
};

struct snapshot {
    uint64_t now; /* cycles */
    struct snapshot_task tasks[SNAPSHOT_TASKS];
    size_t ntasks;
    struct snapshot_thread threads[SNAPSHOT_THREADS];
    size_t nthreads;
    struct snapshot_port ports[SNAPSHOT_PORTS];
    size_t nports;
    bool cut; /* there was more than fits */
};

/* Take a snapshot of all but the calling thread. The tasks go on meanwhile. => blocks. */
void snapshot_take(struct snapshot *snapshot);

/* Write the name of the lock HELD by a thread of TASK. => blocks. */
void snapshot_lock_name(const struct snapshot_task *task, const struct rt_held *held,
                        char name[SNAPSHOT_NAME]);

#endif
