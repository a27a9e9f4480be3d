// SPDX-License-Identifier: GPL-2.0-or-later
#include "carry.h"

#include <stdlib.h>

#include "kin-rules.h"
#include "run/array.h"
#include "run/choice.h"
#include "run/mbr.h"

/* Bytes of an object. */
struct carry_span {
    uint64_t first;
    uint64_t end;
};

struct carry_search {
    const struct record *record;
    const struct links *links;
    carry_use_t *use;
    void *argument;
    struct carry now;
    uint32_t *commands; /* those of this write so far */
    size_t commands_count;
};

static const struct event *carry_event(const struct carry_search *search, size_t place)
{
    return &search->record->events[place];
}

static struct carry_span carry_span_of(const struct event *event)
{
    return (struct carry_span){event->off, event->off + event->len};
}

static struct carry_span carry_span_common(struct carry_span a, struct carry_span b)
{
    return (struct carry_span){a.first > b.first ? a.first : b.first,
                               a.end < b.end ? a.end : b.end};
}

static bool carry_span_is_empty(struct carry_span span)
{
    return span.first >= span.end;
}

/* --- Commands -------------------------------------------------------------------------------- */

static void carry_command_use(struct carry_search *search, uint32_t command)
{
    for (size_t i = search->commands_count; i-- > 0;) {
        if (search->commands[i] == command)
            return;
    }
    search->commands = array_grow(search->commands, search->commands_count, sizeof(command));
    search->commands[search->commands_count++] = command;
    search->now.command = command;
    search->use(search->argument, &search->now);
}

static uint64_t carry_first_sector(const struct carry_search *search, uint32_t store)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = search->links->first[store]; i < search->links->first[store + 1]; i++) {
        const struct event *command = carry_event(search, search->links->links[i].child);

        if (command->kind == EVENT_DISK_WRITE && command->sec < first)
            first = command->sec;
    }
    return first;
}

/* The commands with bytes of WANTED, of a call whose first byte is byte AT of the object. */
static void carry_store(struct carry_search *search, uint32_t store, uint64_t at,
                        struct carry_span wanted)
{
    uint64_t first = carry_first_sector(search, store);

    search->now.store = store;
    if (first == UINT64_MAX)
        carry_command_use(search, store);
    for (size_t i = search->links->first[store]; i < search->links->first[store + 1]; i++) {
        uint32_t place = search->links->links[i].child;
        const struct event *command = carry_event(search, place);
        struct carry_span span = {at + (command->sec - first) * MBR_SECTOR_BYTES, 0};

        span.end = span.first + command->len;
        if (command->kind == EVENT_DISK_WRITE &&
            !carry_span_is_empty(carry_span_common(span, wanted)))
            carry_command_use(search, place);
    }
}

/* --- Runs ------------------------------------------------------------------------------------ */

static bool carry_is_store_of(const struct event *run, const struct event *event)
{
    return event->kind == EVENT_STORE_WRITE && event->cls == run->cls;
}

static bool carry_is_in_order(const struct carry_search *search, uint32_t run)
{
    const struct event *event = carry_event(search, run);
    uint64_t bytes = 0;

    for (size_t i = search->links->first[run]; i < search->links->first[run + 1]; i++) {
        const struct event *store = carry_event(search, search->links->links[i].child);

        if (carry_is_store_of(event, store))
            bytes += store->len;
    }
    return bytes <= (event->len + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static void carry_run(struct carry_search *search, uint32_t run, struct carry_span wanted)
{
    const struct event *event = carry_event(search, run);
    bool in_order = carry_is_in_order(search, run);
    uint64_t at = event->off;

    search->now.run = run;
    for (size_t i = search->links->first[run]; i < search->links->first[run + 1]; i++) {
        uint32_t place = search->links->links[i].child;
        const struct event *store = carry_event(search, place);
        struct carry_span all = {at, at + store->len};

        if (!carry_is_store_of(event, store))
            continue;
        carry_store(search, place, at, in_order ? wanted : all);
        at += in_order ? store->len : 0;
    }
}

/* --- Writes ---------------------------------------------------------------------------------- */

static void carry_return(struct carry_search *search, uint32_t brought, struct carry_span wanted)
{
    wanted = carry_span_common(wanted, carry_span_of(carry_event(search, brought)));
    for (size_t i = search->links->first[brought]; i < search->links->first[brought + 1]; i++) {
        uint32_t run = search->links->links[i].child;
        struct carry_span span = carry_span_of(carry_event(search, run));

        span = carry_span_common(span, wanted);
        if (carry_event(search, run)->kind == EVENT_RUN && !carry_span_is_empty(span))
            carry_run(search, run, span);
    }
}

static void carry_write(struct carry_search *search, uint32_t write)
{
    const struct event *event = carry_event(search, write);

    search->now.write = write;
    search->commands_count = 0;
    for (size_t i = search->links->first[write]; i < search->links->first[write + 1]; i++) {
        uint32_t brought = search->links->links[i].child;

        if (kin_is_dirty(carry_event(search, brought)))
            carry_return(search, brought, carry_span_of(event));
    }
}

void carries_find(const struct record *record, const struct links *links, carry_use_t *use,
                  void *argument)
{
    struct carry_search search = {
        .record = record, .links = links, .use = use, .argument = argument};

    for (uint32_t i = 0; i < record->count; i++) {
        if (kin_is(&record->events[i], EVENT_IO, "io_write") ||
            kin_is(&record->events[i], EVENT_OP, "write"))
            carry_write(&search, i);
    }
    free(search.commands);
}
