// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrays that grow by one element at a time. */
#ifndef RUN_ARRAY_H
#define RUN_ARRAY_H

#include <stddef.h>

/*
 * Make room for one more of COUNT elements of BYTES each. An array that has room for more gets no
 * more: capacities are powers of two.
 * => the array may have moved; memory that runs out ends the program.
 */
void *array_grow(void *array, size_t count, size_t bytes) __attribute__((returns_nonnull));

#endif
