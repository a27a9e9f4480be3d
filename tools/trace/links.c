// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Three ways lead from an event to what was done for it:
 *
 *   by name    the child's `by` is the parent's number: a table of all numbers, sorted
 *   by time    the child is within the parent's time: one walk along the time line, with a list of
 *              the possible parents that have begun and not ended, for each kind
 *   by page    what an event wrote to memory comes back with the next return of that page: a list
 *              of who wrote and who brought each page, sorted by page and time
 */
#include "links.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "kin-rules.h"
#include "run/array.h"
#include "run/choice.h"

#define LINKS_PAGES_MAX (UINT64_C(1) << 22) /* of one event: 16 GiB */

/* An event's number. */
struct links_name {
    const char *srv;
    uint64_t req;
    uint32_t event;
};

/* The events of a kind that have begun and not ended. */
struct links_open {
    uint32_t *at;
    size_t count;
};

/* A page that an event wrote to, or brought. Operations on mappings do not know the object: they
   have no server, and neither have the copies for them of the returns of file data. */
struct links_page {
    const char *srv;
    uint64_t obj;
    uint64_t page;
    uint32_t event;
    bool brought;
};

struct links_search {
    const struct record *record;
    struct links *links;
    struct links_open open[EVENT_KINDS];
    bool *has_rpc; /* by event */
    struct links_page *pages;
    size_t pages_count;
};

static void links_add(struct links_search *search, size_t parent, size_t child)
{
    struct links *links = search->links;

    links->links = array_grow(links->links, links->count, sizeof(*links->links));
    links->links[links->count++] = (struct link){(uint32_t)parent, (uint32_t)child};
}

/* --- By name --------------------------------------------------------------------------------- */

static int links_names_compare(const void *left, const void *right)
{
    const struct links_name *a = left;
    const struct links_name *b = right;

    if (a->srv != b->srv)
        return a->srv < b->srv ? -1 : 1;
    if (a->req != b->req)
        return a->req < b->req ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static size_t links_names_make(const struct record *record, struct links_name *names)
{
    size_t count = 0;

    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];

        if ((event->keys & EVENT_HAS_REQ) != 0)
            names[count++] = (struct links_name){event->srv, event->req, (uint32_t)i};
    }
    if (count != 0)
        qsort(names, count, sizeof(*names), links_names_compare);
    return count;
}

