// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The block map. An inode has twelve pointers to data, then one each to a tree of indirect blocks
 * of one, two and three levels; an indirect block is an array of pointers. A pointer that is 0
 * stands for a hole as large as what would be below it.
 *
 * Whatever the blocks say, a walk goes down three levels at most, and each pointer is checked
 * before it is followed or handed out.
 */
#include "libext2/private.h"

uint64_t ext2_level_span(const struct ext2_fs *fs, unsigned int level)
{
    return (uint64_t)1 << (level * fs->pointer_shift);
}

void ext2_path_find(const struct ext2_fs *fs, uint32_t file_block, struct ext2_path *path)
{
    uint64_t left = file_block;
    *path = (struct ext2_path){.slot = {file_block}};
    if (left < EXT2_DIRECT)
        return;
    left -= EXT2_DIRECT;
    unsigned int depth = 1;
    while (left >= ext2_level_span(fs, depth)) {
        left -= ext2_level_span(fs, depth);
        depth++;
    }
    path->depth = depth;
    path->slot[0] = EXT2_DIRECT + depth - 1;
    for (unsigned int i = 1; i <= depth; i++) {
        unsigned int below = depth - i;
        path->slot[i] = (uint32_t)(left >> (below * fs->pointer_shift));
        left &= ext2_level_span(fs, below) - 1;
    }
}

void ext2_pointers_run(const uint32_t *pointers, uint32_t count, struct ext2_run *run)
{
    uint32_t i = 1;
    run->block = pointers[0];
    while (i < count && pointers[i] == (run->block != 0 ? run->block + i : 0))
        i++;
    run->count = i;
}

/* A hole: NZEROS pointers from the one at LEVEL of the way on are 0. */
static void ext2_map_hole(const struct ext2_fs *fs, const struct ext2_path *path,
                          unsigned int level, uint32_t nzeros, uint32_t count, struct ext2_run *run)
{
    uint64_t length = nzeros * ext2_level_span(fs, path->depth - level);
    for (unsigned int i = level + 1; i <= path->depth; i++)
        length -= path->slot[i] * ext2_level_span(fs, path->depth - i);
    run->block = 0;
    run->count = length < count ? (uint32_t)length : count;
}

static error_t ext2_map_check(struct ext2_inode *inode, uint32_t block, uint32_t count)
{
    if (block == 0 || ext2_blocks_valid(inode->fs, block, count))
        return 0;
    return ext2_damage(inode->fs, "inode %u has block %u", (unsigned)inode->ino, (unsigned)block);
}

/* The run of COUNT pointers at most from SLOT on, in an array of LIMIT. */
static void ext2_map_leaf(const uint32_t *pointers, uint32_t slot, uint32_t limit, uint32_t count,
                          struct ext2_run *run)
{
    ext2_pointers_run(pointers + slot, count < limit - slot ? count : limit - slot, run);
}

/* Look into the indirect block *BLOCK at LEVEL of the way. *BLOCK becomes the next one, or 0 when
   RUN is known. */
static error_t ext2_map_step(struct ext2_inode *inode, const struct ext2_path *path,
                             unsigned int level, uint32_t count, uint32_t *block,
                             struct ext2_run *run)
{
    struct ext2_fs *fs = inode->fs;
    void *data;
    uint32_t here = *block;
    uint32_t slot = path->slot[level];
    uint32_t limit = 1u << fs->pointer_shift;
    error_t error = ext2_map_check(inode, here, 1);
    if (error == 0)
        error = ext2_get(fs, here, EXT2_READ, &data);
    if (error != 0)
        return error;
    const uint32_t *pointers = data;
    *block = level < path->depth ? pointers[slot] : 0;
    if (level == path->depth) {
        ext2_map_leaf(pointers, slot, limit, count, run);
    } else if (*block == 0) {
        ext2_map_leaf(pointers, slot, limit, limit, run);
        ext2_map_hole(fs, path, level, run->count, count, run);
    }
    ext2_put(fs, here, data, false);
    return 0;
}

static error_t ext2_map_walk(struct ext2_inode *inode, const struct ext2_path *path, uint32_t count,
                             struct ext2_run *run)
{
    error_t error = 0;
    uint32_t block = inode->disk.block[path->slot[0]];
    if (block == 0)
        ext2_map_hole(inode->fs, path, 0, 1, count, run);
    for (unsigned int level = 1; block != 0 && error == 0; level++)
        error = ext2_map_step(inode, path, level, count, &block, run);
    return error;
}

error_t ext2_map_piece(struct ext2_inode *inode, uint32_t first, uint32_t count,
                       struct ext2_run *run)
{
    struct ext2_path path;
    *run = (struct ext2_run){.first = first, .count = count};
    if (first >= inode->fs->file_blocks_max)
        return 0;
    ext2_path_find(inode->fs, first, &path);
    if (path.depth == 0) {
        ext2_map_leaf(inode->disk.block, path.slot[0], EXT2_DIRECT, count, run);
    } else {
        error_t error = ext2_map_walk(inode, &path, count, run);
        if (error != 0)
            return error;
    }
    return ext2_map_check(inode, run->block, run->count);
}

/* Whether PIECE goes on where RUN ends. */
static bool ext2_run_joins(const struct ext2_run *run, const struct ext2_run *piece)
{
    if (run->block == 0)
        return piece->block == 0;
    return piece->block == run->block + run->count;
}

error_t ext2_block_map(struct ext2_inode *inode, uint32_t first, uint32_t count,
                       struct ext2_run *run)
{
    struct ext2_run piece;
    if (!ext2_inode_has_blocks(inode))
        return EINVAL;
    if (count > UINT32_MAX - first)
        count = UINT32_MAX - first;
    error_t error = ext2_map_piece(inode, first, count, run);
    while (error == 0 && run->count < count) {
        error = ext2_map_piece(inode, first + run->count, count - run->count, &piece);
        if (error != 0)
            return 0; /* what comes before it is all right; the next call meets the error */
        if (!ext2_run_joins(run, &piece))
            break;
        run->count += piece.count;
    }
    return error;
}
