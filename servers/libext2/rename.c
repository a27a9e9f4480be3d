// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Renaming. The new name first, then the old one goes: in the order of the changes a file always
 * has a name. The new name's place may split the old name's entry; clearing the old one looks at
 * the block as it is by then.
 */
#include <sys/stat.h>

#include "libext2/private.h"

struct ext2_renaming {
    struct ext2_inode *from;
    struct ext2_inode *to;
    struct ext2_name from_name;
    struct ext2_name to_name;
    struct ext2_inode *moved;
    struct ext2_inode *victim; /* what has the new name now; null: nothing */
    struct ext2_place old;
    struct ext2_place new;
    struct ext2_place parent; /* the entry ".." of a directory that gets another parent */
    struct ext2_pin moved_pin;
    struct ext2_pin victim_pin;
};

static const struct ext2_name ext2_dotdot = {"..", 2};

static bool ext2_renaming_moves_dir(const struct ext2_renaming *renaming)
{
    return ext2_inode_is(renaming->moved, S_IFDIR) && renaming->from != renaming->to;
}

/* EINVAL when MOVED is DIR or above it. */
static error_t ext2_rename_check_loop(struct ext2_inode *dir, const struct ext2_inode *moved)
{
    struct ext2_fs *fs = dir->fs;
    uint32_t steps = fs->super.inodes_count;
    error_t error = 0;
    dir->nusers++;
    while (dir != moved && dir->ino != EXT2_ROOT_INO && error == 0) {
        struct ext2_inode *above = NULL;
        error = ext2_name_lookup(dir, &ext2_dotdot, &above);
        if (error == 0 && (!ext2_inode_is(above, S_IFDIR) || steps-- == 0))
            error = ext2_damage(fs, "directory %u does not lead to the root", (unsigned)dir->ino);
        ext2_inode_put_locked(dir);
        dir = above;
        if (above == NULL)
            return error == ENOENT ? ext2_damage(fs, "a directory has no parent") : error;
    }
    bool loop = dir == moved;
    ext2_inode_put_locked(dir);
    return error == 0 && loop ? EINVAL : error;
}

static error_t ext2_rename_check_victim(const struct ext2_renaming *renaming)
{
    bool directory = ext2_inode_is(renaming->moved, S_IFDIR);
    if (renaming->victim == NULL)
        return 0;
    if (ext2_inode_is(renaming->victim, S_IFDIR) != directory)
        return directory ? ENOTDIR : EISDIR;
    return directory ? ext2_dir_check_empty(renaming->victim) : 0;
}

static error_t ext2_rename_check(const struct ext2_renaming *renaming)
{
    error_t error = ext2_rename_check_victim(renaming);
    if (error != 0 || !ext2_renaming_moves_dir(renaming))
        return error;
    if (renaming->victim == NULL && renaming->to->disk.links_count >= EXT2_LINK_MAX)
        return EMLINK;
    return 0;
}

/* Get all that will be changed. */
static error_t ext2_rename_prepare(struct ext2_renaming *renaming)
{
    error_t error;
    if (renaming->victim != NULL)
        error = ext2_place_find(renaming->to, &renaming->to_name, &renaming->new);
    else
        error = ext2_place_make(renaming->to, &renaming->to_name, &renaming->new);
    if (error == 0)
        error = ext2_place_find(renaming->from, &renaming->from_name, &renaming->old);
    if (error == 0 && ext2_renaming_moves_dir(renaming))
        error = ext2_place_find(renaming->moved, &ext2_dotdot, &renaming->parent);
    if (error == 0)
        error = ext2_pin(renaming->moved, &renaming->moved_pin);
    if (error == 0 && renaming->victim != NULL)
        error = ext2_pin(renaming->victim, &renaming->victim_pin);
    return error;
}

