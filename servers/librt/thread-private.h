// SPDX-License-Identifier: GPL-2.0-or-later
/* struct rt_thread, for librt itself and for startup, which reads it out of a task that crashed or
   hangs. */
#ifndef LIBRT_THREAD_PRIVATE_H
#define LIBRT_THREAD_PRIVATE_H

#include <sys/reent.h>

#include "librt/x86/arch.h"
#include "librt/mach.h"
#include "librt/state.h"
#include "librt/thread.h"

#define RT_THREAD_MAGIC 0x6d627468u /* "mbth" */

struct rt_thread {
    uint32_t magic;
    uint32_t number; /* 0 for the first, counted up: names need not be unique */
    const char *name;
    struct rt_thread *next; /* an older one */
    struct rt_wait wait;
    struct rt_transfer transfer;
    struct rt_handling handling;
    mach_port_t serves;               /* where it has received requests last */
    unsigned int level;               /* order.h */
    struct rt_held held[RT_HELD_MAX]; /* in the order in which they were taken */
    unsigned int nheld;
    bool held_nests;       /* some of them may be of one class */
    uint32_t held_classes; /* a bit for the class of each (order-private.h) */
    mach_port_t port;
    mach_port_t reply_port; /* MACH_PORT_NULL until first used */
    void (*entry)(void *);
    void *arg;
    struct trace_chunk *trace_chunk; /* libtrace's: what it records into, or null */
    uint32_t trace_cause;            /* libtrace's: the request that it works for */
    uint32_t trace_dropped; /* libtrace's: events for which there was no memory, since its chunk */
    struct ctf_stream *trace_stream; /* libtrace's: its events as CTF, or null */
    struct _reent reent;
};

/* The struct rt_thread of the thread whose stack holds address SP: at the stack's upper end. */
static inline struct rt_thread *rt_thread_of_stack(uintptr_t sp)
{
    return (struct rt_thread *)((sp | (RT_STACK_BYTES - 1)) + 1 - sizeof(struct rt_thread));
}

/* rt_thread_self for librt's own frequent use. */
static inline struct rt_thread *rt_thread_current(void)
{
    struct rt_thread *self = rt_thread_of_stack(rt_arch_stack_pointer());

    if (self->magic != RT_THREAD_MAGIC)
        __builtin_trap(); /* not on a stack of ours: nothing else can be trusted either */
    return self;
}

#define RT_LABEL_MAX 48

/* Write THREAD's name, and its number if that is not 0: "file/12". Returns TEXT. */
const char *rt_thread_label(const struct rt_thread *thread, char text[RT_LABEL_MAX]);

/* Make ADDRESS, the lowest of an aligned stack, a thread's. => for librt's start only. */
struct rt_thread *rt_thread_init(vm_address_t stack, const char *name, void (*entry)(void *),
                                 void *arg);

/* First C function of a thread, on its own stack. */
_Noreturn void rt_thread_main(void);

#endif
