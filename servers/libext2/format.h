// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What ext2 looks like on the device: revisions 0 and 1, as e2fsprogs documents them. All numbers
 * are little-endian; they are used in place, so this is for little-endian machines.
 */
#ifndef LIBEXT2_FORMAT_H
#define LIBEXT2_FORMAT_H

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "numbers of the device are used in place");

#define EXT2_SUPER_OFFSET 1024u
#define EXT2_SUPER_BYTES  1024u
#define EXT2_MAGIC        0xef53u

#define EXT2_STATE_VALID 1u
#define EXT2_STATE_ERROR 2u

#define EXT2_COMPAT_SPARSE_SUPER2 0x200u

#define EXT2_INCOMPAT_FILETYPE 0x2u
#define EXT2_INCOMPAT_KNOWN    EXT2_INCOMPAT_FILETYPE

#define EXT2_RO_COMPAT_SPARSE_SUPER 0x1u
#define EXT2_RO_COMPAT_LARGE_FILE   0x2u
#define EXT2_RO_COMPAT_KNOWN        (EXT2_RO_COMPAT_SPARSE_SUPER | EXT2_RO_COMPAT_LARGE_FILE)

#define EXT2_OLD_FIRST_INO  11u
#define EXT2_OLD_INODE_SIZE 128u

#define EXT2_DIRECT     12u /* pointers to data in an inode */
#define EXT2_POINTERS   15u /* and those with them that lead to indirect blocks */
#define EXT2_LEVELS_MAX 3u

#define EXT2_LINK_MAX 32000u

#define EXT2_FLAG_INDEX       0x00001000u /* a directory with a hash index */
#define EXT2_FLAG_EXTENTS     0x00080000u
#define EXT2_FLAG_INLINE_DATA 0x10000000u
#define EXT2_FLAGS_INHERITED  0x000000cbu /* secrm, unrm, sync, nodump, noatime */

#define EXT2_XATTR_MAGIC 0xea020000u

struct ext2_super {
    uint32_t inodes_count;
    uint32_t blocks_count;
    uint32_t r_blocks_count;
    uint32_t free_blocks_count;
    uint32_t free_inodes_count;
    uint32_t first_data_block;
    uint32_t log_block_size;
    uint32_t log_frag_size;
    uint32_t blocks_per_group;
    uint32_t frags_per_group;
    uint32_t inodes_per_group;
    uint32_t mtime;
    uint32_t wtime;
    uint16_t mnt_count;
    uint16_t max_mnt_count;
    uint16_t magic;
    uint16_t state;
    uint16_t errors;
    uint16_t minor_rev_level;
    uint32_t lastcheck;
    uint32_t checkinterval;
    uint32_t creator_os;
    uint32_t rev_level;
    uint16_t def_resuid;
    uint16_t def_resgid;
    uint32_t first_ino;
    uint16_t inode_size;
    uint16_t block_group_nr;
    uint32_t feature_compat;
    uint32_t feature_incompat;
    uint32_t feature_ro_compat;
    uint8_t uuid[16];
    char volume_name[16];
    char last_mounted[64];
    uint32_t algorithm_usage_bitmap;
    uint8_t prealloc_blocks;
    uint8_t prealloc_dir_blocks;
    uint16_t reserved_gdt_blocks;
    uint8_t journal[48];
    uint32_t default_mount_opts;
    uint32_t first_meta_bg;
    uint32_t mkfs_time;
    uint32_t jnl_blocks[17];
    uint32_t blocks_count_hi[3];
    uint16_t min_extra_isize;
    uint16_t want_extra_isize;
    uint8_t unused[236];
    uint32_t backup_bgs[2];
    uint8_t rest[428];
};

struct ext2_group_desc {
    uint32_t block_bitmap;
    uint32_t inode_bitmap;
    uint32_t inode_table;
    uint16_t free_blocks_count;
    uint16_t free_inodes_count;
    uint16_t used_dirs_count;
    uint16_t flags;
    uint32_t unused[3];
};

struct ext2_disk_inode {
    uint16_t mode;
    uint16_t uid;
    uint32_t size;
    uint32_t atime;
    uint32_t ctime;
    uint32_t mtime;
    uint32_t dtime;
    uint16_t gid;
    uint16_t links_count;
    uint32_t blocks; /* in sectors of 512 bytes */
    uint32_t flags;
    uint32_t version;
    uint32_t block[EXT2_POINTERS];
    uint32_t generation;
    uint32_t file_acl;
    uint32_t size_high; /* of a regular file */
    uint32_t faddr;
    uint8_t frag;
    uint8_t fsize;
    uint16_t unused;
    uint16_t uid_high;
    uint16_t gid_high;
    uint32_t reserved;
};

#define EXT2_EXTRA_ISIZE_OFFSET 128u /* of a 16-bit number, in inodes larger than this */

struct ext2_dirent {
    uint32_t ino; /* 0: unused */
    uint16_t rec_len;
    uint8_t name_len;
    uint8_t file_type; /* 0 without the filetype feature */
    char name[];
};

#define EXT2_DIRENT_BYTES(name_len) ((8u + (name_len) + 3u) & ~3u)

struct ext2_xattr_header {
    uint32_t magic;
    uint32_t refcount;
    uint32_t blocks;
    uint32_t hash;
};

_Static_assert(sizeof(struct ext2_super) == EXT2_SUPER_BYTES, "super block");
_Static_assert(sizeof(struct ext2_group_desc) == 32, "group descriptor");
_Static_assert(sizeof(struct ext2_disk_inode) == EXT2_OLD_INODE_SIZE, "inode");

#endif
