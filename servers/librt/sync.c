// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mutex is one word: 0 free, 1 held, 2 held and perhaps waited for. Only the change from and to 2
 * needs the kernel (Drepper, "Futexes are tricky", 2011, mutex2). A condition is a counter of
 * signals: a waiter sleeps as long as the counter is what it was when the waiter still held the
 * mutex, so a signal between release and sleep is not lost.
 */
#include "librt/sync.h"

#include <stddef.h>

#include "librt/log.h"
#include "librt/mach.h"
#include "librt/thread-private.h"

enum { MUTEX_FREE, MUTEX_HELD, MUTEX_CONTENDED };

static void rt_word_wait(uint32_t *word, uint32_t value)
{
    gsync_wait(mach_task_self(), (vm_address_t)word, value, 0, 0, 0);
}

/* Wait at most MSEC while *WORD is VALUE. Returns false when the time has passed. */
static bool rt_word_timedwait(uint32_t *word, uint32_t value, unsigned int msec)
{
    return gsync_wait(mach_task_self(), (vm_address_t)word, value, 0, msec, GSYNC_TIMED) !=
           KERN_TIMEDOUT;
}

static void rt_word_wake(uint32_t *word, int flags)
{
    gsync_wake(mach_task_self(), (vm_address_t)word, 0, flags);
}

static uint32_t rt_word_swap_if(uint32_t *word, uint32_t from, uint32_t to)
{
    __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    return from;
}

void rt_sleep(unsigned int msec)
{
    uint32_t word = 0;

    rt_word_timedwait(&word, 0, msec);
}

void rt_mutex_init(struct rt_mutex *mutex, const char *name)
{
    *mutex = (struct rt_mutex){.state = MUTEX_FREE, .name = name, .holder = NULL};
}

static void rt_mutex_wait(struct rt_mutex *mutex, struct rt_thread *self)
{
    if (mutex->holder == self)
        rt_panic("%s locks %s twice", rt_thread_name(self), mutex->name);
    self->wait = (struct rt_wait){RT_WAIT_MUTEX, mutex, mutex->name};
    while (__atomic_exchange_n(&mutex->state, MUTEX_CONTENDED, __ATOMIC_ACQUIRE) != MUTEX_FREE)
        rt_word_wait(&mutex->state, MUTEX_CONTENDED);
    self->wait.kind = RT_WAIT_NONE;
}

void rt_mutex_lock(struct rt_mutex *mutex)
{
    struct rt_thread *self = rt_thread_self();

    if (rt_word_swap_if(&mutex->state, MUTEX_FREE, MUTEX_HELD) != MUTEX_FREE)
        rt_mutex_wait(mutex, self);
    mutex->holder = self;
}

bool rt_mutex_trylock(struct rt_mutex *mutex)
{
    if (rt_word_swap_if(&mutex->state, MUTEX_FREE, MUTEX_HELD) != MUTEX_FREE)
        return false;
    mutex->holder = rt_thread_self();
    return true;
}

void rt_mutex_unlock(struct rt_mutex *mutex)
{
    if (!rt_mutex_held(mutex))
        rt_panic("%s unlocks %s without holding it", rt_thread_name(rt_thread_self()), mutex->name);
    mutex->holder = NULL;
    if (__atomic_exchange_n(&mutex->state, MUTEX_FREE, __ATOMIC_RELEASE) == MUTEX_CONTENDED)
        rt_word_wake(&mutex->state, 0);
}

bool rt_mutex_held(const struct rt_mutex *mutex)
{
    return mutex->holder == rt_thread_self();
}

void rt_cond_init(struct rt_cond *cond, const char *name)
{
    *cond = (struct rt_cond){.name = name};
}

/* Waits until signalled or, if MSEC is not 0, MSEC milliseconds. */
static bool rt_cond_sleep(struct rt_cond *cond, struct rt_mutex *mutex, unsigned int msec)
{
    struct rt_thread *self = rt_thread_self();
    uint32_t sequence = cond->sequence;
    bool in_time = true;

    cond->nwaiters++;
    self->wait = (struct rt_wait){RT_WAIT_COND, cond, cond->name};
    rt_mutex_unlock(mutex);
    if (msec == 0)
        rt_word_wait(&cond->sequence, sequence);
    else
        in_time = rt_word_timedwait(&cond->sequence, sequence, msec);
    rt_mutex_lock(mutex);
    self->wait.kind = RT_WAIT_NONE;
    cond->nwaiters--;
    return in_time;
}

void rt_cond_wait(struct rt_cond *cond, struct rt_mutex *mutex)
{
    rt_cond_sleep(cond, mutex, 0);
}

bool rt_cond_timedwait(struct rt_cond *cond, struct rt_mutex *mutex, unsigned int msec)
{
    return rt_cond_sleep(cond, mutex, msec == 0 ? 1 : msec);
}

static void rt_cond_wake(struct rt_cond *cond, int flags)
{
    if (cond->nwaiters == 0)
        return;
    __atomic_add_fetch(&cond->sequence, 1, __ATOMIC_RELEASE);
    rt_word_wake(&cond->sequence, flags);
}

void rt_cond_signal(struct rt_cond *cond)
{
    rt_cond_wake(cond, 0);
}

void rt_cond_broadcast(struct rt_cond *cond)
{
    rt_cond_wake(cond, GSYNC_BROADCAST);
}

void rt_rwlock_init(struct rt_rwlock *lock, const char *name)
{
    *lock = (struct rt_rwlock){.nreaders = 0};
    rt_mutex_init(&lock->mutex, name);
    rt_cond_init(&lock->changed, name);
}

void rt_rwlock_rdlock(struct rt_rwlock *lock)
{
    rt_mutex_lock(&lock->mutex);
    while (lock->writer != NULL || lock->nwriters_waiting > 0)
        rt_cond_wait(&lock->changed, &lock->mutex);
    lock->nreaders++;
    rt_mutex_unlock(&lock->mutex);
}

void rt_rwlock_rdunlock(struct rt_rwlock *lock)
{
    rt_mutex_lock(&lock->mutex);
    rt_assert(lock->nreaders > 0);
    if (--lock->nreaders == 0)
        rt_cond_broadcast(&lock->changed);
    rt_mutex_unlock(&lock->mutex);
}

void rt_rwlock_wrlock(struct rt_rwlock *lock)
{
    rt_mutex_lock(&lock->mutex);
    lock->nwriters_waiting++;
    while (lock->writer != NULL || lock->nreaders > 0)
        rt_cond_wait(&lock->changed, &lock->mutex);
    lock->nwriters_waiting--;
    lock->writer = rt_thread_self();
    rt_mutex_unlock(&lock->mutex);
}

void rt_rwlock_wrunlock(struct rt_rwlock *lock)
{
    rt_mutex_lock(&lock->mutex);
    rt_assert(lock->writer == rt_thread_self());
    lock->writer = NULL;
    rt_cond_broadcast(&lock->changed);
    rt_mutex_unlock(&lock->mutex);
}
