// SPDX-License-Identifier: GPL-2.0-or-later
#include "libstore/claims.h"

#include <stdbool.h>
#include <stdlib.h>

#define CLAIMS_PIECE 2048u /* sectors: 1 MiB of the store, 4 KiB of memory */

static uint64_t claims_npieces(const struct claims *claims)
{
    return (claims->nsectors + CLAIMS_PIECE - 1) / CLAIMS_PIECE;
}

error_t claims_init(struct claims *claims, uint64_t nsectors)
{
    claims->nsectors = nsectors;
    claims->pieces = calloc(claims_npieces(claims), sizeof(*claims->pieces));
    return claims->pieces == NULL ? ENOMEM : 0;
}

error_t claims_reserve(struct claims *claims, uint64_t sector, uint64_t nsectors)
{
    for (uint64_t piece = sector / CLAIMS_PIECE; piece * CLAIMS_PIECE < sector + nsectors;
         piece++) {
        if (claims->pieces[piece] == NULL)
            claims->pieces[piece] = calloc(CLAIMS_PIECE, sizeof(**claims->pieces));
        if (claims->pieces[piece] == NULL)
            return ENOMEM;
    }
    return 0;
}

/* Count one write of COUNT sectors, of one piece, from TIMES on. */
static void claims_count(uint16_t *times, uint64_t count)
{
    for (const uint16_t *end = times + count; times < end; times++)
        *times += *times < UINT16_MAX;
}

error_t claims_add(struct claims *claims, uint64_t sector, uint64_t nsectors)
{
    uint64_t end = sector + nsectors;
    error_t error = claims_reserve(claims, sector, nsectors);

    if (error != 0)
        return error;
    while (sector < end) {
        uint64_t stop = (sector / CLAIMS_PIECE + 1) * CLAIMS_PIECE;
        uint64_t count = (stop < end ? stop : end) - sector;

        claims_count(&claims->pieces[sector / CLAIMS_PIECE][sector % CLAIMS_PIECE], count);
        sector += count;
    }
    return 0;
}

static unsigned int claims_times(const struct claims *claims, uint64_t sector)
{
    const uint16_t *piece = claims->pieces[sector / CLAIMS_PIECE];

    return piece == NULL ? 0 : piece[sector % CLAIMS_PIECE];
}

void claims_walk(const struct claims *claims,
                 void (*emit)(void *hook, uint64_t sector, uint64_t nsectors, unsigned int times),
                 void *hook)
{
    uint64_t start = 0;

    for (uint64_t i = 1; i <= claims->nsectors; i++) {
        unsigned int times = claims_times(claims, start);

        if (i < claims->nsectors && claims_times(claims, i) == times)
            continue;
        if (times > 0)
            emit(hook, start, i - start, times);
        start = i;
    }
}
