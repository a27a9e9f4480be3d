// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading and writing files for clients. */
#ifndef EXT2_FILE_H
#define EXT2_FILE_H

#include "ext2/node.h"

/*
 * Copy *LENGTH bytes from DATA, a client's memory, into NODE's from OFFSET on, and extend it if it
 * must be. *LENGTH becomes how many were, from the start.
 * => blocks; no lock held; an error only when none were: EINVAL, EFBIG, ENOSPC, EIO, ENOMEM, EROFS.
 */
error_t file_write(struct node *node, uint64_t offset, const void *data, vm_size_t *length);

/*
 * Copy *LENGTH bytes of NODE from OFFSET on into fresh memory, *DATA, of vm_allocate's kind.
 * *LENGTH becomes how many there were; with 0, *DATA is 0.
 * => blocks; no lock held; EIO, ENOMEM.
 */
error_t file_read(struct node *node, uint64_t offset, vm_address_t *data, vm_size_t *length);

/* Make SIZE the size. => blocks; no lock held; EFBIG, EIO, ENOMEM, EROFS. */
error_t file_truncate(struct node *node, uint64_t size);

/* A send right to NODE's memory object. => blocks; no lock held; ENOMEM. */
error_t file_map(struct node *node, mach_port_t *memory_object);

/* Write NODE's data, and all metadata, out. => blocks; no lock held; the first error since the last
   call. */
error_t file_sync(struct node *node, bool wait);

#endif
