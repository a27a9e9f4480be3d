// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which blocks a file gets.
 *
 * Bulk writing needs long runs, so each growing file has a window: blocks that others leave alone
 * while there are any elsewhere. A file block goes to its own place in the window, whatever the
 * order in which a file is filled. A window that was filled in order is followed by a larger one,
 * right behind it if that is free: a short file takes little, and several files that grow in turns
 * come to lie in a few long runs each instead of in each other's gaps.
 *
 * Indirect blocks and directories come from the zone at the start of a group, behind its inodes.
 * There they do not cut the data, and many of them are written at once. When a zone is full the
 * next stretch of free blocks gives a new one, if it is long enough to be worth it.
 *
 * When nothing is left outside windows and zones, all windows end, and any free block will do.
 */
#include "libext2/private.h"

#define EXT2_WINDOW_FIRST      8u         /* blocks, at least, of a file's first window */
#define EXT2_WINDOW_NEXT_BYTES (8u << 20) /* at least, of those that follow */
#define EXT2_WINDOW_GROWTH     4u
#define EXT2_WINDOW_FREE_SHARE 16u /* and at most this part of the free blocks */

static void ext2_count_taken(struct ext2_fs *fs, struct ext2_group *group, uint32_t count)
{
    if (count > group->nblocks_free) {
        (void)ext2_damage(fs, "more blocks are free than the descriptors say"); /* goes on */
        count = group->nblocks_free;
    }
    group->nblocks_free -= count;
    group->changed = true;
    fs->nblocks_free -= count;
}

/* Take the free blocks from BLOCK on, COUNT at most, up to the first that is in use. */
static error_t ext2_take(struct ext2_fs *fs, uint32_t block, uint32_t count, uint32_t *got)
{
    void *bits;
    struct ext2_group *group = ext2_group_of(fs, block);
    uint32_t from = block - group->start;
    uint32_t end = count < group->nblocks - from ? from + count : group->nblocks;
    error_t error = ext2_get(fs, group->block_bitmap, EXT2_READ, &bits);
    if (error != 0)
        return error;
    *got = ext2_bits_next_one(bits, from, end) - from;
    bool valid = *got == 0 || ext2_blocks_valid(fs, block, *got);
    if (valid && *got > 0) {
        ext2_bits_set(bits, from, *got);
        ext2_count_taken(fs, group, *got);
    }
    ext2_put(fs, group->block_bitmap, bits, valid && *got > 0);
    if (!valid)
        return ext2_damage(fs, "metadata near block %u is marked as free", (unsigned)block);
    return 0;
}

/* The group that INODE is in. */
static struct ext2_group *ext2_inode_group(const struct ext2_inode *inode)
{
    struct ext2_fs *fs = inode->fs;
    return &fs->groups[(inode->ino - 1) / fs->super.inodes_per_group];
}

/* Where to look for INODE's data: behind BEFORE, or in its group. */
static uint32_t ext2_data_goal(const struct ext2_inode *inode, uint32_t before)
{
    const struct ext2_super *super = &inode->fs->super;
    uint32_t goal = before != 0 ? before + 1 : ext2_inode_group(inode)->zone.end;
    return goal < super->blocks_count ? goal : super->first_data_block;
}

static uint32_t ext2_window_size(const struct ext2_inode *inode, uint32_t first, uint32_t count)
{
    const struct ext2_fs *fs = inode->fs;
    const struct ext2_window *old = &inode->window;
    uint32_t least = count > EXT2_WINDOW_FIRST ? count : EXT2_WINDOW_FIRST;
    uint32_t size = least;
    if (old->end > old->start && first - old->first == old->end - old->start) {
        size = EXT2_WINDOW_NEXT_BYTES >> fs->block_shift;
        if (size < EXT2_WINDOW_GROWTH * old->size)
            size = EXT2_WINDOW_GROWTH * old->size;
    }
    if (size > fs->nblocks_free / EXT2_WINDOW_FREE_SHARE)
        size = fs->nblocks_free / EXT2_WINDOW_FREE_SHARE;
    if (size < least)
        size = least;
    return size < fs->super.blocks_per_group ? size : fs->super.blocks_per_group;
}

static error_t ext2_window_search(struct ext2_inode *inode, uint32_t before, uint32_t size,
                                  uint32_t count, struct ext2_gap *gap)
{
    struct ext2_fs *fs = inode->fs;
    gap->count = 0;
    error_t error = 0;
    if (before != 0)
        error = ext2_gap_at(fs, before + 1, size, gap);
    if (error != 0 || gap->count > 0)
        return error;
    uint32_t goal = ext2_data_goal(inode, before);
    error = ext2_gap_find(fs, goal, size, true, gap);
    if (error != ENOSPC)
        return error;
    ext2_windows_drop_all(fs);
    return ext2_gap_find(fs, goal, count, false, gap);
}

/* Give INODE a window for COUNT file blocks from FIRST, and more. */
static error_t ext2_window_renew(struct ext2_inode *inode, uint32_t first, uint32_t before,
                                 uint32_t count)
{
    struct ext2_fs *fs = inode->fs;
    struct ext2_gap gap;
    uint32_t size = ext2_window_size(inode, first, count);
    ext2_window_drop(fs, &inode->window);
    error_t error = ext2_window_search(inode, before, size, count, &gap);
    if (error != 0)
        return error;
    inode->window = (struct ext2_window){
        .start = gap.start,
        .end = gap.start + (gap.count < size ? gap.count : size),
        .first = first,
        .size = size,
    };
    ext2_window_insert(ext2_group_of(fs, gap.start), &inode->window);
    return 0;
}

