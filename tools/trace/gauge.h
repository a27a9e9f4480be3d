// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers over time: how long the queues were, and how many pages were free. */
#ifndef TRACE_GAUGE_H
#define TRACE_GAUGE_H

#include <stddef.h>
#include <stdint.h>

#include "record.h"

#define GAUGE_POINTS_MAX 8192u /* of one gauge */

/* From T on, the number was VALUE. */
struct gauge_point {
    uint64_t t;
    uint64_t value;
};

struct gauge {
    const char *process; /* a server, or TRACKS_DISK */
    const char *name;
    struct gauge_point *points; /* by time */
    size_t count;
    uint64_t max;
};

struct gauges {
    struct gauge *gauges;
    size_t count;
};

/*
 * Find the record's gauges: of each server, its data_returns that were received and not finished,
 * and its calls of the store in flight; the disk's commands; the free pages, where they were
 * recorded. A gauge that changes more often than GAUGE_POINTS_MAX says for each of as many spans of
 * time what the largest number was.
 * => free with gauges_destroy, before the record; memory that runs out ends the program.
 */
void gauges_find(struct gauges *gauges, const struct record *record);

void gauges_destroy(struct gauges *gauges);

#endif
