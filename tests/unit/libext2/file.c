// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "file.h"

/* The file system of an inode is not told by libext2; the device has one, so ask its super block.
 */
static uint32_t file_block_size(const struct device *device)
{
    uint32_t log;
    memcpy(&log, device->bytes + 1024 + 24, sizeof log);
    return 1024u << log;
}

static uint64_t file_size(struct ext2_inode *inode)
{
    struct ext2_stat stat;
    ext2_inode_stat(inode, &stat);
    return stat.size;
}

/* One run's worth of a write. */
static error_t file_write_run(struct device *device, struct ext2_inode *inode, uint64_t offset,
                              const uint8_t *data, uint64_t length, uint64_t *done)
{
    struct ext2_run run;
    uint64_t size = file_block_size(device);
    uint64_t first = offset / size;
    uint64_t last = (offset + length - 1) / size;
    error_t error = ext2_block_allocate(inode, (uint32_t)first, (uint32_t)(last - first + 1), &run);
    if (error != 0)
        return error;
    uint8_t *blocks = device->bytes + run.block * size;
    uint64_t inside = offset - first * size;
    *done = run.count * size - inside < length ? run.count * size - inside : length;
    if (run.fresh)
        memset(blocks, 0, run.count * size);
    memcpy(blocks + inside, data, *done);
    return 0;
}

error_t file_write(struct device *device, struct ext2_inode *inode, uint64_t offset,
                   const void *data, uint64_t length, uint64_t *done)
{
    error_t error = 0;
    uint64_t here = 0;
    uint64_t old = file_size(inode);
    for (*done = 0; *done < length && error == 0; *done += here) {
        here = 0;
        error = file_write_run(device, inode, offset + *done, (const uint8_t *)data + *done,
                               length - *done, &here);
    }
    if (*done == 0 || offset + *done <= old)
        return error;
    error_t size_error = ext2_inode_resize(inode, offset + *done);
    if (size_error == 0)
        return error;
    *done = 0;
    (void)ext2_inode_resize(inode, old); /* the first error is the one to report */
    return size_error;
}

error_t file_read(struct device *device, struct ext2_inode *inode, uint64_t offset, void *data,
                  uint64_t length, uint64_t *done)
{
    struct ext2_run run;
    uint64_t block_size = file_block_size(device);
    uint64_t size = file_size(inode);
    uint64_t here;
    length = offset >= size ? 0 : size - offset < length ? size - offset : length;
    for (*done = 0; *done < length; *done += here) {
        uint64_t at = offset + *done;
        uint64_t inside = at % block_size;
        uint64_t blocks = (inside + length - *done + block_size - 1) / block_size;
        error_t error = ext2_block_map(inode, (uint32_t)(at / block_size), (uint32_t)blocks, &run);
        if (error != 0)
            return error;
        here = run.count * block_size - inside;
        here = here < length - *done ? here : length - *done;
        if (run.block == 0)
            memset((uint8_t *)data + *done, 0, here);
        else
            memcpy((uint8_t *)data + *done, device->bytes + run.block * block_size + inside, here);
    }
    return 0;
}

error_t file_resize(struct device *device, struct ext2_inode *inode, uint64_t size)
{
    struct ext2_run run;
    uint64_t block_size = file_block_size(device);
    uint64_t inside = size % block_size;
    if (inside != 0 && size < file_size(inode)) {
        error_t error = ext2_block_map(inode, (uint32_t)(size / block_size), 1, &run);
        if (error != 0)
            return error;
        if (run.block != 0)
            memset(device->bytes + run.block * block_size + inside, 0, block_size - inside);
    }
    return ext2_inode_resize(inode, size);
}
