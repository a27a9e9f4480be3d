// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A store in memory, which a test can make wait and fail, sector by sector, and which remembers
 * what was written. Two writes of the same sector at once end the test.
 */
#ifndef EXT2_TESTS_MEMSTORE_H
#define EXT2_TESTS_MEMSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libstore/store.h"

enum memstore_how {
    MEMSTORE_READ = 1,
    MEMSTORE_WRITE = 2,
};

struct memstore_write {
    uint64_t sector;
    uint64_t nsectors;
};

#define MEMSTORE_NAME "memory" /* the store's device */

/* The one store of a test, on BYTES, SIZE of them, which stay the caller's. */
struct store *memstore_create(uint8_t *bytes, uint64_t size);

/* Have the store say what it counted, for SERVER. */
void memstore_report(const char *server);

/* From now on what reads or writes (HOW) one of these sectors waits, before anything is moved. */
void memstore_hold(uint64_t sector, uint64_t nsectors, enum memstore_how how);

/* Wait until COUNT calls wait. */
void memstore_await_held(unsigned int count);

/* Let those go on that wait just now, and hold others as before. */
void memstore_step(void);

/* Let them go on; nothing is held any more. */
void memstore_release(void);

/* Have reading or writing (HOW) any of these sectors fail, or work again. */
void memstore_spoil(uint64_t sector, uint64_t nsectors, enum memstore_how how);
void memstore_repair(uint64_t sector, uint64_t nsectors, enum memstore_how how);

/* What is on the disk: BYTES from byte OFFSET on, copied to TO. */
void memstore_look(uint64_t offset, void *to, size_t bytes);

/* What was written since memstore_forget, in the order in which it was finished. Returns how many;
   what failed does not count. */
size_t memstore_writes(const struct memstore_write **writes);
void memstore_forget(void);

/* How often a sector was written since then. */
unsigned int memstore_nwrites(uint64_t sector);

#endif
