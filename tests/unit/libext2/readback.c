// SPDX-License-Identifier: GPL-2.0-or-later
#include <ext2fs/ext2fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "readback.h"

#define READBACK_BYTES 65536u

struct readback {
    const struct model *model;
    ext2_filsys fs;
    uint32_t nentries; /* met in the directory that is being read */
    uint32_t dir;
    bool equal;
};

static bool readback_fail(const struct readback *readback, const char *what, uint32_t node)
{
    fprintf(stderr, "libext2fs: %s of inode %u differs\n", what, readback->model->nodes[node].ino);
    return false;
}

/* Compare a piece of a file's content. */
static bool readback_piece(const struct readback *readback, ext2_file_t file, uint32_t node,
                           uint64_t offset, uint64_t length)
{
    static uint8_t theirs[READBACK_BYTES];
    static uint8_t ours[READBACK_BYTES];
    unsigned int got;
    memset(theirs, 0x5a, length);
    if (ext2fs_file_llseek(file, offset, EXT2_SEEK_SET, NULL) != 0 ||
        ext2fs_file_read(file, theirs, (unsigned int)length, &got) != 0 || got != length)
        return readback_fail(readback, "the length", node);
    model_read(readback->model, node, offset, ours, length);
    return memcmp(ours, theirs, length) == 0 || readback_fail(readback, "the content", node);
}

/* Compare a file around each of its chunks, and its end; long holes are too long to be read. */
static bool readback_content(const struct readback *readback, uint32_t index)
{
    const struct model_node *node = &readback->model->nodes[index];
    ext2_file_t file;
    if (ext2fs_file_open(readback->fs, node->ino, 0, &file) != 0)
        return readback_fail(readback, "the file", index);
    bool equal = true;
    uint64_t done = 0;
    for (uint32_t i = 0; i <= node->nchunks && equal; i++) {
        uint64_t start =
            i < node->nchunks ? node->chunks[i]->number * MODEL_CHUNK_BYTES : node->size;
        uint64_t end =
            start + MODEL_CHUNK_BYTES < node->size ? start + MODEL_CHUNK_BYTES : node->size;
        if (start - done > READBACK_BYTES / 2)
            done = start - READBACK_BYTES / 2;
        if (end > done)
            equal = readback_piece(readback, file, index, done, end - done);
        done = end;
    }
    ext2fs_file_close(file);
    return equal;
}

static int readback_entry(struct ext2_dir_entry *entry, int offset, int block_size, char *buffer,
                          void *private)
{
    struct readback *readback = private;
    char name[EXT2_NAME_LEN + 1];
    (void)offset;
    (void)block_size;
    (void)buffer;
    snprintf(name, sizeof name, "%.*s", ext2fs_dirent_name_len(entry), entry->name);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    if (readback->dir == MODEL_ROOT && strcmp(name, "lost+found") == 0)
        return 0;
    readback->nentries++;
    uint32_t node = model_lookup(readback->model, readback->dir, name);
    if (node == MODEL_NO_NODE || readback->model->nodes[node].ino != entry->inode) {
        readback->equal = readback_fail(readback, name, readback->dir);
        return DIRENT_ABORT;
    }
    return 0;
}

static bool readback_dir(struct readback *readback, uint32_t index)
{
    const struct model_node *node = &readback->model->nodes[index];
    readback->nentries = 0;
    readback->dir = index;
    if (ext2fs_dir_iterate(readback->fs, node->ino, 0, NULL, readback_entry, readback) != 0)
        return readback_fail(readback, "the directory", index);
    if (!readback->equal)
        return false;
    return readback->nentries == node->nentries ||
           readback_fail(readback, "the number of names", index);
}

