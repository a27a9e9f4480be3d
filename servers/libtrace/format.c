// SPDX-License-Identifier: GPL-2.0-or-later
#include "libtrace/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "librt/clock.h"

const char *const trace_kind_names[TRACE_KINDS] = {
    "op",  "io",         "data_request", "data_unlock", "data_return", "lock_request",
    "run", "alloc_lock", "store_write",  "store_read",  "memory",
};

static const char *const trace_what_names[TRACE_WHATS] = {
    "",      "read",    "write",    "sync",      "flush",         "return",      "dirty",
    "clean", "io_read", "io_write", "file_sync", "file_set_size", "object_sync", "object_return",
};

/* Which keys a kind has, beside t, dur, kind, srv, thr, req and res (docs/trace.md). */
enum {
    TRACE_HAS_BY = 1 << 0,
    TRACE_HAS_OBJ = 1 << 1,
    TRACE_HAS_OFF = 1 << 2,
    TRACE_HAS_LEN = 1 << 3,
    TRACE_HAS_SEC = 1 << 4,
    TRACE_HAS_CLS = 1 << 5,
    TRACE_HAS_WHAT = 1 << 6,
    TRACE_HAS_WAIT = 1 << 7,
    TRACE_HAS_N = 1 << 8,
    TRACE_HAS_RES = 1 << 9,
    TRACE_HAS_PLACE = TRACE_HAS_OBJ | TRACE_HAS_OFF | TRACE_HAS_LEN,
};

static const uint16_t trace_kind_keys[TRACE_KINDS] = {
    [TRACE_OP] = TRACE_HAS_OFF | TRACE_HAS_LEN | TRACE_HAS_WHAT | TRACE_HAS_RES,
    [TRACE_IO] = TRACE_HAS_PLACE | TRACE_HAS_WHAT | TRACE_HAS_RES,
    [TRACE_DATA_REQUEST] = TRACE_HAS_PLACE | TRACE_HAS_CLS | TRACE_HAS_RES,
    [TRACE_DATA_UNLOCK] = TRACE_HAS_PLACE | TRACE_HAS_CLS | TRACE_HAS_RES,
    [TRACE_DATA_RETURN] = TRACE_HAS_PLACE | TRACE_HAS_CLS | TRACE_HAS_WHAT | TRACE_HAS_RES,
    [TRACE_LOCK_REQUEST] = TRACE_HAS_BY | TRACE_HAS_PLACE | TRACE_HAS_CLS | TRACE_HAS_WHAT,
    [TRACE_RUN] = TRACE_HAS_BY | TRACE_HAS_PLACE | TRACE_HAS_CLS | TRACE_HAS_N,
    [TRACE_ALLOC_LOCK] = TRACE_HAS_BY | TRACE_HAS_OBJ | TRACE_HAS_WHAT | TRACE_HAS_WAIT,
    [TRACE_STORE_WRITE] =
        TRACE_HAS_BY | TRACE_HAS_LEN | TRACE_HAS_SEC | TRACE_HAS_CLS | TRACE_HAS_RES,
    [TRACE_STORE_READ] =
        TRACE_HAS_BY | TRACE_HAS_LEN | TRACE_HAS_SEC | TRACE_HAS_CLS | TRACE_HAS_RES,
    [TRACE_MEMORY] = TRACE_HAS_N,
};

/* A line under construction. */
struct trace_line {
    char text[TRACE_LINE_MAX];
    size_t used;
};

static void trace_put_word(struct trace_line *line, const char *key, const char *word)
{
    int length =
        snprintf(line->text + line->used, sizeof(line->text) - line->used, " %s=%s", key, word);

    if (length > 0)
        line->used += (size_t)length;
}

static void trace_put_number(struct trace_line *line, const char *key, uint64_t number)
{
    int length = snprintf(line->text + line->used, sizeof(line->text) - line->used, " %s=%" PRIu64,
                          key, number);

    if (length > 0)
        line->used += (size_t)length;
}

static void trace_put_details(struct trace_line *line, const struct trace_event *event)
{
    uint16_t keys = event->kind < TRACE_KINDS ? trace_kind_keys[event->kind] : 0;

    if (keys & TRACE_HAS_BY)
        trace_put_number(line, "by", event->cause);
    if (keys & TRACE_HAS_OBJ)
        trace_put_number(line, "obj", event->object);
    if (keys & TRACE_HAS_OFF)
        trace_put_number(line, "off", event->offset);
    if (keys & TRACE_HAS_LEN)
        trace_put_number(line, "len", event->length);
    if (keys & TRACE_HAS_SEC)
        trace_put_number(line, "sec", event->sector);
    if (keys & TRACE_HAS_CLS)
        trace_put_word(line, "cls", event->class == RT_CLASS_FILE ? "file" : "meta");
    if (keys & TRACE_HAS_WHAT && event->what < TRACE_WHATS)
        trace_put_word(line, "what", trace_what_names[event->what]);
    if (keys & TRACE_HAS_WAIT)
        trace_put_number(line, "wait", rt_clock_cycles_to_ns(event->wait));
    if (keys & TRACE_HAS_N)
        trace_put_number(line, "n", event->count);
    if (keys & TRACE_HAS_RES)
        trace_put_number(line, "res", event->result);
}

void trace_event_format(const struct trace_event *event, const char *server, const char *thread,
                        char text[TRACE_LINE_MAX])
{
    uint64_t start = rt_clock_cycles_to_ns(event->start);
    struct trace_line line = {.text = "event", .used = 5};

    trace_put_number(&line, "t", start);
    trace_put_number(&line, "dur", rt_clock_cycles_to_ns(event->end) - start);
    if (event->kind < TRACE_KINDS)
        trace_put_word(&line, "kind", trace_kind_names[event->kind]);
    trace_put_word(&line, "srv", server);
    trace_put_word(&line, "thr", thread);
    trace_put_number(&line, "req", event->request);
    trace_put_details(&line, event);
    memcpy(text, line.text, TRACE_LINE_MAX);
}
