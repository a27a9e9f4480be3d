// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/memory.h"

/* Wire [START, END), which has PROTECTION. Guard pages and what is not there stay. */
static void rt_memory_wire_range(mach_port_t host, vm_address_t start, vm_address_t end,
                                 vm_prot_t protection)
{
    if (start < end && protection != VM_PROT_NONE)
        vm_wire(host, mach_task_self(), start, end - start, protection);
}

/* The same, but of the heap only what is used. */
static void rt_memory_wire_region(mach_port_t host, vm_address_t start, vm_address_t end,
                                  vm_prot_t protection)
{
    struct rt_heap heap = rt_heap_get();

    if (start <= heap.start && heap.limit <= end) {
        rt_memory_wire_range(host, start, heap.end, protection);
        start = heap.limit;
    }
    rt_memory_wire_range(host, start, end, protection);
}

void rt_memory_wire(mach_port_t host)
{
    vm_address_t address = 0;
    vm_prot_t protection, maximum;
    vm_inherit_t inheritance;
    boolean_t shared;
    mach_port_t object;
    vm_offset_t offset;
    vm_size_t size;

    while (vm_region(mach_task_self(), &address, &size, &protection, &maximum, &inheritance,
                     &shared, &object, &offset) == KERN_SUCCESS) {
        if (MACH_PORT_VALID(object))
            mach_port_deallocate(mach_task_self(), object);
        rt_memory_wire_region(host, address, address + size, protection);
        address += size;
    }
}
