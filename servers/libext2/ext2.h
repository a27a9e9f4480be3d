// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ext2 format, with no Mach in it. The same code runs in the file server and on the host.
 *
 * Metadata (super block, group descriptors, bitmaps, inode tables, indirect blocks, directories,
 * slow symbolic links) is reached in place, through struct ext2_ops. File data never passes through
 * here: ext2_block_map and ext2_block_allocate say which device blocks hold it, and the caller
 * reads and writes those.
 *
 * Locks, in the order in which they are taken:
 *
 *   1. an inode's allocation lock, a reader/writer lock of the caller's, one for each regular file.
 *      "Map lock" below. Two of them are never needed at once.
 *   2. the file-system lock, behind ops->lock. The library takes it itself; no call may be made
 *      with it held. It covers all else: names, link counts, attributes, bitmaps, counts.
 *   3. whatever ops->get, put and forget take.
 *
 * So any number of threads may call anything at once, on one file system or on several; only the
 * calls that name the map lock below need a lock of the caller's. No block number that a call has
 * returned is valid once the map lock, under which it was asked for, has been released.
 *
 * After each call everything that it changed is in blocks that were put as dirty, except for the
 * counts of free blocks and inodes and the state in the super block: ext2_sync puts those.
 *
 * Errors are errno values. EIO stands for a failed ops->get and for damage in the file system
 * alike; damage is told to ops->report and marks the file system as one to be checked. Beside the
 * errors that a call names, each may return EIO and ENOMEM, and each that changes something EROFS
 * when the mount is read-only.
 *
 * Units: a file block is a number of blocks from the start of a file, a block is a number of blocks
 * from the start of the device; 0 is never the block of a file.
 */
#ifndef LIBEXT2_EXT2_H
#define LIBEXT2_EXT2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "librt/error.h"

#define EXT2_ROOT_INO 2u
#define EXT2_NAME_MAX 255u

struct ext2_fs;
struct ext2_inode; /* an inode in use; a reference counts as one user */

enum ext2_how {
    EXT2_READ, /* the data on the device is wanted */
    EXT2_NEW,  /* all of it will be overwritten, what is on the device does not matter */
};

/*
 * How the library reaches the world. Any member but get and put may be null.
 */
struct ext2_ops {
    /*
     * Make *DATA the address of the LENGTH bytes at OFFSET of the device, in memory that everybody
     * who gets it shares, until `put`. They lie within one 4,096-byte page of the device; DATA is
     * aligned as OFFSET is, to 1,024 bytes at least. A thread holds at most eight at once, and may
     * hold the same one twice.
     * => called with or without the file-system lock; may block; any error makes the call that
     *    needed it fail with that error.
     */
    error_t (*get)(void *hook, uint64_t offset, uint32_t length, enum ext2_how how, void **data);

    /* The end of one `get`. DIRTY: the bytes were changed, and must reach the device by the next
       sync. => must not fail. */
    void (*put)(void *hook, uint64_t offset, uint32_t length, void *data, bool dirty);

    /*
     * These bytes are no longer metadata. What was put must not be written any more: the blocks may
     * be a file's data as soon as this returns, so it waits for a write of them that is under way.
     * => with the file-system lock; none of the bytes is held by a `get`; must not fail.
     */
    void (*forget)(void *hook, uint64_t offset, uint32_t length);

    /* The file-system lock. Without it only one thread at a time may use this file system. */
    void (*lock)(void *hook);
    void (*unlock)(void *hook);

    /* Seconds since 1970. Time does not go back behind the last write of the super block, and
       without this stays there. */
    uint32_t (*now)(void *hook);

    /* A sentence for people: damage, a refused mount. => with or without the file-system lock; must
       not call the library. */
    void (*report)(void *hook, const char *sentence);
};

struct ext2_statfs {
    uint32_t block_size;
    uint32_t nblocks; /* that files can use, at most */
    uint32_t nblocks_free;
    uint32_t nblocks_avail; /* the same without those reserved for root; not enforced here */
    uint32_t ninodes;
    uint32_t ninodes_free;
    uint32_t name_max;
    bool read_only;
    bool clean; /* was unmounted cleanly before, and nothing wrong was found since */
};

struct ext2_stat {
    uint32_t ino;
    uint16_t mode; /* type and permissions, the usual bits in octal */
    uint16_t nlinks;
    uint32_t uid;
    uint32_t gid;
    uint64_t size;
    uint64_t nsectors; /* of 512 bytes, indirect blocks included */
    uint32_t atime;
    uint32_t mtime;
    uint32_t ctime;
    uint32_t generation;
    uint32_t flags;
    uint32_t rdev; /* of a device file, as the disk has it */
};

