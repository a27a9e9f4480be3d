// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * File data on top of libext2, as a server without a page cache would move it: blocks are looked up
 * and allocated, the data goes straight to the device, and what a fresh block or the end of a file
 * leaves over is zeroed.
 */
#ifndef TESTS_LIBEXT2_FILE_H
#define TESTS_LIBEXT2_FILE_H

#include "device.h"

/* Write LENGTH bytes at OFFSET, and set the size over them. *DONE is how many were written, also
   after an error; the size is right then. */
error_t file_write(struct device *device, struct ext2_inode *inode, uint64_t offset,
                   const void *data, uint64_t length, uint64_t *done);

/* Read LENGTH bytes at OFFSET, up to the size; *DONE is how many. */
error_t file_read(struct device *device, struct ext2_inode *inode, uint64_t offset, void *data,
                  uint64_t length, uint64_t *done);

/* Set the size; the rest of the last block is zeroed. */
error_t file_resize(struct device *device, struct ext2_inode *inode, uint64_t size);

#endif
