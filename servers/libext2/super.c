// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Mounting, the super block, and what every part needs: blocks, the lock, damage.
 *
 * The state of a file system in its super block: while it is mounted for writing, the mark "valid"
 * is gone, so that a crash is noticed. ext2_unmount puts it back if it was there and no damage was
 * found; damage puts the mark "error", which stays until somebody has checked the file system.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libext2/private.h"

void ext2_fs_lock(struct ext2_fs *fs)
{
    if (fs->ops->lock != NULL)
        fs->ops->lock(fs->hook);
}

void ext2_fs_unlock(struct ext2_fs *fs)
{
    if (fs->ops->unlock != NULL)
        fs->ops->unlock(fs->hook);
}

uint32_t ext2_fs_now(struct ext2_fs *fs)
{
    uint32_t now = fs->ops->now != NULL ? fs->ops->now(fs->hook) : 0;
    return now > fs->super.wtime ? now : fs->super.wtime;
}

error_t ext2_get(struct ext2_fs *fs, uint32_t block, enum ext2_how how, void **data)
{
    return fs->ops->get(fs->hook, (uint64_t)block << fs->block_shift, fs->block_size, how, data);
}

void ext2_put(struct ext2_fs *fs, uint32_t block, void *data, bool dirty)
{
    fs->ops->put(fs->hook, (uint64_t)block << fs->block_shift, fs->block_size, data, dirty);
}

