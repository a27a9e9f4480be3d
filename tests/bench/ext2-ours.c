// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ext2.h"
#include "libext2/ext2.h"

static struct {
    uint8_t *bytes;
    uint64_t size;
    struct ext2_fs *fs;
    struct ext2_inode *root;
} ours;

static error_t ours_get(void *hook, uint64_t offset, uint32_t length, enum ext2_how how,
                        void **data)
{
    (void)hook;
    (void)length;
    (void)how;
    *data = ours.bytes + offset;
    return 0;
}

static void ours_put(void *hook, uint64_t offset, uint32_t length, void *data, bool dirty)
{
    (void)hook;
    (void)offset;
    (void)length;
    (void)data;
    (void)dirty;
}

static const struct ext2_ops ours_ops = {.get = ours_get, .put = ours_put};

static void ours_open(const char *path)
{
    struct stat stat;
    int fd = open(path, O_RDWR);
    bench_require(fd < 0, path);
    if (fstat(fd, &stat) == 0)
        ours.size = (uint64_t)stat.st_size;
    ours.bytes = mmap(NULL, ours.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bench_require(ours.bytes == MAP_FAILED, "mmap");
    close(fd);
    bench_require(ext2_mount(&ours_ops, NULL, ours.size, false, &ours.fs), "mount");
    bench_require(ext2_inode_get(ours.fs, EXT2_ROOT_INO, &ours.root), "root");
}

static void ours_close(void)
{
    ext2_inode_put(ours.root);
    bench_require(ext2_sync(ours.fs), "sync");
    bench_require(ext2_unmount(ours.fs), "unmount");
    munmap(ours.bytes, ours.size);
}

static void ours_create(const char *name)
{
    struct ext2_inode *inode;
    bench_require(ext2_create(ours.root, name, 0100644, 0, 0, &inode), "create");
    ext2_inode_put(inode);
}

static void ours_remove(const char *name)
{
    bench_require(ext2_unlink(ours.root, name), "unlink");
}

static void ours_extend(const char *name, uint32_t end, uint32_t step)
{
    struct ext2_inode *inode;
    struct ext2_run run;
    bench_require(ext2_lookup(ours.root, name, &inode), "lookup");
    for (uint32_t first = 0; first < end; first += step) {
        for (uint32_t at = first; at < first + step; at += run.count)
            bench_require(ext2_block_allocate(inode, at, first + step - at, &run), "allocate");
        uint64_t size = (uint64_t)(first + step) * ext2_block_size(ours.fs);
        bench_require(ext2_inode_resize(inode, size), "resize");
    }
    ext2_inode_put(inode);
}

static uint64_t ours_map(const char *name, uint32_t end)
{
    struct ext2_inode *inode;
    struct ext2_run run;
    uint64_t sum = 0;
    bench_require(ext2_lookup(ours.root, name, &inode), "lookup");
    for (uint32_t at = 0; at < end; at += run.count) {
        bench_require(ext2_block_map(inode, at, end - at, &run), "map");
        for (uint32_t i = 0; i < run.count; i++)
            sum += run.block + i;
    }
    ext2_inode_put(inode);
    return sum;
}

const struct bench_side bench_libext2 = {
    .name = "libext2",
    .open = ours_open,
    .close = ours_close,
    .create = ours_create,
    .remove = ours_remove,
    .extend = ours_extend,
    .map = ours_map,
};