static void ext2_rename_abort(struct ext2_renaming *renaming)
{
    ext2_pin_abort(&renaming->victim_pin);
    ext2_pin_abort(&renaming->moved_pin);
    ext2_place_abort(&renaming->parent);
    ext2_place_abort(&renaming->old);
    ext2_place_abort(&renaming->new);
}

static void ext2_rename_links(struct ext2_renaming *renaming)
{
    struct ext2_disk_inode *from = &renaming->from->disk;
    struct ext2_disk_inode *to = &renaming->to->disk;
    uint32_t now = ext2_fs_now(renaming->from->fs);
    bool directory = ext2_inode_is(renaming->moved, S_IFDIR);
    renaming->moved->disk.ctime = now;
    if (directory && (renaming->from != renaming->to || renaming->victim != NULL)) {
        from->links_count -= from->links_count > 2 ? 1 : 0;
        to->links_count += renaming->victim == NULL ? 1 : 0;
    }
    if (renaming->victim != NULL) {
        struct ext2_disk_inode *victim = &renaming->victim->disk;
        victim->links_count = directory ? 0 : (uint16_t)(victim->links_count - 1);
        victim->ctime = now;
    }
}

/* Cannot fail. */
static void ext2_rename_commit(struct ext2_renaming *renaming)
{
    ext2_rename_links(renaming);
    if (renaming->victim != NULL)
        ext2_place_replace(&renaming->new, renaming->moved);
    else
        ext2_place_fill(&renaming->new, &renaming->to_name, renaming->moved);
    ext2_place_clear(&renaming->old);
    if (ext2_renaming_moves_dir(renaming))
        ext2_place_replace(&renaming->parent, renaming->to);
    ext2_pin_commit(&renaming->moved_pin);
    if (renaming->victim != NULL)
        ext2_pin_commit(&renaming->victim_pin);
}

static error_t ext2_rename_found(struct ext2_renaming *renaming)
{
    if (renaming->moved == renaming->victim)
        return 0;
    error_t error = ext2_rename_check(renaming);
    if (error == 0)
        error = ext2_rename_prepare(renaming);
    if (error == 0)
        ext2_rename_commit(renaming);
    else
        ext2_rename_abort(renaming);
    return error;
}

static error_t ext2_rename_locked(struct ext2_renaming *renaming)
{
    error_t error = ext2_dir_check(renaming->from);
    if (error == 0)
        error = ext2_dir_check(renaming->to);
    if (error == 0 && renaming->from->fs->read_only)
        error = EROFS;
    if (error == 0)
        error = ext2_name_lookup(renaming->from, &renaming->from_name, &renaming->moved);
    if (error != 0)
        return error;
    if (ext2_renaming_moves_dir(renaming))
        error = ext2_rename_check_loop(renaming->to, renaming->moved);
    if (error == 0)
        error = ext2_name_lookup(renaming->to, &renaming->to_name, &renaming->victim);
    if (error == 0 || error == ENOENT)
        error = ext2_rename_found(renaming);
    if (renaming->victim != NULL)
        ext2_inode_put_locked(renaming->victim);
    ext2_inode_put_locked(renaming->moved);
    return error;
}

/* A name that can be moved. */
static error_t ext2_rename_name_check(const char *text, struct ext2_name *name)
{
    error_t error = ext2_name_check(text, name);
    if (error != 0)
        return error;
    return ext2_name_is_dots(name) ? EINVAL : 0;
}

error_t ext2_rename(struct ext2_inode *from, const char *from_name, struct ext2_inode *to,
                    const char *to_name)
{
    struct ext2_renaming renaming = {.from = from, .to = to};
    if (from->fs != to->fs)
        return EXDEV;
    error_t error = ext2_rename_name_check(from_name, &renaming.from_name);
    if (error == 0)
        error = ext2_rename_name_check(to_name, &renaming.to_name);
    if (error != 0)
        return error;
    ext2_fs_lock(from->fs);
    error = ext2_rename_locked(&renaming);
    ext2_fs_unlock(from->fs);
    return error;
}
