// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inode numbers. A file goes to the group of its directory, so that what is used together is near.
 * A directory goes there as well unless that group has less room than the average: then to the one
 * with the most free blocks.
 */
#include "libext2/private.h"

static struct ext2_group *ext2_group_roomiest(struct ext2_fs *fs, struct ext2_group *near)
{
    struct ext2_group *best = near;
    for (uint32_t i = 0; i < fs->ngroups; i++) {
        struct ext2_group *group = &fs->groups[i];
        if (group->ninodes_free > 0 &&
            (best->ninodes_free == 0 || group->nblocks_free > best->nblocks_free))
            best = group;
    }
    return best;
}

/* The first group from NEAR on, around, that has a free inode; null: none has. */
static struct ext2_group *ext2_group_next(struct ext2_fs *fs, const struct ext2_group *near)
{
    uint32_t index = (uint32_t)(near - fs->groups);
    for (uint32_t i = 0; i < fs->ngroups; i++) {
        struct ext2_group *group = &fs->groups[(index + i) % fs->ngroups];
        if (group->ninodes_free > 0)
            return group;
    }
    return NULL;
}

static struct ext2_group *ext2_ino_group(struct ext2_fs *fs, uint32_t parent, bool directory)
{
    struct ext2_group *near = &fs->groups[(parent - 1) / fs->super.inodes_per_group];
    bool cramped = near->nblocks_free < fs->nblocks_free / fs->ngroups / 2 ||
                   near->ninodes_free < fs->ninodes_free / fs->ngroups / 2;
    if (directory && cramped)
        near = ext2_group_roomiest(fs, near);
    return ext2_group_next(fs, near);
}

/* The first number in the group whose first inode is BASE that files may have. */
static uint32_t ext2_ino_first_bit(const struct ext2_fs *fs, uint32_t base)
{
    uint32_t bit = base < fs->first_ino ? fs->first_ino - base : 0;
    return bit < fs->super.inodes_per_group ? bit : fs->super.inodes_per_group;
}

static void ext2_count_inode(struct ext2_fs *fs, struct ext2_group *group, bool directory)
{
    group->ninodes_free--;
    group->ndirs += directory ? 1 : 0;
    group->changed = true;
    fs->ninodes_free--;
}

error_t ext2_ino_allocate(struct ext2_fs *fs, uint32_t parent, bool directory, uint32_t *ino)
{
    void *bits;
    struct ext2_group *group = ext2_ino_group(fs, parent, directory);
    if (group == NULL)
        return ENOSPC;
    error_t error = ext2_get(fs, group->inode_bitmap, EXT2_READ, &bits);
    if (error != 0)
        return error;
    uint32_t end = fs->super.inodes_per_group;
    uint32_t base = (uint32_t)(group - fs->groups) * end + 1;
    uint32_t bit = ext2_bits_next_zero(bits, ext2_ino_first_bit(fs, base), end);
    if (bit < end) {
        ext2_bits_set(bits, bit, 1);
        ext2_count_inode(fs, group, directory);
    }
    ext2_put(fs, group->inode_bitmap, bits, bit < end);
    if (bit == end)
        return ext2_damage(fs, "a group has no free inode although its descriptor says so");
    *ino = base + bit;
    return 0;
}

error_t ext2_ino_free(struct ext2_fs *fs, uint32_t ino, bool directory)
{
    void *bits;
    struct ext2_group *group = &fs->groups[(ino - 1) / fs->super.inodes_per_group];
    uint32_t bit = (ino - 1) % fs->super.inodes_per_group;
    error_t error = ext2_get(fs, group->inode_bitmap, EXT2_READ, &bits);
    if (error != 0)
        return error;
    bool used = ext2_bits_next_zero(bits, bit, bit + 1) != bit;
    ext2_bits_clear(bits, bit, 1);
    ext2_put(fs, group->inode_bitmap, bits, true);
    if (!used || group->ninodes_free == fs->super.inodes_per_group)
        return ext2_damage(fs, "inode %u is in use, but marked as free", (unsigned)ino);
    group->ninodes_free++;
    if (directory && group->ndirs > 0)
        group->ndirs--;
    group->changed = true;
    fs->ninodes_free++;
    return 0;
}
