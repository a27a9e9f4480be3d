// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes in memory: one for each number that somebody uses, found by number. It holds a copy of the
 * inode's first 128 bytes, which every operation writes through to the table; the rest of a larger
 * inode stays where it is.
 *
 * An inode without links is deleted when its last user goes. A new one has no link until its name
 * is there, so giving up half way is just a put.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libext2/private.h"

/* --- The table --- */

static uint32_t ext2_table_place(const struct ext2_fs *fs, uint32_t ino, uint32_t *offset)
{
    uint32_t index = (ino - 1) % fs->super.inodes_per_group;
    uint32_t byte = index * fs->inode_size;
    *offset = byte & (fs->block_size - 1);
    return fs->groups[(ino - 1) / fs->super.inodes_per_group].inode_table +
           (byte >> fs->block_shift);
}

error_t ext2_pin(struct ext2_inode *inode, struct ext2_pin *pin)
{
    uint32_t offset;
    *pin = (struct ext2_pin){0};
    uint32_t block = ext2_table_place(inode->fs, inode->ino, &offset);
    void *data;
    error_t error = ext2_get(inode->fs, block, EXT2_READ, &data);
    if (error != 0)
        return error;
    *pin = (struct ext2_pin){inode, block, data, (void *)((uint8_t *)data + offset)};
    return 0;
}

/* Old bytes behind the first 128 are somebody else's. */
static void ext2_pin_clear_extra(const struct ext2_pin *pin)
{
    const struct ext2_fs *fs = pin->inode->fs;
    uint16_t extra = fs->super.want_extra_isize;
    uint8_t *bytes = (uint8_t *)pin->disk;
    if (fs->inode_size <= EXT2_OLD_INODE_SIZE)
        return;
    memset(bytes + EXT2_OLD_INODE_SIZE, 0, fs->inode_size - EXT2_OLD_INODE_SIZE);
    if (extra % 4 != 0 || extra > fs->inode_size - EXT2_OLD_INODE_SIZE)
        extra = 0;
    memcpy(bytes + EXT2_EXTRA_ISIZE_OFFSET, &extra, sizeof extra);
}

void ext2_pin_commit(struct ext2_pin *pin)
{
    struct ext2_inode *inode = pin->inode;
    *pin->disk = inode->disk;
    if (inode->is_new)
        ext2_pin_clear_extra(pin);
    inode->is_new = false;
    ext2_put(inode->fs, pin->block, pin->data, true);
    pin->inode = NULL;
}

void ext2_pin_abort(struct ext2_pin *pin)
{
    if (pin->inode != NULL)
        ext2_put(pin->inode->fs, pin->block, pin->data, false);
    pin->inode = NULL;
}

/* --- What an inode says --- */

uint64_t ext2_inode_size(const struct ext2_inode *inode)
{
    uint64_t size = inode->disk.size;
    if (ext2_inode_is(inode, S_IFREG))
        size |= (uint64_t)inode->disk.size_high << 32;
    return size;
}

void ext2_inode_size_set(struct ext2_inode *inode, uint64_t size)
{
    inode->disk.size = (uint32_t)size;
    if (ext2_inode_is(inode, S_IFREG)) {
        inode->disk.size_high = (uint32_t)(size >> 32);
        ext2_large_file(inode->fs, size);
    }
}

/* A short symbolic link is where the pointers are. */
static bool ext2_inode_is_fast_link(const struct ext2_inode *inode)
{
    uint32_t xattr = inode->disk.file_acl != 0 ? inode->fs->sectors_per_block : 0;
    return ext2_inode_is(inode, S_IFLNK) && inode->disk.blocks == xattr;
}

bool ext2_inode_has_blocks(const struct ext2_inode *inode)
{
    return ext2_inode_is(inode, S_IFREG) || ext2_inode_is(inode, S_IFDIR) ||
           (ext2_inode_is(inode, S_IFLNK) && !ext2_inode_is_fast_link(inode));
}

