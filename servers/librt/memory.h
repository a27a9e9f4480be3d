// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef LIBRT_MEMORY_H
#define LIBRT_MEMORY_H

#include "librt/mach.h"

/* Where the heap is: from START to END it is used, up to LIMIT its addresses are set aside. */
struct rt_heap {
    vm_address_t start;
    vm_address_t end;
    vm_address_t limit;
};

/* => does not block. */
struct rt_heap rt_heap_get(void);

/* Keep what this task has of memory now in RAM: image, stacks, heap. HOST is the privileged port.
   => blocks; what the kernel refuses to keep is left as it is. */
void rt_memory_wire(mach_port_t host);

#endif
