// SPDX-License-Identifier: GPL-2.0-or-later
/* The layers of a boot, counted from its trace alone, and held against result.json. */
#ifndef TRACE_SUMS_H
#define TRACE_SUMS_H

#include <stdio.h>

#include "record.h"
#include "run/layer.h"

#define SUMS_SERVERS_MAX 16

struct sums_server {
    const char *name; /* one of the log's */
    struct layers layers;
};

struct sums {
    struct sums_server servers[SUMS_SERVERS_MAX];
    size_t servers_count;
    struct layers disk; /* its two kinds; a command has the class of the call that it belongs to */
    struct layer ops;
    uint64_t sync_ns;     /* how long one of the job's syncs went on, or several */
    uint64_t sync_end;    /* when the last of them ended */
    bool written_outside; /* file data was written when none of them went on */
};

/* What came of a comparison. */
struct sums_verdict {
    unsigned compared;    /* numbers that could be */
    unsigned differences; /* of which so many are not as they should be */
    bool partial; /* others could not be compared: a part of the trace is known to be missing */
};

/* Count the record's events. => at most SUMS_SERVERS_MAX servers, more are left out. */
void sums_count(struct sums *sums, const struct record *record);

/* The server's layers, or NULL if it has recorded nothing. */
const struct layers *sums_server_lookup(const struct sums *sums, const char *name);

/*
 * Compare with result.json, and with what the servers say themselves. Each difference, and what is
 * not compared and why, is printed in a line.
 */
void sums_compare(const struct sums *sums, const struct record *record,
                  struct sums_verdict *verdict, FILE *stream);

#endif
