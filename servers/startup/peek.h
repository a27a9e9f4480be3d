// SPDX-License-Identifier: GPL-2.0-or-later
/* Looking into the memory of another task, which need not run, or answer, for that. */
#ifndef STARTUP_PEEK_H
#define STARTUP_PEEK_H

#include <stdbool.h>
#include <stddef.h>

#include "librt/mach.h"
#include "librt/rt.h"
#include "librt/symbol.h"

/* A task's image. Without a symbol table, symbols is empty. */
struct peek_image {
    task_t task;
    struct rt_image head;
    struct rt_symbols symbols;
};

/* Copy SIZE bytes at ADDRESS of TASK to DATA. => blocks; an error is the kernel's. */
kern_return_t peek_read(task_t task, vm_address_t address, void *data, vm_size_t size);

/* Copy the string at ADDRESS of TASK to TEXT, at most SIZE - 1 bytes; what is no word of printable
   characters ends it. => blocks. */
void peek_string(task_t task, vm_address_t address, char *text, size_t size);

/* Find the image of TASK, which is the server NAME, but leave its symbols alone. => blocks;
   KERN_INVALID_ADDRESS when there is none of ours. */
kern_return_t peek_image_head(struct peek_image *image, task_t task, const char *name);

/* The same, with the symbols. => blocks; as above. */
kern_return_t peek_image_init(struct peek_image *image, task_t task, const char *name);

/* Release what the symbols take. */
void peek_image_destroy(struct peek_image *image);

#endif
