// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One event of a trace (docs/trace.md): a line of the console, or a command of the disk.
 */
#ifndef TRACE_EVENT_H
#define TRACE_EVENT_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "names.h"
#include "run/layer.h"

/* In the order of choice_trace_kinds, with the disk's two behind them. */
enum event_kind {
    EVENT_OP,
    EVENT_IO,
    EVENT_DATA_REQUEST,
    EVENT_DATA_UNLOCK,
    EVENT_DATA_RETURN,
    EVENT_LOCK_REQUEST,
    EVENT_RUN,
    EVENT_ALLOC_LOCK,
    EVENT_STORE_WRITE,
    EVENT_STORE_READ,
    EVENT_MEMORY,
    EVENT_DISK_WRITE,
    EVENT_DISK_READ,
};
#define EVENT_KINDS       13
#define EVENT_GUEST_KINDS 11 /* those that servers record */

enum event_key {
    EVENT_HAS_T = 1 << 0,
    EVENT_HAS_DUR = 1 << 1,
    EVENT_HAS_KIND = 1 << 2,
    EVENT_HAS_SRV = 1 << 3,
    EVENT_HAS_THR = 1 << 4,
    EVENT_HAS_REQ = 1 << 5,
    EVENT_HAS_BY = 1 << 6,
    EVENT_HAS_OBJ = 1 << 7,
    EVENT_HAS_OFF = 1 << 8,
    EVENT_HAS_LEN = 1 << 9,
    EVENT_HAS_SEC = 1 << 10,
    EVENT_HAS_CLS = 1 << 11,
    EVENT_HAS_WHAT = 1 << 12,
    EVENT_HAS_WAIT = 1 << 13,
    EVENT_HAS_N = 1 << 14,
    EVENT_HAS_RES = 1 << 15,
};

struct event {
    uint64_t t;   /* nanoseconds of the guest's clock */
    uint64_t dur; /* nanoseconds; of a disk's command: at most so many */
    uint64_t req;
    uint64_t by;
    uint64_t obj;
    uint64_t off; /* bytes */
    uint64_t len;
    uint64_t sec;
    uint64_t wait; /* nanoseconds */
    uint64_t n;
    uint64_t res;
    uint64_t line;    /* of the file that it was read from */
    const char *srv;  /* of a disk's command: whose call it belongs to, or "" */
    const char *thr;  /* "" for a disk's command */
    const char *what; /* "" if the kind has none */
    enum event_kind kind;
    enum layer_class cls; /* META if the kind has none */
    uint32_t keys;        /* those that it has */
};

/* The name of a kind, as in `kind=`. */
const char *event_kind_name(enum event_kind kind);

/* The keys that an event of that kind has. */
uint32_t event_kind_keys(enum event_kind kind);

static inline uint64_t event_end(const struct event *event)
{
    return event->t + event->dur;
}

/* Whether they share at least a byte of their objects' bytes; the objects are not compared. */
static inline bool event_overlaps(const struct event *event, const struct event *other)
{
    return event->off < other->off + other->len && other->off < event->off + event->len;
}

/* Whether OTHER began and ended within EVENT's time. */
static inline bool event_contains(const struct event *event, const struct event *other)
{
    return event->t <= other->t && event_end(other) <= event_end(event);
}

/* An event without any key. */
void event_init(struct event *event);

/* Give EVENT the key NAME, with a number or a word, which is kept in NAMES.
   => EINVAL: there is no such key, or its values are others. */
error_t event_number_put(struct event *event, const char *name, uint64_t number);
error_t event_word_put(struct event *event, const char *name, const char *word,
                       struct names *names);

/* Whether EVENT has all the keys of its kind, no others, and no numbers that overflow together. */
bool event_is_whole(const struct event *event);

/*
 * Read the line TEXT, which starts with "event ", without its line break; names are kept in NAMES.
 * => EINVAL: it is not as docs/trace.md says: a key is missing, unknown or out of order, a value is
 *    malformed, or its numbers overflow.
 */
error_t event_parse(struct event *event, const char *text, struct names *names);

#endif
