// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The comparison is one sweep over the disk from its first sector to its last. Each claim and each
 * write is an interval of sectors; an interval gives two events, one where it begins and one where
 * it ends, which change a depth:
 *
 *   claimed   how often servers say they wrote the sector
 *   rounded   how many claims cover it when each is rounded outward to its device block
 *   failed    how often servers say they could not write it, rounded likewise: the disk may have
 *             been asked to, once or several times, or not at all
 *   written   how often the disk was asked to write it
 *
 * Between two neighbouring events no depth changes, so the rules are checked once for each such
 * stretch. The work grows with the number of claims and writes, not with the size of the disk.
 */
#include "claims.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "size.h"

enum claims_depth { CLAIMS_CLAIMED, CLAIMS_ROUNDED, CLAIMS_FAILED, CLAIMS_WRITTEN, CLAIMS_DEPTHS };

struct claims_event {
    uint64_t sector;
    int64_t change;
    enum claims_depth depth;
};

struct claims_sweep {
    struct claims_event *events;
    size_t count;
    uint64_t claimed_bytes;
    uint64_t written_bytes;
    char *result;
};

/* What is compared. */
struct claims_case {
    const struct console *console;
    const struct mbr *mbr;
    const char *disk;
};

/* Sectors of the disk, and the same rounded outward to the device's blocks. */
struct claims_place {
    uint64_t first;
    uint64_t end;
    uint64_t first_rounded;
    uint64_t end_rounded;
};

static void claims_interval_add(struct claims_sweep *sweep, enum claims_depth depth, uint64_t first,
                                uint64_t end, uint64_t times)
{
    sweep->events[sweep->count++] = (struct claims_event){first, (int64_t)times, depth};
    sweep->events[sweep->count++] = (struct claims_event){end, -(int64_t)times, depth};
}

/* Sectors in a block of that server's device, or 0 when the server never said. */
static uint64_t claims_block_lookup(const struct console *console,
                                    const struct console_claim *claim)
{
    for (size_t i = 0; i < console->stores_count; i++) {
        const struct console_store *store = &console->stores[i];

        if (strcmp(store->server, claim->server) == 0 && strcmp(store->device, claim->device) == 0)
            return store->block / MBR_SECTOR_BYTES;
    }
    return 0;
}

static error_t claims_refuse(struct claims_sweep *sweep, const struct console_claim *claim,
                             const char *why)
{
    snprintf(sweep->result, CLAIMS_RESULT_BYTES,
             "%s claims %s sectors from sector %s of %s on, but %s", claim->server,
             NUMBER_TEXT(claim->sectors), NUMBER_TEXT(claim->sector), claim->device, why);
    return EINVAL;
}

/* Where the sectors of PARTITION are that CLAIM is about. */
static error_t claims_place_make(struct claims_sweep *sweep, const struct console_claim *claim,
                                 const struct mbr_partition *partition, uint64_t block,
                                 struct claims_place *place)
{
    uint64_t end;

    if (block == 0)
        return claims_refuse(sweep, claim, "no line says how large that device's block is");
    if (__builtin_add_overflow(claim->sector, claim->sectors, &end) || end > partition->sectors)
        return claims_refuse(sweep, claim, "that is beyond the device's end");
    *place =
        (struct claims_place){.first = partition->sector + claim->sector,
                              .end = partition->sector + end,
                              .first_rounded = partition->sector + claim->sector / block * block,
                              .end_rounded = partition->sector + (end + block - 1) / block * block};
    return 0;
}

static error_t claims_place_find(struct claims_sweep *sweep, const struct claims_case *claims,
                                 const struct console_claim *claim, struct claims_place *place)
{
    struct mbr_partition partition;

    if (mbr_device_lookup(claims->mbr, claim->device, claims->disk, &partition) != 0)
        return claims_refuse(sweep, claim, "the test disk has no such device");
    return claims_place_make(sweep, claim, &partition, claims_block_lookup(claims->console, claim),
                             place);
}

static error_t claims_claim_add(struct claims_sweep *sweep, const struct claims_case *claims,
                                const struct console_claim *claim)
{
    struct claims_place place;
    error_t error = claims_place_find(sweep, claims, claim, &place);

    if (error != 0)
        return error;
    claims_interval_add(sweep, CLAIMS_CLAIMED, place.first, place.end, claim->times);
    claims_interval_add(sweep, CLAIMS_ROUNDED, place.first_rounded, place.end_rounded,
                        claim->times);
    sweep->claimed_bytes += claim->sectors * claim->times * MBR_SECTOR_BYTES;
    return 0;
}

static error_t claims_failed_add(struct claims_sweep *sweep, const struct claims_case *claims,
                                 const struct console_claim *failed)
{
    struct claims_place place;
    error_t error = claims_place_find(sweep, claims, failed, &place);

    if (error == 0)
        claims_interval_add(sweep, CLAIMS_FAILED, place.first_rounded, place.end_rounded,
                            failed->times);
    return error;
}

