// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How often each sector of a store was written. Counters of 16 bits, in pieces of CLAIMS_PIECE
 * sectors that take memory when they are first needed.
 */
#ifndef LIBSTORE_CLAIMS_H
#define LIBSTORE_CLAIMS_H

#include <stdint.h>

#include "librt/error.h"

struct claims {
    uint64_t nsectors;
    uint16_t **pieces;
};

/* Make CLAIMS, all 0, for a store of NSECTORS. => may block; ENOMEM. */
error_t claims_init(struct claims *claims, uint64_t nsectors);

/* Have room to count writes of NSECTORS at SECTOR, inside the store. => as claims_add. */
error_t claims_reserve(struct claims *claims, uint64_t sector, uint64_t nsectors);

/* Count one write of NSECTORS at SECTOR, inside the store. A sector stays at 65,535 when it gets
   there. => the caller keeps others off CLAIMS; may block; ENOMEM: nothing was counted, which
   cannot be behind claims_reserve. */
error_t claims_add(struct claims *claims, uint64_t sector, uint64_t nsectors);

/* Call EMIT for each longest range of sectors that were equally often, and at least once, written,
   in ascending order. => the caller keeps others off CLAIMS. */
void claims_walk(const struct claims *claims,
                 void (*emit)(void *hook, uint64_t sector, uint64_t nsectors, unsigned int times),
                 void *hook);

#endif
