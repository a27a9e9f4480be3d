// SPDX-License-Identifier: GPL-2.0-or-later
/* librt's locks for the host: the same calls on pthreads, which the thread sanitizer knows. */
#ifndef LIBRT_SYNC_H
#define LIBRT_SYNC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct rt_mutex {
    pthread_mutex_t mutex;
};

struct rt_cond {
    pthread_cond_t cond;
};

struct rt_rwlock {
    pthread_rwlock_t lock;
    const char *name;
};

void rt_mutex_init(struct rt_mutex *mutex, const char *name);
void rt_mutex_lock(struct rt_mutex *mutex);
void rt_mutex_unlock(struct rt_mutex *mutex);
void rt_cond_init(struct rt_cond *cond, const char *name);
void rt_cond_wait(struct rt_cond *cond, struct rt_mutex *mutex);
void rt_cond_signal(struct rt_cond *cond);
void rt_cond_broadcast(struct rt_cond *cond);

void rt_rwlock_init(struct rt_rwlock *lock, const char *name);
void rt_rwlock_rdlock(struct rt_rwlock *lock);
void rt_rwlock_rdunlock(struct rt_rwlock *lock);
void rt_rwlock_wrlock(struct rt_rwlock *lock);
void rt_rwlock_wrunlock(struct rt_rwlock *lock);

#endif
