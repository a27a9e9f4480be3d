// SPDX-License-Identifier: GPL-2.0-or-later
#include "mock/rt.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "librt/clock.h"
#include "librt/log.h"
#include "librt/order.h"
#include "librt/rt.h"
#include "librt/sync.h"
#include "librt/thread.h"

#define SAID_MAX 65536

struct rt_thread {
    void (*entry)(void *);
    void *arg;
};

static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;
static char said[SAID_MAX]; /* lines; the oldest are kept when it is full */
static size_t said_used;

static void (*unlock_hook)(const char *name); /* atomically */

void mock_on_unlock(void (*hook)(const char *name))
{
    __atomic_store_n(&unlock_hook, hook, __ATOMIC_RELEASE);
}

void mock_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("# failed: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

static void say(const char *format, va_list args)
{
    char line[RT_LINE_MAX];

    vsnprintf(line, sizeof(line), format, args);
    pthread_mutex_lock(&said_lock);
    said_used += (size_t)snprintf(said + said_used, SAID_MAX - said_used, "%s\n", line);
    if (said_used >= SAID_MAX)
        said_used = SAID_MAX - 1;
    pthread_mutex_unlock(&said_lock);
}

size_t mock_said(const char *text)
{
    size_t count = 0;
    const char *end;

    pthread_mutex_lock(&said_lock);
    for (const char *line = said; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const char *found = strstr(line, text);

        count += found != NULL && found < end;
    }
    pthread_mutex_unlock(&said_lock);
    return count;
}

void mock_said_clear(void)
{
    pthread_mutex_lock(&said_lock);
    said[0] = '\0';
    said_used = 0;
    pthread_mutex_unlock(&said_lock);
}

void rt_log(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
}

void rt_emit(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
}

void rt_panic(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("# panic: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

void rt_mutex_init(struct rt_mutex *mutex, const char *name)
{
    pthread_mutexattr_t attributes;

    (void)name;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void rt_mutex_lock(struct rt_mutex *mutex)
{
    mock_check(pthread_mutex_lock(&mutex->mutex) == 0);
}

void rt_mutex_unlock(struct rt_mutex *mutex)
{
    mock_check(pthread_mutex_unlock(&mutex->mutex) == 0);
}

void rt_level_enter(unsigned int level)
{
    (void)level;
}

void rt_level_check(unsigned int level, const char *call)
{
    (void)level;
    (void)call;
}

void rt_cond_init(struct rt_cond *cond, const char *name)
{
    (void)name;
    pthread_cond_init(&cond->cond, NULL);
}

void rt_cond_wait(struct rt_cond *cond, struct rt_mutex *mutex)
{
    mock_check(pthread_cond_wait(&cond->cond, &mutex->mutex) == 0);
}

void rt_cond_signal(struct rt_cond *cond)
{
    pthread_cond_signal(&cond->cond);
}

void rt_cond_broadcast(struct rt_cond *cond)
{
    pthread_cond_broadcast(&cond->cond);
}

/* A writer that waits keeps new readers out, as librt's does. */
void rt_rwlock_init(struct rt_rwlock *lock, const char *name)
{
    pthread_rwlockattr_t attributes;

    lock->name = name;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    mock_check(pthread_rwlock_init(&lock->lock, &attributes) == 0);
    pthread_rwlockattr_destroy(&attributes);
}

void rt_rwlock_rdlock(struct rt_rwlock *lock)
{
    mock_check(pthread_rwlock_rdlock(&lock->lock) == 0);
}

/* LOCK may be gone behind its release. */
static void rwlock_release(struct rt_rwlock *lock)
{
    void (*hook)(const char *name) = __atomic_load_n(&unlock_hook, __ATOMIC_ACQUIRE);
    const char *name = lock->name;

    mock_check(pthread_rwlock_unlock(&lock->lock) == 0);
    if (hook != NULL)
        hook(name);
}

void rt_rwlock_rdunlock(struct rt_rwlock *lock)
{
    rwlock_release(lock);
}

void rt_rwlock_wrlock(struct rt_rwlock *lock)
{
    mock_check(pthread_rwlock_wrlock(&lock->lock) == 0);
}

void rt_rwlock_wrunlock(struct rt_rwlock *lock)
{
    rwlock_release(lock);
}

void rt_sleep(unsigned int msec)
{
    struct timespec time = {.tv_sec = msec / 1000, .tv_nsec = msec % 1000 * 1000000L};

    nanosleep(&time, NULL);
}

/* The kernel's codes that the mock kernel gives. */
error_t error_from_mach(kern_return_t error)
{
    return error == KERN_SUCCESS ? 0 : EIO;
}

static void *thread_main(void *arg)
{
    struct rt_thread thread = *(struct rt_thread *)arg;

    free(arg);
    thread.entry(thread.arg);
    return NULL;
}

int rt_thread_create(struct rt_thread **thread, const char *name, void (*entry)(void *), void *arg)
{
    struct rt_thread *start = malloc(sizeof(*start));
    pthread_t handle;

    (void)name;
    mock_check(thread == NULL && start != NULL);
    *start = (struct rt_thread){.entry = entry, .arg = arg};
    mock_check(pthread_create(&handle, NULL, thread_main, start) == 0);
    pthread_detach(handle);
    return 0;
}

uint64_t rt_clock_cycles_to_ns(uint64_t cycles)
{
    return cycles; /* mock/librt/x86/arch.h */
}