/* What is wrong with an inode that was read, or null. */
static const char *ext2_inode_fault(const struct ext2_inode *inode)
{
    const struct ext2_fs *fs = inode->fs;
    uint64_t size = ext2_inode_size(inode);
    switch (inode->type) {
    case S_IFDIR:
        if (size == 0 || size % fs->block_size != 0 ||
            size >> fs->block_shift > fs->super.blocks_count)
            return "the size of the directory is wrong";
        break;
    case S_IFLNK:
        if (size == 0 ||
            size >= (ext2_inode_is_fast_link(inode) ? sizeof inode->disk.block : fs->block_size))
            return "the size of the symbolic link is wrong";
        break;
    case S_IFREG:
    case S_IFCHR:
    case S_IFBLK:
    case S_IFIFO:
    case S_IFSOCK:
        break;
    default:
        return "its type is unknown";
    }
    if (inode->disk.flags & (EXT2_FLAG_EXTENTS | EXT2_FLAG_INLINE_DATA))
        return "it has extents or inline data, and the file system has neither";
    return NULL;
}

static error_t ext2_inode_read(struct ext2_inode *inode)
{
    struct ext2_pin pin;
    error_t error = ext2_pin(inode, &pin);
    if (error != 0)
        return error;
    inode->disk = *pin.disk;
    inode->type = inode->disk.mode & S_IFMT;
    ext2_pin_abort(&pin);
    if (inode->disk.links_count == 0)
        return ENOENT;
    const char *fault = ext2_inode_fault(inode);
    return fault == NULL ? 0 : ext2_damage(inode->fs, "inode %u: %s", (unsigned)inode->ino, fault);
}

/* --- Users --- */

static struct ext2_inode **ext2_bucket(struct ext2_fs *fs, uint32_t ino)
{
    return &fs->buckets[ino % EXT2_BUCKETS];
}

static struct ext2_inode *ext2_inode_lookup(struct ext2_fs *fs, uint32_t ino)
{
    struct ext2_inode *inode = *ext2_bucket(fs, ino);
    while (inode != NULL && inode->ino != ino)
        inode = inode->next;
    return inode;
}

static struct ext2_inode *ext2_inode_alloc(struct ext2_fs *fs, uint32_t ino)
{
    struct ext2_inode *inode = calloc(1, sizeof *inode);
    if (inode != NULL) {
        inode->fs = fs;
        inode->ino = ino;
        inode->nusers = 1;
    }
    return inode;
}

static void ext2_inode_enter(struct ext2_inode *inode)
{
    struct ext2_inode **bucket = ext2_bucket(inode->fs, inode->ino);
    inode->next = *bucket;
    *bucket = inode;
}

static void ext2_inode_leave(struct ext2_inode *inode)
{
    struct ext2_inode **link = ext2_bucket(inode->fs, inode->ino);
    while (*link != inode)
        link = &(*link)->next;
    *link = inode->next;
    ext2_window_drop(inode->fs, &inode->window);
    free(inode);
}

error_t ext2_inode_get_locked(struct ext2_fs *fs, uint32_t ino, struct ext2_inode **inode_out)
{
    if (ino > fs->super.inodes_count || (ino != EXT2_ROOT_INO && ino < fs->first_ino))
        return EINVAL;
    struct ext2_inode *inode = ext2_inode_lookup(fs, ino);
    if (inode != NULL) {
        if (inode->disk.links_count == 0)
            return ENOENT;
        inode->nusers++;
        *inode_out = inode;
        return 0;
    }
    inode = ext2_inode_alloc(fs, ino);
    if (inode == NULL)
        return ENOMEM;
    error_t error = ext2_inode_read(inode);
    if (error != 0) {
        free(inode);
        return error;
    }
    ext2_inode_enter(inode);
    *inode_out = inode;
    return 0;
}

error_t ext2_inode_get(struct ext2_fs *fs, uint32_t ino, struct ext2_inode **inode)
{
    ext2_fs_lock(fs);
    error_t error = ext2_inode_get_locked(fs, ino, inode);
    ext2_fs_unlock(fs);
    return error;
}

void ext2_inode_ref(struct ext2_inode *inode)
{
    ext2_fs_lock(inode->fs);
    inode->nusers++;
    ext2_fs_unlock(inode->fs);
}