void ext2_forget(struct ext2_fs *fs, uint32_t block, uint32_t count)
{
    if (fs->ops->forget == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        fs->ops->forget(fs->hook, (uint64_t)(block + i) << fs->block_shift, fs->block_size);
}

static void ext2_report_va(const struct ext2_ops *ops, void *hook, const char *format, va_list args)
{
    char sentence[200];
    if (ops->report == NULL)
        return;
    vsnprintf(sentence, sizeof sentence, format, args);
    ops->report(hook, sentence);
}

void ext2_report(const struct ext2_ops *ops, void *hook, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ext2_report_va(ops, hook, format, args);
    va_end(args);
}

error_t ext2_damage(struct ext2_fs *fs, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ext2_report_va(fs->ops, fs->hook, format, args);
    va_end(args);
    __atomic_store_n(&fs->damaged, true, __ATOMIC_RELAXED);
    return EIO;
}

void ext2_damaged(struct ext2_fs *fs, const char *sentence)
{
    (void)ext2_damage(fs, "%s", sentence); /* its value is for those who found damage themselves */
}

/* --- Features --- */

static const char *const ext2_incompat_names[32] = {
    [0] = "compression",
    [2] = "needs_recovery",
    [3] = "journal_dev",
    [4] = "meta_bg",
    [6] = "extents",
    [7] = "64bit",
    [8] = "mmp",
    [9] = "flex_bg",
    [10] = "ea_inode",
    [12] = "dirdata",
    [13] = "metadata_csum_seed",
    [14] = "large_dir",
    [15] = "inline_data",
    [16] = "encrypt",
    [17] = "casefold",
};

static error_t ext2_features_check(const struct ext2_ops *ops, void *hook,
                                   const struct ext2_super *super)
{
    uint32_t unknown = super->feature_incompat & ~EXT2_INCOMPAT_KNOWN;
    for (unsigned int i = 0; i < 32; i++)
        if (unknown & (1u << i)) {
            const char *name = ext2_incompat_names[i];
            ext2_report(ops, hook, "the file system needs the feature %s (incompatible, bit %u)",
                        name != NULL ? name : "without a name here", i);
        }
    return unknown != 0 ? EOPNOTSUPP : 0;
}

static bool ext2_features_writable(const struct ext2_fs *fs)
{
    uint32_t unknown = fs->super.feature_ro_compat & ~EXT2_RO_COMPAT_KNOWN;
    if (unknown != 0)
        ext2_report(fs->ops, fs->hook, "mounted read-only because of unknown features 0x%x",
                    (unsigned int)unknown);
    return unknown == 0;
}

void ext2_large_file(struct ext2_fs *fs, uint64_t size)
{
    if (size > INT32_MAX)
        fs->super.feature_ro_compat |= EXT2_RO_COMPAT_LARGE_FILE;
}

/* --- Mounting --- */

static error_t ext2_super_read(const struct ext2_ops *ops, void *hook, uint64_t device_bytes,
                               struct ext2_super *super)
{
    void *data;
    if (device_bytes < EXT2_SUPER_OFFSET + EXT2_SUPER_BYTES)
        return EINVAL;
    error_t error = ops->get(hook, EXT2_SUPER_OFFSET, EXT2_SUPER_BYTES, EXT2_READ, &data);
    if (error != 0)
        return error;
    memcpy(super, data, sizeof *super);
    ops->put(hook, EXT2_SUPER_OFFSET, EXT2_SUPER_BYTES, data, false);
    return 0;
}

/* Revision 0 has neither features nor sizes of inodes. */
static void ext2_super_complete(struct ext2_super *super)
{
    if (super->rev_level > 0)
        return;
    super->first_ino = EXT2_OLD_FIRST_INO;
    super->inode_size = EXT2_OLD_INODE_SIZE;
    super->feature_compat = 0;
    super->feature_incompat = 0;
    super->feature_ro_compat = 0;
    super->reserved_gdt_blocks = 0;
}

/* What is wrong with the super block, or null. */
static const char *ext2_super_fault(const struct ext2_super *super, uint64_t device_bytes)
{
    if (super->log_block_size > 2)
        return "blocks are larger than 4,096 bytes";
    uint32_t block_size = 1024u << super->log_block_size;
    if (super->inode_size < EXT2_OLD_INODE_SIZE || super->inode_size > block_size ||
        (super->inode_size & (super->inode_size - 1)) != 0)
        return "the size of inodes is wrong";
    if (super->first_data_block != (block_size == 1024))
        return "the first block is wrong";
    if (super->blocks_count <= super->first_data_block ||
        (uint64_t)super->blocks_count * block_size > device_bytes)
        return "the device is shorter than the file system";
    if (super->blocks_per_group < 8 || super->blocks_per_group > 8 * block_size)
        return "the number of blocks in a group is wrong";
    if (super->inodes_per_group == 0 || super->inodes_per_group > 8 * block_size)
        return "the number of inodes in a group is wrong";
    if (super->first_ino < EXT2_OLD_FIRST_INO || super->first_ino > super->inodes_count)
        return "the first inode is wrong";
    uint32_t nblocks = super->blocks_count - super->first_data_block;
    uint64_t ngroups = (nblocks - 1) / super->blocks_per_group + 1;
    if (super->inodes_count != ngroups * super->inodes_per_group)
        return "the number of inodes is wrong";
    return NULL;
}

static error_t ext2_super_check(const struct ext2_ops *ops, void *hook, uint64_t device_bytes,
                                struct ext2_super *super)
{
    if (super->magic != EXT2_MAGIC) {
        ext2_report(ops, hook, "this is no ext2 file system");
        return EINVAL;
    }
    if (super->rev_level > 1) {
        ext2_report(ops, hook, "revision %u is unknown", (unsigned int)super->rev_level);
        return EOPNOTSUPP;
    }
    ext2_super_complete(super);
    error_t error = ext2_features_check(ops, hook, super);
    if (error != 0)
        return error;
    const char *fault = ext2_super_fault(super, device_bytes);
    if (fault == NULL)
        return 0;
    ext2_report(ops, hook, "the super block is damaged: %s", fault);
    return EINVAL;
}

/* The largest file: by the levels of indirect blocks, and by the number of sectors in an inode. */
static void ext2_limits_setup(struct ext2_fs *fs)
{
    uint64_t blocks = EXT2_DIRECT;
    for (unsigned int level = 1; level <= EXT2_LEVELS_MAX; level++)
        blocks += ext2_level_span(fs, level);
    fs->file_blocks_max = blocks;
    fs->file_bytes_max = blocks << fs->block_shift;
    if (fs->super.rev_level == 0 && fs->file_bytes_max > INT32_MAX)
        fs->file_bytes_max = INT32_MAX;
}

static void ext2_geometry_setup(struct ext2_fs *fs)
{
    const struct ext2_super *super = &fs->super;
    uint32_t nblocks = super->blocks_count - super->first_data_block;
    fs->block_shift = 10 + super->log_block_size;
    fs->block_size = 1u << fs->block_shift;
    fs->pointer_shift = fs->block_shift - 2;
    fs->sectors_per_block = fs->block_size / 512;
    fs->inode_size = super->inode_size;
    fs->first_ino = super->first_ino;
    fs->ngroups = (nblocks - 1) / super->blocks_per_group + 1;
    fs->table_blocks =
        (super->inodes_per_group * fs->inode_size + fs->block_size - 1) >> fs->block_shift;
    uint32_t descs = fs->block_size / (uint32_t)sizeof(struct ext2_group_desc);
    fs->gdt_blocks = (fs->ngroups + descs - 1) / descs;
    fs->was_valid = (super->state & (EXT2_STATE_VALID | EXT2_STATE_ERROR)) == EXT2_STATE_VALID;
    ext2_limits_setup(fs);
}

/* Put the super block, with the counts and marks as they are now; not for the time alone. */
static error_t ext2_super_store(struct ext2_fs *fs, bool unmounting)
{
    void *data;
    struct ext2_super *super = &fs->super;
    error_t error = fs->ops->get(fs->hook, EXT2_SUPER_OFFSET, EXT2_SUPER_BYTES, EXT2_READ, &data);
    if (error != 0)
        return error;
    super->free_blocks_count = fs->nblocks_free;
    super->free_inodes_count = fs->ninodes_free;
    super->state &= (uint16_t)~EXT2_STATE_VALID;
    if (fs->damaged)
        super->state |= EXT2_STATE_ERROR;
    else if (unmounting && fs->was_valid)
        super->state |= EXT2_STATE_VALID;
    bool changed = memcmp(data, super, sizeof *super) != 0;
    if (changed) {
        super->wtime = ext2_fs_now(fs);
        memcpy(data, super, sizeof *super);
    }
    fs->ops->put(fs->hook, EXT2_SUPER_OFFSET, EXT2_SUPER_BYTES, data, changed);
    return 0;
}

static error_t ext2_mount_writable(struct ext2_fs *fs)
{
    if (!fs->was_valid)
        ext2_report(fs->ops, fs->hook, "the file system was not unmounted cleanly: check it");
    fs->super.mnt_count++;
    fs->super.mtime = ext2_fs_now(fs);
    return ext2_super_store(fs, false);
}

error_t ext2_mount(const struct ext2_ops *ops, void *hook, uint64_t device_bytes, bool read_only,
                   struct ext2_fs **fs_out)
{
    struct ext2_fs *fs = calloc(1, sizeof *fs);
    if (fs == NULL)
        return ENOMEM;
    fs->ops = ops;
    fs->hook = hook;
    error_t error = ext2_super_read(ops, hook, device_bytes, &fs->super);
    if (error == 0)
        error = ext2_super_check(ops, hook, device_bytes, &fs->super);
    if (error != 0)
        goto error_fs;
    ext2_geometry_setup(fs);
    fs->read_only = !ext2_features_writable(fs) || read_only;
    error = ext2_groups_load(fs);
    if (error != 0)
        goto error_fs;
    if (!fs->read_only)
        error = ext2_mount_writable(fs);
    if (error != 0)
        goto error_groups;
    *fs_out = fs;
    return 0;

error_groups:
    ext2_groups_free(fs);
error_fs:
    free(fs);
    return error;
}

static error_t ext2_store(struct ext2_fs *fs, bool unmounting)
{
    if (fs->read_only)
        return 0;
    error_t error = ext2_groups_store(fs);
    error_t super_error = ext2_super_store(fs, unmounting && error == 0);
    return error != 0 ? error : super_error;
}

error_t ext2_sync(struct ext2_fs *fs)
{
    ext2_fs_lock(fs);
    error_t error = ext2_store(fs, false);
    ext2_fs_unlock(fs);
    return error;
}

error_t ext2_unmount(struct ext2_fs *fs)
{
    ext2_fs_lock(fs);
    error_t error = ext2_store(fs, true);
    ext2_fs_unlock(fs);
    ext2_groups_free(fs);
    free(fs);
    return error;
}

void ext2_statfs(struct ext2_fs *fs, struct ext2_statfs *statfs)
{
    ext2_fs_lock(fs);
    uint32_t reserved = fs->super.r_blocks_count;
    *statfs = (struct ext2_statfs){
        .block_size = fs->block_size,
        .nblocks = fs->super.blocks_count - fs->overhead,
        .nblocks_free = fs->nblocks_free,
        .nblocks_avail = fs->nblocks_free > reserved ? fs->nblocks_free - reserved : 0,
        .ninodes = fs->super.inodes_count,
        .ninodes_free = fs->ninodes_free,
        .name_max = EXT2_NAME_MAX,
        .read_only = fs->read_only,
        .clean = fs->was_valid && !fs->damaged,
    };
    ext2_fs_unlock(fs);
}

uint32_t ext2_block_size(const struct ext2_fs *fs)
{
    return fs->block_size;
}
