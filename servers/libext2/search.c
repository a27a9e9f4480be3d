// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The search for free blocks: the first stretch that is long enough, from a goal on around the
 * file system, and if there is none, half of that, and so on.
 *
 * That stays cheap on a full or fragmented file system because each group remembers an upper bound
 * of its longest stretch. A scan of the whole group that found nothing lowers it; freeing blocks
 * there forgets it. A round that looks for more passes the group by.
 */
#include "libext2/private.h"

struct ext2_search {
    const struct ext2_group *group;
    const void *bits;
    uint32_t want;
    uint32_t longest; /* seen so far, windows or not */
    bool avoid;
    struct ext2_gap *gap;
};

/* The first block from START on that is in no window of GROUP. *END moves down to where the next
   window starts; it may end up at or below the block. */
static uint32_t ext2_windows_skip(const struct ext2_group *group, uint32_t start, uint32_t *end)
{
    for (const struct ext2_window *window = group->windows; window != NULL; window = window->next) {
        if (window->end <= start)
            continue;
        if (window->start > start) {
            *end = window->start < *end ? window->start : *end;
            break;
        }
        start = window->end;
    }
    return start;
}

/* Look at what windows leave of the free blocks from START to END. */
static void ext2_search_stretch(struct ext2_search *search, uint32_t start, uint32_t end)
{
    while (start < end && search->gap->count < search->want) {
        uint32_t piece_end = end;
        if (search->avoid)
            start = ext2_windows_skip(search->group, start, &piece_end);
        if (start < piece_end && piece_end - start > search->gap->count)
            *search->gap = (struct ext2_gap){start, piece_end - start};
        start = start < piece_end ? piece_end : end;
    }
}

/* Look at the group's blocks FROM to TO, counted from its start. */
static void ext2_search_range(struct ext2_search *search, uint32_t from, uint32_t to)
{
    uint32_t base = search->group->start;
    while (search->gap->count < search->want) {
        uint32_t start = ext2_bits_next_zero(search->bits, from, to);
        if (start == to)
            break;
        from = ext2_bits_next_one(search->bits, start, to);
        if (from - start > search->longest)
            search->longest = from - start;
        ext2_search_stretch(search, base + start, base + from);
    }
}

static error_t ext2_search_group(struct ext2_fs *fs, struct ext2_group *group, uint32_t from,
                                 uint32_t want, bool avoid, struct ext2_gap *gap)
{
    void *bits;
    if (group->nblocks_free == 0 || group->gap_limit < want)
        return 0;
    error_t error = ext2_get(fs, group->block_bitmap, EXT2_READ, &bits);
    if (error != 0)
        return error;
    struct ext2_search search = {group, bits, want, 0, avoid, gap};
    ext2_search_range(&search, from, group->nblocks);
    if (from == 0 && gap->count < want)
        group->gap_limit = search.longest;
    ext2_put(fs, group->block_bitmap, bits, false);
    return 0;
}

/* One round: from GOAL to the end of its group, the other groups, and its own once more. */
static error_t ext2_search_round(struct ext2_fs *fs, uint32_t goal, uint32_t want, bool avoid,
                                 struct ext2_gap *gap)
{
    struct ext2_group *group = ext2_group_of(fs, goal);
    uint32_t index = (uint32_t)(group - fs->groups);
    gap->count = 0;
    error_t error = ext2_search_group(fs, group, goal - group->start, want, avoid, gap);
    for (uint32_t i = 1; i <= fs->ngroups && error == 0 && gap->count < want; i++) {
        group = &fs->groups[(index + i) % fs->ngroups];
        error = ext2_search_group(fs, group, 0, want, avoid, gap);
    }
    return error;
}

error_t ext2_gap_find(struct ext2_fs *fs, uint32_t goal, uint32_t want, bool avoid,
                      struct ext2_gap *gap)
{
    for (; want > 0; want /= 2) {
        error_t error = ext2_search_round(fs, goal, want, avoid, gap);
        if (error != 0 || gap->count >= want)
            return error;
    }
    return ENOSPC;
}

error_t ext2_gap_at(struct ext2_fs *fs, uint32_t block, uint32_t want, struct ext2_gap *gap)
{
    void *bits;
    gap->count = 0;
    if (block < fs->super.first_data_block || block >= fs->super.blocks_count)
        return 0;
    struct ext2_group *group = ext2_group_of(fs, block);
    uint32_t end = group->start + group->nblocks;
    end = want < end - block ? block + want : end;
    if (ext2_windows_skip(group, block, &end) != block)
        return 0;
    error_t error = ext2_get(fs, group->block_bitmap, EXT2_READ, &bits);
    if (error != 0)
        return error;
    uint32_t from = block - group->start;
    gap->start = block;
    gap->count = ext2_bits_next_one(bits, from, end - group->start) - from;
    ext2_put(fs, group->block_bitmap, bits, false);
    return 0;
}
