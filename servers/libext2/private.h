// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the parts of libext2 know of each other.
 *
 * How an operation keeps the file system whole when a block cannot be had in the middle: it first
 * gets every block that it is going to change (they stay in place until they are put: "pins"), does
 * all that can fail, and only then changes anything. What cannot be undone marks the file system as
 * one to be checked.
 *
 * Functions expect the file-system lock to be held, unless said otherwise.
 */
#ifndef LIBEXT2_PRIVATE_H
#define LIBEXT2_PRIVATE_H

#include "libext2/ext2.h"
#include "libext2/format.h"

#define EXT2_BUCKETS 256u

/* Blocks that are kept for one use; only in memory (alloc.c). Empty when start == end. */
struct ext2_window {
    uint32_t start;
    uint32_t end;
    uint32_t first; /* the file block that START is meant for */
    uint32_t size;  /* how large it was meant to be */
    struct ext2_window *next;
};

struct ext2_group {
    uint32_t start; /* its first block */
    uint32_t nblocks;
    uint32_t overhead; /* copies of super block and descriptors, at its start */
    uint32_t block_bitmap;
    uint32_t inode_bitmap;
    uint32_t inode_table;
    uint32_t nblocks_free;
    uint32_t ninodes_free;
    uint32_t ndirs;
    uint32_t gap_limit;          /* no stretch of free blocks is longer */
    struct ext2_window zone;     /* for indirect blocks and directories */
    struct ext2_window *windows; /* ascending, not overlapping, ZONE among them */
    bool changed;                /* since the descriptor was put */
};

struct ext2_fs {
    const struct ext2_ops *ops;
    void *hook;
    struct ext2_super super; /* but for the counts, which are below */
    uint64_t file_blocks_max;
    uint64_t file_bytes_max;
    uint32_t block_size;
    unsigned int block_shift;
    unsigned int pointer_shift; /* of the number of pointers in an indirect block */
    uint32_t sectors_per_block;
    uint32_t inode_size;
    uint32_t first_ino;
    uint32_t table_blocks; /* of inodes, in a group */
    uint32_t gdt_blocks;
    uint32_t overhead; /* blocks that files cannot use */
    uint32_t ngroups;
    struct ext2_group *groups;
    uint32_t nblocks_free;
    uint32_t ninodes_free;
    bool read_only;
    bool was_valid;
    bool damaged;
    struct ext2_inode *buckets[EXT2_BUCKETS];
};

struct ext2_inode {
    struct ext2_fs *fs;
    struct ext2_inode *next; /* in the bucket */
    uint32_t ino;
    uint32_t nusers;
    uint16_t type;               /* S_IFREG and so on */
    bool is_new;                 /* has not been in the table yet */
    struct ext2_disk_inode disk; /* always as in the table, between two operations */
    struct ext2_window window;
};

/* --- super.c: blocks and damage --- */

void ext2_fs_lock(struct ext2_fs *fs);
void ext2_fs_unlock(struct ext2_fs *fs);
uint32_t ext2_fs_now(struct ext2_fs *fs);

/* Any lock. */
error_t ext2_get(struct ext2_fs *fs, uint32_t block, enum ext2_how how, void **data);
void ext2_put(struct ext2_fs *fs, uint32_t block, void *data, bool dirty);
void ext2_forget(struct ext2_fs *fs, uint32_t block, uint32_t count);

