// SPDX-License-Identifier: GPL-2.0-or-later
/* The pagers of files: where a file's pages come from and go to, and how a file grows and shrinks.
 */
#ifndef EXT2_FILE_PAGER_H
#define EXT2_FILE_PAGER_H

#include "ext2/node.h"

/* For the pagers of nodes. */
extern const struct backend_ops file_backend_ops;

/* Files' data is in STORE. => once. */
void file_pager_setup(struct store *store);

/* NODE's size is SIZE bytes. => nobody else uses NODE, or alloc_lock is held for writing. */
void file_set_size(struct node *node, uint64_t size);

/*
 * Give the file blocks to hold bytes OFFSET to OFFSET + *LENGTH, and make its size reach over them.
 * When there is no space for all, *LENGTH is what there is space for, above 0.
 * => no lock but io_lock held, for writing; may block; ENOSPC: not even for one block; EFBIG; EIO,
 * ENOMEM.
 */
error_t file_grow(struct node *node, uint64_t offset, vm_size_t *length);

/*
 * Make SIZE the file's size. Shrinking drops the pages behind it.
 * => io_lock held for writing; may block; EFBIG; EIO, ENOMEM.
 */
error_t file_resize(struct node *node, uint64_t size);

/*
 * Blocks that were given to NODE, and that no page was ever written to, hold old data of others:
 * write zeros there. A writer that failed or went away in the middle leaves such blocks.
 * => after the file's data was written out; no lock held but io_lock; blocks; EIO and others.
 */
error_t file_settle(struct node *node);

#endif
