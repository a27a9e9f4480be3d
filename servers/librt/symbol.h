// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses of an image as people read them, from the symbol table that the image carries. */
#ifndef LIBRT_SYMBOL_H
#define LIBRT_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#define RT_SYMBOL_MAX 96

/* The lines "ADDRESS NAME\n" of an image (struct rt_image). */
struct rt_symbols {
    const char *start;
    const char *end;
};

/* Write PC as NAME+OFFSET, the last symbol of TABLE at or below it, or else as a number.
   => does not block, does not allocate. */
void rt_symbol_print(const struct rt_symbols *table, uintptr_t pc, char *text, size_t size);

/* Write COUNT callers, the innermost first, up to the first 0: "A+0x12 < B+0x34". */
void rt_symbol_callers(const struct rt_symbols *table, const uintptr_t *callers, unsigned int count,
                       char *text, size_t size);

#endif