/* Report damage and mark the file system. Returns EIO. Any lock. */
error_t ext2_damage(struct ext2_fs *fs, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tell people, no more. Any lock. */
void ext2_report(const struct ext2_ops *ops, void *hook, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The super block gets the feature that a file of SIZE bytes needs. */
void ext2_large_file(struct ext2_fs *fs, uint64_t size);

static inline bool ext2_has_filetype(const struct ext2_fs *fs)
{
    return (fs->super.feature_incompat & EXT2_INCOMPAT_FILETYPE) != 0;
}

/* --- group.c: group descriptors --- */

error_t ext2_groups_load(struct ext2_fs *fs);
void ext2_groups_free(struct ext2_fs *fs);
error_t ext2_groups_store(struct ext2_fs *fs);

/* The group of BLOCK, which lies in the file system. Any lock. */
struct ext2_group *ext2_group_of(struct ext2_fs *fs, uint32_t block);

/* Whether COUNT blocks from BLOCK can belong to a file. Any lock. */
bool ext2_blocks_valid(struct ext2_fs *fs, uint32_t block, uint32_t count);

/* --- bitmap.c: bits in memory; FROM <= END, and END itself is outside --- */

uint32_t ext2_bits_next_zero(const void *bits, uint32_t from, uint32_t end);
uint32_t ext2_bits_next_one(const void *bits, uint32_t from, uint32_t end);
void ext2_bits_set(void *bits, uint32_t from, uint32_t count);
void ext2_bits_clear(void *bits, uint32_t from, uint32_t count);

/* --- window.c: what is kept for whom --- */

void ext2_window_insert(struct ext2_group *group, struct ext2_window *window);
void ext2_window_drop(struct ext2_fs *fs, struct ext2_window *window);
void ext2_windows_drop_all(struct ext2_fs *fs);

/* Blocks of a group kept for indirect blocks and directories. At 4,096 bytes a block, 64 indirect
   blocks map two groups full of data; at 1,024 bytes, two as well. */
#define EXT2_ZONE_BLOCKS 64u
#define EXT2_ZONE_LEAST  8u /* a zone that follows a full one is not shorter */

/* Make COUNT blocks from START on, which are in no window, GROUP's zone. */
void ext2_zone_move(struct ext2_group *group, uint32_t start, uint32_t count);

/* --- search.c: stretches of free blocks --- */

struct ext2_gap {
    uint32_t start;
    uint32_t count;
};

/* At least one free block from BLOCK on, WANT at most, that is in no window; else count is 0. */
error_t ext2_gap_at(struct ext2_fs *fs, uint32_t block, uint32_t want, struct ext2_gap *gap);

/* The first stretch of WANT free blocks from GOAL on, around the whole file system, or else the
   longest that can be had with little work. With AVOID, no block in a window. => ENOSPC. */
error_t ext2_gap_find(struct ext2_fs *fs, uint32_t goal, uint32_t want, bool avoid,
                      struct ext2_gap *gap);

/* --- alloc.c: blocks --- */

/* *GOT (COUNT at most) blocks from *BLOCK for the file block FIRST of INODE and what follows;
   BEFORE is the block of FIRST - 1, or 0. => ENOSPC. */
error_t ext2_data_allocate(struct ext2_inode *inode, uint32_t first, uint32_t before,
                           uint32_t count, uint32_t *block, uint32_t *got);

/* One block of metadata for INODE, near NEAR. => ENOSPC. */
error_t ext2_meta_allocate(struct ext2_inode *inode, uint32_t near, uint32_t *block);

/* COUNT valid blocks from BLOCK are free again. An error has marked the file system. */
error_t ext2_blocks_free(struct ext2_fs *fs, uint32_t block, uint32_t count);

/* --- ialloc.c: inode numbers --- */

error_t ext2_ino_allocate(struct ext2_fs *fs, uint32_t parent, bool directory, uint32_t *ino);
error_t ext2_ino_free(struct ext2_fs *fs, uint32_t ino, bool directory);

/* --- inode.c: inodes in memory --- */

/* The place of an inode in its table, got. */
struct ext2_pin {
    struct ext2_inode *inode;
    uint32_t block;
    void *data;
    struct ext2_disk_inode *disk;
};

error_t ext2_pin(struct ext2_inode *inode, struct ext2_pin *pin);
void ext2_pin_commit(struct ext2_pin *pin); /* the inode as it is in memory goes there */
void ext2_pin_abort(struct ext2_pin *pin);  /* leave the table alone; also for a pin of zeros */

error_t ext2_inode_get_locked(struct ext2_fs *fs, uint32_t ino, struct ext2_inode **inode);
void ext2_inode_put_locked(struct ext2_inode *inode);

/* A new inode with no link yet, which goes away again if it is put like that. */
error_t ext2_inode_new(struct ext2_inode *dir, uint16_t mode, uint32_t uid, uint32_t gid,
                       struct ext2_inode **inode);

/* Any lock that keeps the inode as it is; its type never changes. */
uint64_t ext2_inode_size(const struct ext2_inode *inode);
void ext2_inode_size_set(struct ext2_inode *inode, uint64_t size);
bool ext2_inode_has_blocks(const struct ext2_inode *inode);
static inline bool ext2_inode_is(const struct ext2_inode *inode, uint16_t type)
{
    return inode->type == type;
}

/* --- map.c: the block map --- */

/* The way to a file block: which pointer of the inode, then which of each indirect block. */
struct ext2_path {
    unsigned int depth; /* indirect blocks on the way */
    uint32_t slot[EXT2_LEVELS_MAX + 1];
};

/* => FILE_BLOCK below fs->file_blocks_max. Any lock. */
void ext2_path_find(const struct ext2_fs *fs, uint32_t file_block, struct ext2_path *path);

/* Blocks of a file that a pointer at LEVEL (0: to data) stands for. Any lock. */
uint64_t ext2_level_span(const struct ext2_fs *fs, unsigned int level);

/* ext2_block_map without its checks: the stretch may end before it must. Any lock. */
error_t ext2_map_piece(struct ext2_inode *inode, uint32_t first, uint32_t count,
                       struct ext2_run *run);

/* The run of COUNT pointers at most from POINTERS on. Any lock. */
void ext2_pointers_run(const uint32_t *pointers, uint32_t count, struct ext2_run *run);

/* --- grow.c, truncate.c --- */

/* ext2_block_allocate for any inode with blocks; as METADATA, one block from the zones. */
error_t ext2_grow(struct ext2_inode *inode, uint32_t first, uint32_t count, bool metadata,
                  struct ext2_run *run);

/* Free what lies from the file block FROM on; the inode is changed in memory only. An error has
   marked the file system. */
error_t ext2_shrink(struct ext2_inode *inode, uint32_t from);

/* --- dir.c: entries of directories --- */

/* An entry, or the place for one, in a block that is got. */
struct ext2_place {
    struct ext2_pin pin; /* of the directory */
    uint32_t block;
    uint8_t *data;
    uint32_t offset;
};

struct ext2_name {
    const char *text;
    uint32_t length;
};

error_t ext2_name_check(const char *text, struct ext2_name *name);

/* The inode number of NAME in DIR, which is a directory. => ENOENT. */
error_t ext2_dir_find(struct ext2_inode *dir, const struct ext2_name *name, uint32_t *ino);

/* Get the place of NAME's entry for a change. => ENOENT. */
error_t ext2_place_find(struct ext2_inode *dir, const struct ext2_name *name,
                        struct ext2_place *place);

/* Get a place for a new entry NAME; DIR may become longer. => EEXIST, ENOSPC. */
error_t ext2_place_make(struct ext2_inode *dir, const struct ext2_name *name,
                        struct ext2_place *place);

void ext2_place_abort(struct ext2_place *place); /* also for a place of zeros */
uint32_t ext2_place_ino(const struct ext2_place *place);

/* These end PLACE: the change is made, and the directory's inode goes to its table. */
void ext2_place_fill(struct ext2_place *place, const struct ext2_name *name,
                     const struct ext2_inode *inode);
void ext2_place_replace(struct ext2_place *place, const struct ext2_inode *inode);
void ext2_place_clear(struct ext2_place *place);

/* => ENOTEMPTY. */
error_t ext2_dir_check_empty(struct ext2_inode *dir);

/* Give the new directory DIR its first block. */
error_t ext2_dir_init(struct ext2_inode *dir, uint32_t parent);

/* DIR is a directory that has a name. => ENOTDIR, ENOENT. */
error_t ext2_dir_check(const struct ext2_inode *dir);

/* --- name.c --- */

/* "." or "..". */
bool ext2_name_is_dots(const struct ext2_name *name);

/* The inode called NAME in DIR, which is a directory, for one user more. => ENOENT. */
error_t ext2_name_lookup(struct ext2_inode *dir, const struct ext2_name *name,
                         struct ext2_inode **inode);

#endif
