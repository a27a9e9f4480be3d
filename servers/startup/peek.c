// SPDX-License-Identifier: GPL-2.0-or-later
#include "startup/peek.h"

#include <string.h>

/* Each server's base address, by the build (servers/servers.mk). */
static const struct {
    const char *name;
    vm_address_t base;
} peek_layout[] = {
#include "layout.h"
};

static vm_address_t peek_base(const char *name)
{
    for (size_t i = 0; i < sizeof(peek_layout) / sizeof(peek_layout[0]); i++)
        if (strcmp(peek_layout[i].name, name) == 0)
            return peek_layout[i].base;
    return 0;
}

kern_return_t peek_read(task_t task, vm_address_t address, void *data, vm_size_t size)
{
    pointer_t copy;
    mach_msg_type_number_t count;
    kern_return_t kr = vm_read(task, address, size, &copy, &count);

    if (kr != KERN_SUCCESS)
        return kr;
    memcpy(data, (const void *)copy, size);
    return vm_deallocate(mach_task_self(), copy, count);
}

/* How many bytes from ADDRESS on, SIZE at most, are surely there if the first is. */
static size_t peek_step(vm_address_t address, size_t size)
{
    size_t rest = vm_page_size - address % vm_page_size;

    return size < rest ? size : rest;
}

void peek_string(task_t task, vm_address_t address, char *text, size_t size)
{
    size_t used = 0;
    size_t i = 0;

    while (i == used && used < size - 1) {
        size_t step = peek_step(address + used, size - 1 - used);

        if (peek_read(task, address + used, text + used, step) != KERN_SUCCESS)
            break;
        used += step;
        while (i < used && text[i] > ' ' && text[i] < 0x7f)
            i++;
    }
    text[i] = '\0';
}

static void peek_symbols_map(struct peek_image *image)
{
    vm_size_t size = (vm_size_t)(image->head.symbols_end - image->head.symbols);
    mach_msg_type_number_t count;
    pointer_t copy;

    if (vm_read(image->task, (vm_address_t)image->head.symbols, size, &copy, &count) ==
        KERN_SUCCESS)
        image->symbols = (struct rt_symbols){(const char *)copy, (const char *)copy + count};
}

kern_return_t peek_image_head(struct peek_image *image, task_t task, const char *name)
{
    kern_return_t kr = peek_read(task, peek_base(name), &image->head, sizeof(image->head));

    if (kr != KERN_SUCCESS)
        return kr;
    image->task = task;
    image->symbols = (struct rt_symbols){NULL, NULL};
    return image->head.magic == RT_IMAGE_MAGIC ? KERN_SUCCESS : KERN_INVALID_ADDRESS;
}

kern_return_t peek_image_init(struct peek_image *image, task_t task, const char *name)
{
    kern_return_t kr = peek_image_head(image, task, name);

    if (kr == KERN_SUCCESS)
        peek_symbols_map(image);
    return kr;
}

void peek_image_destroy(struct peek_image *image)
{
    if (image->symbols.start != NULL)
        vm_deallocate(mach_task_self(), (vm_address_t)image->symbols.start,
                      (vm_size_t)(image->symbols.end - image->symbols.start));
}