/* COUNT file blocks from FIRST, in COUNT consecutive blocks from BLOCK; BLOCK 0: a hole. */
struct ext2_run {
    uint32_t first;
    uint32_t count;
    uint32_t block;
    bool fresh; /* allocated by this very call: the device holds somebody else's old data there */
};

struct ext2_entry {
    uint32_t ino;
    uint16_t mode;   /* the type bits alone; 0: the directory does not tell */
    uint64_t cookie; /* from here on, the entries after this one */
    uint8_t length;
    const char *name; /* LENGTH bytes, no NUL */
};

/* --- The file system ------------------------------------------------------------------------- */

/*
 * Mount what is on a device of DEVICE_BYTES bytes. OPS must outlive the mount. A file system with
 * features that must be known for writing, and are not, is mounted read-only, whatever READ_ONLY
 * says.
 *
 * A writable mount marks the super block as in use; have the device written before anything else
 * is, so that a crash is noticed.
 * => may block; EINVAL when this is no ext2, or one damaged beyond use or cut short, EOPNOTSUPP
 *    when it has features that must be known for reading (ops->report names them).
 */
error_t ext2_mount(const struct ext2_ops *ops, void *hook, uint64_t device_bytes, bool read_only,
                   struct ext2_fs **fs);

/*
 * End FS, and mark it as cleanly unmounted if it was so before and nothing went wrong. Call
 * ext2_sync and have the device written first, and again afterwards: the mark must come last.
 * FS is gone when this returns, whatever it returns.
 * => may block; no inode is in use.
 */
error_t ext2_unmount(struct ext2_fs *fs);

/* Put what is kept lazily. Writing the device is then the caller's. => may block. */
error_t ext2_sync(struct ext2_fs *fs);

/* Mark FS as one to be checked, because of SENTENCE (a metadata block could not be written, say).
   => may block; the mark reaches its block at the next ext2_sync. */
void ext2_damaged(struct ext2_fs *fs, const char *sentence);

void ext2_statfs(struct ext2_fs *fs, struct ext2_statfs *statfs);

/* 1,024, 2,048 or 4,096. => does not block. */
uint32_t ext2_block_size(const struct ext2_fs *fs);

/* --- Inodes ---------------------------------------------------------------------------------- */

/*
 * Inode number INO, for one user more.
 * => may block; ENOENT when it is not in use, EINVAL when there is no such number, or only the file
 *    system itself uses it.
 */
error_t ext2_inode_get(struct ext2_fs *fs, uint32_t ino, struct ext2_inode **inode);

/* One user more of an inode that the caller has. */
void ext2_inode_ref(struct ext2_inode *inode);

/*
 * One user less. When it was the last one and no name is left, the file is deleted; if that fails,
 * its blocks are lost until somebody checks the file system, which is marked for it.
 * => may block; the caller does not hold the inode's map lock.
 */
void ext2_inode_put(struct ext2_inode *inode);

/* => does not block. */
uint32_t ext2_inode_number(const struct ext2_inode *inode);

void ext2_inode_stat(struct ext2_inode *inode, struct ext2_stat *stat);

/* Set the permissions: the low 12 bits of MODE. => may block. */
error_t ext2_inode_chmod(struct ext2_inode *inode, uint16_t mode);

error_t ext2_inode_chown(struct ext2_inode *inode, uint32_t uid, uint32_t gid);

error_t ext2_inode_utimes(struct ext2_inode *inode, uint32_t atime, uint32_t mtime);

enum {
    EXT2_TOUCH_ATIME = 1,
    EXT2_TOUCH_MTIME = 2, /* and ctime with it */
};

/* Set the times in WHICH to now. => may block. */
error_t ext2_inode_touch(struct ext2_inode *inode, unsigned int which);

/*
 * Make SIZE the size of a regular file, both ways. What lies wholly beyond is freed; growing leaves
 * a hole.
 *
 * Data inside a block is the caller's: bytes of the last block beyond the size must be zero on the
 * device. So who shrinks a file to a size inside a block zeroes the rest of that block (in its page
 * cache, marked as changed) while it holds the map lock, and who writes the last block of a file
 * out writes zeros beyond the size.
 * => may block; map lock held for writing; EFBIG beyond what the format can hold, EINVAL when this
 *    is no regular file. When it fails, the size is the new one if it was to shrink.
 */
error_t ext2_inode_resize(struct ext2_inode *inode, uint64_t size);

/* --- Blocks of a file ------------------------------------------------------------------------ */

