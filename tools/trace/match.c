// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A command belongs to the call that named its sectors and that was going on when it came. Both
 * cannot be asked at once: the clocks differ until calls and commands are paired.
 *
 * 1. A claim is one device block of one call: the call's sectors, moved by the partition's start
 * and rounded outward. Claims are sorted by block and time, so the claims of a block stand together
 *    in the order in which they were made.
 * 2. Where a block has as many commands as claims, the k-th command is the k-th claim's: no two
 *    calls that share a block are in flight together. These pairs give the clock (align.c).
 * 3. Now each command takes, of its blocks' claims, the one whose call was going on when it came;
 *    without a clock, the next one.
 *
 * The driver reads a block that a call writes in part, so such blocks are claimed for reading too.
 * All is n log n in the number of blocks.
 */
#include "match.h"
#include "run/array.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

struct match_claim {
    uint64_t block;
    uint32_t event;
    bool must; /* the call is not complete without a command for it */
    bool used;
};

/* The claims of a block, and how far its commands have come. */
struct match_block {
    uint64_t block;
    size_t first;
    size_t claims;
    size_t commands;
    size_t next;
};

/* Reads or writes. */
struct match_side {
    struct match_claim *claims;
    size_t claims_count;
    struct match_block *blocks;
    size_t blocks_count;
};

struct match {
    struct record *record;
    uint64_t sectors;           /* of a device block */
    struct match_side sides[2]; /* reads, writes */
    struct align_pair *pairs;
    size_t pairs_count;
    uint32_t *last; /* of each event of the guest, its last command so far, plus 1; or 0 */
};

struct match_span {
    uint64_t first;
    uint64_t end;
};

