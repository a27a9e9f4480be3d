// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads of this task. Each has a stack of RT_STACK_BYTES, aligned to its size, with its struct
 * rt_thread at the upper end: a thread finds itself by its stack pointer. The lowest page of a
 * stack is a guard, so that a stack that overflows is an exception and not a riddle.
 *
 * Threads are never freed: servers start a fixed number of them, which live as long as the task.
 */
#ifndef LIBRT_THREAD_H
#define LIBRT_THREAD_H

struct rt_thread;

#define RT_STACK_BYTES (64u * 1024) /* power of two; the lowest page is a guard */

/*
 * Start a thread that runs ENTRY(ARG). NAME (not copied) appears in crash reports. *THREAD is its
 * handle, for as long as it runs; THREAD may be null.
 * => may block; returns 0, or ENOMEM.
 */
int rt_thread_create(struct rt_thread **thread, const char *name, void (*entry)(void *), void *arg);

/* Let MSEC milliseconds pass, more or less. => blocks. */
void rt_sleep(unsigned int msec);

/* The calling thread, never null. => does not block. */
struct rt_thread *rt_thread_self(void);

/* THREAD's name. => does not block. */
const char *rt_thread_name(const struct rt_thread *thread);

#endif
