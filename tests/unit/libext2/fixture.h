// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tests of libext2 share: a mounted image, and short ways to do things that must work. */
#ifndef TESTS_LIBEXT2_FIXTURE_H
#define TESTS_LIBEXT2_FIXTURE_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <errno.h>
#include <string.h>

#include "device.h"
#include "file.h"
#include "image.h"

#define MIB (UINT64_C(1) << 20)

#define assert_ok(call) assert_int_equal(call, 0)

struct fixture {
    struct device device;
    struct ext2_fs *fs;
    struct ext2_inode *root;
    uint32_t block_size;
};

/* An image of SIZE bytes made by mke2fs with OPTIONS, mounted for writing. */
void fixture_setup(struct fixture *fixture, const char *options, uint64_t size);

/* Mount what is on the device again. */
void fixture_mount(struct fixture *fixture);

/* Sync and unmount; nothing may be held. */
void fixture_unmount(struct fixture *fixture);

/* Unmount, require that e2fsck finds nothing, and let the device go. */
void fixture_teardown(struct fixture *fixture);

/* A new regular file, with one user. */
struct ext2_inode *fixture_create(struct fixture *fixture, const char *name);

/* The inode called NAME in the root, with one user more. */
struct ext2_inode *fixture_lookup(struct fixture *fixture, const char *name);

/* Allocate COUNT file blocks from FIRST on in a new file or an old one, and set the size over them.
   Returns how many runs that took. */
unsigned int fixture_grow(struct fixture *fixture, struct ext2_inode *inode, uint32_t first,
                          uint32_t count);

struct ext2_stat fixture_stat(struct ext2_inode *inode);
struct ext2_statfs fixture_statfs(struct fixture *fixture);

#endif
