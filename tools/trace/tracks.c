// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events are taken by their beginnings, the longer first. On a thread's track, one that does not
 * end within what it began in (a lock that is released after the call that took it) cannot be drawn
 * there: it goes to a track of such events of its kind.
 */
#include "tracks.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "run/array.h"

#define TRACKS_DEPTH_MAX 32

/* The ends of what is open on a track: of a thread's, from the outermost; else of each row. */
struct tracks_rows {
    uint64_t *ends;
    size_t count;
};

struct tracks_search {
    const struct record *record;
    struct tracks *tracks;
    struct tracks_rows *rows; /* by track */
    uint32_t *order;          /* the events that have a time */
    size_t order_count;
};

/* EVENTS are the record's. */
static int tracks_order_compare(const void *left, const void *right, void *events)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    const struct event *event = (const struct event *)events + a;
    const struct event *other = (const struct event *)events + b;

    if (event->t != other->t)
        return event->t < other->t ? -1 : 1;
    if (event->dur != other->dur)
        return event->dur > other->dur ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void tracks_order_make(struct tracks_search *search)
{
    const struct record *record = search->record;

    search->order = reallocarray(NULL, record->count + 1, sizeof(*search->order));
    if (search->order == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (size_t i = 0; i < record->count; i++) {
        if ((record->events[i].keys & EVENT_HAS_T) != 0)
            search->order[search->order_count++] = (uint32_t)i;
    }
    qsort_r(search->order, search->order_count, sizeof(*search->order), tracks_order_compare,
            record->events);
}

/* The track of that name. Disk tracks all have one name: NUMBER tells which is meant, from 0. */
static uint32_t tracks_get(struct tracks_search *search, const char *process, const char *name,
                           bool overlaps, size_t number)
{
    struct tracks *tracks = search->tracks;

    for (size_t i = 0; i < tracks->count; i++) {
        const struct track *track = &tracks->tracks[i];

        if (track->overlaps == overlaps && strcmp(track->process, process) == 0 &&
            strcmp(track->name, name) == 0 && number-- == 0)
            return (uint32_t)i;
    }
    tracks->tracks = array_grow(tracks->tracks, tracks->count, sizeof(*tracks->tracks));
    search->rows = array_grow(search->rows, tracks->count, sizeof(*search->rows));
    search->rows[tracks->count] = (struct tracks_rows){0};
    tracks->tracks[tracks->count] = (struct track){process, name, overlaps, EVENT_KINDS, 0, 0};
    return (uint32_t)tracks->count++;
}

static uint32_t tracks_row_add(struct tracks_rows *rows, uint64_t end)
{
    rows->ends = array_grow(rows->ends, rows->count, sizeof(*rows->ends));
    rows->ends[rows->count] = end;
    return (uint32_t)rows->count++;
}

/* The first row that is free when the event begins. */
static uint32_t tracks_row_take(struct tracks_rows *rows, const struct event *event)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->ends[i] > event->t)
            continue;
        rows->ends[i] = event_end(event);
        return (uint32_t)i;
    }
    return tracks_row_add(rows, event_end(event));
}

/* How deep the event is in what is open on a thread's track. => false: it overlaps otherwise. */
static bool tracks_row_nest(struct tracks_rows *rows, const struct event *event, uint32_t *row)
{
    while (rows->count != 0 && rows->ends[rows->count - 1] <= event->t)
        rows->count--;
    if (rows->count == TRACKS_DEPTH_MAX ||
        (rows->count != 0 && rows->ends[rows->count - 1] < event_end(event)))
        return false;
    if (rows->ends == NULL) {
        rows->ends = reallocarray(NULL, TRACKS_DEPTH_MAX, sizeof(*rows->ends));
        if (rows->ends == NULL)
            err(STATUS_BAD_INPUT, "machbed");
    }
    rows->ends[rows->count] = event_end(event);
    *row = (uint32_t)rows->count++;
    return true;
}

/* Whether events of that kind begin before the thread that records them takes them up. */
static bool tracks_kind_waits(enum event_kind kind)
{
    return kind == EVENT_DATA_REQUEST || kind == EVENT_DATA_UNLOCK || kind == EVENT_DATA_RETURN ||
           kind == EVENT_LOCK_REQUEST;
}

static struct track_place tracks_disk_place(struct tracks_search *search, const struct event *event)
{
    for (size_t number = 0;; number++) {
        uint32_t track = tracks_get(search, TRACKS_DISK, "commands", false, number);
        struct tracks_rows *rows = &search->rows[track];

        if (rows->count == 0)
            tracks_row_add(rows, 0);
        if (rows->ends[0] > event->t)
            continue;
        rows->ends[0] = event_end(event);
        return (struct track_place){track, track, 0};
    }
}

