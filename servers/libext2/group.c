// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Group descriptors. They are read and checked once, at mount; the counts then live in memory and
 * go to the descriptors' blocks at ext2_sync.
 *
 * A group's own metadata lies in the group: copies of the super block and the descriptors at its
 * start, two bitmaps, and the inode table. So one look at one descriptor tells whether blocks can
 * belong to a file, and every pointer that comes from the device is asked that.
 */
#include <stdlib.h>

#include "libext2/private.h"

static bool ext2_is_power(uint32_t number, uint32_t base)
{
    while (number % base == 0)
        number /= base;
    return number == 1;
}

/* Whether group INDEX starts with a copy of the super block. */
static bool ext2_group_has_super(const struct ext2_fs *fs, uint32_t index)
{
    const struct ext2_super *super = &fs->super;
    if (index == 0)
        return true;
    if (super->feature_compat & EXT2_COMPAT_SPARSE_SUPER2)
        return index == super->backup_bgs[0] || index == super->backup_bgs[1];
    if (index == 1 || (super->feature_ro_compat & EXT2_RO_COMPAT_SPARSE_SUPER) == 0)
        return true;
    return ext2_is_power(index, 3) || ext2_is_power(index, 5) || ext2_is_power(index, 7);
}

/* Whether COUNT blocks from BLOCK lie in GROUP, behind its copies of the super block. */
static bool ext2_group_holds(const struct ext2_group *group, uint32_t block, uint32_t count)
{
    return block >= group->start + group->overhead && block - group->start <= group->nblocks &&
           count <= group->nblocks - (block - group->start);
}

static bool ext2_overlap(uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count)
{
    return a < b + b_count && b < a + a_count;
}

static bool ext2_group_layout_ok(const struct ext2_fs *fs, const struct ext2_group *group)
{
    return ext2_group_holds(group, group->block_bitmap, 1) &&
           ext2_group_holds(group, group->inode_bitmap, 1) &&
           ext2_group_holds(group, group->inode_table, fs->table_blocks) &&
           group->block_bitmap != group->inode_bitmap &&
           !ext2_overlap(group->block_bitmap, 1, group->inode_table, fs->table_blocks) &&
           !ext2_overlap(group->inode_bitmap, 1, group->inode_table, fs->table_blocks);
}

static bool ext2_group_counts_ok(const struct ext2_fs *fs, const struct ext2_group *group)
{
    return group->nblocks_free <= group->nblocks - group->overhead - 2 - fs->table_blocks &&
           group->ninodes_free <= fs->super.inodes_per_group &&
           group->ndirs <= fs->super.inodes_per_group - group->ninodes_free;
}

static void ext2_group_zone_setup(const struct ext2_fs *fs, struct ext2_group *group)
{
    uint32_t start = group->inode_table + fs->table_blocks;
    uint32_t count =
        group->nblocks / 16 < EXT2_ZONE_BLOCKS ? group->nblocks / 16 : EXT2_ZONE_BLOCKS;
    uint32_t left = group->start + group->nblocks - start;
    group->zone =
        (struct ext2_window){.start = start, .end = start + (count < left ? count : left)};
    group->windows = &group->zone;
    group->gap_limit = group->nblocks;
}

static error_t ext2_group_init(struct ext2_fs *fs, uint32_t index,
                               const struct ext2_group_desc *desc)
{
    const struct ext2_super *super = &fs->super;
    struct ext2_group *group = &fs->groups[index];
    group->start = super->first_data_block + index * super->blocks_per_group;
    uint32_t left = super->blocks_count - group->start;
    group->nblocks = left < super->blocks_per_group ? left : super->blocks_per_group;
    if (ext2_group_has_super(fs, index))
        group->overhead = 1 + fs->gdt_blocks + super->reserved_gdt_blocks;
    group->block_bitmap = desc->block_bitmap;
    group->inode_bitmap = desc->inode_bitmap;
    group->inode_table = desc->inode_table;
    group->nblocks_free = desc->free_blocks_count;
    group->ninodes_free = desc->free_inodes_count;
    group->ndirs = desc->used_dirs_count;
    if (group->overhead > group->nblocks || !ext2_group_layout_ok(fs, group)) {
        ext2_report(fs->ops, fs->hook, "the descriptor of group %u is damaged", (unsigned)index);
        return EINVAL;
    }
    if (!ext2_group_counts_ok(fs, group)) {
        ext2_report(fs->ops, fs->hook, "the counts of group %u are damaged", (unsigned)index);
        return EINVAL;
    }
    ext2_group_zone_setup(fs, group);
    return 0;
}

static uint32_t ext2_descs_per_block(const struct ext2_fs *fs)
{
    return fs->block_size / (uint32_t)sizeof(struct ext2_group_desc);
}

