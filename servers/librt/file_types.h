// SPDX-License-Identifier: GPL-2.0-or-later
/* C types of the file interfaces; the sizes are those of defs/file_types.defs. */
#ifndef LIBRT_FILE_TYPES_H
#define LIBRT_FILE_TYPES_H

#include <stdint.h>

typedef char file_path_t[1024]; /* bytes, the terminating zero included */
typedef const char *const_file_path_t;

typedef struct file_stat {
    uint64_t ino;
    uint64_t mode; /* type and permissions, the usual bits in octal */
    uint64_t nlink;
    uint64_t uid;
    uint64_t gid;
    uint64_t size;       /* bytes */
    uint64_t blocks;     /* of 512 bytes, allocated */
    uint64_t block_size; /* bytes, the file system's */
    uint64_t atime;      /* seconds since 1970 */
    uint64_t mtime;
    uint64_t ctime;
    uint64_t generation;
    uint64_t flags;
    uint64_t rdev;
} file_stat_t;

typedef struct fs_stat {
    uint64_t block_size; /* bytes */
    uint64_t nblocks;
    uint64_t nblocks_free;
    uint64_t ninodes;
    uint64_t ninodes_free;
    uint64_t read_only;
} fs_stat_t;

/* An entry of a directory, as dir_readdir returns it; the next one starts RECORD_BYTES behind. */
struct file_entry {
    uint64_t cookie; /* for dir_readdir: the entries after this one */
    uint32_t ino;
    uint16_t mode; /* the type bits alone; 0: not known */
    uint16_t record_bytes;
    uint16_t name_bytes;
    char name[]; /* NAME_BYTES, no zero */
};

/* Flags of dir_lookup, with the values of the GNU C library on the Hurd (bits/fcntl.h). */
#define FILE_CREATE    0x0010  /* O_CREAT: make the file if it is not there */
#define FILE_EXCLUSIVE 0x0020  /* O_EXCL: with FILE_CREATE, fail when it is there */
#define FILE_TRUNCATE  0x10000 /* O_TRUNC: make it empty */

#endif
