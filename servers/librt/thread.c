// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/thread-private.h"

#include <stdio.h>
#include <string.h>

#include "librt/error.h"
#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/order-private.h"

struct rt_thread *rt_thread_self(void)
{
    return rt_thread_current();
}

const char *rt_thread_name(const struct rt_thread *thread)
{
    return thread->name;
}

const char *rt_thread_label(const struct rt_thread *thread, char text[RT_LABEL_MAX])
{
    if (thread->number == 0)
        snprintf(text, RT_LABEL_MAX, "%s", thread->name);
    else
        snprintf(text, RT_LABEL_MAX, "%s/%u", thread->name, (unsigned int)thread->number);
    return text;
}

/* Put THREAD, which is new, into the task's list. */
static void rt_thread_link(struct rt_thread *thread)
{
    struct rt_thread *first = __atomic_load_n(&rt_state.threads, __ATOMIC_ACQUIRE);

    do {
        thread->next = first;
    } while (!__atomic_compare_exchange_n(&rt_state.threads, &first, thread, false,
                                          __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
}

struct rt_thread *rt_thread_init(vm_address_t stack, const char *name, void (*entry)(void *),
                                 void *arg)
{
    static uint32_t nthreads; /* atomic */
    struct rt_thread *thread = rt_thread_of_stack(stack);

    memset(thread, 0, sizeof(*thread));
    thread->magic = RT_THREAD_MAGIC;
    thread->held_classes = RT_ORDER_NONE;
    thread->number = __atomic_fetch_add(&nthreads, 1, __ATOMIC_RELAXED);
    thread->name = name;
    thread->entry = entry;
    thread->arg = arg;
    _REENT_INIT_PTR(&thread->reent);
    return thread;
}

void rt_thread_main(void)
{
    struct rt_thread *self = rt_thread_self();

    self->port = mach_thread_self();
    rt_thread_link(self);
    self->entry(self->arg);
    self->wait.kind = RT_WAIT_ENDED;
    /* Its stack cannot be freed from here. Servers' threads live as long as their task. */
    thread_suspend(self->port);
    __builtin_trap();
}

/* Allocate a stack of RT_STACK_BYTES, aligned to that, its lowest page inaccessible. */
static kern_return_t rt_stack_create(vm_address_t *stack)
{
    task_t task = mach_task_self();
    vm_address_t raw = 0;
    kern_return_t kr;

    kr = vm_allocate(task, &raw, 2 * RT_STACK_BYTES, TRUE);
    if (kr != KERN_SUCCESS)
        return kr;
    *stack = (raw + RT_STACK_BYTES - 1) & ~(vm_address_t)(RT_STACK_BYTES - 1);
    if (*stack != raw)
        vm_deallocate(task, raw, *stack - raw);
    vm_deallocate(task, *stack + RT_STACK_BYTES, raw + RT_STACK_BYTES - *stack);
    return vm_protect(task, *stack, vm_page_size, FALSE, VM_PROT_NONE);
}

static kern_return_t rt_thread_launch(struct rt_thread *thread)
{
    thread_t port;
    kern_return_t kr;

    kr = thread_create(mach_task_self(), &port);
    if (kr != KERN_SUCCESS)
        return kr;
    kr = rt_arch_thread_setup(port, (uintptr_t)thread);
    if (kr == KERN_SUCCESS)
        kr = thread_resume(port);
    if (kr != KERN_SUCCESS)
        thread_terminate(port);
    return kr;
}

int rt_thread_create(struct rt_thread **thread, const char *name, void (*entry)(void *), void *arg)
{
    struct rt_thread *created;
    vm_address_t stack;

    if (rt_stack_create(&stack) != KERN_SUCCESS)
        return ENOMEM;
    created = rt_thread_init(stack, name, entry, arg);
    if (rt_thread_launch(created) != KERN_SUCCESS) {
        vm_deallocate(mach_task_self(), stack, RT_STACK_BYTES);
        return ENOMEM;
    }
    if (thread != NULL)
        *thread = created;
    return 0;
}
