// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An exception in any task, this one included, arrives here as a message of the kernel
 * (mach/exc.defs). The crashed task stands still; what it was is read out of its memory: its
 * image's head at its base address (struct rt_image), the symbol table that the head points to, and
 * the struct rt_thread at the end of the crashed thread's stack.
 */
#include <stdio.h>

#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/thread-private.h"
#include "startup/peek.h"
#include "startup/startup.h"

#include "exc_server.h"

static void crash_thread_name(task_t task, uintptr_t sp, char *text)
{
    struct rt_thread thread;

    snprintf(text, RT_SYMBOL_MAX, "unknown");
    if (peek_read(task, (vm_address_t)rt_thread_of_stack(sp), &thread, sizeof(thread)) ==
            KERN_SUCCESS &&
        thread.magic == RT_THREAD_MAGIC)
        peek_string(task, (vm_address_t)thread.name, text, RT_SYMBOL_MAX);
}

static void crash_symbol(task_t task, const char *server, uintptr_t pc, char *text)
{
    struct peek_image image;

    snprintf(text, RT_SYMBOL_MAX, "unknown");
    if (peek_image_init(&image, task, server) != KERN_SUCCESS)
        return;
    rt_symbol_print(&image.symbols, pc, text, RT_SYMBOL_MAX);
    peek_image_destroy(&image);
}

static void crash_report(thread_t thread, task_t task, integer_t exception, integer_t code,
                         long subcode)
{
    const char *server = startup_task_name(task);
    char name[RT_SYMBOL_MAX], symbol[RT_SYMBOL_MAX];
    struct rt_arch_place place = {0};

    if (server == NULL)
        server = "unknown";
    rt_arch_thread_place(thread, &place);
    crash_thread_name(task, place.sp, name);
    crash_symbol(task, server, place.pc, symbol);
    rt_emit("crash server=%s thread=%s pc=%#lx symbol=%s exception=%d code=%d subcode=%#lx", server,
            name, (unsigned long)place.pc, symbol, exception, code, subcode);
}

kern_return_t catch_exception_raise(mach_port_t port, mach_port_t thread, mach_port_t task,
                                    integer_t exception, integer_t code, rpc_long_integer_t subcode)
{
    (void)port;
    crash_report(thread, task, exception, code, (long)subcode);
    startup_end(99, "a task crashed");
}
