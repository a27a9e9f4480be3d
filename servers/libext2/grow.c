// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Giving blocks to a file. Everything is allocated and written while nothing points to it yet; the
 * last step sets one pointer, or some in one block, and cannot fail. So an error leaves the file as
 * it was.
 */
#include "libext2/private.h"

#include <string.h>
#include <sys/stat.h>

/* A place in a block map where something is missing, and what is to be put there. */
struct ext2_branch {
    struct ext2_inode *inode;
    struct ext2_path path;
    unsigned int level;             /* of the first pointer that is 0, or of the one to data */
    uint32_t holder;                /* the indirect block that holds it; 0: the inode */
    uint32_t *pointers;             /* the array that holds it, got if HOLDER is not 0 */
    uint32_t limit;                 /* pointers in the last array of the way */
    uint32_t made[EXT2_LEVELS_MAX]; /* new indirect blocks, from above */
    unsigned int nmade;
};

static uint32_t *ext2_branch_pointer(const struct ext2_branch *branch)
{
    return &branch->pointers[branch->path.slot[branch->level]];
}

static void ext2_branch_release(struct ext2_branch *branch, bool dirty)
{
    if (branch->holder != 0)
        ext2_put(branch->inode->fs, branch->holder, branch->pointers, dirty);
    branch->holder = 0;
}

/* Go down as far as there are indirect blocks. */
static error_t ext2_branch_find(struct ext2_inode *inode, uint32_t first,
                                struct ext2_branch *branch)
{
    struct ext2_fs *fs = inode->fs;
    *branch = (struct ext2_branch){.inode = inode, .pointers = inode->disk.block};
    ext2_path_find(fs, first, &branch->path);
    branch->limit = branch->path.depth == 0 ? EXT2_DIRECT : 1u << fs->pointer_shift;
    while (branch->level < branch->path.depth && *ext2_branch_pointer(branch) != 0) {
        uint32_t block = *ext2_branch_pointer(branch);
        ext2_branch_release(branch, false);
        if (!ext2_blocks_valid(fs, block, 1))
            return ext2_damage(fs, "inode %u has block %u", (unsigned)inode->ino, (unsigned)block);
        void *data;
        error_t error = ext2_get(fs, block, EXT2_READ, &data);
        if (error != 0)
            return error;
        branch->pointers = data;
        branch->holder = block;
        branch->level++;
    }
    return 0;
}

/* How many of COUNT pointers from the place on, in its array, are 0. */
static uint32_t ext2_branch_room(const struct ext2_branch *branch, uint32_t count)
{
    uint32_t slot = branch->path.slot[branch->path.depth];
    uint32_t room = count < branch->limit - slot ? count : branch->limit - slot;
    struct ext2_run hole;
    if (branch->level < branch->path.depth)
        return room;
    ext2_pointers_run(branch->pointers + slot, room, &hole);
    return hole.count;
}

/* The block of the file block before FIRST, or 0. */
static error_t ext2_branch_before(const struct ext2_branch *branch, uint32_t first,
                                  uint32_t *before)
{
    struct ext2_run run;
    uint32_t slot = branch->path.slot[branch->path.depth];
    *before = 0;
    if (first == 0)
        return 0;
    if (branch->level == branch->path.depth && slot > 0) {
        *before = branch->pointers[slot - 1];
    } else {
        error_t error = ext2_map_piece(branch->inode, first - 1, 1, &run);
        if (error != 0)
            return error;
        *before = run.block;
    }
    if (!ext2_blocks_valid(branch->inode->fs, *before, 1))
        *before = 0;
    return 0;
}

/* Allocate the indirect blocks that are missing. */
static error_t ext2_branch_make(struct ext2_branch *branch, uint32_t near)
{
    error_t error = 0;
    while (error == 0 && branch->level + branch->nmade < branch->path.depth) {
        error = ext2_meta_allocate(branch->inode, near, &branch->made[branch->nmade]);
        if (error == 0)
            branch->nmade++;
    }
    return error;
}

static void ext2_pointers_fill(uint32_t *pointers, uint32_t block, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        pointers[i] = block + i;
}

/* Write the new indirect blocks, with RUN's blocks in the last. */
static error_t ext2_branch_write(const struct ext2_branch *branch, const struct ext2_run *run)
{
    struct ext2_fs *fs = branch->inode->fs;
    void *data;
    for (unsigned int i = 0; i < branch->nmade; i++) {
        bool last = i + 1 == branch->nmade;
        uint32_t slot = branch->path.slot[branch->level + i + 1];
        error_t error = ext2_get(fs, branch->made[i], EXT2_NEW, &data);
        if (error != 0)
            return error;
        memset(data, 0, fs->block_size);
        ext2_pointers_fill((uint32_t *)data + slot, last ? run->block : branch->made[i + 1],
                           last ? run->count : 1);
        ext2_put(fs, branch->made[i], data, true);
    }
    return 0;
}

