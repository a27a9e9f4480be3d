// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mutex is one word: 0 free, 1 held, 2 held and perhaps waited for. Only the change from and to 2
 * needs the kernel (Drepper, "Futexes are tricky", 2011, mutex2). A condition is a counter of
 * signals: a waiter sleeps as long as the counter is what it was when the waiter still held the
 * mutex, so a signal between release and sleep is not lost.
 *
 * enter and leave only do that. Around them lock and unlock keep book (state.h): what the thread
 * waits for, what it holds, and in which order locks are taken (order.c). A reader/writer lock is
 * one lock in the books; the mutex and the condition that it is made of do not appear there.
 */
#include "librt/sync-private.h"

#include <stddef.h>

#include "librt/log.h"
#include "librt/mach.h"
#include "librt/order-private.h"
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
    struct rt_thread *self = rt_thread_current();
    uint32_t word = 0;

    self->wait = (struct rt_wait){RT_WAIT_TIME, &word, NULL};
    rt_word_timedwait(&word, 0, msec);
    self->wait = (struct rt_wait){RT_WAIT_NONE, NULL, NULL};
}

static bool rt_mutex_try(struct rt_mutex *mutex, struct rt_thread *self)
{
    if (rt_word_swap_if(&mutex->state, MUTEX_FREE, MUTEX_HELD) != MUTEX_FREE)
        return false;
    mutex->holder = self;
    return true;
}

void rt_mutex_enter(struct rt_mutex *mutex, struct rt_thread *self)
{
    if (rt_mutex_try(mutex, self))
        return;
    while (__atomic_exchange_n(&mutex->state, MUTEX_CONTENDED, __ATOMIC_ACQUIRE) != MUTEX_FREE)
        rt_word_wait(&mutex->state, MUTEX_CONTENDED);
    mutex->holder = self;
}

void rt_mutex_leave(struct rt_mutex *mutex)
{
    mutex->holder = NULL;
    if (__atomic_exchange_n(&mutex->state, MUTEX_FREE, __ATOMIC_RELEASE) == MUTEX_CONTENDED)
        rt_word_wake(&mutex->state, 0);
}

static struct rt_order_lock rt_mutex_order(struct rt_mutex *mutex)
{
    return (struct rt_order_lock){mutex, mutex->name, &mutex->class, false};
}

/* FRAME is that of the function that the caller called. */
__attribute__((always_inline)) static inline void rt_mutex_lock_from(struct rt_mutex *mutex,
                                                                     const void *frame)
{
    struct rt_thread *self = rt_thread_current();
    struct rt_order_lock order = rt_mutex_order(mutex);

    rt_order_check(self, order, frame);
    if (!rt_mutex_try(mutex, self)) {
        self->wait = (struct rt_wait){RT_WAIT_MUTEX, mutex, mutex->name};
        rt_mutex_enter(mutex, self);
        self->wait.kind = RT_WAIT_NONE;
    }
    rt_order_take(self, order, frame);
}

void rt_mutex_init(struct rt_mutex *mutex, const char *name)
{
    *mutex = (struct rt_mutex){.state = MUTEX_FREE, .name = name, .holder = NULL};
}

void rt_mutex_lock(struct rt_mutex *mutex)
{
    rt_mutex_lock_from(mutex, __builtin_frame_address(0));
}

bool rt_mutex_trylock(struct rt_mutex *mutex)
{
    struct rt_thread *self = rt_thread_current();
    struct rt_order_lock order = rt_mutex_order(mutex);

    if (!rt_mutex_try(mutex, self))
        return false;
    rt_order_class(self, order);
    rt_order_take(self, order, __builtin_frame_address(0));
    return true;
}

void rt_mutex_unlock(struct rt_mutex *mutex)
{
    struct rt_thread *self = rt_thread_current();

    if (mutex->holder != self)
        rt_panic("%s unlocks %s without holding it", rt_thread_name(self), mutex->name);
    rt_order_drop(self, mutex);
    rt_mutex_leave(mutex);
}

bool rt_mutex_held(const struct rt_mutex *mutex)
{
    return mutex->holder == rt_thread_current();
}

void rt_cond_init(struct rt_cond *cond, const char *name)
{
    *cond = (struct rt_cond){.name = name};
}

