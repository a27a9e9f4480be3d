// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "file.h"
#include "fuzz.h"
#include "image.h"

#define FUZZ_CHANGE_BYTES 5u

static const struct {
    const char *options;
    uint64_t size;
} fuzz_images[] = {
    {"-t ext2 -b 1024 -N 32", 128 << 10},
    {"-t ext2 -b 1024 -N 32 -r 0", 128 << 10},
    {"-t ext2 -b 2048 -N 64 -I 256", 256 << 10},
    {"-t ext2 -b 4096 -N 64", 512 << 10},
    {"-t ext2 -b 1024 -N 64 -g 256 -O ^resize_inode", 512 << 10},
};

#define FUZZ_IMAGES (sizeof fuzz_images / sizeof fuzz_images[0])

static void fuzz_require(error_t error)
{
    if (error != 0)
        abort();
}

/* Something of each kind, under the names that scripts know. */
static void fuzz_populate(struct device *device, struct ext2_fs *fs)
{
    static const uint8_t data[20 << 10] = {1};
    static const char target[] = "a target that is too long for an inode, so that it needs a block";
    struct ext2_inode *root;
    struct ext2_inode *dir;
    struct ext2_inode *inode;
    uint64_t done;
    fuzz_require(ext2_inode_get(fs, EXT2_ROOT_INO, &root));
    fuzz_require(ext2_mkdir(root, "dir", 0755, 0, 0, &dir));
    fuzz_require(ext2_create(root, "file", 0100644, 0, 0, &inode));
    fuzz_require(file_write(device, inode, 0, data, sizeof data, &done));
    fuzz_require(ext2_link(dir, "a", inode));
    ext2_inode_put(inode);
    fuzz_require(ext2_create(dir, "big", 0100644, 0, 0, &inode));
    fuzz_require(file_write(device, inode, 0, data, 1, &done));
    fuzz_require(file_write(device, inode, 300 << 10, data, 1, &done));
    fuzz_require(file_write(device, inode, 66000 << 10, data, 1, &done));
    ext2_inode_put(inode);
    fuzz_require(ext2_symlink(root, "link", "file", 0, 0, &inode));
    ext2_inode_put(inode);
    fuzz_require(ext2_symlink(dir, "slow", target, 0, 0, &inode));
    ext2_inode_put(inode);
    fuzz_require(ext2_mkdir(dir, "b", 0755, 0, 0, &inode));
    ext2_inode_put(inode);
    ext2_inode_put(dir);
    ext2_inode_put(root);
}

/* The images are made once, by mke2fs and libext2. */
static const struct device *fuzz_image(unsigned int index)
{
    static struct device images[FUZZ_IMAGES];
    struct device *device = &images[index];
    struct ext2_fs *fs;
    if (device->bytes != NULL)
        return device;
    image_make(device, fuzz_images[index].options, fuzz_images[index].size);
    fuzz_require(ext2_mount(&device_ops, device, device->size, false, &fs));
    fuzz_populate(device, fs);
    fuzz_require(ext2_sync(fs));
    fuzz_require(ext2_unmount(fs));
    return device;
}

static void fuzz_change(struct device *device, const uint8_t *change)
{
    uint64_t at = (change[0] | (uint64_t)change[1] << 8 | (uint64_t)change[2] << 16) % device->size;
    uint64_t count = 1 + change[4] % 8;
    for (uint64_t i = at; i < at + count && i < device->size; i++)
        device->bytes[i] = change[4] & 0x80 ? device->bytes[i] ^ change[3] : change[3];
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct device device;
    struct exercise_counts counts;
    if (size < 2)
        return;
    const struct device *image = fuzz_image(data[0] % FUZZ_IMAGES);
    device_init(&device, image->size);
    memcpy(device.bytes, image->bytes, image->size);
    size_t nchanges = data[1];
    data += 2;
    size -= 2;
    for (; nchanges > 0 && size >= FUZZ_CHANGE_BYTES; nchanges--) {
        fuzz_change(&device, data);
        data += FUZZ_CHANGE_BYTES;
        size -= FUZZ_CHANGE_BYTES;
    }
    if (size > 0)
        (void)exercise_script(&device, data, size);
    else
        (void)exercise_all(&device, &counts);
    device_destroy(&device);
}
