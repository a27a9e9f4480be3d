/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * First instructions of a task. GNU Mach's boot script leaves argc, argv[], 0, envp[], 0 on the
 * stack (kern/bootstrap.c, build_args_and_stack), in words of 64 bits.
 */
#include <mach/syscall_sw.h>

        .text
        .globl  _start
_start:
        movq    %rsp, %rdi
        xorl    %ebp, %ebp
        andq    $-16, %rsp
        call    rt_start

        .globl  rt_arch_switch_stack
rt_arch_switch_stack:
        movq    %rdi, %rsp
        xorl    %ebp, %ebp
        call    rt_thread_main

        .section .note.GNU-stack, "", @progbits
