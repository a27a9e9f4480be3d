/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * size_t rt_arch_copy(void *to, const void *from, size_t bytes): copy, and return how many bytes
 * were copied. A fault between _start and _end makes the thread continue at _end
 * (rt_arch_copy_resume): %edi then still says how far it got.
 */
        .text
        .globl  rt_arch_copy, rt_arch_copy_start, rt_arch_copy_end
rt_arch_copy:
        pushl   %esi
        pushl   %edi
        movl    12(%esp), %edi
        movl    16(%esp), %esi
        movl    20(%esp), %ecx
        movl    %ecx, %edx
        shrl    $2, %ecx
        andl    $3, %edx
        cld
rt_arch_copy_start:
        rep movsl
        movl    %edx, %ecx
        rep movsb
rt_arch_copy_end:
        movl    %edi, %eax
        subl    12(%esp), %eax
        popl    %edi
        popl    %esi
        ret

        .section .note.GNU-stack, "", @progbits
