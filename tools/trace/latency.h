// SPDX-License-Identifier: GPL-2.0-or-later
/* How long requests took, and how large they were, for each layer, server, operation and boot. */
#ifndef TRACE_LATENCY_H
#define TRACE_LATENCY_H

#include "run/layer.h"
#include "view.h"

#define LATENCY_ROWS_MAX 256 /* more are left out */

struct latency_row {
    enum event_kind kind;
    bool waits; /* the time before a lock was granted, not the whole */
    const char *srv;
    const char *what;
    size_t boot;     /* place in the view's records */
    uint64_t *times; /* nanoseconds, sorted, of the requests whose time is known: a command of the
                        disk that is nobody's, and then its server is "", has none */
    size_t count;
    struct layer sizes; /* of all requests that have a size */
};

struct latency {
    struct latency_row rows[LATENCY_ROWS_MAX]; /* by layer, server, operation, then boot */
    size_t count;
    size_t last; /* the row that was used last */
};

/* Collect the rows of all the view's records. => free with latency_free; memory that runs out ends
   the program. */
struct latency *latency_create(const struct view_case *view);
void latency_free(struct latency *latency);

/* Whether rows differ in their boot at most. */
bool latency_is_same_group(const struct latency_row *a, const struct latency_row *b);

/* The smallest time, in nanoseconds, that PERCENT of 100 requests do not exceed: one that occurred.
   => the row has a time. */
uint64_t latency_percentile(const struct latency_row *row, unsigned percent);

#endif
