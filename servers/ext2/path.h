// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef EXT2_PATH_H
#define EXT2_PATH_H

#include "ext2/node.h"

/*
 * The node that PATH, names with slashes between, leads to from START. The empty path is START.
 * FLAGS are FILE_CREATE, FILE_EXCLUSIVE and FILE_TRUNCATE (librt/file_types.h); MODE is for a file
 * that is created. Symbolic links are followed, at most EXT2_PATH_LINKS of them.
 * => blocks; no lock held; ENOENT, ENOTDIR, EEXIST, ELOOP, ENAMETOOLONG, ENOSPC, EIO, ENOMEM,
 * EROFS.
 */
error_t path_lookup(struct node *start, const char *path, int flags, uint16_t mode,
                    struct node **node);

/* Make the directory PATH, whose last name must not exist. => as path_lookup; EMLINK. */
error_t path_mkdir(struct node *start, const char *path, uint16_t mode);

#define EXT2_PATH_LINKS 8

#endif