/* The last step. */
static void ext2_branch_link(struct ext2_branch *branch, const struct ext2_run *run)
{
    struct ext2_inode *inode = branch->inode;
    if (branch->nmade > 0)
        *ext2_branch_pointer(branch) = branch->made[0];
    else
        ext2_pointers_fill(ext2_branch_pointer(branch), run->block, run->count);
    inode->disk.blocks += (run->count + branch->nmade) * inode->fs->sectors_per_block;
    ext2_branch_release(branch, true);
}

/* What cannot be freed has marked the file system; the caller has an error to report already. */
static void ext2_branch_undo(struct ext2_branch *branch, const struct ext2_run *run)
{
    struct ext2_fs *fs = branch->inode->fs;
    for (unsigned int i = 0; i < branch->nmade; i++) {
        ext2_forget(fs, branch->made[i], 1);
        (void)ext2_blocks_free(fs, branch->made[i], 1);
    }
    if (run->count > 0)
        (void)ext2_blocks_free(fs, run->block, run->count);
    ext2_branch_release(branch, false);
}

/* The blocks for data: COUNT at most, from the place on. */
static error_t ext2_branch_data(struct ext2_branch *branch, uint32_t before, uint32_t count,
                                bool metadata, struct ext2_run *run)
{
    if (metadata) {
        error_t error = ext2_meta_allocate(branch->inode, before, &run->block);
        run->count = error == 0 ? 1 : 0;
        return error;
    }
    error_t error = ext2_data_allocate(branch->inode, run->first, before,
                                       ext2_branch_room(branch, count), &run->block, &run->count);
    if (error != 0)
        run->count = 0;
    return error;
}

static error_t ext2_branch_add(struct ext2_branch *branch, uint32_t count, bool metadata,
                               struct ext2_run *run)
{
    struct ext2_pin pin;
    uint32_t before;
    error_t error = ext2_pin(branch->inode, &pin);
    if (error != 0)
        goto error_branch;
    error = ext2_branch_before(branch, run->first, &before);
    if (error == 0)
        error = ext2_branch_make(branch, before);
    if (error == 0)
        error = ext2_branch_data(branch, before, count, metadata, run);
    if (error == 0)
        error = ext2_branch_write(branch, run);
    if (error != 0)
        goto error_pin;
    ext2_branch_link(branch, run);
    ext2_pin_commit(&pin);
    return 0;

error_pin:
    ext2_pin_abort(&pin);
error_branch:
    ext2_branch_undo(branch, run);
    return error;
}

/* The inode counts sectors in 32 bits; COUNT is cut to what still fits. */
static error_t ext2_grow_limit(const struct ext2_inode *inode, uint32_t first, uint32_t *count)
{
    const struct ext2_fs *fs = inode->fs;
    uint64_t blocks_max = fs->file_bytes_max >> fs->block_shift;
    if (fs->file_bytes_max % fs->block_size != 0)
        blocks_max++;
    uint32_t room = (UINT32_MAX - inode->disk.blocks) / fs->sectors_per_block;
    if (first >= blocks_max || room <= EXT2_LEVELS_MAX)
        return EFBIG;
    if (*count > blocks_max - first)
        *count = (uint32_t)(blocks_max - first);
    if (*count > room - EXT2_LEVELS_MAX)
        *count = room - EXT2_LEVELS_MAX;
    return 0;
}

error_t ext2_grow(struct ext2_inode *inode, uint32_t first, uint32_t count, bool metadata,
                  struct ext2_run *run)
{
    struct ext2_branch branch;
    *run = (struct ext2_run){.first = first};
    error_t error = ext2_grow_limit(inode, first, &count);
    if (error == 0)
        error = ext2_branch_find(inode, first, &branch);
    if (error != 0)
        return error;
    if (branch.level < branch.path.depth || *ext2_branch_pointer(&branch) == 0) {
        run->fresh = true;
        return ext2_branch_add(&branch, count, metadata, run);
    }
    ext2_branch_release(&branch, false);
    return ext2_map_piece(inode, first, count, run);
}

error_t ext2_block_allocate(struct ext2_inode *inode, uint32_t first, uint32_t count,
                            struct ext2_run *run)
{
    if (!ext2_inode_is(inode, S_IFREG))
        return EINVAL;
    if (inode->fs->read_only)
        return EROFS;
    ext2_fs_lock(inode->fs);
    error_t error = ext2_grow(inode, first, count, false, run);
    ext2_fs_unlock(inode->fs);
    return error;
}
