// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names: what gives them, moves them and takes them away. Each operation first finds its places in
 * the directories and pins its inodes; then it makes all its changes, which cannot fail.
 *
 * Links: a directory counts one for its name, one for its own ".", and one for the ".." of each
 * directory in it.
 */
#include <string.h>
#include <sys/stat.h>

#include "libext2/private.h"

static error_t ext2_dir_check_writable(const struct ext2_inode *dir)
{
    error_t error = ext2_dir_check(dir);
    return error == 0 && dir->fs->read_only ? EROFS : error;
}

bool ext2_name_is_dots(const struct ext2_name *name)
{
    return name->text[0] == '.' &&
           (name->length == 1 || (name->length == 2 && name->text[1] == '.'));
}

/* An inode that a directory names. */
static error_t ext2_named_get(struct ext2_inode *dir, uint32_t ino, struct ext2_inode **inode)
{
    error_t error = ext2_inode_get_locked(dir->fs, ino, inode);
    if (error == ENOENT || error == EINVAL)
        return ext2_damage(dir->fs, "directory %u names inode %u, which no file can have",
                           (unsigned)dir->ino, (unsigned)ino);
    return error;
}

static void ext2_links_drop(struct ext2_inode *inode, uint16_t count)
{
    inode->disk.links_count -= count < inode->disk.links_count ? count : inode->disk.links_count;
    inode->disk.ctime = ext2_fs_now(inode->fs);
}

error_t ext2_name_lookup(struct ext2_inode *dir, const struct ext2_name *name,
                         struct ext2_inode **inode)
{
    uint32_t ino;
    error_t error = ext2_dir_find(dir, name, &ino);
    return error == 0 ? ext2_named_get(dir, ino, inode) : error;
}

error_t ext2_lookup(struct ext2_inode *dir, const char *text, struct ext2_inode **inode)
{
    struct ext2_name name;
    error_t error = ext2_name_check(text, &name);
    if (error != 0)
        return error;
    ext2_fs_lock(dir->fs);
    error = ext2_dir_check(dir);
    if (error == 0)
        error = ext2_name_lookup(dir, &name, inode);
    ext2_fs_unlock(dir->fs);
    return error;
}

/* --- New files --- */

struct ext2_making {
    struct ext2_inode *dir;
    struct ext2_name name;
    uint16_t mode;
    uint32_t uid;
    uint32_t gid;
    const char *target; /* of a symbolic link */
    size_t target_length;
};

static error_t ext2_link_target_write(struct ext2_inode *inode, const struct ext2_making *making)
{
    struct ext2_fs *fs = inode->fs;
    struct ext2_run run;
    void *data;
    size_t length = making->target_length;
    if (length < sizeof inode->disk.block) {
        memcpy(inode->disk.block, making->target, length);
        ext2_inode_size_set(inode, length);
        return 0;
    }
    error_t error = ext2_grow(inode, 0, 1, true, &run);
    if (error == 0)
        error = ext2_get(fs, run.block, EXT2_NEW, &data);
    if (error != 0)
        return error;
    memset(data, 0, fs->block_size);
    memcpy(data, making->target, length);
    ext2_put(fs, run.block, data, true);
    ext2_inode_size_set(inode, length);
    return 0;
}

/* What a new inode needs beside itself. */
static error_t ext2_make_content(struct ext2_inode *inode, const struct ext2_making *making)
{
    if (ext2_inode_is(inode, S_IFDIR))
        return ext2_dir_init(inode, making->dir->ino);
    if (ext2_inode_is(inode, S_IFLNK))
        return ext2_link_target_write(inode, making);
    return 0;
}

static error_t ext2_make_in(const struct ext2_making *making, struct ext2_place *place,
                            struct ext2_inode **inode_out)
{
    struct ext2_inode *inode;
    struct ext2_inode *dir = making->dir;
    bool directory = (making->mode & S_IFMT) == S_IFDIR;
    error_t error = ext2_inode_new(dir, making->mode, making->uid, making->gid, &inode);
    if (error != 0)
        return error;
    struct ext2_pin pin;
    error = ext2_make_content(inode, making);
    if (error == 0)
        error = ext2_pin(inode, &pin);
    if (error != 0) {
        ext2_inode_put_locked(inode);
        return error;
    }
    inode->disk.links_count = directory ? 2 : 1;
    dir->disk.links_count += directory ? 1 : 0;
    ext2_pin_commit(&pin);
    ext2_place_fill(place, &making->name, inode);
    *inode_out = inode;
    return 0;
}

