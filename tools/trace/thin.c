// SPDX-License-Identifier: GPL-2.0-or-later
#include "thin.h"

#include <err.h>
#include <stdlib.h>

#define THIN_DEPTH_MAX 16 /* a log may name requests in a circle */

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

bool *thin_choose(const struct record *record, const struct links *links, size_t max, size_t *every)
{
    uint32_t *parents = thin_parents_make(record, links);
    size_t roots[EVENT_KINDS] = {0};
    bool *chosen = calloc(record->count + 1, sizeof(*chosen));
    bool *kept = calloc(record->count + 1, sizeof(*kept));

    if (chosen == NULL || kept == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    *every = (record->count + max - 1) / max;
    for (uint32_t i = 0; i < record->count; i++) {
        if (parents[i] == UINT32_MAX)
            chosen[i] = roots[record->events[i].kind]++ % *every == 0;
    }
    for (uint32_t i = 0; i < record->count; i++)
        kept[i] = *every == 1 || chosen[thin_root(parents, i)];
    free(parents);
    free(chosen);
    return kept;
}
