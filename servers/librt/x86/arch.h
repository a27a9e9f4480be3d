// SPDX-License-Identifier: GPL-2.0-or-later
/* All of librt that depends on the processor is in this folder; in i386/ and amd64/ what differs
   between the two. */
#ifndef LIBRT_ARCH_H
#define LIBRT_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include "librt/mach.h"
#include "librt/thread.h"

static inline uint64_t rt_arch_cycles(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static inline uintptr_t rt_arch_stack_pointer(void)
{
    uintptr_t sp;

#ifdef __x86_64__
    __asm__("movq %%rsp, %0" : "=r"(sp));
#else
    __asm__("movl %%esp, %0" : "=r"(sp));
#endif
    return sp;
}

/*
 * A function's frame starts with the address of its caller's frame, then the address where the
 * caller goes on. Frames of callers are higher up on the same stack (thread.h), as far as they have
 * frames.
 * => FRAME is on the calling thread's stack.
 */
static inline uintptr_t rt_arch_return_address(const void *frame)
{
    return ((const uintptr_t *)frame)[1];
}

static inline uintptr_t rt_arch_caller_frame(const void *frame)
{
    return ((const uintptr_t *)frame)[0];
}

/* I/O ports. => the task has been given them (i386_io_perm_modify), else this is an exception. */
static inline void rt_arch_out8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline void rt_arch_out16(uint16_t port, uint16_t value)
{
    __asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port));
}

static inline void rt_arch_out32(uint16_t port, uint32_t value)
{
    __asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port) : "memory");
}

static inline uint32_t rt_arch_in32(uint16_t port)
{
    uint32_t value;

    __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline uint8_t rt_arch_in8(uint16_t port)
{
    uint8_t value;

    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

/* The end of the physical addresses that vm_allocate_contiguous is to choose from: all that 32 bits
   can say. From a rounder number the kernel for i386 sees only the lower half, and from a lower one
   it takes memory beyond it all the same, and then stops on an assertion. */
#define RT_ARCH_PHYSICAL_MAX UINT64_C(0xfffff000)

/* Store to address 0, for tests of what happens then. */
static inline void rt_arch_crash(void)
{
    __asm__ volatile("movl $0, 0" : : : "memory");
}

/* Make the suspended THREAD start in rt_thread_main with stack pointer SP.
   => may block; an error is the kernel's. */
kern_return_t rt_arch_thread_setup(thread_t thread, uintptr_t sp);

/* Where a thread is: its program counter, stack pointer and frame pointer. */
struct rt_arch_place {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp;
};

/* Where THREAD is. => may block; an error is the kernel's. */
kern_return_t rt_arch_thread_place(thread_t thread, struct rt_arch_place *place);

/* Copy BYTES; returns how many were copied, less than BYTES when a fault was resumed. */
size_t rt_arch_copy(void *to, const void *from, size_t bytes);

/* If THREAD, which has an exception, is in rt_arch_copy's loop, make it continue behind the loop.
   => may block; KERN_NOT_RECEIVER: it is elsewhere; or an error of the kernel's. */
kern_return_t rt_arch_copy_resume(thread_t thread);

/* Continue in rt_thread_main on the stack whose end is SP. */
_Noreturn void rt_arch_switch_stack(uintptr_t sp);

#endif
