// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The disk as e2fsprogs sees it, which shares no code with ours. It lies in memory that other
 * programs can open, so looking at it copies nothing. Names are those in the root.
 */
#ifndef EXT2_TESTS_CONTENT_H
#define EXT2_TESTS_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "libext2/image.h"

/* The disk becomes a copy of IMAGE. Once in a process. => its bytes. */
uint8_t *content_setup(const struct device *image);

/* Whether e2fsck finds nothing; what it finds is printed. */
bool content_is_clean(void);

/* Whether the file called NAME has these SIZE bytes; the first difference is printed. */
bool content_equals(const char *name, const uint8_t *bytes, uint64_t size);

/* Which device blocks hold the first COUNT file blocks of NAME; 0 for a hole. */
void content_blocks(const char *name, uint32_t *blocks, uint32_t count);

/* The (single) indirect block of NAME, 0 if it has none. */
uint32_t content_indirect(const char *name);

/* Fill all free blocks of IMAGE with SOIL, so that old contents show. */
void content_soil(struct device *image, uint8_t soil);

#endif