/* Waits until signalled or, if MSEC is not 0, MSEC milliseconds. MUTEX is released meanwhile, and
   taken again in the caller's name, by whose frame. */
static bool rt_cond_sleep(struct rt_cond *cond, struct rt_mutex *mutex, unsigned int msec,
                          const void *frame)
{
    struct rt_thread *self = rt_thread_current();
    uint32_t sequence = cond->sequence;
    bool in_time = true;

    cond->nwaiters++;
    rt_mutex_unlock(mutex);
    self->wait = (struct rt_wait){RT_WAIT_COND, cond, cond->name};
    if (msec == 0)
        rt_word_wait(&cond->sequence, sequence);
    else
        in_time = rt_word_timedwait(&cond->sequence, sequence, msec);
    self->wait.kind = RT_WAIT_NONE;
    rt_mutex_lock_from(mutex, frame);
    cond->nwaiters--;
    return in_time;
}

void rt_cond_wait(struct rt_cond *cond, struct rt_mutex *mutex)
{
    rt_cond_sleep(cond, mutex, 0, __builtin_frame_address(0));
}

bool rt_cond_timedwait(struct rt_cond *cond, struct rt_mutex *mutex, unsigned int msec)
{
    return rt_cond_sleep(cond, mutex, msec == 0 ? 1 : msec, __builtin_frame_address(0));
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

static struct rt_order_lock rt_rwlock_order(struct rt_rwlock *lock, bool shared)
{
    return (struct rt_order_lock){lock, lock->mutex.name, &lock->class, shared};
}

/* Wait for a change of LOCK. => its mutex is held on entry and on return. */
static void rt_rwlock_sleep(struct rt_rwlock *lock, struct rt_thread *self)
{
    uint32_t sequence = lock->changed.sequence;

    lock->changed.nwaiters++;
    rt_mutex_leave(&lock->mutex);
    rt_word_wait(&lock->changed.sequence, sequence);
    rt_mutex_enter(&lock->mutex, self);
    lock->changed.nwaiters--;
}

void rt_rwlock_rdlock(struct rt_rwlock *lock)
{
    struct rt_thread *self = rt_thread_current();
    struct rt_order_lock order = rt_rwlock_order(lock, true);

    rt_order_check(self, order, __builtin_frame_address(0));
    self->wait = (struct rt_wait){RT_WAIT_READ, lock, lock->mutex.name};
    rt_mutex_enter(&lock->mutex, self);
    while (lock->writer != NULL || lock->nwriters_waiting > 0)
        rt_rwlock_sleep(lock, self);
    lock->nreaders++;
    rt_mutex_leave(&lock->mutex);
    self->wait.kind = RT_WAIT_NONE;
    rt_order_take(self, order, __builtin_frame_address(0));
}

void rt_rwlock_rdunlock(struct rt_rwlock *lock)
{
    struct rt_thread *self = rt_thread_current();

    rt_order_drop(self, lock);
    rt_mutex_enter(&lock->mutex, self);
    rt_assert(lock->nreaders > 0);
    if (--lock->nreaders == 0)
        rt_cond_broadcast(&lock->changed);
    rt_mutex_leave(&lock->mutex);
}

void rt_rwlock_wrlock(struct rt_rwlock *lock)
{
    struct rt_thread *self = rt_thread_current();
    struct rt_order_lock order = rt_rwlock_order(lock, false);

    rt_order_check(self, order, __builtin_frame_address(0));
    self->wait = (struct rt_wait){RT_WAIT_WRITE, lock, lock->mutex.name};
    rt_mutex_enter(&lock->mutex, self);
    lock->nwriters_waiting++;
    while (lock->writer != NULL || lock->nreaders > 0)
        rt_rwlock_sleep(lock, self);
    lock->nwriters_waiting--;
    lock->writer = self;
    rt_mutex_leave(&lock->mutex);
    self->wait.kind = RT_WAIT_NONE;
    rt_order_take(self, order, __builtin_frame_address(0));
}

void rt_rwlock_wrunlock(struct rt_rwlock *lock)
{
    struct rt_thread *self = rt_thread_current();

    rt_order_drop(self, lock);
    rt_mutex_enter(&lock->mutex, self);
    rt_assert(lock->writer == self);
    lock->writer = NULL;
    rt_cond_broadcast(&lock->changed);
    rt_mutex_leave(&lock->mutex);
}
