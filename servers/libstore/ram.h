// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks in memory, for a store that needs no disk. */
#ifndef LIBSTORE_RAM_H
#define LIBSTORE_RAM_H

#include <stdint.h>

#include "libstore/store.h"

#define RAM_BLOCK_BYTES 4096u /* a page */

struct ram;

/* Make an empty store of NSECTORS; its memory comes from HOST, the privileged port. => may block;
   ENOMEM. */
error_t ram_create(mach_port_t host, uint64_t nsectors, struct ram **ram);

/* Give block number BLOCK, inside the store, its memory, which it has not yet: zeros at the address
 *PHYSICAL. => may block; ENOSPC: there is no memory. */
error_t ram_block_next(struct ram *ram, uint64_t block, uint64_t *physical);

/* The physical address of the first piece (docs/protocol.md, section 6). */
uint64_t ram_first_piece(const struct ram *ram);

/* For store_create; the hook is a struct ram. */
extern const struct store_ops ram_store_ops;

/* Make the store that the image NAME of QEMU's fw_cfg describes (docs/protocol.md, section 6), with
   what the image holds. => the task may use the device (rt_fwcfg_setup); blocks; ENXIO: no such
   image; EIO: it is none; ENOMEM; ENOSPC: too little memory. */
error_t ram_image_load(mach_port_t host, const char *name, struct ram **ram, uint64_t *nsectors);

#endif