static error_t claims_all_add(struct claims_sweep *sweep, const struct claims_case *claims)
{
    const struct console *console = claims->console;
    error_t error = 0;

    for (size_t i = 0; i < console->claims_count && error == 0; i++)
        error = claims_claim_add(sweep, claims, &console->claims[i]);
    for (size_t i = 0; i < console->failed_count && error == 0; i++)
        error = claims_failed_add(sweep, claims, &console->failed[i]);
    return error;
}

static error_t claims_stray_refuse(struct claims_sweep *sweep, const struct trace_request *request)
{
    snprintf(sweep->result, CLAIMS_RESULT_BYTES,
             "the disk was asked to write %s bytes at its sector %s %s",
             NUMBER_TEXT(request->bytes), NUMBER_TEXT(request->offset / MBR_SECTOR_BYTES),
             request->phase == TRACE_BEFORE ? "before the servers started"
                                            : "after the servers had stopped");
    return EINVAL;
}

static error_t claims_writes_add(struct claims_sweep *sweep, const struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_request *request = &trace->requests[i];
        uint64_t end = request->offset + request->bytes;

        if (!request->write)
            continue;
        if (request->phase != TRACE_COUNTED)
            return claims_stray_refuse(sweep, request);
        claims_interval_add(sweep, CLAIMS_WRITTEN, request->offset / MBR_SECTOR_BYTES,
                            (end + MBR_SECTOR_BYTES - 1) / MBR_SECTOR_BYTES, 1);
        sweep->written_bytes += request->bytes;
    }
    return 0;
}

static int claims_event_compare(const void *left, const void *right)
{
    const struct claims_event *a = left;
    const struct claims_event *b = right;

    return (a->sector > b->sector) - (a->sector < b->sector);
}

/* Says in RESULT what is wrong with the stretch from SECTOR on; EINVAL if there is something. */
static error_t claims_stretch_check(struct claims_sweep *sweep, uint64_t sector,
                                    const int64_t depths[CLAIMS_DEPTHS])
{
    int64_t claimed = depths[CLAIMS_CLAIMED];
    int64_t written = depths[CLAIMS_WRITTEN];
    const char *at = NUMBER_TEXT(sector);

    if (depths[CLAIMS_ROUNDED] > 0 && written == 0)
        snprintf(
            sweep->result, CLAIMS_RESULT_BYTES,
            "sector %s of the disk: the servers claim it, the disk was never asked to write it",
            at);
    else if (depths[CLAIMS_ROUNDED] == 0 && depths[CLAIMS_FAILED] == 0 && written > 0)
        snprintf(sweep->result, CLAIMS_RESULT_BYTES,
                 "sector %s of the disk: the disk was asked to write it, no server claims it", at);
    else if (written < claimed)
        snprintf(sweep->result, CLAIMS_RESULT_BYTES,
                 "sector %s of the disk: claimed %" PRId64 " times, written only %" PRId64 " times",
                 at, claimed, written);
    else
        return 0;
    return EINVAL;
}

static error_t claims_sweep_run(struct claims_sweep *sweep)
{
    int64_t depths[CLAIMS_DEPTHS] = {0};
    error_t error = 0;

    qsort(sweep->events, sweep->count, sizeof(*sweep->events), claims_event_compare);
    for (size_t i = 0; i < sweep->count && error == 0; i++) {
        depths[sweep->events[i].depth] += sweep->events[i].change;
        if (i + 1 < sweep->count && sweep->events[i + 1].sector != sweep->events[i].sector)
            error = claims_stretch_check(sweep, sweep->events[i].sector, depths);
    }
    return error;
}

static error_t claims_bytes_check(struct claims_sweep *sweep, const struct console *console)
{
    uint64_t rounding = 0;

    for (size_t i = 0; i < console->stores_count; i++)
        rounding += console->stores[i].rmw_bytes;
    if (sweep->claimed_bytes + rounding == sweep->written_bytes)
        return 0;
    if (console->failed_count > 0 && sweep->claimed_bytes + rounding < sweep->written_bytes)
        return 0; /* how often the disk was asked for what failed is the driver's business */
    snprintf(
        sweep->result, CLAIMS_RESULT_BYTES,
        "the servers claim %s bytes and %s that rounding added, the disk was asked to write %s",
        NUMBER_TEXT(sweep->claimed_bytes), NUMBER_TEXT(rounding),
        NUMBER_TEXT(sweep->written_bytes));
    return EINVAL;
}

void claims_check(const struct console *console, const struct trace *trace, const struct mbr *mbr,
                  const char *disk, char result[CLAIMS_RESULT_BYTES])
{
    struct claims_case claims = {console, mbr, disk};
    struct claims_sweep sweep = {.result = result};
    size_t room = 4 * console->claims_count + 2 * console->failed_count + 2 * trace->count + 1;
    error_t error;

    sweep.events = calloc(room, sizeof(*sweep.events));
    if (sweep.events == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    error = claims_all_add(&sweep, &claims);
    if (error == 0)
        error = claims_writes_add(&sweep, trace);
    if (error == 0)
        error = claims_sweep_run(&sweep);
    if (error == 0)
        error = claims_bytes_check(&sweep, console);
    if (error == 0)
        snprintf(result, CLAIMS_RESULT_BYTES, "ok");
    free(sweep.events);
}
