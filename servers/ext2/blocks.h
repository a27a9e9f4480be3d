// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is going on with the blocks of a file: which are being read or written, and which are fresh,
 * that is, allocated and never written to the disk. All calls take the node's blocks_lock and hold
 * it for a few instructions, unless said otherwise.
 */
#ifndef EXT2_BLOCKS_H
#define EXT2_BLOCKS_H

#include "ext2/node.h"

/*
 * COUNT file blocks from FIRST on are being read or written from now until blocks_io_end. IO is the
 * caller's until then.
 * => alloc_lock held, under which it was asked where they are.
 */
void blocks_io_begin(struct node *node, struct node_io *io, uint32_t first, uint32_t count);
void blocks_io_end(struct node *node, const struct node_io *io);

/* Wait until nothing from file block FIRST on is being read or written. => blocks; the caller has
   made sure that nothing begins. */
void blocks_io_wait(struct node *node, uint32_t first);

/* Whether a file block is fresh. */
bool blocks_is_fresh(struct node *node, uint32_t file_block);

/* COUNT file blocks from FIRST on are fresh, or have been written. */
void blocks_mark_fresh(struct node *node, uint32_t first, uint32_t count);
void blocks_mark_written(struct node *node, uint32_t first, uint32_t count);

/* Have room for the marks of NBLOCKS blocks. => may block; ENOMEM. */
error_t blocks_reserve(struct node *node, size_t nblocks);

/* The first stretch of fresh blocks from *FIRST on. Returns its length, 0 when there is none. */
uint32_t blocks_next_fresh(struct node *node, uint32_t *first);

#endif
