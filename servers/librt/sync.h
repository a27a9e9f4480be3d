// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mutexes, conditions and reader/writer locks for the threads of one task, built on the kernel's
 * gsync calls (gnumach.defs). Every lock knows its name and who holds it, so that a thread that
 * waits can be explained. None of them is recursive; none may be used across tasks.
 *
 * None of these calls allocates memory, and none can fail: misuse (unlocking what one does not
 * hold, locking what one holds) is a panic. The order in which locks are taken is checked: order.h.
 */
#ifndef LIBRT_SYNC_H
#define LIBRT_SYNC_H

#include <stdbool.h>
#include <stdint.h>

struct rt_thread;

struct rt_mutex {
    uint32_t state;           /* 0 free, 1 held, 2 held and perhaps waited for */
    const char *name;         /* not copied */
    struct rt_thread *holder; /* valid while held */
    uint8_t class;            /* of locks with this name (order.c) */
};

struct rt_cond {
    uint32_t sequence; /* grows with every signal */
    uint32_t nwaiters; /* guarded by the mutex of the waiters */
    const char *name;
};

struct rt_rwlock {
    struct rt_mutex mutex; /* guards what follows */
    struct rt_cond changed;
    uint32_t nreaders;
    uint32_t nwriters_waiting;
    struct rt_thread *writer;
    uint8_t class;
};

/* Make MUTEX a free mutex. NAME must outlive it. */
void rt_mutex_init(struct rt_mutex *mutex, const char *name);

/* Take MUTEX. => may block; the caller does not hold it yet. */
void rt_mutex_lock(struct rt_mutex *mutex);

/* Take MUTEX if it is free. => does not block; returns whether it was taken. */
bool rt_mutex_trylock(struct rt_mutex *mutex);

/* Release MUTEX. => does not block; the caller holds it. */
void rt_mutex_unlock(struct rt_mutex *mutex);

/* Whether the calling thread holds MUTEX. */
bool rt_mutex_held(const struct rt_mutex *mutex);

/* Make COND a condition that nobody waits for. NAME must outlive it. */
void rt_cond_init(struct rt_cond *cond, const char *name);

/*
 * Release MUTEX, wait for a signal, take MUTEX again. May return without a signal: look at what
 * was waited for again. => blocks; MUTEX held on entry and on return.
 */
void rt_cond_wait(struct rt_cond *cond, struct rt_mutex *mutex);

/* The same for at most MSEC milliseconds. Returns false when that time has passed. */
bool rt_cond_timedwait(struct rt_cond *cond, struct rt_mutex *mutex, unsigned int msec);

/* Wake one or all who wait for COND. => do not block; the caller holds the waiters' mutex. */
void rt_cond_signal(struct rt_cond *cond);
void rt_cond_broadcast(struct rt_cond *cond);

/*
 * Reader/writer locks. A writer that waits keeps new readers out, so readers cannot starve it.
 * => the lock calls may block; the unlock calls do not.
 */
void rt_rwlock_init(struct rt_rwlock *lock, const char *name);
void rt_rwlock_rdlock(struct rt_rwlock *lock);
void rt_rwlock_rdunlock(struct rt_rwlock *lock);
void rt_rwlock_wrlock(struct rt_rwlock *lock);
void rt_rwlock_wrunlock(struct rt_rwlock *lock);

#endif
