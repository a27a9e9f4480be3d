// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mapping is a range of addresses, kept in a list that one mutex guards. Ranges without access
 * are reserved from the host, so that no other memory is there, and a touch is a SIGSEGV.
 *
 * The handler of SIGSEGV runs in the thread that touched the page. That thread is in the middle of
 * an instruction of the tested code, not of this kernel or of the C library's allocator, so it may
 * take this kernel's locks and wait.
 */
#include "mock/task.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "librt/guard.h"
#include "mock/kernel-private.h"
#include "mock/rt.h"

#define PAGE             ((size_t)4096)
#define FAULT_WRITE      2 /* the bit in the processor's error code */
#define TASK_ZEROS_BYTES 512
#define TASK_HOST        1u
#define TASK_TIME        1700000000 /* what the time is, seconds since 1970 */

struct mapping {
    struct mapping *next;
    uintptr_t start;
    size_t bytes;
    size_t offset;              /* in the object, of its first byte */
    struct mock_object *object; /* null: cannot be touched */
    bool touchable;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *mappings;
static bool touchable;
static struct sigaction segv_before;

void mock_map_touchable(bool on)
{
    pthread_mutex_lock(&lock);
    touchable = on;
    pthread_mutex_unlock(&lock);
}

static void mapping_add(const struct mapping *mapping)
{
    struct mapping *added = malloc(sizeof(*added));

    mock_check(added != NULL);
    *added = *mapping;
    pthread_mutex_lock(&lock);
    added->next = mappings;
    mappings = added;
    pthread_mutex_unlock(&lock);
}

/* The mapping at ADDRESS, if there is one. */
static bool mapping_lookup(uintptr_t address, struct mapping *found)
{
    const struct mapping *mapping;

    pthread_mutex_lock(&lock);
    mapping = mappings;
    while (mapping != NULL && address - mapping->start >= mapping->bytes)
        mapping = mapping->next;
    if (mapping != NULL)
        *found = *mapping;
    pthread_mutex_unlock(&lock);
    return mapping != NULL;
}

/* Take the mapping that starts at ADDRESS out of the list. */
static struct mapping *mapping_take(uintptr_t address)
{
    struct mapping **link = &mappings;
    struct mapping *mapping;

    pthread_mutex_lock(&lock);
    while (*link != NULL && (*link)->start != address)
        link = &(*link)->next;
    mapping = *link;
    if (mapping != NULL)
        *link = mapping->next;
    pthread_mutex_unlock(&lock);
    return mapping;
}

static void *addresses_reserve(size_t bytes)
{
    void *start = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    mock_check(start != MAP_FAILED);
    return start;
}

/* --- Faults ---------------------------------------------------------------------------------- */

static void task_fault(int number, siginfo_t *info, void *context)
{
    const ucontext_t *registers = context;
    uintptr_t address = (uintptr_t)info->si_addr;
    int errno_before = errno;
    struct mapping mapping;

    if (!mapping_lookup(address, &mapping) || !mapping.touchable) {
        sigaction(number, &segv_before, NULL); /* it comes again when this returns */
        return;
    }
    if (mock_fault(mapping.object, (address - mapping.start) / PAGE,
                   (registers->uc_mcontext.gregs[REG_ERR] & FAULT_WRITE) != 0) != KERN_SUCCESS)
        mock_fail("the task has touched memory that its pager cannot provide");
    errno = errno_before;
}

static void task_faults_setup(void)
{
    static bool done;
    struct sigaction action = {.sa_sigaction = task_fault, .sa_flags = SA_SIGINFO};

    pthread_mutex_lock(&lock);
    if (!done)
        mock_check(sigaction(SIGSEGV, &action, &segv_before) == 0);
    done = true;
    pthread_mutex_unlock(&lock);
}

#ifdef __SANITIZE_THREAD__
/* The sanitizer takes signals for asynchronous, and a process that ends for one with more to say.
 */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_signal_unsafe=0:atexit_sleep_ms=0";
}
#endif

