// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each question is one walk over the events, which is fast enough for the few that a person looks
 * at.
 *
 * A return brings the bytes of all who wrote to its pages since the last one that held them. Walks
 * that follow this keep a set of the pages whose bytes are still sought, and take pages out of it
 * as returns bring them.
 */
#include "kin.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "kin-rules.h"
#include "run/array.h"
#include "run/choice.h"

#define KIN_PAGES_MAX (UINT64_C(1) << 22) /* 16 GiB */

/* The pages of an event's bytes that are sought. */
struct kin_pages {
    uint64_t first;
    uint64_t count;
    uint64_t left;
    bool *sought;
};

void kin_add(struct kin *kin, size_t at)
{
    kin->at = array_grow(kin->at, kin->count, sizeof(*kin->at));
    kin->at[kin->count++] = at;
}

static int kin_compare(const void *left, const void *right)
{
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;

    return a < b ? -1 : a > b;
}

void kin_sort(struct kin *kin)
{
    if (kin->count != 0)
        qsort(kin->at, kin->count, sizeof(*kin->at), kin_compare);
}

void kin_destroy(struct kin *kin)
{
    free(kin->at);
}

bool kin_is(const struct event *event, enum event_kind kind, const char *what)
{
    return event->kind == kind && strcmp(event->what, what) == 0;
}

bool kin_is_fault(const struct event *event)
{
    return event->kind == EVENT_DATA_REQUEST || event->kind == EVENT_DATA_UNLOCK;
}

bool kin_is_dirty(const struct event *event)
{
    return kin_is(event, EVENT_DATA_RETURN, "dirty");
}

static bool kin_is_same_object(const struct event *event, const struct event *other)
{
    return event->srv == other->srv && event->obj == other->obj;
}

/* Whether EVENT says itself that it was done for PARENT. */
static bool kin_is_named(const struct event *parent, const struct event *event)
{
    return (event->keys & EVENT_HAS_BY) != 0 && event->by != 0 && event->by == parent->req &&
           event->srv == parent->srv && (parent->keys & EVENT_HAS_REQ) != 0;
}

static bool kin_is_suffix(const char *text, const char *suffix)
{
    size_t length = strlen(text);
    size_t end = strlen(suffix);

    return length >= end && strcmp(text + length - end, suffix) == 0;
}

bool kin_is_rpc_of(const struct event *op, const struct event *event)
{
    if (event->kind != EVENT_IO || !event_contains(op, event))
        return false;
    if (strcmp(op->what, "sync") == 0)
        return kin_is_suffix(event->what, "_sync");
    return op->off == event->off && op->len == event->len;
}

bool kin_is_fault_of(const struct event *parent, const struct event *event)
{
    if (!kin_is_fault(event) || !event_contains(parent, event) || !event_overlaps(parent, event))
        return false;
    return parent->kind == EVENT_OP ? event->cls == LAYER_FILE : kin_is_same_object(parent, event);
}

bool kin_is_return_of(const struct event *window, const struct event *event)
{
    return event->kind == EVENT_DATA_RETURN && kin_is_same_object(window, event) &&
           event_overlaps(window, event) && window->t <= event->t && event->t <= event_end(window);
}

/* A run names only its first return; the others are within its bytes and its time. */
bool kin_is_run_of(const struct event *brought, const struct event *event)
{
    return event->kind == EVENT_RUN && event->n > 1 && kin_is_same_object(brought, event) &&
           event_overlaps(brought, event) && brought->t <= event->t &&
           event->t <= event_end(brought);
}

/* Whether the bytes that EVENT writes to memory come back in a data_return of OTHER. */
static bool kin_is_written(const struct event *event, const struct event *other)
{
    if (!kin_is_dirty(other) || !event_overlaps(event, other))
        return false;
    return event->kind == EVENT_OP ? other->cls == LAYER_FILE : kin_is_same_object(event, other);
}

/* --- Pages --------------------------------------------------------------------------------- */

