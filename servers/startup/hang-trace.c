// SPDX-License-Identifier: GPL-2.0-or-later
/* The last events of each thread, as far as they are not printed yet: what it has finished last. */
#include "startup/hang.h"

#include <stddef.h>

#include "librt/log.h"
#include "libtrace/private.h"

#define HANG_EVENTS 3u /* of each thread */

static void hang_event_print(const struct snapshot_thread *thread, uint32_t n)
{
    vm_address_t address =
        thread->trace_chunk + offsetof(struct trace_chunk, events) + n * sizeof(struct trace_event);
    struct trace_event event;
    char label[HANG_PHRASE_MAX];
    char line[TRACE_LINE_MAX];

    if (peek_read(thread->task->task, address, &event, sizeof(event)) != KERN_SUCCESS)
        return;
    trace_event_format(&event, thread->task->name, thread->label, line);
    rt_log("hang: %s: %s", hang_label(thread, label), line);
}

static void hang_chunk_print(const struct snapshot_thread *thread)
{
    static struct trace_chunk head; /* too large for a stack; its events are not read */
    uint32_t first;

    if (peek_read(thread->task->task, thread->trace_chunk, &head,
                  offsetof(struct trace_chunk, events)) != KERN_SUCCESS ||
        head.nevents > TRACE_CHUNK_EVENTS)
        return;
    first = head.nevents > HANG_EVENTS ? head.nevents - HANG_EVENTS : 0;
    for (uint32_t i = first; i < head.nevents; i++)
        hang_event_print(thread, i);
}

void hang_events_print(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->nthreads; i++)
        if (snapshot->threads[i].trace_chunk != 0)
            hang_chunk_print(&snapshot->threads[i]);
}
