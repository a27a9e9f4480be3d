// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef EXT2_PATH_H
#define EXT2_PATH_H

#include "ext2/node.h"

/*
 * The node that PATH, names with slashes between, leads to from START, with a reference. The empty
 * path is START.
 * FLAGS are FILE_CREATE, FILE_EXCLUSIVE and FILE_TRUNCATE (librt/file_types.h); MODE is for a file
 * that is created. Symbolic links are followed, at most EXT2_PATH_LINKS of them.
 * => blocks; no lock held; ENOENT, ENOTDIR, EEXIST, ELOOP, ENAMETOOLONG, ENOSPC, EIO, ENOMEM,
 * EROFS.
 */
error_t path_lookup(struct node *start, const char *path, int flags, uint16_t mode,
                    struct node **node);

/* A name in a directory, whether there is such an entry or not. */
struct path_place {
    struct ext2_inode *directory; /* a reference, the receiver's */
    char name[EXT2_NAME_MAX + 1];
};

/* Where PATH's last name is to be looked for, from START. Links on the way there are followed.
   => as path_lookup; EINVAL: PATH has no name. */
error_t path_find_place(struct node *start, const char *path, struct path_place *place);

/* ext2_unlink and ext2_rename, for names whose files may be in use: a file that has lost its last
   name, and that no client uses, goes at once. => as those. */
error_t path_unlink(struct ext2_inode *directory, const char *name);
error_t path_rename(struct ext2_inode *from, const char *from_name, struct ext2_inode *to,
                    const char *to_name);

#define EXT2_PATH_LINKS 8

#endif