/* --- vm_map and its counterpart -------------------------------------------------------------- */

kern_return_t vm_map(mach_port_t task, vm_address_t *address, vm_size_t size, vm_address_t mask,
                     boolean_t anywhere, mach_port_t memory_object, vm_offset_t offset,
                     boolean_t copy, vm_prot_t protection, vm_prot_t max_protection,
                     vm_inherit_t inheritance)
{
    struct mapping mapping = {.bytes = size, .offset = offset, .touchable = touchable};

    mock_check(task == mach_task_self() && size % PAGE == 0 && mask == 0 && anywhere &&
               offset % PAGE == 0 && (offset == 0 || !mapping.touchable) && !copy &&
               protection == max_protection && inheritance == VM_INHERIT_NONE);
    mapping.object = mock_object_map(memory_object, (offset + size) / PAGE, mapping.touchable);
    if (mapping.touchable)
        task_faults_setup();
    mapping.start = mapping.touchable ? (uintptr_t)mock_object_view(mapping.object)
                                      : (uintptr_t)addresses_reserve(size);
    mapping_add(&mapping);
    *address = mapping.start;
    return KERN_SUCCESS;
}

bool mock_task_unmap(vm_address_t address, vm_size_t size)
{
    struct mapping *mapping = mapping_take(address);

    if (mapping == NULL)
        return false;
    mock_check(mapping->bytes == size && mapping->object != NULL);
    if (!mapping->touchable)
        munmap((void *)address, size);
    mock_object_unmap(mapping->object);
    free(mapping);
    return true;
}

void *mock_bad_memory(size_t bytes)
{
    struct mapping mapping = {.bytes = bytes};

    mapping.start = (uintptr_t)addresses_reserve(bytes);
    mapping_add(&mapping);
    return (void *)mapping.start;
}

/* --- Copies ---------------------------------------------------------------------------------- */

static struct mock_place place_of(uintptr_t address)
{
    struct mapping mapping;

    if (!mapping_lookup(address, &mapping))
        return (struct mock_place){.plain = (void *)address};
    return (struct mock_place){.object = mapping.object,
                               .offset = mapping.offset + (address - mapping.start),
                               .bad = mapping.object == NULL};
}

static size_t left_in_page(uintptr_t address)
{
    return PAGE - address % PAGE;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

error_t rt_guard_copy(void *to, const void *from, size_t bytes, size_t *done)
{
    size_t step;

    for (*done = 0; *done < bytes; *done += step) {
        struct mock_place target = place_of((uintptr_t)to + *done);
        struct mock_place source = place_of((uintptr_t)from + *done);

        step = least(least(left_in_page((uintptr_t)to + *done), bytes - *done),
                     left_in_page((uintptr_t)from + *done));
        if (mock_copy(&target, &source, step) != KERN_SUCCESS)
            return EIO;
    }
    return 0;
}

error_t rt_guard_zero(void *to, size_t bytes)
{
    static const char zeros[TASK_ZEROS_BYTES];
    error_t error = 0;

    for (size_t at = 0; at < bytes && error == 0; at += sizeof(zeros)) {
        size_t done;

        error = rt_guard_copy((char *)to + at, zeros, least(sizeof(zeros), bytes - at), &done);
    }
    return error;
}

mach_port_t mach_host_self(void)
{
    return TASK_HOST;
}

kern_return_t host_get_time64(mach_port_t host, time_value64_t *now)
{
    mock_check(host == TASK_HOST);
    *now = (time_value64_t){.seconds = TASK_TIME};
    return KERN_SUCCESS;
}

struct mock_object *mock_object_at(vm_address_t address)
{
    struct mapping mapping;

    mock_check(mapping_lookup(address, &mapping) && mapping.object != NULL);
    return mapping.object;
}