static error_t ext2_groups_load_block(struct ext2_fs *fs, uint32_t index)
{
    void *data;
    uint32_t block = fs->super.first_data_block + 1 + index / ext2_descs_per_block(fs);
    uint32_t end = index + ext2_descs_per_block(fs);
    error_t error = ext2_get(fs, block, EXT2_READ, &data);
    if (error != 0)
        return error;
    struct ext2_group_desc *descs = data;
    for (uint32_t i = index; i < end && i < fs->ngroups && error == 0; i++)
        error = ext2_group_init(fs, i, &descs[i - index]);
    ext2_put(fs, block, descs, false);
    return error;
}

static void ext2_groups_total(struct ext2_fs *fs)
{
    fs->nblocks_free = 0;
    fs->ninodes_free = 0;
    fs->overhead = fs->super.first_data_block;
    for (uint32_t i = 0; i < fs->ngroups; i++) {
        fs->nblocks_free += fs->groups[i].nblocks_free;
        fs->ninodes_free += fs->groups[i].ninodes_free;
        fs->overhead += fs->groups[i].overhead + 2 + fs->table_blocks;
    }
}

error_t ext2_groups_load(struct ext2_fs *fs)
{
    error_t error = 0;
    if (fs->gdt_blocks >= fs->super.blocks_count - fs->super.first_data_block)
        return EINVAL;
    fs->groups = calloc(fs->ngroups, sizeof *fs->groups);
    if (fs->groups == NULL)
        return ENOMEM;
    for (uint32_t i = 0; i < fs->ngroups && error == 0; i += ext2_descs_per_block(fs))
        error = ext2_groups_load_block(fs, i);
    if (error != 0)
        ext2_groups_free(fs);
    else
        ext2_groups_total(fs);
    return error;
}

void ext2_groups_free(struct ext2_fs *fs)
{
    free(fs->groups);
    fs->groups = NULL;
}

static bool ext2_groups_changed(const struct ext2_fs *fs, uint32_t index, uint32_t end)
{
    for (uint32_t i = index; i < end; i++)
        if (fs->groups[i].changed)
            return true;
    return false;
}

static error_t ext2_groups_store_block(struct ext2_fs *fs, uint32_t index, uint32_t end)
{
    void *data;
    uint32_t block = fs->super.first_data_block + 1 + index / ext2_descs_per_block(fs);
    error_t error = ext2_get(fs, block, EXT2_READ, &data);
    if (error != 0)
        return error;
    struct ext2_group_desc *descs = data;
    for (uint32_t i = index; i < end; i++) {
        struct ext2_group *group = &fs->groups[i];
        descs[i - index].free_blocks_count = (uint16_t)group->nblocks_free;
        descs[i - index].free_inodes_count = (uint16_t)group->ninodes_free;
        descs[i - index].used_dirs_count = (uint16_t)group->ndirs;
        group->changed = false;
    }
    ext2_put(fs, block, descs, true);
    return 0;
}

error_t ext2_groups_store(struct ext2_fs *fs)
{
    error_t error = 0;
    uint32_t step = ext2_descs_per_block(fs);
    for (uint32_t i = 0; i < fs->ngroups; i += step) {
        uint32_t end = fs->ngroups - i < step ? fs->ngroups : i + step;
        if (!ext2_groups_changed(fs, i, end))
            continue;
        error_t block_error = ext2_groups_store_block(fs, i, end);
        if (error == 0)
            error = block_error;
    }
    return error;
}

struct ext2_group *ext2_group_of(struct ext2_fs *fs, uint32_t block)
{
    return &fs->groups[(block - fs->super.first_data_block) / fs->super.blocks_per_group];
}

static bool ext2_group_is_metadata(const struct ext2_fs *fs, const struct ext2_group *group,
                                   uint32_t block, uint32_t count)
{
    return block < group->start + group->overhead ||
           ext2_overlap(block, count, group->block_bitmap, 1) ||
           ext2_overlap(block, count, group->inode_bitmap, 1) ||
           ext2_overlap(block, count, group->inode_table, fs->table_blocks);
}

bool ext2_blocks_valid(struct ext2_fs *fs, uint32_t block, uint32_t count)
{
    uint32_t end = fs->super.blocks_count;
    if (block < fs->super.first_data_block || block >= end || count > end - block)
        return false;
    while (count > 0) {
        struct ext2_group *group = ext2_group_of(fs, block);
        uint32_t left = group->start + group->nblocks - block;
        uint32_t here = count < left ? count : left;
        if (ext2_group_is_metadata(fs, group, block, here))
            return false;
        block += here;
        count -= here;
    }
    return true;
}
