/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * size_t rt_arch_copy(void *to, const void *from, size_t bytes): copy, and return how many bytes
 * were copied. A fault between _start and _end makes the thread continue at _end
 * (rt_arch_copy_resume): %rdi then still says how far it got.
 */
        .text
        .globl  rt_arch_copy, rt_arch_copy_start, rt_arch_copy_end
rt_arch_copy:
        movq    %rdi, %r8
        movq    %rdx, %rcx
        shrq    $3, %rcx
        andl    $7, %edx
        cld
rt_arch_copy_start:
        rep movsq
        movl    %edx, %ecx
        rep movsb
rt_arch_copy_end:
        movq    %rdi, %rax
        subq    %r8, %rax
        ret

        .section .note.GNU-stack, "", @progbits
