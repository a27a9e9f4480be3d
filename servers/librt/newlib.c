// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What newlib wants from the system below it: memory, a lock for its allocator, a place for what
 * each thread has of its own, and the system calls behind stdio. Standard output and error are the
 * console, one line a write at most; there are no files. Servers use rt_log, whose lines are whole.
 */
#include <assert.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "librt/error.h"
#include "librt/log.h"
#include "librt/mach.h"
#include "librt/memory.h"
#include "librt/sync.h"
#include "librt/thread-private.h"

/* The heap's addresses are set aside at its first use, or the kernel would place something in its
   way. Memory is taken only where it is touched. */
#define HEAP_BASE  ((vm_address_t)0x80000000u)
#define HEAP_BYTES ((vm_size_t)128 << 20)

static struct rt_mutex heap_lock = {.name = "heap"};
static unsigned int heap_lock_depth; /* newlib's realloc calls malloc with the lock held */
static vm_address_t heap_break;      /* 0: the heap is not there yet */

struct _reent *__getreent(void)
{
    return &rt_thread_self()->reent;
}

void __malloc_lock(struct _reent *reent)
{
    (void)reent;
    if (!rt_mutex_held(&heap_lock))
        rt_mutex_lock(&heap_lock);
    heap_lock_depth++;
}

void __malloc_unlock(struct _reent *reent)
{
    (void)reent;
    if (--heap_lock_depth == 0)
        rt_mutex_unlock(&heap_lock);
}

static error_t rt_heap_reserve(void)
{
    vm_address_t address = HEAP_BASE;

    if (vm_allocate(mach_task_self(), &address, HEAP_BYTES, FALSE) != KERN_SUCCESS)
        return ENOMEM;
    heap_break = HEAP_BASE;
    return 0;
}

/* => the heap's lock is held: only malloc and its kin come here. */
void *sbrk(ptrdiff_t increment);
void *sbrk(ptrdiff_t increment)
{
    vm_address_t old;

    if ((heap_break == 0 && rt_heap_reserve() != 0) ||
        (increment > 0 && (vm_size_t)increment > HEAP_BASE + HEAP_BYTES - heap_break)) {
        errno = ENOMEM;
        return (void *)-1;
    }
    old = heap_break;
    heap_break += (vm_address_t)increment;
    return (void *)old;
}

struct rt_heap rt_heap_get(void)
{
    vm_address_t end = heap_break == 0 ? HEAP_BASE : heap_break;

    return (struct rt_heap){.start = HEAP_BASE,
                            .end = (end + vm_page_size - 1) & ~(vm_page_size - 1),
                            .limit = HEAP_BASE + HEAP_BYTES};
}

void abort(void)
{
    rt_panic("abort");
}

void __assert_func(const char *file, int line, const char *function, const char *expression)
{
    rt_panic("%s:%d: %s: failed: %s", file, line, function, expression);
}

void _exit(int status)
{
    rt_panic("exit with status %d", status);
}

static int newlib_refuse(int error)
{
    errno = error;
    return -1;
}

_READ_WRITE_RETURN_TYPE write(int file, const void *data, size_t length)
{
    char text[256];
    size_t take = length < sizeof(text) - 1 ? length : sizeof(text) - 1;

    if (file != STDOUT_FILENO && file != STDERR_FILENO)
        return newlib_refuse(EBADF);
    memcpy(text, data, take);
    text[take] = '\0';
    mach_print(text);
    return (_READ_WRITE_RETURN_TYPE)take;
}

_READ_WRITE_RETURN_TYPE read(int file, void *data, size_t length)
{
    (void)file;
    (void)data;
    (void)length;
    return newlib_refuse(EBADF);
}

int close(int file)
{
    (void)file;
    return newlib_refuse(EBADF);
}

off_t lseek(int file, off_t offset, int whence)
{
    (void)file;
    (void)offset;
    (void)whence;
    return newlib_refuse(ESPIPE);
}

int fstat(int file, struct stat *status)
{
    (void)file;
    memset(status, 0, sizeof(*status));
    status->st_mode = S_IFCHR;
    return 0;
}

int isatty(int file)
{
    (void)file;
    return 1;
}

int kill(pid_t process, int signal)
{
    (void)process;
    rt_panic("raised signal %d", signal);
}

pid_t getpid(void)
{
    return 1;
}

#ifdef __LARGE64_FILES
/* newlib's stdio has entries for files beyond 2 GiB where off_t has 32 bits (i386); the console
   needs none of its own. */
_READ_WRITE_RETURN_TYPE __swrite64(struct _reent *reent, void *cookie, const char *data,
                                   int length);
_fpos64_t __sseek64(struct _reent *reent, void *cookie, _fpos64_t offset, int whence);

_READ_WRITE_RETURN_TYPE __swrite64(struct _reent *reent, void *cookie, const char *data, int length)
{
    (void)reent;
    return write(((FILE *)cookie)->_file, data, (size_t)length);
}

_fpos64_t __sseek64(struct _reent *reent, void *cookie, _fpos64_t offset, int whence)
{
    (void)reent;
    (void)cookie;
    (void)offset;
    (void)whence;
    return newlib_refuse(ESPIPE);
}
#endif