/* One user less of the block of extended attributes, which several inodes may share. */
static error_t ext2_xattr_release(struct ext2_inode *inode)
{
    struct ext2_fs *fs = inode->fs;
    void *data;
    uint32_t block = inode->disk.file_acl;
    if (block == 0)
        return 0;
    inode->disk.file_acl = 0;
    inode->disk.blocks -= inode->disk.blocks >= fs->sectors_per_block ? fs->sectors_per_block : 0;
    if (!ext2_blocks_valid(fs, block, 1))
        return ext2_damage(fs, "extended attributes in block %u", (unsigned)block);
    error_t error = ext2_get(fs, block, EXT2_READ, &data);
    if (error != 0)
        return error;
    struct ext2_xattr_header *header = data;
    bool damaged = header->magic != EXT2_XATTR_MAGIC || header->refcount == 0;
    bool shared = !damaged && header->refcount > 1;
    if (shared)
        header->refcount--;
    ext2_put(fs, block, header, shared);
    if (damaged)
        return ext2_damage(fs, "extended attributes in block %u", (unsigned)block);
    if (shared)
        return 0;
    ext2_forget(fs, block, 1);
    return ext2_blocks_free(fs, block, 1);
}

static error_t ext2_inode_delete(struct ext2_inode *inode)
{
    struct ext2_pin pin;
    bool directory = ext2_inode_is(inode, S_IFDIR);
    error_t error = ext2_pin(inode, &pin);
    if (error != 0)
        return error;
    error = ext2_inode_has_blocks(inode) ? ext2_shrink(inode, 0) : 0;
    error_t xattr_error = ext2_xattr_release(inode);
    ext2_inode_size_set(inode, 0);
    inode->disk.blocks = 0;
    inode->disk.dtime = ext2_fs_now(inode->fs);
    ext2_pin_commit(&pin);
    error_t ino_error = ext2_ino_free(inode->fs, inode->ino, directory);
    return error != 0 ? error : xattr_error != 0 ? xattr_error : ino_error;
}

void ext2_inode_put_locked(struct ext2_inode *inode)
{
    if (--inode->nusers > 0)
        return;
    if (inode->disk.links_count == 0 && !inode->fs->read_only && ext2_inode_delete(inode) != 0)
        (void)ext2_damage(inode->fs, "inode %u could not be deleted", (unsigned)inode->ino);
    ext2_inode_leave(inode);
}

void ext2_inode_put(struct ext2_inode *inode)
{
    struct ext2_fs *fs = inode->fs;
    ext2_fs_lock(fs);
    ext2_inode_put_locked(inode);
    ext2_fs_unlock(fs);
}

/* --- New inodes --- */

static void ext2_inode_owner_set(struct ext2_inode *inode, uint32_t uid, uint32_t gid)
{
    inode->disk.uid = (uint16_t)uid;
    inode->disk.uid_high = (uint16_t)(uid >> 16);
    inode->disk.gid = (uint16_t)gid;
    inode->disk.gid_high = (uint16_t)(gid >> 16);
}

static void ext2_inode_init(struct ext2_inode *inode, const struct ext2_inode *dir, uint16_t mode)
{
    uint32_t now = ext2_fs_now(inode->fs);
    inode->is_new = true;
    inode->disk.mode = mode;
    inode->type = mode & S_IFMT;
    inode->disk.atime = now;
    inode->disk.ctime = now;
    inode->disk.mtime = now;
    inode->disk.flags = dir->disk.flags & EXT2_FLAGS_INHERITED;
    inode->disk.generation = now ^ inode->ino;
}

error_t ext2_inode_new(struct ext2_inode *dir, uint16_t mode, uint32_t uid, uint32_t gid,
                       struct ext2_inode **inode_out)
{
    struct ext2_fs *fs = dir->fs;
    uint32_t ino;
    struct ext2_inode *inode = ext2_inode_alloc(fs, 0);
    if (inode == NULL)
        return ENOMEM;
    error_t error = ext2_ino_allocate(fs, dir->ino, (mode & S_IFMT) == S_IFDIR, &ino);
    if (error == 0 && ext2_inode_lookup(fs, ino) != NULL)
        error = ext2_damage(fs, "inode %u is in use, but was marked as free", (unsigned)ino);
    if (error != 0) {
        free(inode);
        return error;
    }
    inode->ino = ino;
    ext2_inode_init(inode, dir, mode);
    ext2_inode_owner_set(inode, uid, gid);
    ext2_inode_enter(inode);
    *inode_out = inode;
    return 0;
}