static error_t ext2_make_locked(const struct ext2_making *making, struct ext2_inode **inode)
{
    struct ext2_place place;
    struct ext2_inode *dir = making->dir;
    error_t error = ext2_dir_check_writable(dir);
    if (error != 0)
        return error;
    error = ext2_place_make(dir, &making->name, &place);
    if (error != 0)
        return error;
    if ((making->mode & S_IFMT) == S_IFDIR && dir->disk.links_count >= EXT2_LINK_MAX)
        error = EMLINK;
    if (error == 0)
        error = ext2_make_in(making, &place, inode);
    if (error != 0)
        ext2_place_abort(&place);
    return error;
}

static error_t ext2_make(struct ext2_making *making, const char *text, struct ext2_inode **inode)
{
    error_t error = ext2_name_check(text, &making->name);
    if (error != 0)
        return error;
    ext2_fs_lock(making->dir->fs);
    error = ext2_make_locked(making, inode);
    ext2_fs_unlock(making->dir->fs);
    return error;
}

error_t ext2_create(struct ext2_inode *dir, const char *name, uint16_t mode, uint32_t uid,
                    uint32_t gid, struct ext2_inode **inode)
{
    struct ext2_making making = {.dir = dir, .mode = mode, .uid = uid, .gid = gid};
    uint16_t type = mode & S_IFMT;
    if (type != S_IFREG && type != S_IFIFO && type != S_IFSOCK)
        return EINVAL;
    return ext2_make(&making, name, inode);
}

error_t ext2_mkdir(struct ext2_inode *dir, const char *name, uint16_t mode, uint32_t uid,
                   uint32_t gid, struct ext2_inode **inode)
{
    struct ext2_making making = {
        .dir = dir, .mode = S_IFDIR | (mode & 07777), .uid = uid, .gid = gid};
    return ext2_make(&making, name, inode);
}

error_t ext2_symlink(struct ext2_inode *dir, const char *name, const char *target, uint32_t uid,
                     uint32_t gid, struct ext2_inode **inode)
{
    struct ext2_making making = {
        .dir = dir,
        .mode = S_IFLNK | 0777,
        .uid = uid,
        .gid = gid,
        .target = target,
        .target_length = strnlen(target, dir->fs->block_size),
    };
    if (making.target_length == 0)
        return ENOENT;
    if (making.target_length == dir->fs->block_size)
        return ENAMETOOLONG;
    return ext2_make(&making, name, inode);
}

/* Copy the target of a link that has a block. */
static error_t ext2_link_target_read(struct ext2_inode *inode, char *buffer, size_t length)
{
    struct ext2_run run;
    void *data;
    error_t error = ext2_map_piece(inode, 0, 1, &run);
    if (error == 0 && run.block == 0)
        error = ext2_damage(inode->fs, "symbolic link %u has no block", (unsigned)inode->ino);
    if (error == 0)
        error = ext2_get(inode->fs, run.block, EXT2_READ, &data);
    if (error != 0)
        return error;
    memcpy(buffer, data, length);
    ext2_put(inode->fs, run.block, data, false);
    return 0;
}

error_t ext2_readlink(struct ext2_inode *inode, char *buffer, size_t length, size_t *done)
{
    if (!ext2_inode_is(inode, S_IFLNK))
        return EINVAL;
    error_t error = 0;
    ext2_fs_lock(inode->fs);
    size_t size = (size_t)ext2_inode_size(inode);
    *done = size < length ? size : length;
    if (ext2_inode_has_blocks(inode))
        error = ext2_link_target_read(inode, buffer, *done);
    else
        memcpy(buffer, inode->disk.block, *done);
    ext2_fs_unlock(inode->fs);
    return error;
}