/* The first name that is not before that number of that server. */
static size_t links_name_find(const struct links_name *names, size_t count, const char *srv,
                              uint64_t req)
{
    const struct links_name wanted = {srv, req, 0};
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (links_names_compare(&names[middle], &wanted) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static void links_by_name(struct links_search *search)
{
    const struct record *record = search->record;
    struct links_name *names = reallocarray(NULL, record->count + 1, sizeof(*names));
    size_t count;

    if (names == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    count = links_names_make(record, names);
    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];

        if ((event->keys & EVENT_HAS_BY) == 0 || event->by == 0)
            continue;
        for (size_t j = links_name_find(names, count, event->srv, event->by);
             j < count && names[j].srv == event->srv && names[j].req == event->by; j++)
            links_add(search, names[j].event, i);
    }
    free(names);
}

/* --- By time --------------------------------------------------------------------------------- */

typedef bool links_rule_t(const struct event *parent, const struct event *child);

static void links_open_add(struct links_search *search, size_t place)
{
    struct links_open *open = &search->open[search->record->events[place].kind];

    open->at = array_grow(open->at, open->count, sizeof(*open->at));
    open->at[open->count++] = (uint32_t)place;
}

/* Links the event to all open ones of KIND that RULE makes its parents, and forgets those that have
   ended. MAPS leaves operations out that have an RPC. */
static void links_open_match(struct links_search *search, enum event_kind kind, size_t place,
                             links_rule_t *rule, bool maps)
{
    const struct event *events = search->record->events;
    struct links_open *open = &search->open[kind];
    size_t kept = 0;

    for (size_t i = 0; i < open->count; i++) {
        uint32_t parent = open->at[i];

        if (event_end(&events[parent]) < events[place].t)
            continue;
        open->at[kept++] = parent;
        if (!rule(&events[parent], &events[place]) || (maps && search->has_rpc[parent]))
            continue;
        links_add(search, parent, place);
        search->has_rpc[parent] |= rule == kin_is_rpc_of;
    }
    open->count = kept;
}

static void links_event_match(struct links_search *search, size_t place)
{
    const struct event *event = &search->record->events[place];

    if (kin_is_fault(event)) {
        links_open_match(search, EVENT_IO, place, kin_is_fault_of, false);
        links_open_match(search, EVENT_OP, place, kin_is_fault_of, true);
    } else if (event->kind == EVENT_DATA_RETURN) {
        links_open_match(search, EVENT_LOCK_REQUEST, place, kin_is_return_of, false);
    } else if (event->kind == EVENT_RUN && event->n > 1) {
        links_open_match(search, EVENT_DATA_RETURN, place, kin_is_run_of, false);
    }
    links_open_add(search, place);
}

/* First the RPCs: which operations have none must be known before page faults are looked at. */
static void links_by_time(struct links_search *search)
{
    for (size_t i = 0; i < search->record->count; i++) {
        enum event_kind kind = search->record->events[i].kind;

        if (kind == EVENT_OP)
            links_open_add(search, i);
        else if (kind == EVENT_IO)
            links_open_match(search, EVENT_OP, i, kin_is_rpc_of, false);
    }
    search->open[EVENT_OP].count = 0;
    for (size_t i = 0; i < search->record->count; i++)
        links_event_match(search, i);
}

/* --- By page --------------------------------------------------------------------------------- */

static void links_pages_add(struct links_search *search, size_t place, const char *srv,
                            uint64_t obj, bool brought)
{
    const struct event *event = &search->record->events[place];
    uint64_t end = (event->off + event->len + PAGE_BYTES - 1) / PAGE_BYTES;
    uint64_t first = event->off / PAGE_BYTES;

    if (end - first > LINKS_PAGES_MAX)
        end = first + LINKS_PAGES_MAX;
    for (uint64_t page = first; page < end; page++) {
        search->pages = array_grow(search->pages, search->pages_count, sizeof(*search->pages));
        search->pages[search->pages_count++] =
            (struct links_page){srv, obj, page, (uint32_t)place, brought};
    }
}

static void links_pages_make(struct links_search *search)
{
    for (size_t i = 0; i < search->record->count; i++) {
        const struct event *event = &search->record->events[i];

        if (kin_is_dirty(event)) {
            links_pages_add(search, i, event->srv, event->obj, true);
            if (event->cls == LAYER_FILE)
                links_pages_add(search, i, NULL, 0, true);
        } else if (kin_is(event, EVENT_IO, "io_write")) {
            links_pages_add(search, i, event->srv, event->obj, false);
        } else if (kin_is(event, EVENT_OP, "write") && !search->has_rpc[i]) {
            links_pages_add(search, i, NULL, 0, false);
        }
    }
}

static bool links_pages_are_one(const struct links_page *a, const struct links_page *b)
{
    return a->srv == b->srv && a->obj == b->obj && a->page == b->page;
}

static int links_pages_compare(const void *left, const void *right)
{
    const struct links_page *a = left;
    const struct links_page *b = right;

    if (a->srv != b->srv)
        return a->srv < b->srv ? -1 : 1;
    if (a->obj != b->obj)
        return a->obj < b->obj ? -1 : 1;
    if (a->page != b->page)
        return a->page < b->page ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* A return brings what was written to its page since the return before it. */
static void links_by_page(struct links_search *search)
{
    const struct links_page *pages;
    size_t first = 0;

    links_pages_make(search);
    pages = search->pages;
    if (search->pages_count != 0)
        qsort(search->pages, search->pages_count, sizeof(*pages), links_pages_compare);
    for (size_t i = 0; i < search->pages_count; i++) {
        if (!links_pages_are_one(&pages[first], &pages[i]))
            first = i;
        if (!pages[i].brought)
            continue;
        for (size_t j = first; j < i; j++)
            links_add(search, pages[j].event, pages[i].event);
        first = i + 1;
    }
}

/* --------------------------------------------------------------------------------------------- */

static int links_compare(const void *left, const void *right)
{
    const struct link *a = left;
    const struct link *b = right;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return a->child < b->child ? -1 : a->child > b->child;
}

/* Puts the links in order, drops what is there twice, and notes where each parent's begin. */
static void links_sort(struct links *links, size_t events)
{
    size_t kept = 0;
    size_t at = 0;

    if (links->count != 0)
        qsort(links->links, links->count, sizeof(*links->links), links_compare);
    for (size_t i = 0; i < links->count; i++) {
        if (i == 0 || links_compare(&links->links[i - 1], &links->links[i]) != 0)
            links->links[kept++] = links->links[i];
    }
    links->count = kept;
    links->first = reallocarray(NULL, events + 1, sizeof(*links->first));
    if (links->first == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (size_t i = 0; i <= events; i++) {
        while (at < kept && links->links[at].parent < i)
            at++;
        links->first[i] = at;
    }
}

void links_find(struct links *links, const struct record *record)
{
    struct links_search search = {.record = record, .links = links};

    *links = (struct links){0};
    search.has_rpc = calloc(record->count + 1, sizeof(*search.has_rpc));
    if (search.has_rpc == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    links_by_name(&search);
    links_by_time(&search);
    links_by_page(&search);
    links_sort(links, record->count);
    for (unsigned i = 0; i < EVENT_KINDS; i++)
        free(search.open[i].at);
    free(search.has_rpc);
    free(search.pages);
}

void links_destroy(struct links *links)
{
    free(links->links);
    free(links->first);
}
