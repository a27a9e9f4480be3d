// SPDX-License-Identifier: GPL-2.0-or-later
#include "content.h"

#include <ext2fs/ext2fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mock/rt.h"

static char content_path[64];

uint8_t *content_setup(const struct device *image)
{
    int fd = memfd_create("disk", 0);
    uint8_t *bytes;

    mock_check(fd >= 0 && ftruncate(fd, (off_t)image->size) == 0);
    bytes = mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    mock_check(bytes != MAP_FAILED);
    memcpy(bytes, image->bytes, image->size);
    snprintf(content_path, sizeof(content_path), "/proc/%d/fd/%d", (int)getpid(), fd);
    return bytes;
}

bool content_is_clean(void)
{
    static char output[1 << 16];
    int status = image_run(output, sizeof(output), "e2fsck -fn %s 2>&1 < /dev/null", content_path);

    if (status != 0)
        fprintf(stderr, "# e2fsck: %d: %s\n", status, output);
    return status == 0;
}

static ext2_filsys content_open(const char *path)
{
    ext2_filsys fs;

    mock_check(ext2fs_open(path, 0, 0, 0, unix_io_manager, &fs) == 0);
    return fs;
}

static ext2_ino_t content_lookup(ext2_filsys fs, const char *name)
{
    ext2_ino_t ino;

    if (ext2fs_namei(fs, EXT2_ROOT_INO, EXT2_ROOT_INO, name, &ino) != 0)
        mock_fail("there is no %s", name);
    return ino;
}

/* Read the whole file into fresh memory, which has SIZE bytes at least. */
static uint64_t content_read(ext2_filsys fs, const char *name, uint64_t size, uint8_t **bytes)
{
    ext2_file_t file;
    uint64_t found;
    unsigned int got;

    *bytes = calloc(1, size + 1);
    mock_check(*bytes != NULL);
    mock_check(ext2fs_file_open(fs, content_lookup(fs, name), 0, &file) == 0);
    found = ext2fs_file_get_size(file);
    mock_check(ext2fs_file_read(file, *bytes, (unsigned int)size, &got) == 0);
    ext2fs_file_close(file);
    return found;
}

bool content_equals(const char *name, const uint8_t *bytes, uint64_t size)
{
    ext2_filsys fs = content_open(content_path);
    uint8_t *theirs;
    uint64_t found = content_read(fs, name, size, &theirs);
    uint64_t at = 0;

    ext2fs_close(fs);
    while (at < size && at < found && theirs[at] == bytes[at])
        at++;
    if (at < size || found != size)
        fprintf(stderr, "# %s: %llu bytes and not %llu, differs at %llu: %#x and not %#x\n", name,
                (unsigned long long)found, (unsigned long long)size, (unsigned long long)at,
                at < size ? theirs[at] : 0u, at < size ? bytes[at] : 0u);
    free(theirs);
    return at == size && found == size;
}

void content_blocks(const char *name, uint32_t *blocks, uint32_t count)
{
    ext2_filsys fs = content_open(content_path);
    ext2_ino_t ino = content_lookup(fs, name);

    for (uint32_t i = 0; i < count; i++) {
        blk64_t block = 0;

        mock_check(ext2fs_bmap2(fs, ino, NULL, NULL, 0, i, NULL, &block) == 0);
        blocks[i] = (uint32_t)block;
    }
    ext2fs_close(fs);
}

uint32_t content_indirect(const char *name)
{
    ext2_filsys fs = content_open(content_path);
    struct ext2_inode inode;

    mock_check(ext2fs_read_inode(fs, content_lookup(fs, name), &inode) == 0);
    ext2fs_close(fs);
    return inode.i_block[EXT2_IND_BLOCK];
}

void content_soil(struct device *image, uint8_t soil)
{
    ext2_filsys fs = content_open(image_store(image));

    mock_check(ext2fs_read_block_bitmap(fs) == 0);
    for (blk64_t i = fs->super->s_first_data_block; i < ext2fs_blocks_count(fs->super); i++)
        if (!ext2fs_test_block_bitmap2(fs->block_map, i))
            memset(image->bytes + i * fs->blocksize, soil, fs->blocksize);
    ext2fs_close(fs);
}
