// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory objects in address spaces: vm_map and vm_deallocate, for the task and for its clients,
 * which are tasks of the same kernel and share its pages; and the guarded copies of librt/guard.h.
 *
 * Pages must be faulted in. What a server touches only by rt_guard_copy is mapped without any
 * access at all: the copy asks this kernel for each page, and whatever else touches it ends the
 * test. What a server touches as it likes is mapped page by page, as the kernel has it, and the
 * host's SIGSEGV becomes the page fault; a fault that the pager answers with an error ends the
 * test.
 */
#ifndef MOCK_TASK_H
#define MOCK_TASK_H

#include "mock/kernel.h"

/* What vm_map maps from now on may be touched by anybody, or (at first) by rt_guard_copy alone. */
void mock_map_touchable(bool on);

/* The object that is mapped at ADDRESS. */
struct mock_object *mock_object_at(vm_address_t address);

/* BYTES at addresses that give rt_guard_copy an error. */
void *mock_bad_memory(size_t bytes);

#endif
