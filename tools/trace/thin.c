// SPDX-License-Identifier: GPL-2.0-or-later
#include "thin.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define THIN_DEPTH_MAX 16 /* a log may name requests in a circle */
#define THIN_SORTS_MAX 64

/* How many requests of a kind and operation there were, so that the few syncs are not lost among
   many writes. */
struct thin_sort {
    enum event_kind kind;
    const char *what;
    size_t count;
};

struct thin_sorts {
    struct thin_sort sorts[THIN_SORTS_MAX];
    size_t count;
};

static uint32_t *thin_parents_make(const struct record *record, const struct links *links)
{
    uint32_t *parents = reallocarray(NULL, record->count + 1, sizeof(*parents));

    if (parents == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (size_t i = 0; i < record->count; i++)
        parents[i] = UINT32_MAX;
    for (size_t i = 0; i < links->count; i++) {
        const struct link *link = &links->links[i];
        uint32_t *parent = &parents[link->child];

        /* A return belongs to who wrote rather than to the window that asked for it. */
        if (*parent == UINT32_MAX || record->events[*parent].kind == EVENT_LOCK_REQUEST)
            *parent = link->parent;
    }
    return parents;
}

static uint32_t thin_root(const uint32_t *parents, uint32_t event)
{
    for (unsigned i = 0; i < THIN_DEPTH_MAX && parents[event] != UINT32_MAX; i++)
        event = parents[event];
    return event;
}

/* Counts the event. Returns how many of its sort came before. */
static size_t thin_count(struct thin_sorts *sorts, const struct event *event)
{
    struct thin_sort *sort = sorts->sorts;

    for (size_t i = 0; i < sorts->count; i++, sort++) {
        if (sort->kind == event->kind && strcmp(sort->what, event->what) == 0)
            return sort->count++;
    }
    if (sorts->count == THIN_SORTS_MAX)
        return 0;
    sorts->sorts[sorts->count++] = (struct thin_sort){event->kind, event->what, 1};
    return 0;
}

bool *thin_choose(const struct record *record, const struct links *links, size_t every)
{
    uint32_t *parents = thin_parents_make(record, links);
    struct thin_sorts sorts = {.count = 0};
    bool *chosen = calloc(record->count + 1, sizeof(*chosen));
    bool *kept = calloc(record->count + 1, sizeof(*kept));

    if (chosen == NULL || kept == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (uint32_t i = 0; i < record->count; i++) {
        if (parents[i] == UINT32_MAX)
            chosen[i] = thin_count(&sorts, &record->events[i]) % every == 0;
    }
    for (uint32_t i = 0; i < record->count; i++)
        kept[i] = every == 1 || chosen[thin_root(parents, i)];
    free(parents);
    free(chosen);
    return kept;
}
