// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same work done by libext2 and by libext2fs, each on an image file of its own. Both have an
 * ext2_inode and so cannot meet in one source file: each is behind a table.
 */
#ifndef TESTS_BENCH_EXT2_H
#define TESTS_BENCH_EXT2_H

#include <stdbool.h>
#include <stdint.h>

struct bench_side {
    const char *name;

    /* Open the image at PATH, and close it with everything written. */
    void (*open)(const char *path);
    void (*close)(void);

    /* Make, or remove, an empty file in the root. */
    void (*create)(const char *name);
    void (*remove)(const char *name);

    /* Give the file called NAME blocks up to END (exclusive), in calls of STEP; the size follows.
     */
    void (*extend)(const char *name, uint32_t end, uint32_t step);

    /* Find the device blocks of the file blocks below END. Returns the sum of their numbers. */
    uint64_t (*map)(const char *name, uint32_t end);
};

extern const struct bench_side bench_libext2;
extern const struct bench_side bench_libext2fs;

/* End the program with a sentence unless ERROR is 0. */
void bench_require(long error, const char *what);

#endif
