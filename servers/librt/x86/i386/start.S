/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * First instructions of a task. GNU Mach's boot script leaves argc, argv[], 0, envp[], 0 on the
 * stack (kern/bootstrap.c, build_args_and_stack).
 */
#include <mach/syscall_sw.h>

        .text
        .globl  _start
_start:
        movl    %esp, %eax
        xorl    %ebp, %ebp
        andl    $-16, %esp
        subl    $12, %esp
        pushl   %eax
        call    rt_start

        .globl  rt_arch_switch_stack
rt_arch_switch_stack:
        movl    4(%esp), %esp
        xorl    %ebp, %ebp
        call    rt_thread_main

        .section .note.GNU-stack, "", @progbits