static void *match_calloc(size_t count, size_t bytes)
{
    void *memory = calloc(count == 0 ? 1 : count, bytes);

    if (memory == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    return memory;
}

/* The device blocks that hold sectors from FIRST to before END. */
static struct match_span match_span(const struct match *match, uint64_t first, uint64_t end)
{
    return (struct match_span){first / match->sectors, (end + match->sectors - 1) / match->sectors};
}

static struct match_span match_command_span(const struct match *match,
                                            const struct trace_request *command)
{
    uint64_t end = command->offset + command->bytes;

    return match_span(match, command->offset / MBR_SECTOR_BYTES,
                      (end + MBR_SECTOR_BYTES - 1) / MBR_SECTOR_BYTES);
}

/* --- Claims -------------------------------------------------------------------------------- */

/* Where on the disk the store of a server begins. => EINVAL: that is not known. */
static error_t match_device_lookup(const struct record *record, const char *server,
                                   struct mbr_partition *partition)
{
    const struct console *console = &record->log.console;
    char device[] = "s1";

    for (size_t i = 0; i < console->stores_count; i++) {
        const struct console_store *store = &console->stores[i];
        const char *part = strrchr(store->device, 's');

        if (strcmp(store->server, server) == 0)
            return mbr_device_lookup(&record->mbr, part == NULL ? "" : part, "", partition);
    }
    if (strcmp(server, job_server(&record->config)) != 0)
        return EINVAL;
    device[1] = (char)('0' + job_partition(&record->config));
    return mbr_device_lookup(&record->mbr, device, "", partition);
}

static void match_claim_add(struct match_side *side, uint64_t block, uint32_t event, bool must)
{
    side->claims = array_grow(side->claims, side->claims_count, sizeof(*side->claims));
    side->claims[side->claims_count++] = (struct match_claim){block, event, must, false};
}

/* The blocks that a write covers only in part, which the driver reads first. */
static void match_edges_claim(struct match *match, uint32_t event, uint64_t first, uint64_t end)
{
    struct match_span span = match_span(match, first, end);

    if (first % match->sectors != 0)
        match_claim_add(&match->sides[0], span.first, event, false);
    if (end % match->sectors != 0 && (span.end - 1 != span.first || first % match->sectors == 0))
        match_claim_add(&match->sides[0], span.end - 1, event, false);
}

static void match_event_claim(struct match *match, uint32_t index)
{
    const struct event *event = &match->record->log.events[index];
    bool write = event->kind == EVENT_STORE_WRITE;
    struct mbr_partition partition;
    struct match_span span;
    uint64_t first;
    uint64_t end;

    if (match_device_lookup(match->record, event->srv, &partition) != 0)
        return;
    first = partition.sector + event->sec;
    end = first + (event->len + MBR_SECTOR_BYTES - 1) / MBR_SECTOR_BYTES;
    if (event->len > partition.sectors * MBR_SECTOR_BYTES)
        return;
    match->record->calls++;
    span = match_span(match, first, end);
    for (uint64_t block = span.first; block < span.end; block++)
        match_claim_add(&match->sides[write], block, index, event->res == 0);
    if (write)
        match_edges_claim(match, index, first, end);
}

static int match_claims_compare(const void *left, const void *right)
{
    const struct match_claim *a = left;
    const struct match_claim *b = right;

    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static void match_blocks_make(struct match_side *side)
{
    if (side->claims_count != 0)
        qsort(side->claims, side->claims_count, sizeof(*side->claims), match_claims_compare);
    for (size_t i = 0; i < side->claims_count; i++) {
        uint64_t block = side->claims[i].block;

        if (i == 0 || side->claims[i - 1].block != block) {
            side->blocks = array_grow(side->blocks, side->blocks_count, sizeof(*side->blocks));
            side->blocks[side->blocks_count++] = (struct match_block){.block = block, .first = i};
        }
        side->blocks[side->blocks_count - 1].claims++;
    }
}

static void match_claims_make(struct match *match)
{
    const struct log *log = &match->record->log;

    for (size_t i = 0; i < log->count; i++) {
        if (log->events[i].kind == EVENT_STORE_WRITE || log->events[i].kind == EVENT_STORE_READ)
            match_event_claim(match, (uint32_t)i);
    }
    match_blocks_make(&match->sides[0]);
    match_blocks_make(&match->sides[1]);
}

static int match_block_compare(const void *key, const void *element)
{
    uint64_t block = *(const uint64_t *)key;
    uint64_t other = ((const struct match_block *)element)->block;

    return block < other ? -1 : block > other;
}

static struct match_block *match_block_lookup(const struct match_side *side, uint64_t block)
{
    if (side->blocks_count == 0)
        return NULL;
    return bsearch(&block, side->blocks, side->blocks_count, sizeof(*side->blocks),
                   match_block_compare);
}

/* --- The clock ----------------------------------------------------------------------------- */

static bool match_is_counted(const struct trace_request *command)
{
    return command->phase == TRACE_COUNTED;
}

static void match_commands_count(struct match *match)
{
    const struct trace *disk = &match->record->disk;

    for (size_t i = 0; i < disk->count; i++) {
        const struct trace_request *command = &disk->requests[i];
        struct match_span span = match_command_span(match, command);

        for (uint64_t at = span.first; match_is_counted(command) && at < span.end; at++) {
            struct match_block *block = match_block_lookup(&match->sides[command->write], at);

            if (block != NULL)
                block->commands++;
        }
    }
}

/* The event that has as its k-th claim what the command has as its k-th block; of all blocks, or
   there is none. */
static const struct event *match_pair_find(struct match *match, const struct trace_request *command)
{
    const struct match_side *side = &match->sides[command->write];
    struct match_span span = match_command_span(match, command);
    const struct event *event = NULL;
    bool sure = true;

    for (uint64_t at = span.first; at < span.end; at++) {
        struct match_block *block = match_block_lookup(side, at);

        if (block == NULL || block->commands != block->claims || block->next == block->claims) {
            sure = false;
            continue;
        }
        if (event == NULL)
            event = &match->record->log.events[side->claims[block->first + block->next].event];
        block->next++;
    }
    return sure ? event : NULL;
}

static void match_pairs_make(struct match *match)
{
    const struct trace *disk = &match->record->disk;

    match->pairs = match_calloc(disk->count, sizeof(*match->pairs));
    for (size_t i = 0; i < disk->count; i++) {
        const struct trace_request *command = &disk->requests[i];
        const struct event *event = NULL;

        if (match_is_counted(command) && command->host_us != 0)
            event = match_pair_find(match, command);
        if (event != NULL)
            match->pairs[match->pairs_count++] =
                (struct align_pair){command->host_us, event->t, event_end(event)};
    }
}

/* --- Whose a command is -------------------------------------------------------------------- */

/* When a command came, by the guest's clock. => the clock is known. */
static uint64_t match_time(const struct match *match, const struct trace_request *command)
{
    return align_guest_ns(&match->record->align, command->host_us);
}

/* By how much the clock may be wrong. */
static uint64_t match_slack(const struct match *match)
{
    const struct align *align = &match->record->align;

    return (uint64_t)(align->uncertainty_ns + align->miss_ns) + 1000;
}

/* Of a block's claims, the first unused one whose call was going on at TIME; else one that was
   used, for a driver may repeat a command. */
static struct match_claim *match_claim_at(const struct match *match, const struct match_side *side,
                                          struct match_block *block, uint64_t time)
{
    uint64_t slack = match_slack(match);
    struct match_claim *used = NULL;

    for (size_t i = block->next; i < block->claims; i++) {
        struct match_claim *claim = &side->claims[block->first + i];
        const struct event *event = &match->record->log.events[claim->event];

        if (event->t > time + slack)
            break;
        if (event_end(event) + slack < time) {
            block->next += i == block->next;
            continue;
        }
        if (!claim->used)
            return claim;
        if (used == NULL)
            used = claim;
    }
    return used;
}

static struct match_claim *match_claim_next(const struct match_side *side,
                                            struct match_block *block)
{
    if (block->next == block->claims)
        return NULL;
    return &side->claims[block->first + block->next++];
}

static struct match_claim *match_claim_find(const struct match *match,
                                            const struct trace_request *command, uint64_t at)
{
    const struct match_side *side = &match->sides[command->write];
    struct match_block *block = match_block_lookup(side, at);

    if (block == NULL)
        return NULL;
    if (match->record->align.known && command->host_us != 0)
        return match_claim_at(match, side, block, match_time(match, command));
    return match_claim_next(side, block);
}

/* Uses the claims of the command's blocks. Returns the first one's event, or NULL. */
static const struct event *match_owner_find(struct match *match,
                                            const struct trace_request *command)
{
    struct match_span span = match_command_span(match, command);
    const struct event *owner = NULL;

    for (uint64_t at = span.first; at < span.end; at++) {
        struct match_claim *claim = match_claim_find(match, command, at);

        if (claim == NULL)
            continue;
        claim->used = true;
        if (owner == NULL)
            owner = &match->record->log.events[claim->event];
    }
    return owner;
}

/* --- The time line ------------------------------------------------------------------------- */

/* A command ends at the latest when its call's next one begins, and the last one with the call. */
static void match_duration_set(struct match *match, struct event *command,
                               const struct event *owner)
{
    struct record *record = match->record;
    uint32_t *last = &match->last[owner - record->log.events];
    uint64_t end = event_end(owner);

    if (*last != 0 && record->events[*last - 1].t < command->t)
        record->events[*last - 1].dur = command->t - record->events[*last - 1].t;
    *last = (uint32_t)record->count + 1;
    command->dur = end > command->t ? end - command->t : 0;
}

static void match_command_add(struct match *match, const struct trace_request *request)
{
    struct record *record = match->record;
    const struct event *owner = match_owner_find(match, request);
    struct event command = {
        .kind = request->write ? EVENT_DISK_WRITE : EVENT_DISK_READ,
        .keys = event_kind_keys(EVENT_DISK_WRITE),
        .cls = owner == NULL ? LAYER_META : owner->cls,
        .srv = owner == NULL ? "" : owner->srv,
        .thr = "",
        .what = "",
        .by = owner == NULL ? 0 : owner->req,
        .sec = request->offset / MBR_SECTOR_BYTES,
        .len = request->bytes,
        .line = (uint64_t)(request - record->disk.requests) + 1,
    };

    if (owner != NULL)
        command.keys |= EVENT_HAS_SRV | EVENT_HAS_BY | EVENT_HAS_CLS;
    if (record->align.known && request->host_us != 0) {
        command.t = match_time(match, request);
        command.keys |= EVENT_HAS_T;
        if (owner != NULL)
            match_duration_set(match, &command, owner);
        command.keys |= owner == NULL ? 0 : EVENT_HAS_DUR;
    }
    record->events[record->count++] = command;
}

static int match_events_compare(const void *left, const void *right)
{
    const struct event *a = left;
    const struct event *b = right;

    if (a->t != b->t)
        return a->t < b->t ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void match_timeline_make(struct match *match)
{
    struct record *record = match->record;
    size_t count = record->disk.count + record->log.count;

    record->events = match_calloc(count, sizeof(*record->events));
    match->last = match_calloc(record->log.count, sizeof(*match->last));
    for (size_t i = 0; i < record->disk.count; i++) {
        if (match_is_counted(&record->disk.requests[i]))
            match_command_add(match, &record->disk.requests[i]);
    }
    memcpy(record->events + record->count, record->log.events,
           record->log.count * sizeof(*record->events));
    record->count += record->log.count;
    qsort(record->events, record->count, sizeof(*record->events), match_events_compare);
}

/* --- What was not written ------------------------------------------------------------------ */

static void match_uncovered_mark(const struct match_side *side, bool *uncovered)
{
    for (size_t i = 0; i < side->claims_count; i++) {
        const struct match_claim *claim = &side->claims[i];

        if (claim->must && !claim->used)
            uncovered[claim->event] = true;
    }
}

static void match_uncovered_count(struct match *match)
{
    struct record *record = match->record;
    bool *uncovered = match_calloc(record->log.count, sizeof(*uncovered));

    match_uncovered_mark(&match->sides[0], uncovered);
    match_uncovered_mark(&match->sides[1], uncovered);
    for (size_t i = 0; i < record->log.count; i++)
        record->uncovered += uncovered[i];
    free(uncovered);
}

void match_disk(struct record *record)
{
    struct match match = {.record = record, .sectors = record->device_block / MBR_SECTOR_BYTES};

    match_claims_make(&match);
    match_commands_count(&match);
    match_pairs_make(&match);
    align_find(&record->align, match.pairs, match.pairs_count);
    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = 0; i < match.sides[side].blocks_count; i++)
            match.sides[side].blocks[i].next = 0;
    }
    match_timeline_make(&match);
    match_uncovered_count(&match);
    for (unsigned side = 0; side < 2; side++) {
        free(match.sides[side].claims);
        free(match.sides[side].blocks);
    }
    free(match.pairs);
    free(match.last);
}
