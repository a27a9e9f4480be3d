// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/rt.h"

#include "librt/clock-private.h"
#include "librt/config.h"
#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/thread-private.h"

#include "startup_user.h"

#define END_PORT 0xf4 /* QEMU's isa-debug-exit, see qemu.cfg */

static mach_port_t startup_port;
static int start_argc;
static char **start_argv;
static unsigned int threads_first; /* when the service was registered */

/* Address 0 stays inaccessible, so that following a null pointer is an exception and the kernel
   never places an allocation there. */
static void rt_guard_page_zero(void)
{
    vm_address_t zero = 0;

    if (vm_allocate(mach_task_self(), &zero, vm_page_size, FALSE) == KERN_SUCCESS)
        vm_protect(mach_task_self(), zero, vm_page_size, FALSE, VM_PROT_NONE);
}

/* The first thread's stack gets its guard page as soon as RPCs can be made. */
static void rt_guard_stack(void)
{
    vm_address_t stack = (vm_address_t)rt_thread_self() & ~(vm_address_t)(RT_STACK_BYTES - 1);

    vm_protect(mach_task_self(), stack, vm_page_size, FALSE, VM_PROT_NONE);
}

static void rt_main(void *arg)
{
    (void)arg;
    rt_guard_page_zero();
    rt_guard_stack();
    main(start_argc, start_argv);
}

/* The first C code of a task. ARGUMENTS is what the kernel left on the stack: argc, then argv. No
   RPC can be made yet, since a thread finds its reply port by its stack. */
_Noreturn void rt_start(uintptr_t *arguments);

void rt_start(uintptr_t *arguments)
{
    vm_address_t raw = 0;
    struct rt_thread *thread;

    start_argc = (int)arguments[0];
    start_argv = (char **)&arguments[1];
    /* Twice the size holds an aligned stack; the rest is never touched and costs nothing. */
    syscall_vm_allocate(mach_task_self(), &raw, 2 * RT_STACK_BYTES, TRUE);
    raw = (raw + RT_STACK_BYTES - 1) & ~(vm_address_t)(RT_STACK_BYTES - 1);
    thread = rt_thread_init(raw, "main", rt_main, NULL);
    rt_arch_switch_stack((uintptr_t)thread & ~(uintptr_t)15);
}

void rt_end(enum rt_end how)
{
    rt_arch_out8(END_PORT, (uint8_t)how);
    for (;;)
        thread_suspend(mach_thread_self());
}

static void rt_config_fetch(void)
{
    static char text[RT_CONFIG_MAX + 1];
    mach_msg_type_number_t length = RT_CONFIG_MAX;
    kern_return_t kr = startup_config(startup_port, text, &length);

    if (kr != KERN_SUCCESS)
        rt_panic("startup_config: error %#x", kr);
    text[length] = '\0';
    rt_config_init(text);
}

void rt_server_init(void)
{
    kern_return_t kr = task_get_bootstrap_port(mach_task_self(), &startup_port);

    if (kr != KERN_SUCCESS || !MACH_PORT_VALID(startup_port))
        rt_panic("no bootstrap port: error %#x", kr);
    rt_config_fetch();
    rt_clock_setup(rt_config_u64("tsc_hz"));
    rt_emit("start server=%s", rt_image.name);
}

mach_port_t rt_startup_port(void)
{
    return startup_port;
}

mach_port_t rt_device_master(void)
{
    mach_port_t master = MACH_PORT_NULL;
    kern_return_t kr = startup_device_master(startup_port, &master);

    if (kr != KERN_SUCCESS)
        rt_panic("startup_device_master: error %#x", kr);
    return master;
}

mach_port_t rt_host_privileged(void)
{
    mach_port_t host = MACH_PORT_NULL;
    kern_return_t kr = startup_host_privileged(startup_port, &host);

    if (kr != KERN_SUCCESS)
        rt_panic("startup_host_privileged: error %#x", kr);
    return host;
}

/* The kernel's count, not our own: who wants to know does not trust the books. */
static unsigned int rt_threads_count(void)
{
    thread_array_t ports;
    mach_msg_type_number_t count;

    if (task_threads(mach_task_self(), &ports, &count) != KERN_SUCCESS)
        rt_panic("no list of this task's threads");
    for (mach_msg_type_number_t i = 0; i < count; i++)
        mach_port_deallocate(mach_task_self(), ports[i]);
    vm_deallocate(mach_task_self(), (vm_address_t)ports, count * sizeof(*ports));
    return count;
}

void rt_service_register(const char *name, mach_port_t port)
{
    kern_return_t kr;

    threads_first = rt_threads_count();
    kr = startup_register(startup_port, name, port);
    if (kr != KERN_SUCCESS)
        rt_panic("startup_register %s: error %#x", name, kr);
}

void rt_threads_emit(void)
{
    rt_emit("threads server=%s first=%u last=%u", rt_image.name, threads_first, rt_threads_count());
}

mach_port_t rt_service_lookup(const char *name)
{
    mach_port_t port = MACH_PORT_NULL;
    kern_return_t kr = startup_lookup(startup_port, name, &port);

    if (kr != KERN_SUCCESS)
        rt_panic("startup_lookup %s: error %#x", name, kr);
    return port;
}
