// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One input of the fuzzer: which image to begin with, changes to its bytes, and a script.
 *
 *   byte 0       the image (fuzz.c has a table)
 *   byte 1       the number of changes
 *   5 bytes each where (24 bits, little-endian), what (a byte), and how (a byte: how many bytes,
 * and whether they are set or flipped) the rest     4 bytes for each operation of exercise_script;
 * none: exercise_all
 */
#ifndef TESTS_LIBEXT2_FUZZ_H
#define TESTS_LIBEXT2_FUZZ_H

#include <stddef.h>
#include <stdint.h>

void fuzz_one(const uint8_t *data, size_t size);

#endif
