// SPDX-License-Identifier: GPL-2.0-or-later
/* libtrace as the host's tests see it: every kind is recorded, and only counted. */
#ifndef MOCK_TRACE_H
#define MOCK_TRACE_H

#include "libtrace/trace.h"

/* Of events with result 0; those with an error are counted apart. */
struct mock_trace_count {
    uint64_t count;
    uint64_t bytes; /* sum of the events' lengths */
    uint64_t failed_bytes;
};

/* What was recorded of KIND and CLASS since the last mock_trace_reset. => any thread. */
struct mock_trace_count mock_trace_count(enum trace_kind kind, enum rt_class class);

void mock_trace_reset(void);

#endif
