// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An exception in any task, this one included, arrives here as a message of the kernel
 * (mach/exc.defs). The crashed task stands still; what it was is read out of its memory: its
 * image's head at its base address (struct rt_image), the symbol table that the head points to, and
 * the struct rt_thread at the end of the crashed thread's stack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "librt/i386/arch.h"
#include "librt/log.h"
#include "librt/thread-private.h"
#include "startup/startup.h"

#include "exc_server.h"

#define CRASH_NAME_MAX 96

/* Each server's base address, by the build (servers/servers.mk). */
static const struct {
    const char *name;
    vm_address_t base;
} crash_layout[] = {
#include "layout.h"
};

static vm_address_t crash_base(const char *name)
{
    for (size_t i = 0; i < sizeof(crash_layout) / sizeof(crash_layout[0]); i++)
        if (strcmp(crash_layout[i].name, name) == 0)
            return crash_layout[i].base;
    return 0;
}

/* Copy SIZE bytes at ADDRESS of TASK to DATA. => blocks; an error is the kernel's. */
static kern_return_t crash_read(task_t task, vm_address_t address, void *data, vm_size_t size)
{
    pointer_t copy;
    mach_msg_type_number_t count;
    kern_return_t kr = vm_read(task, address, size, &copy, &count);

    if (kr != KERN_SUCCESS)
        return kr;
    memcpy(data, (const void *)copy, size);
    return vm_deallocate(mach_task_self(), copy, count);
}

/* Read the string at ADDRESS of TASK, at most CRASH_NAME_MAX - 1 characters. */
static void crash_read_string(task_t task, vm_address_t address, char *text)
{
    size_t i = 0;

    while (i < CRASH_NAME_MAX - 1 && crash_read(task, address + i, &text[i], 1) == KERN_SUCCESS &&
           text[i] > ' ')
        i++;
    text[i] = '\0';
}

static void crash_thread_name(task_t task, uintptr_t sp, char *text)
{
    struct rt_thread thread;

    snprintf(text, CRASH_NAME_MAX, "unknown");
    if (crash_read(task, (vm_address_t)rt_thread_of_stack(sp), &thread, sizeof(thread)) ==
            KERN_SUCCESS &&
        thread.magic == RT_THREAD_MAGIC)
        crash_read_string(task, (vm_address_t)thread.name, text);
}

/* Find the last symbol at or below PC in TABLE, lines "ADDRESS NAME". Writes "NAME+OFFSET". */
static void crash_search(char *table, uintptr_t pc, char *text)
{
    char *rest = NULL;
    const char *found = NULL;
    uintptr_t start = 0;

    for (char *line = strtok_r(table, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *name;
        uintptr_t address = strtoul(line, &name, 16);

        if (address > pc)
            break;
        start = address;
        found = name + strspn(name, " ");
    }
    if (found != NULL)
        snprintf(text, CRASH_NAME_MAX, "%s+%#lx", found, (unsigned long)(pc - start));
}

static void crash_symbol(task_t task, const char *server, uintptr_t pc, char *text)
{
    struct rt_image image;
    vm_size_t size;
    char *table;

    snprintf(text, CRASH_NAME_MAX, "unknown");
    if (crash_read(task, crash_base(server), &image, sizeof(image)) != KERN_SUCCESS ||
        image.magic != RT_IMAGE_MAGIC)
        return;
    size = (vm_size_t)(image.symbols_end - image.symbols);
    table = malloc(size + 1);
    if (table == NULL)
        return;
    if (crash_read(task, (vm_address_t)image.symbols, table, size) == KERN_SUCCESS) {
        table[size] = '\0';
        crash_search(table, pc, text);
    }
    free(table);
}

static void crash_report(thread_t thread, task_t task, integer_t exception, integer_t code,
                         long subcode)
{
    const char *server = startup_task_name(task);
    char name[CRASH_NAME_MAX], symbol[CRASH_NAME_MAX];
    uintptr_t pc = 0, sp = 0;

    if (server == NULL)
        server = "unknown";
    rt_arch_thread_registers(thread, &pc, &sp);
    crash_thread_name(task, sp, name);
    crash_symbol(task, server, pc, symbol);
    rt_emit("crash server=%s thread=%s pc=%#lx symbol=%s exception=%d code=%d subcode=%#lx", server,
            name, (unsigned long)pc, symbol, exception, code, subcode);
}

kern_return_t catch_exception_raise(mach_port_t port, mach_port_t thread, mach_port_t task,
                                    integer_t exception, integer_t code, rpc_long_integer_t subcode)
{
    (void)port;
    crash_report(thread, task, exception, code, (long)subcode);
    startup_end(99, "a task crashed");
}
