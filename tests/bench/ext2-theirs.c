// SPDX-License-Identifier: GPL-2.0-or-later
#include <ext2fs/ext2fs.h>
#include <string.h>

#include "ext2.h"

static ext2_filsys theirs;

static void theirs_open(const char *path)
{
    bench_require(ext2fs_open(path, EXT2_FLAG_RW, 0, 0, unix_io_manager, &theirs), "ext2fs_open");
    bench_require(ext2fs_read_bitmaps(theirs), "ext2fs_read_bitmaps");
}

static void theirs_close(void)
{
    bench_require(ext2fs_close(theirs), "ext2fs_close");
}

static ext2_ino_t theirs_lookup(const char *name)
{
    ext2_ino_t ino;
    bench_require(ext2fs_lookup(theirs, EXT2_ROOT_INO, name, (int)strlen(name), NULL, &ino),
                  "ext2fs_lookup");
    return ino;
}

static void theirs_create(const char *name)
{
    ext2_ino_t ino;
    struct ext2_inode inode = {.i_mode = LINUX_S_IFREG | 0644, .i_links_count = 1};
    bench_require(ext2fs_new_inode(theirs, EXT2_ROOT_INO, 0100644, 0, &ino), "ext2fs_new_inode");
    errcode_t error = ext2fs_link(theirs, EXT2_ROOT_INO, name, ino, EXT2_FT_REG_FILE);
    if (error == EXT2_ET_DIR_NO_SPACE) {
        bench_require(ext2fs_expand_dir(theirs, EXT2_ROOT_INO), "ext2fs_expand_dir");
        error = ext2fs_link(theirs, EXT2_ROOT_INO, name, ino, EXT2_FT_REG_FILE);
    }
    bench_require(error, "ext2fs_link");
    ext2fs_inode_alloc_stats2(theirs, ino, +1, 0);
    bench_require(ext2fs_write_new_inode(theirs, ino, &inode), "ext2fs_write_new_inode");
}

static void theirs_remove(const char *name)
{
    struct ext2_inode inode;
    ext2_ino_t ino = theirs_lookup(name);
    bench_require(ext2fs_unlink(theirs, EXT2_ROOT_INO, name, ino, 0), "ext2fs_unlink");
    bench_require(ext2fs_read_inode(theirs, ino, &inode), "ext2fs_read_inode");
    bench_require(ext2fs_punch(theirs, ino, &inode, NULL, 0, ~0ULL), "ext2fs_punch");
    inode.i_links_count = 0;
    inode.i_dtime = 1600000000;
    bench_require(ext2fs_write_inode(theirs, ino, &inode), "ext2fs_write_inode");
    ext2fs_inode_alloc_stats2(theirs, ino, -1, 0);
}

static void theirs_extend(const char *name, uint32_t end, uint32_t step)
{
    struct ext2_inode inode;
    ext2_ino_t ino = theirs_lookup(name);
    blk64_t block;
    bench_require(ext2fs_read_inode(theirs, ino, &inode), "ext2fs_read_inode");
    for (uint32_t first = 0; first < end; first += step) {
        for (uint32_t at = first; at < first + step; at++)
            bench_require(ext2fs_bmap2(theirs, ino, &inode, NULL, BMAP_ALLOC, at, NULL, &block),
                          "ext2fs_bmap2");
        uint64_t size = (uint64_t)(first + step) * theirs->blocksize;
        bench_require(ext2fs_inode_size_set(theirs, &inode, (ext2_off64_t)size), "size");
        bench_require(ext2fs_write_inode(theirs, ino, &inode), "ext2fs_write_inode");
    }
}

struct theirs_sum {
    uint64_t sum;
    uint32_t end;
};

// cppcheck-suppress constParameter ; libext2fs says what its callback is
static int theirs_add(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count, blk64_t ref, int offset,
                      void *private)
{
    struct theirs_sum *sum = private;
    (void)fs;
    (void)ref;
    (void)offset;
    if (count < sum->end)
        sum->sum += *block;
    return 0;
}

static uint64_t theirs_map(const char *name, uint32_t end)
{
    struct theirs_sum sum = {.end = end};
    bench_require(ext2fs_block_iterate3(theirs, theirs_lookup(name),
                                        BLOCK_FLAG_DATA_ONLY | BLOCK_FLAG_READ_ONLY, NULL,
                                        theirs_add, &sum),
                  "ext2fs_block_iterate3");
    return sum.sum;
}

const struct bench_side bench_libext2fs = {
    .name = "libext2fs",
    .open = theirs_open,
    .close = theirs_close,
    .create = theirs_create,
    .remove = theirs_remove,
    .extend = theirs_extend,
    .map = theirs_map,
};