/* Take COUNT blocks at most from where the window keeps them for FIRST. */
static error_t ext2_window_take(struct ext2_inode *inode, uint32_t first, uint32_t count,
                                uint32_t *block, uint32_t *got)
{
    const struct ext2_window *window = &inode->window;
    uint32_t length = window->end - window->start;
    *got = 0;
    if (first < window->first || first - window->first >= length)
        return 0;
    uint32_t skip = first - window->first;
    *block = window->start + skip;
    return ext2_take(inode->fs, *block, count < length - skip ? count : length - skip, got);
}

error_t ext2_data_allocate(struct ext2_inode *inode, uint32_t first, uint32_t before,
                           uint32_t count, uint32_t *block, uint32_t *got)
{
    error_t error = ext2_window_take(inode, first, count, block, got);
    if (error != 0 || *got > 0)
        return error;
    error = ext2_window_renew(inode, first, before, count);
    if (error == 0)
        error = ext2_window_take(inode, first, count, block, got);
    if (error == 0 && *got == 0)
        error = ENOSPC;
    return error;
}

/* A block of GROUP's zone; *GOT is 0 when it is full. */
static error_t ext2_zone_take(struct ext2_fs *fs, struct ext2_group *group, uint32_t *block,
                              uint32_t *got)
{
    void *bits;
    uint32_t end = group->zone.end - group->start;
    *got = 0;
    error_t error = ext2_get(fs, group->block_bitmap, EXT2_READ, &bits);
    if (error != 0)
        return error;
    uint32_t bit = ext2_bits_next_zero(bits, group->zone.start - group->start, end);
    ext2_put(fs, group->block_bitmap, bits, false);
    if (bit == end)
        return 0;
    *block = group->start + bit;
    return ext2_take(fs, *block, 1, got);
}

/* The same where zones are full: look for a new one from GOAL on, the upper half of what is free
   there, for the file goes on at GOAL. It may be in a group whose own is not full. */
static error_t ext2_zone_renew(struct ext2_fs *fs, uint32_t goal, uint32_t *block, uint32_t *got)
{
    struct ext2_gap gap;
    error_t error = ext2_gap_find(fs, goal, 2 * EXT2_ZONE_BLOCKS, true, &gap);
    if (error == ENOSPC)
        return 0;
    if (error != 0 || gap.count < 2 * EXT2_ZONE_LEAST)
        return error;
    uint32_t count = gap.count < 2 * EXT2_ZONE_BLOCKS ? gap.count / 2 : EXT2_ZONE_BLOCKS;
    struct ext2_group *group = ext2_group_of(fs, gap.start);
    error = ext2_zone_take(fs, group, block, got);
    if (error != 0 || *got > 0)
        return error;
    ext2_zone_move(group, gap.start + count, count);
    return ext2_zone_take(fs, group, block, got);
}

error_t ext2_meta_allocate(struct ext2_inode *inode, uint32_t near, uint32_t *block)
{
    struct ext2_fs *fs = inode->fs;
    uint32_t got = 0;
    struct ext2_gap gap;
    uint32_t goal = ext2_data_goal(inode, near);
    error_t error = ext2_zone_take(fs, ext2_inode_group(inode), block, &got);
    if (error == 0 && got == 0)
        error = ext2_zone_take(fs, ext2_group_of(fs, goal), block, &got);
    if (error == 0 && got == 0)
        error = ext2_zone_renew(fs, goal, block, &got);
    if (error != 0 || got > 0)
        return error;
    error = ext2_gap_find(fs, goal, 1, true, &gap);
    if (error == ENOSPC) {
        ext2_windows_drop_all(fs);
        error = ext2_gap_find(fs, goal, 1, false, &gap);
    }
    if (error != 0)
        return error;
    *block = gap.start;
    return ext2_take(fs, gap.start, 1, &got);
}

/* The same for blocks of one group. */
static error_t ext2_group_free(struct ext2_fs *fs, struct ext2_group *group, uint32_t from,
                               uint32_t count)
{
    void *bits;
    error_t error = ext2_get(fs, group->block_bitmap, EXT2_READ, &bits);
    if (error != 0) {
        (void)ext2_damage(fs, "blocks are lost because a bitmap cannot be read"); /* error counts */
        return error;
    }
    bool used = ext2_bits_next_zero(bits, from, from + count) == from + count;
    if (used)
        ext2_bits_clear(bits, from, count);
    ext2_put(fs, group->block_bitmap, bits, used);
    if (!used || count > group->nblocks - group->nblocks_free)
        return ext2_damage(fs, "a block that a file uses is marked as free");
    group->nblocks_free += count;
    group->gap_limit = group->nblocks;
    group->changed = true;
    fs->nblocks_free += count;
    return 0;
}

error_t ext2_blocks_free(struct ext2_fs *fs, uint32_t block, uint32_t count)
{
    error_t error = 0;
    while (count > 0) {
        struct ext2_group *group = ext2_group_of(fs, block);
        uint32_t left = group->start + group->nblocks - block;
        uint32_t here = count < left ? count : left;
        error_t here_error = ext2_group_free(fs, group, block - group->start, here);
        if (error == 0)
            error = here_error;
        block += here;
        count -= here;
    }
    return error;
}
