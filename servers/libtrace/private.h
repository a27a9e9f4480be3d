// SPDX-License-Identifier: GPL-2.0-or-later
/* How events lie in memory, for libtrace itself and for startup, which reads the last of them out
   of a task that hangs. */
#ifndef LIBTRACE_PRIVATE_H
#define LIBTRACE_PRIVATE_H

#include "libtrace/trace.h"

#define TRACE_CHUNK_EVENTS 1023u /* with the head, 64 KiB */
#define TRACE_LINE_MAX     320

enum trace_state { TRACE_FREE, TRACE_OWNED, TRACE_FULL };

/* What a thread records into: struct rt_thread points to it. */
struct trace_chunk {
    uint32_t state; /* changed atomically */
    uint32_t nevents;
    uint32_t sequence; /* when it was taken: grows from chunk to chunk, in a thread too */
    uint32_t ndropped; /* so many events of the thread were dropped since its chunk before */
    struct rt_thread *thread;
    uint8_t spare[64 - 4 * sizeof(uint32_t) - sizeof(void *)];
    struct trace_event events[TRACE_CHUNK_EVENTS];
};

/* By kind. */
extern const char *const trace_kind_names[TRACE_KINDS];

/* Write the line of EVENT (docs/trace.md), which THREAD of SERVER has recorded. What makes no sense
   in EVENT is left out. => does not block. */
void trace_event_format(const struct trace_event *event, const char *server, const char *thread,
                        char text[TRACE_LINE_MAX]);

#endif