/* --- Attributes --- */

uint32_t ext2_inode_number(const struct ext2_inode *inode)
{
    return inode->ino;
}

static bool ext2_inode_is_device(const struct ext2_inode *inode)
{
    return ext2_inode_is(inode, S_IFCHR) || ext2_inode_is(inode, S_IFBLK);
}

void ext2_inode_stat(struct ext2_inode *inode, struct ext2_stat *stat)
{
    const struct ext2_disk_inode *disk = &inode->disk;
    ext2_fs_lock(inode->fs);
    *stat = (struct ext2_stat){
        .ino = inode->ino,
        .mode = disk->mode,
        .nlinks = disk->links_count,
        .uid = disk->uid | (uint32_t)disk->uid_high << 16,
        .gid = disk->gid | (uint32_t)disk->gid_high << 16,
        .size = ext2_inode_size(inode),
        .nsectors = disk->blocks,
        .atime = disk->atime,
        .mtime = disk->mtime,
        .ctime = disk->ctime,
        .generation = disk->generation,
        .flags = disk->flags,
        .rdev = !ext2_inode_is_device(inode) ? 0
                : disk->block[0] != 0        ? disk->block[0]
                                             : disk->block[1],
    };
    ext2_fs_unlock(inode->fs);
}

/* Pin INODE for a change of its attributes; with the file-system lock, if this works. */
static error_t ext2_change_begin(struct ext2_inode *inode, struct ext2_pin *pin)
{
    if (inode->fs->read_only)
        return EROFS;
    ext2_fs_lock(inode->fs);
    error_t error = ext2_pin(inode, pin);
    if (error != 0)
        ext2_fs_unlock(inode->fs);
    return error;
}

static void ext2_change_end(struct ext2_pin *pin)
{
    struct ext2_fs *fs = pin->inode->fs;
    ext2_pin_commit(pin);
    ext2_fs_unlock(fs);
}

error_t ext2_inode_chmod(struct ext2_inode *inode, uint16_t mode)
{
    struct ext2_pin pin;
    error_t error = ext2_change_begin(inode, &pin);
    if (error != 0)
        return error;
    inode->disk.mode = (uint16_t)(inode->type | (mode & 07777));
    inode->disk.ctime = ext2_fs_now(inode->fs);
    ext2_change_end(&pin);
    return 0;
}

error_t ext2_inode_chown(struct ext2_inode *inode, uint32_t uid, uint32_t gid)
{
    struct ext2_pin pin;
    error_t error = ext2_change_begin(inode, &pin);
    if (error != 0)
        return error;
    ext2_inode_owner_set(inode, uid, gid);
    inode->disk.ctime = ext2_fs_now(inode->fs);
    ext2_change_end(&pin);
    return 0;
}

error_t ext2_inode_utimes(struct ext2_inode *inode, uint32_t atime, uint32_t mtime)
{
    struct ext2_pin pin;
    error_t error = ext2_change_begin(inode, &pin);
    if (error != 0)
        return error;
    inode->disk.atime = atime;
    inode->disk.mtime = mtime;
    inode->disk.ctime = ext2_fs_now(inode->fs);
    ext2_change_end(&pin);
    return 0;
}

error_t ext2_inode_touch(struct ext2_inode *inode, unsigned int which)
{
    struct ext2_pin pin;
    error_t error = ext2_change_begin(inode, &pin);
    if (error != 0)
        return error;
    uint32_t now = ext2_fs_now(inode->fs);
    if (which & EXT2_TOUCH_ATIME)
        inode->disk.atime = now;
    if (which & EXT2_TOUCH_MTIME) {
        inode->disk.mtime = now;
        inode->disk.ctime = now;
    }
    ext2_change_end(&pin);
    return 0;
}