/*
 * Where the file blocks from FIRST on are, COUNT (above 0) at most: *RUN is the first stretch of
 * them that lies in consecutive blocks, or is one hole, as long as it can be within COUNT. The
 * file's size does not matter. Each indirect block is looked at once.
 * => may block; map lock held, reading is enough; no other lock of the file system is taken.
 */
error_t ext2_block_map(struct ext2_inode *inode, uint32_t first, uint32_t count,
                       struct ext2_run *run);

/*
 * Make sure that the file block FIRST of a regular file has a block, and those that follow, COUNT
 * (above 0) in all, as far as one run goes: *RUN starts at FIRST, is one block long at least, and
 * is all fresh or all not. Call again for the rest.
 *
 * A fresh block holds old data of others: until the caller's own data has been written over the
 * whole of it, it must not read that from the device. Blocks beyond the size are allowed for as
 * long as the map lock is held: then set the size over them, or set the old size again, which frees
 * them.
 * => may block; map lock held for writing; ENOSPC, EFBIG; EINVAL when this is no regular file.
 *    After an error nothing has changed.
 */
error_t ext2_block_allocate(struct ext2_inode *inode, uint32_t first, uint32_t count,
                            struct ext2_run *run);

/* --- Names ----------------------------------------------------------------------------------- */
/*
 * NAME is one name: ENAMETOOLONG above EXT2_NAME_MAX, EINVAL when it is empty or holds a slash.
 * ENOTDIR when DIR is no directory; ENOENT when DIR itself has been removed. All may block. Times
 * of directories and inodes change as POSIX says. Inodes are handed out with one user more.
 */

/* The inode called NAME in DIR; "." and ".." are names like others. => ENOENT. */
error_t ext2_lookup(struct ext2_inode *dir, const char *name, struct ext2_inode **inode);

/*
 * Call VISIT for DIR's entries from COOKIE on (0: the first), until it returns false or there are
 * no more; "." and ".." are among them. Cookies stay valid while names come and go: an entry that
 * was there all the time is met once.
 * => VISIT runs with the file-system lock held: it must not call the library; ENTRY lives until it
 *    returns. EIO at the first damaged block.
 */
error_t ext2_dir_iterate(struct ext2_inode *dir, uint64_t cookie,
                         bool (*visit)(void *hook, const struct ext2_entry *entry), void *hook);

/*
 * Make a regular file, FIFO or socket (as the type in MODE says) called NAME in DIR.
 * => EEXIST, ENOSPC (no block, or no inode), EINVAL for another type.
 */
error_t ext2_create(struct ext2_inode *dir, const char *name, uint16_t mode, uint32_t uid,
                    uint32_t gid, struct ext2_inode **inode);

/* Make a directory. => EEXIST, ENOSPC, EMLINK. */
error_t ext2_mkdir(struct ext2_inode *dir, const char *name, uint16_t mode, uint32_t uid,
                   uint32_t gid, struct ext2_inode **inode);

/* Make a symbolic link to TARGET. => EEXIST, ENOSPC; ENAMETOOLONG when TARGET does not fit into a
   block, ENOENT when it is empty. */
error_t ext2_symlink(struct ext2_inode *dir, const char *name, const char *target, uint32_t uid,
                     uint32_t gid, struct ext2_inode **inode);

/* Copy the target of a symbolic link to BUFFER, LENGTH bytes at most, no NUL; *DONE is how many.
   => EINVAL when this is no symbolic link. */
error_t ext2_readlink(struct ext2_inode *inode, char *buffer, size_t length, size_t *done);

/* Give INODE another name. => EEXIST, ENOSPC, EMLINK; EPERM for a directory; ENOENT when its last
   name is gone. */
error_t ext2_link(struct ext2_inode *dir, const char *name, struct ext2_inode *inode);

/* Take a name away from what is no directory; the file goes with its last name and its last user.
   => ENOENT; EISDIR. */
error_t ext2_unlink(struct ext2_inode *dir, const char *name);

/* Remove an empty directory. => ENOENT; ENOTDIR, ENOTEMPTY; EINVAL for ".", ENOTEMPTY for "..". */
error_t ext2_rmdir(struct ext2_inode *dir, const char *name);

/*
 * Give what is called FROM_NAME in FROM the name TO_NAME in TO, instead of what has that name now.
 * Both names of one file: nothing happens.
 * => ENOENT, ENOSPC, EMLINK; EISDIR, ENOTDIR when one is a directory and the other is not;
 *    ENOTEMPTY; EINVAL when a directory would come to lie in itself, and for "." and "..";
 *    EXDEV when the directories are not of one file system.
 */
error_t ext2_rename(struct ext2_inode *from, const char *from_name, struct ext2_inode *to,
                    const char *to_name);

#endif
