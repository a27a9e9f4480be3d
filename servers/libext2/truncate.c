// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Taking blocks away from a file, from its end. Blocks that follow each other are freed together.
 *
 * On a damaged file system the trees of indirect blocks may share blocks or lead in circles. The
 * first pointer that cannot be right, such as one to a block that led to it, and the first block
 * that is freed twice, end the walk; so it frees every block once at most, and none that it has in
 * hand. What was not reached is lost until somebody checks the file system, which has been marked
 * for it. The file's pointers are cleared all the same.
 */
#include "libext2/private.h"

#include <sys/stat.h>

struct ext2_shrink {
    struct ext2_inode *inode;
    uint32_t start; /* blocks that will be freed together */
    uint32_t count;
    uint32_t nfreed;
    uint32_t way[EXT2_LEVELS_MAX]; /* the indirect blocks in hand, by the level of their pointers */
    bool metadata;                 /* the data is a directory's or a link's */
    error_t error; /* the first; the walk goes on after a block that cannot be read */
    bool stop;
};

static void ext2_shrink_fail(struct ext2_shrink *shrink, error_t error, bool stop)
{
    if (shrink->error == 0)
        shrink->error = error;
    shrink->stop = shrink->stop || stop;
}

static void ext2_shrink_flush(struct ext2_shrink *shrink)
{
    if (shrink->count == 0)
        return;
    error_t error = ext2_blocks_free(shrink->inode->fs, shrink->start, shrink->count);
    if (error != 0)
        ext2_shrink_fail(shrink, error, true);
    shrink->count = 0;
}

static void ext2_shrink_add(struct ext2_shrink *shrink, uint32_t block, bool metadata)
{
    if (metadata)
        ext2_forget(shrink->inode->fs, block, 1);
    if (shrink->count == 0 || block != shrink->start + shrink->count) {
        ext2_shrink_flush(shrink);
        shrink->start = block;
    }
    shrink->count++;
    shrink->nfreed++;
}

static void ext2_shrink_pointer(struct ext2_shrink *shrink, uint32_t *pointer, unsigned int level,
                                uint64_t keep);

/* The same for the pointers in BLOCK, each at LEVEL; KEEP counts from the first. */
static void ext2_shrink_block(struct ext2_shrink *shrink, uint32_t block, unsigned int level,
                              uint64_t keep)
{
    struct ext2_fs *fs = shrink->inode->fs;
    void *data;
    error_t error = ext2_get(fs, block, EXT2_READ, &data);
    if (error != 0) {
        ext2_shrink_fail(shrink, error, false);
        (void)ext2_damage(fs, "blocks are lost behind block %u", (unsigned)block); /* recorded */
        return;
    }
    uint32_t *pointers = data;
    bool dirty = false;
    shrink->way[level] = block;
    uint64_t span = ext2_level_span(fs, level);
    for (uint32_t i = (uint32_t)(keep / span); i < 1u << fs->pointer_shift && !shrink->stop; i++) {
        uint32_t pointer = pointers[i];
        ext2_shrink_pointer(shrink, &pointer, level, i == keep / span ? keep % span : 0);
        if (keep > 0 && pointer != pointers[i]) { /* else the block itself goes */
            pointers[i] = pointer;
            dirty = true;
        }
    }
    shrink->way[level] = 0;
    ext2_put(fs, block, pointers, dirty);
}

/* Whether a pointer may lead to BLOCK. */
static bool ext2_shrink_may(const struct ext2_shrink *shrink, uint32_t block)
{
    for (unsigned int level = 0; level < EXT2_LEVELS_MAX; level++) {
        if (shrink->way[level] == block)
            return false;
    }
    return ext2_blocks_valid(shrink->inode->fs, block, 1);
}

/*
 * Free what is below *POINTER, which is at LEVEL, but for the first KEEP blocks. When nothing is to
 * be kept, the pointer is cleared, and the block it leads to is freed as well.
 */
static void ext2_shrink_pointer(struct ext2_shrink *shrink, uint32_t *pointer, unsigned int level,
                                uint64_t keep)
{
    struct ext2_fs *fs = shrink->inode->fs;
    uint32_t block = *pointer;
    if (block == 0)
        return;
    if (keep == 0)
        *pointer = 0;
    if (shrink->stop)
        return;
    if (!ext2_shrink_may(shrink, block)) {
        ext2_shrink_fail(
            shrink,
            ext2_damage(fs, "inode %u has block %u", (unsigned)shrink->inode->ino, (unsigned)block),
            true);
        return;
    }
    if (level > 0)
        ext2_shrink_block(shrink, block, level - 1, keep);
    if (keep == 0 && !shrink->stop)
        ext2_shrink_add(shrink, block, level > 0 || shrink->metadata);
}

static void ext2_shrink_count(struct ext2_shrink *shrink)
{
    struct ext2_inode *inode = shrink->inode;
    uint64_t sectors = (uint64_t)shrink->nfreed * inode->fs->sectors_per_block;
    if (sectors > inode->disk.blocks) {
        sectors = inode->disk.blocks;
        ext2_shrink_fail(
            shrink,
            ext2_damage(inode->fs, "inode %u has more blocks than it counts", (unsigned)inode->ino),
            false);
    }
    inode->disk.blocks -= (uint32_t)sectors;
}

error_t ext2_shrink(struct ext2_inode *inode, uint32_t from)
{
    struct ext2_shrink shrink = {.inode = inode, .metadata = !ext2_inode_is(inode, S_IFREG)};
    uint64_t start = EXT2_DIRECT;
    for (uint32_t i = from; i < EXT2_DIRECT; i++)
        ext2_shrink_pointer(&shrink, &inode->disk.block[i], 0, 0);
    for (unsigned int level = 1; level <= EXT2_LEVELS_MAX; level++) {
        uint64_t span = ext2_level_span(inode->fs, level);
        uint64_t keep = from > start ? from - start : 0;
        if (keep < span)
            ext2_shrink_pointer(&shrink, &inode->disk.block[EXT2_DIRECT + level - 1], level, keep);
        start += span;
    }
    ext2_shrink_flush(&shrink);
    ext2_shrink_count(&shrink);
    ext2_window_drop(inode->fs, &inode->window);
    return shrink.error;
}

/* The first file block that lies wholly beyond SIZE bytes. */
static uint32_t ext2_blocks_of(const struct ext2_fs *fs, uint64_t size)
{
    return (uint32_t)((size + fs->block_size - 1) >> fs->block_shift);
}

static error_t ext2_resize(struct ext2_inode *inode, uint64_t size)
{
    struct ext2_pin pin;
    if (size > inode->fs->file_bytes_max)
        return EFBIG;
    error_t error = ext2_pin(inode, &pin);
    if (error != 0) {
        (void)ext2_damage(inode->fs, "inode %u may have blocks beyond its size",
                          (unsigned)inode->ino); /* the caller hears of the cause */
        return error;
    }
    if (size <= ext2_inode_size(inode))
        error = ext2_shrink(inode, ext2_blocks_of(inode->fs, size));
    ext2_inode_size_set(inode, size);
    inode->disk.mtime = ext2_fs_now(inode->fs);
    inode->disk.ctime = inode->disk.mtime;
    ext2_pin_commit(&pin);
    return error;
}

error_t ext2_inode_resize(struct ext2_inode *inode, uint64_t size)
{
    if (!ext2_inode_is(inode, S_IFREG))
        return EINVAL;
    if (inode->fs->read_only)
        return EROFS;
    ext2_fs_lock(inode->fs);
    error_t error = ext2_resize(inode, size);
    ext2_fs_unlock(inode->fs);
    return error;
}
