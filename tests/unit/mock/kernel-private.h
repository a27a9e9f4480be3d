// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel and the task's mappings (task.c) know of each other. */
#ifndef MOCK_KERNEL_PRIVATE_H
#define MOCK_KERNEL_PRIVATE_H

#include "mock/kernel.h"

#define MOCK_PAGES_MAX 4096 /* of an object that the task maps, but for views */

/* Some bytes that lie within one page: of an object, of plain memory, or what cannot be touched. */
struct mock_place {
    struct mock_object *object;
    size_t offset; /* in the object */
    void *plain;   /* without an object */
    bool bad;
};

/*
 * One mapping more of the object that PORT stands for, which begins with the first and ends with
 * the last. With VIEW it is NPAGES long, and the task may touch the pages at mock_object_view
 * itself; a fault there is to be passed to mock_fault.
 */
struct mock_object *mock_object_map(mach_port_t port, size_t npages, bool view);
void mock_object_unmap(struct mock_object *object);
unsigned char *mock_object_view(const struct mock_object *object);

/* Have a page there, to be read or written. => blocks. */
kern_return_t mock_fault(struct mock_object *object, size_t page, bool write);

/* Copy BYTES. => blocks until both are there. */
kern_return_t mock_copy(const struct mock_place *to, const struct mock_place *from, size_t bytes);

/* memory.c: memory of messages and of vm_allocate, which may be released page by page. */
vm_address_t mock_memory_alloc(vm_size_t size);
void mock_memory_free(vm_address_t address, vm_size_t size);

/* task.c: end the mapping of SIZE bytes at ADDRESS. False when there is none. */
bool mock_task_unmap(vm_address_t address, vm_size_t size);

#endif