static struct track_place tracks_place(struct tracks_search *search, const struct event *event)
{
    const char *name = event_kind_name(event->kind);
    struct track_place place = {0};

    if (event->kind >= EVENT_GUEST_KINDS)
        return tracks_disk_place(search, event);
    place.thread = tracks_get(search, event->srv, event->thr, false, 0);
    place.track = place.thread;
    if (!tracks_kind_waits(event->kind) &&
        tracks_row_nest(&search->rows[place.thread], event, &place.row))
        return place;
    place.track = tracks_get(search, event->srv, name, true, 0);
    place.row = tracks_row_take(&search->rows[place.track], event);
    return place;
}

/* --- The order of tracks --------------------------------------------------------------------- */

/* A track, and where it was. */
struct tracks_old {
    struct track track;
    uint32_t place;
};

/* Numbers in names count as numbers: file/9 is before file/10. */
static int tracks_compare(const void *left, const void *right)
{
    const struct tracks_old *a = left;
    const struct tracks_old *b = right;
    int order = (int)a->track.layer - (int)b->track.layer;

    if (order == 0)
        order = strcmp(a->track.process, b->track.process);
    if (order == 0)
        order = (int)a->track.overlaps - (int)b->track.overlaps;
    if (order == 0)
        order = strverscmp(a->track.name, b->track.name);
    return order != 0 ? order : a->place < b->place ? -1 : a->place > b->place;
}

/* A process is where its outermost event is. */
static void tracks_layers_spread(struct tracks *tracks)
{
    for (size_t i = 0; i < tracks->count; i++) {
        struct track *track = &tracks->tracks[i];

        for (size_t j = 0; j < tracks->count; j++) {
            const struct track *other = &tracks->tracks[j];

            if (other->layer < track->layer && strcmp(other->process, track->process) == 0)
                track->layer = other->layer;
        }
    }
}

/* Puts the tracks in order; NEW says for each where it is now. */
static void tracks_sort(struct tracks *tracks, uint32_t *new)
{
    struct tracks_old *old = reallocarray(NULL, tracks->count + 1, sizeof(*old));

    if (old == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    tracks_layers_spread(tracks);
    for (uint32_t i = 0; i < tracks->count; i++)
        old[i] = (struct tracks_old){tracks->tracks[i], i};
    if (tracks->count != 0)
        qsort(old, tracks->count, sizeof(*old), tracks_compare);
    for (uint32_t i = 0; i < tracks->count; i++) {
        tracks->tracks[i] = old[i].track;
        new[old[i].place] = i;
    }
    free(old);
}

static void tracks_renumber(struct tracks *tracks, size_t events)
{
    uint32_t *new = reallocarray(NULL, tracks->count + 1, sizeof(*new));

    if (new == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    tracks_sort(tracks, new);
    for (size_t i = 0; i < events; i++) {
        struct track_place *place = &tracks->places[i];

        if (place->track == TRACKS_NONE)
            continue;
        place->track = new[place->track];
        place->thread = new[place->thread];
    }
    free(new);
}

static void tracks_event_take(struct tracks_search *search, uint32_t event)
{
    enum event_kind kind = search->record->events[event].kind;
    struct track_place place = tracks_place(search, &search->record->events[event]);
    struct track *track = &search->tracks->tracks[place.track];

    search->tracks->places[event] = place;
    track->events++;
    if (track->layer > kind)
        track->layer = kind;
    if (track->rows <= place.row)
        track->rows = place.row + 1;
}

void tracks_arrange(struct tracks *tracks, const struct record *record)
{
    struct tracks_search search = {.record = record, .tracks = tracks};

    search.rows = array_grow(NULL, 0, sizeof(*search.rows));
    *tracks = (struct tracks){0};
    tracks->places = reallocarray(NULL, record->count + 1, sizeof(*tracks->places));
    if (tracks->places == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (size_t i = 0; i < record->count; i++)
        tracks->places[i] = (struct track_place){TRACKS_NONE, TRACKS_NONE, 0};
    tracks_order_make(&search);
    for (size_t i = 0; i < search.order_count; i++)
        tracks_event_take(&search, search.order[i]);
    for (size_t i = 0; i < tracks->count; i++)
        free(search.rows[i].ends);
    free(search.rows);
    free(search.order);
    tracks_renumber(tracks, record->count);
}

void tracks_destroy(struct tracks *tracks)
{
    free(tracks->tracks);
    free(tracks->places);
}
