// SPDX-License-Identifier: GPL-2.0-or-later
/* Sizes and numbers, read and written the way people do. */
#ifndef RUN_SIZE_H
#define RUN_SIZE_H

#include <errno.h>
#include <stdint.h>

#define SIZE_TEXT_BYTES 32

/*
 * Read plain decimal digits. => EINVAL: not only digits; ERANGE: does not fit in 64 bits.
 */
error_t number_parse(const char *text, uint64_t *value);

/*
 * Read decimal digits and at most one of K, M, G in either case (powers of 1,024), as bytes.
 * => EINVAL: anything else stands there; EDOM: it is zero; ERANGE: does not fit in 64 bits.
 */
error_t size_parse(const char *text, uint64_t *bytes);

/* What is wrong with a size, for the end of a sentence: "is zero". ERROR is size_parse's. */
const char *size_explain(error_t error);

/* Write BYTES with the largest unit that divides it: "128M", "4K", "512". Returns TEXT. */
const char *size_format(uint64_t bytes, char text[SIZE_TEXT_BYTES]);

/* Write VALUE with a comma between thousands. Returns TEXT. */
const char *number_format(uint64_t value, char text[SIZE_TEXT_BYTES]);

/* The same two with storage of their own, for use as an argument; good until the block ends. */
#define SIZE_TEXT(bytes)   size_format((bytes), (char[SIZE_TEXT_BYTES]){0})
#define NUMBER_TEXT(value) number_format((value), (char[SIZE_TEXT_BYTES]){0})

#endif
