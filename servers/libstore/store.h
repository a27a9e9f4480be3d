// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A block store: sectors of 512 bytes, read and written through a table of operations, so that a
 * device and a deliberately failing one are interchangeable. The store counts every call, and keeps
 * for each sector how often it was told to write it: that is the server's claim, which the runner
 * compares with what the disk received (docs/protocol.md, `claim`). What a write could not write is
 * neither counted nor claimed, but noted as `failed`.
 *
 * A device works in blocks that may be larger than a sector: GNU Mach's drivers read, change and
 * write back a block of which only a part is written, without a lock. So the store lets a write
 * that does not cover whole blocks run alone; whole-block writes run at the same time as others.
 */
#ifndef LIBSTORE_STORE_H
#define LIBSTORE_STORE_H

#include "librt/counter.h"
#include "librt/error.h"
#include "librt/mach.h"

#define STORE_SECTOR_BYTES 512u

struct store;

/* What a kind of store can do. DATA and lengths are as for the calls below. */
struct store_ops {
    error_t (*read)(void *hook, uint64_t sector, vm_size_t bytes, vm_address_t *data);
    error_t (*write)(void *hook, uint64_t sector, vm_address_t data, vm_size_t bytes,
                     vm_size_t *written);
};

struct store_geometry {
    uint64_t nsectors;    /* size of the store */
    uint32_t block_bytes; /* the device's block: a power of two, at least a sector */
};

/*
 * Make a store of OPS and HOOK. NAME (not copied) is the device's. => may block; ENOMEM.
 */
error_t store_create(const char *name, const struct store_ops *ops, void *hook,
                     const struct store_geometry *geometry, struct store **store);

/*
 * Open the device NAME ("sd0s2"; not copied) for reading and writing.
 * => blocks; ENXIO: no such device; ENOMEM.
 */
error_t store_open_device(mach_port_t device_master, const char *name, struct store **store);

/*
 * Open NAME (not copied), the configuration's `disk` and a partition, for reading and writing: a
 * device of the kernel's or, if it is called "ram0s2", a store in this task's memory.
 * => once for each NAME in all tasks; blocks; ENXIO: there is none; ENOMEM, ENOSPC.
 */
error_t store_open(const char *name, struct store **store);

/* A store that passes everything on to INNER but for every NTH write, which it only says it has
   made. For Machbed's own tests. => may block; ENOMEM. */
error_t store_create_forgetful(struct store *inner, unsigned int nth, struct store **store);

/* Size in sectors. => does not block. */
uint64_t store_size(const struct store *store);

/*
 * Read BYTES (a multiple of the sector) from SECTOR on. *DATA becomes fresh memory of vm_allocate's
 * kind, which is the caller's to deallocate.
 * => blocks; any number of threads; EINVAL: not inside the store; EIO and others of the device.
 */
error_t store_read(struct store *store, enum rt_class class, uint64_t sector, vm_size_t bytes,
                   vm_address_t *data);

/*
 * Write BYTES (a multiple of the sector) at SECTOR from DATA. *WRITTEN is how many, from the start,
 * the device says it has; with 0 returned it is BYTES.
 * => blocks; any number of threads, but two writes of the same sectors at once are the caller's
 *    mistake; touches DATA only in the kernel; EINVAL: not inside the store; EIO and others.
 */
error_t store_write(struct store *store, enum rt_class class, uint64_t sector, vm_address_t data,
                    vm_size_t bytes, vm_size_t *written);

/* Print SERVER's `counter` lines of store_read and store_write, its `store` line and its claims.
   COPIED_BYTES is what the server copied in memory on the way from message to store.
   => when nothing is under way. */
void store_report(struct store *store, const char *server, uint64_t copied_bytes);

#endif