static void kin_pages_init(struct kin_pages *pages, const struct event *event)
{
    uint64_t end = (event->off + event->len + PAGE_BYTES - 1) / PAGE_BYTES;

    pages->first = event->off / PAGE_BYTES;
    pages->count = end - pages->first;
    if (pages->count > KIN_PAGES_MAX)
        pages->count = KIN_PAGES_MAX;
    pages->left = pages->count;
    pages->sought = malloc(pages->count + 1);
    if (pages->sought == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    memset(pages->sought, true, pages->count);
}

/* Returns how many pages of EVENT are sought; with TAKE, they are not any more. */
static uint64_t kin_pages_count(struct kin_pages *pages, const struct event *event, bool take)
{
    uint64_t first = event->off / PAGE_BYTES;
    uint64_t end = (event->off + event->len + PAGE_BYTES - 1) / PAGE_BYTES;
    uint64_t count = 0;

    first = first > pages->first ? first - pages->first : 0;
    end = end > pages->first ? end - pages->first : 0;
    for (uint64_t i = first; i < end && i < pages->count; i++) {
        count += pages->sought[i];
        if (take)
            pages->sought[i] = false;
    }
    pages->left -= take ? count : 0;
    return count;
}

/* The first returns behind the event that bring what it wrote. */
static void kin_returns_find(const struct record *record, size_t parent, struct kin *children)
{
    const struct event *writer = &record->events[parent];
    struct kin_pages pages;

    kin_pages_init(&pages, writer);
    for (size_t i = parent + 1; i < record->count && pages.left != 0; i++) {
        const struct event *event = &record->events[i];

        if (kin_is_written(writer, event) && kin_pages_count(&pages, event, true) != 0)
            kin_add(children, i);
    }
    free(pages.sought);
}

/* --- Children ------------------------------------------------------------------------------ */

static bool kin_is_child(const struct event *parent, const struct event *event, bool faults)
{
    if (kin_is_named(parent, event))
        return true;
    switch (parent->kind) {
    case EVENT_OP:
        return kin_is_rpc_of(parent, event) || (faults && kin_is_fault_of(parent, event));
    case EVENT_IO:
        return kin_is_fault_of(parent, event);
    case EVENT_LOCK_REQUEST:
        return kin_is_return_of(parent, event);
    case EVENT_DATA_RETURN:
        return kin_is_run_of(parent, event);
    default:
        return false;
    }
}

/* Whether an operation has an RPC; if not, it works on a mapping. */
static bool kin_has_rpc(const struct record *record, const struct event *op)
{
    for (size_t i = 0; i < record->count; i++) {
        if (kin_is_rpc_of(op, &record->events[i]))
            return true;
    }
    return false;
}

void kin_children(const struct record *record, size_t parent, struct kin *children)
{
    const struct event *event = &record->events[parent];
    bool maps = event->kind == EVENT_OP && !kin_has_rpc(record, event);

    *children = (struct kin){0};
    for (size_t i = 0; i < record->count; i++) {
        if (i != parent && kin_is_child(event, &record->events[i], maps))
            kin_add(children, i);
    }
    if (kin_is(event, EVENT_IO, "io_write") || (maps && kin_is(event, EVENT_OP, "write")))
        kin_returns_find(record, parent, children);
    kin_sort(children);
}

/* --- Parents ------------------------------------------------------------------------------- */

static size_t kin_named_find(const struct record *record, const struct event *child)
{
    for (size_t i = 0; i < record->count; i++) {
        if (kin_is_named(&record->events[i], child))
            return i;
    }
    return SIZE_MAX;
}

/* Whether PARENT is a request of kind KIND that ran into the fault, or sent the RPC. */
static bool kin_is_caller(const struct event *parent, enum event_kind kind,
                          const struct event *child)
{
    return parent->kind == kind && (kin_is_rpc_of(parent, child) || kin_is_fault_of(parent, child));
}

static size_t kin_caller_find(const struct record *record, enum event_kind kind,
                              const struct event *child)
{
    for (size_t i = 0; i < record->count; i++) {
        if (kin_is_caller(&record->events[i], kind, child))
            return i;
    }
    return SIZE_MAX;
}

size_t kin_parent(const struct record *record, size_t child)
{
    const struct event *event = &record->events[child];
    size_t parent = SIZE_MAX;

    if ((event->keys & EVENT_HAS_BY) != 0)
        return event->by == 0 ? SIZE_MAX : kin_named_find(record, event);
    if (kin_is_fault(event))
        parent = kin_caller_find(record, EVENT_IO, event);
    if (parent == SIZE_MAX && (kin_is_fault(event) || event->kind == EVENT_IO))
        parent = kin_caller_find(record, EVENT_OP, event);
    return parent;
}

size_t kin_window(const struct record *record, size_t child)
{
    const struct event *event = &record->events[child];

    for (size_t i = child; i-- > 0;) {
        if (record->events[i].kind == EVENT_LOCK_REQUEST &&
            kin_is_return_of(&record->events[i], event))
            return i;
    }
    return SIZE_MAX;
}

/* Collects, backward from the return, the writers of kind KIND whose pages are sought. */
static void kin_writers_find(const struct record *record, size_t child, enum event_kind kind,
                             struct kin *writers)
{
    const struct event *brought = &record->events[child];
    struct kin_pages pages;

    kin_pages_init(&pages, brought);
    for (size_t i = child; i-- > 0 && pages.left != 0;) {
        const struct event *event = &record->events[i];

        if (kin_is_dirty(event) && kin_is_same_object(brought, event))
            kin_pages_count(&pages, event, true);
        else if (kin_is(event, kind, kind == EVENT_OP ? "write" : "io_write") &&
                 kin_is_written(event, brought) && kin_pages_count(&pages, event, false) != 0)
            kin_add(writers, i);
    }
    free(pages.sought);
    kin_sort(writers);
}

void kin_writers(const struct record *record, size_t child, struct kin *writers)
{
    *writers = (struct kin){0};
    kin_writers_find(record, child, EVENT_IO, writers);
    if (writers->count == 0)
        kin_writers_find(record, child, EVENT_OP, writers);
}
