// SPDX-License-Identifier: GPL-2.0-or-later
#include "mock/trace.h"

uint32_t trace_mask = (1u << TRACE_KINDS) - 1;

static struct mock_trace_count mock_trace_counts[TRACE_KINDS][RT_CLASS_COUNT]; /* atomic */
static uint32_t mock_trace_requests;                                           /* atomic */
static __thread uint32_t mock_trace_cause;

uint32_t trace_request(void)
{
    return __atomic_add_fetch(&mock_trace_requests, 1, __ATOMIC_RELAXED);
}

uint32_t trace_cause(void)
{
    return mock_trace_cause;
}

uint32_t trace_set_cause(uint32_t request)
{
    uint32_t before = mock_trace_cause;

    mock_trace_cause = request;
    return before;
}

void trace_end(const struct trace_event *event)
{
    struct mock_trace_count *count = &mock_trace_counts[event->kind][event->class];

    if (event->result != 0) {
        __atomic_add_fetch(&count->failed_bytes, event->length, __ATOMIC_RELAXED);
        return;
    }
    __atomic_add_fetch(&count->count, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&count->bytes, event->length, __ATOMIC_RELAXED);
}

struct mock_trace_count mock_trace_count(enum trace_kind kind, enum rt_class class)
{
    const struct mock_trace_count *count = &mock_trace_counts[kind][class];

    return (struct mock_trace_count){
        .count = __atomic_load_n(&count->count, __ATOMIC_RELAXED),
        .bytes = __atomic_load_n(&count->bytes, __ATOMIC_RELAXED),
        .failed_bytes = __atomic_load_n(&count->failed_bytes, __ATOMIC_RELAXED),
    };
}

void mock_trace_reset(void)
{
    for (unsigned int kind = 0; kind < TRACE_KINDS; kind++)
        for (unsigned int class = 0; class < RT_CLASS_COUNT; class ++) {
            __atomic_store_n(&mock_trace_counts[kind][class].count, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&mock_trace_counts[kind][class].bytes, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&mock_trace_counts[kind][class].failed_bytes, 0, __ATOMIC_RELAXED);
        }
}