static bool readback_inode(const struct readback *readback, uint32_t index)
{
    const struct model_node *node = &readback->model->nodes[index];
    struct ext2_inode inode;
    if (ext2fs_read_inode(readback->fs, node->ino, &inode) != 0)
        return readback_fail(readback, "the inode", index);
    if (inode.i_mode != node->mode)
        return readback_fail(readback, "the mode", index);
    if (inode_uid(inode) != node->uid || inode_gid(inode) != node->gid)
        return readback_fail(readback, "the owner", index);
    if (inode.i_links_count != node->nlinks + (index == MODEL_ROOT ? 1 : 0))
        return readback_fail(readback, "the number of links", index);
    if (index != MODEL_ROOT && (inode.i_mtime != node->mtime || inode.i_atime != node->atime))
        return readback_fail(readback, "a time", index);
    return S_ISDIR(node->mode) || EXT2_I_SIZE(&inode) == node->size ||
           readback_fail(readback, "the size", index);
}

static bool readback_link(const struct readback *readback, uint32_t index)
{
    const struct model_node *node = &readback->model->nodes[index];
    struct ext2_inode inode;
    char block[4096 + 1] = {0};
    if (ext2fs_read_inode(readback->fs, node->ino, &inode) != 0)
        return readback_fail(readback, "the inode", index);
    if (inode.i_blocks == 0)
        memcpy(block, inode.i_block, sizeof inode.i_block);
    else if (io_channel_read_blk64(readback->fs->io, inode.i_block[0], 1, block) != 0)
        return readback_fail(readback, "the block", index);
    return strcmp(block, node->target) == 0 || readback_fail(readback, "the target", index);
}

static bool readback_node(struct readback *readback, uint32_t index)
{
    uint16_t mode = readback->model->nodes[index].mode;
    if (!readback_inode(readback, index))
        return false;
    if (S_ISDIR(mode))
        return readback_dir(readback, index);
    if (S_ISLNK(mode))
        return readback_link(readback, index);
    return !S_ISREG(mode) || readback_content(readback, index);
}

/* What the bitmaps say; e2fsck itself does not mind a wrong sum in the super block. */
static uint32_t readback_count_blocks(ext2_filsys fs)
{
    uint32_t count = 0;
    for (blk64_t block = fs->super->s_first_data_block; block < fs->super->s_blocks_count; block++)
        count += ext2fs_test_block_bitmap2(fs->block_map, block) ? 0 : 1;
    return count;
}

static uint32_t readback_count_inodes(ext2_filsys fs)
{
    uint32_t count = 0;
    for (ext2_ino_t ino = 1; ino <= fs->super->s_inodes_count; ino++)
        count += ext2fs_test_inode_bitmap2(fs->inode_map, ino) ? 0 : 1;
    return count;
}

static bool readback_counts(const struct readback *readback, uint32_t nblocks_free,
                            uint32_t ninodes_free)
{
    ext2_filsys fs = readback->fs;
    if (ext2fs_read_bitmaps(fs) != 0)
        return readback_fail(readback, "a bitmap", MODEL_ROOT);
    if (fs->super->s_free_blocks_count == nblocks_free &&
        readback_count_blocks(fs) == nblocks_free &&
        fs->super->s_free_inodes_count == ninodes_free && readback_count_inodes(fs) == ninodes_free)
        return true;
    fprintf(stderr,
            "libext2fs: %u blocks and %u inodes are free, %u and %u are marked so, not %u and %u\n",
            fs->super->s_free_blocks_count, fs->super->s_free_inodes_count,
            readback_count_blocks(fs), readback_count_inodes(fs), nblocks_free, ninodes_free);
    return false;
}

bool readback_compare(const struct model *model, const char *path, uint32_t nblocks_free,
                      uint32_t ninodes_free)
{
    struct readback readback = {.model = model, .equal = true};
    errcode_t error = ext2fs_open(path, 0, 0, 0, unix_io_manager, &readback.fs);
    if (error != 0) {
        fprintf(stderr, "libext2fs: cannot open the image (%ld)\n", error);
        return false;
    }
    bool equal = readback_counts(&readback, nblocks_free, ninodes_free);
    for (uint32_t i = 0; i < MODEL_NODES_MAX && equal; i++)
        if (model->nodes[i].used && model->nodes[i].nlinks > 0)
            equal = readback_node(&readback, i);
    ext2fs_close(readback.fs);
    return equal;
}