/* --- Links --- */

static error_t ext2_link_check(const struct ext2_inode *dir, const struct ext2_inode *inode)
{
    error_t error = ext2_dir_check_writable(dir);
    if (error != 0)
        return error;
    if (ext2_inode_is(inode, S_IFDIR))
        return EPERM;
    if (inode->fs != dir->fs)
        return EXDEV;
    if (inode->disk.links_count == 0)
        return ENOENT;
    return inode->disk.links_count >= EXT2_LINK_MAX ? EMLINK : 0;
}

static error_t ext2_link_locked(struct ext2_inode *dir, const struct ext2_name *name,
                                struct ext2_inode *inode)
{
    struct ext2_place place;
    struct ext2_pin pin;
    error_t error = ext2_link_check(dir, inode);
    if (error == 0)
        error = ext2_place_make(dir, name, &place);
    if (error != 0)
        return error;
    error = ext2_pin(inode, &pin);
    if (error != 0) {
        ext2_place_abort(&place);
        return error;
    }
    inode->disk.links_count++;
    inode->disk.ctime = ext2_fs_now(inode->fs);
    ext2_pin_commit(&pin);
    ext2_place_fill(&place, name, inode);
    return 0;
}

error_t ext2_link(struct ext2_inode *dir, const char *text, struct ext2_inode *inode)
{
    struct ext2_name name;
    error_t error = ext2_name_check(text, &name);
    if (error != 0)
        return error;
    ext2_fs_lock(dir->fs);
    error = ext2_link_locked(dir, &name, inode);
    ext2_fs_unlock(dir->fs);
    return error;
}

static error_t ext2_removal_check(struct ext2_inode *inode, bool directory)
{
    if (!directory)
        return ext2_inode_is(inode, S_IFDIR) ? EISDIR : 0;
    return ext2_inode_is(inode, S_IFDIR) ? ext2_dir_check_empty(inode) : ENOTDIR;
}

static error_t ext2_remove_at(struct ext2_place *place, bool directory)
{
    struct ext2_inode *inode;
    struct ext2_inode *dir = place->pin.inode;
    struct ext2_pin pin;
    error_t error = ext2_named_get(dir, ext2_place_ino(place), &inode);
    if (error != 0)
        return error;
    error = ext2_removal_check(inode, directory);
    if (error == 0)
        error = ext2_pin(inode, &pin);
    if (error == 0) {
        ext2_links_drop(inode, directory ? UINT16_MAX : 1);
        ext2_pin_commit(&pin);
        if (directory)
            ext2_links_drop(dir, dir->disk.links_count > 2 ? 1 : 0);
        ext2_place_clear(place);
    }
    ext2_inode_put_locked(inode);
    return error;
}

static error_t ext2_remove_locked(struct ext2_inode *dir, const struct ext2_name *name,
                                  bool directory)
{
    struct ext2_place place;
    error_t error = ext2_dir_check_writable(dir);
    if (error == 0)
        error = ext2_place_find(dir, name, &place);
    if (error != 0)
        return error;
    error = ext2_remove_at(&place, directory);
    if (error != 0)
        ext2_place_abort(&place);
    return error;
}

static error_t ext2_remove(struct ext2_inode *dir, const struct ext2_name *name, bool directory)
{
    ext2_fs_lock(dir->fs);
    error_t error = ext2_remove_locked(dir, name, directory);
    ext2_fs_unlock(dir->fs);
    return error;
}

error_t ext2_unlink(struct ext2_inode *dir, const char *text)
{
    struct ext2_name name;
    error_t error = ext2_name_check(text, &name);
    if (error == 0 && ext2_name_is_dots(&name))
        error = EISDIR;
    return error == 0 ? ext2_remove(dir, &name, false) : error;
}

error_t ext2_rmdir(struct ext2_inode *dir, const char *text)
{
    struct ext2_name name;
    error_t error = ext2_name_check(text, &name);
    if (error == 0 && ext2_name_is_dots(&name))
        error = name.length == 1 ? EINVAL : ENOTEMPTY;
    return error == 0 ? ext2_remove(dir, &name, true) : error;
}
