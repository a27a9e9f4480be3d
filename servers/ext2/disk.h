// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The DISK pager: the file system's metadata, as a memory object over the whole partition that this
 * server maps. libext2 works on the mapping itself (disk_ops); what it changes comes back as
 * data_return and is written like any other pager's data.
 */
#ifndef EXT2_DISK_H
#define EXT2_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "libext2/ext2.h"
#include "libstore/store.h"

/* libext2's way to its blocks. The hook is not used: a server has one disk. */
extern const struct ext2_ops disk_ops;

/*
 * Take STORE as the disk: start NWORKERS threads of the level "disk" and map it.
 * => once; blocks; ENOMEM: no memory, or the store is too large for the address space.
 */
error_t disk_setup(struct store *store, unsigned int nworkers);

/* Bytes that can be mapped: the store, down to whole pages. => does not block. */
uint64_t disk_size(void);

/* FS is what is mounted: from now on metadata is written in whole blocks, and FS is marked as
   damaged when that fails. Null before the unmount. => not while a disk_sync is under way. */
void disk_set_fs(struct ext2_fs *fs);

/* The last thing that libext2 had to say, a sentence, or null. => one thread. */
const char *disk_last_report(void);

/*
 * Write out all metadata that was changed before the call. Calls from several threads share the
 * work. Returns an error when some could not be written: to each call that was under way then, or
 * to the next one.
 * => blocks; not from a pager's thread.
 */
error_t disk_sync(void);

/*
 * The same, unless somebody syncs already, who does it anyway, or will. Returns whether it was
 * done; errors are left for disk_sync.
 */
bool disk_write_behind(void);

#endif
