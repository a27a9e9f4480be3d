// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "librt/x86/arch.h"
#include "librt/log.h"
#include "startup/startup.h"

/* GNU Mach's vm_allocate_contiguous gives 4 MiB at most: a larger size fails an assertion of the
   kernel's, which then stands still. */
#define FAULT_TOO_LARGE (8u << 20)

#define FAULT_MEMORY_STEP (1u << 20)

static void startup_fault_assert(void)
{
    vm_address_t virtual_address;
    rpc_phys_addr_t physical_address;

    vm_allocate_contiguous(startup_privileges.host, mach_task_self(), &virtual_address,
                           &physical_address, FAULT_TOO_LARGE, 0, RT_ARCH_PHYSICAL_MAX, 0);
}

/* A thread with the privilege to use the last pages may not wait for memory: when there is none,
   the kernel panics ("privileged thread unable to allocate page"). Nothing pages anonymous memory
   out here, so touching it uses all there is. */
static void startup_fault_panic(void)
{
    thread_wire(startup_privileges.host, mach_thread_self(), TRUE);
    for (;;) {
        vm_address_t memory = 0;

        if (vm_allocate(mach_task_self(), &memory, FAULT_MEMORY_STEP, TRUE) != KERN_SUCCESS)
            return;
        for (vm_size_t i = 0; i < FAULT_MEMORY_STEP; i += vm_page_size)
            *(volatile char *)(memory + i) = 1;
    }
}

/* The two interrupt controllers take a byte of interrupts that are not to come (Intel 8259A, OCW1).
   Without the clock's and the disk's the kernel soon has nothing left that it could do. */
static void startup_fault_stop(void)
{
    static const uint16_t masks[] = {0x21, 0xa1};

    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        startup_give_ports(masks[i], masks[i]);
        rt_arch_out8(masks[i], 0xff);
    }
}

void startup_fault(const char *fault)
{
    if (strcmp(fault, "assert") == 0)
        startup_fault_assert();
    else if (strcmp(fault, "panic") == 0)
        startup_fault_panic();
    else if (strcmp(fault, "stop") == 0)
        startup_fault_stop();
}
