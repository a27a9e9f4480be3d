// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a task is doing: its threads, what each of them waits for, which locks it holds, and how far
 * the task has got. Kept up to date by librt itself, and read out of the task's memory by startup
 * when nothing moves any more (startup/watchdog.c): a task that hangs need not answer for that.
 */
#ifndef LIBRT_STATE_H
#define LIBRT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "librt/mach.h"

struct rt_thread;

/* One for each task; rt_image points to it. */
struct rt_state {
    struct rt_thread *threads;     /* the newest first, by their next */
    uint32_t progress;             /* grows while something gets done */
    const char *const *lock_names; /* by the locks' classes (order.c) */
};

extern struct rt_state rt_state;

/* Something got done. Messages count by themselves (librt/mig.c); this is for work without any.
   => may lose a count when two threads say so at once, which does not matter. */
static inline void rt_progress(void)
{
    volatile uint32_t *progress = &rt_state.progress;

    ++*progress;
}

/* What a thread waits for. Where it is a lock or a condition, that has a name. */
enum rt_wait_kind {
    RT_WAIT_NONE,
    RT_WAIT_MUTEX,
    RT_WAIT_READ,  /* a reader/writer lock, as a reader */
    RT_WAIT_WRITE, /* the same as a writer */
    RT_WAIT_COND,
    RT_WAIT_TIME,
    RT_WAIT_ENDED, /* nothing: the thread's function has returned */
};

struct rt_wait {
    enum rt_wait_kind kind;
    const void *object;
    const char *name;
};

#define RT_HELD_MAX 16 /* locks that a thread holds at once */

/* A lock that a thread holds, and where it took it. */
struct rt_held {
    const void *object;
    uintptr_t site;  /* where the function that took it goes on */
    uintptr_t frame; /* that function's frame */
    uint8_t class;   /* see lock_names above */
    bool shared;     /* held as a reader */
};

/* The mach_msg that a thread is in; option is 0 when it is in none. */
struct rt_transfer {
    mach_msg_option_t option;
    mach_msg_id_t id;  /* of what is sent */
    mach_port_t to;    /* where it is sent */
    mach_port_t from;  /* where the answer, or a request, is received */
    uint64_t since;    /* cycles */
    const void *frame; /* mach_msg's: who called, for debuggers */
};

/* The RPC that a thread handles; id is 0 when it handles none. */
struct rt_handling {
    mach_msg_id_t id;
    uint64_t since; /* cycles */
};

#endif
