// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where on a time line an event is drawn. A track of a thread holds what the thread did itself, one
 * thing at a time or one within the other. What overlaps in other ways has tracks of its own: data
 * requests and returns, which wait in queues, a track for each kind and server. The disk's commands
 * are spread over as many tracks as there were ever commands at once.
 */
#ifndef TRACE_TRACKS_H
#define TRACE_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

#define TRACKS_DISK "disk" /* the process of the disk's tracks; no server has that name */
#define TRACKS_NONE UINT32_MAX

struct track {
    const char *process; /* a server, or TRACKS_DISK */
    const char *name; /* of a thread; of the kind; "commands" of the disk, for each of its tracks */
    bool overlaps;    /* its events can overlap in any way; else they nest */
    unsigned layer;   /* the first kind of event that its process has */
    unsigned rows;    /* events of it that are drawn below one another, at most */
    size_t events;
};

/* Where one event is. */
struct track_place {
    uint32_t track;  /* TRACKS_NONE: it has no time */
    uint32_t thread; /* the track of the thread that recorded it; of a disk's command, its track */
    uint32_t row;    /* how deep it is in others, or the first row that was free */
};

struct tracks {
    struct track *tracks; /* the client first, the disk last; of one process, threads first */
    size_t count;
    struct track_place *places; /* by event */
};

/* Arrange the record's events. => free with tracks_destroy, before the record; memory that runs out
   ends the program. */
void tracks_arrange(struct tracks *tracks, const struct record *record);

void tracks_destroy(struct tracks *tracks);

#endif
