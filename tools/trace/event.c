// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line has its keys in a fixed order, and each kind has a fixed set of them. So whatever was torn
 * out of a line, or mixed into it, makes it malformed, but for digits at its end.
 */
#include "event.h"

#include <stddef.h>
#include <string.h>

#include "run/choice.h"
#include "run/mbr.h"

#define EVENT_HAS_ALL                                                                              \
    (EVENT_HAS_T | EVENT_HAS_DUR | EVENT_HAS_KIND | EVENT_HAS_SRV | EVENT_HAS_THR | EVENT_HAS_REQ)
#define EVENT_HAS_PLACE (EVENT_HAS_OBJ | EVENT_HAS_OFF | EVENT_HAS_LEN)
#define EVENT_HAS_CALL                                                                             \
    (EVENT_HAS_BY | EVENT_HAS_SEC | EVENT_HAS_LEN | EVENT_HAS_CLS | EVENT_HAS_RES)

static const uint32_t event_keys_of_kinds[EVENT_KINDS] = {
    [EVENT_OP] = EVENT_HAS_ALL | EVENT_HAS_OFF | EVENT_HAS_LEN | EVENT_HAS_WHAT | EVENT_HAS_RES,
    [EVENT_IO] = EVENT_HAS_ALL | EVENT_HAS_PLACE | EVENT_HAS_WHAT | EVENT_HAS_RES,
    [EVENT_DATA_REQUEST] = EVENT_HAS_ALL | EVENT_HAS_PLACE | EVENT_HAS_CLS | EVENT_HAS_RES,
    [EVENT_DATA_UNLOCK] = EVENT_HAS_ALL | EVENT_HAS_PLACE | EVENT_HAS_CLS | EVENT_HAS_RES,
    [EVENT_DATA_RETURN] =
        EVENT_HAS_ALL | EVENT_HAS_PLACE | EVENT_HAS_CLS | EVENT_HAS_WHAT | EVENT_HAS_RES,
    [EVENT_LOCK_REQUEST] =
        EVENT_HAS_ALL | EVENT_HAS_BY | EVENT_HAS_PLACE | EVENT_HAS_CLS | EVENT_HAS_WHAT,
    [EVENT_RUN] = EVENT_HAS_ALL | EVENT_HAS_BY | EVENT_HAS_PLACE | EVENT_HAS_CLS | EVENT_HAS_N,
    [EVENT_ALLOC_LOCK] =
        EVENT_HAS_ALL | EVENT_HAS_BY | EVENT_HAS_OBJ | EVENT_HAS_WHAT | EVENT_HAS_WAIT,
    [EVENT_STORE_WRITE] = EVENT_HAS_ALL | EVENT_HAS_CALL,
    [EVENT_STORE_READ] = EVENT_HAS_ALL | EVENT_HAS_CALL,
    [EVENT_MEMORY] = EVENT_HAS_ALL | EVENT_HAS_N,
    [EVENT_DISK_WRITE] = EVENT_HAS_KIND | EVENT_HAS_SEC | EVENT_HAS_LEN,
    [EVENT_DISK_READ] = EVENT_HAS_KIND | EVENT_HAS_SEC | EVENT_HAS_LEN,
};

enum event_form { EVENT_NUMBER, EVENT_WORD, EVENT_KIND_WORD, EVENT_CLASS_WORD };

/* A key; its place in this table is its place in a line, and its bit. */
struct event_field {
    const char *name;
    enum event_form form;
    size_t offset; /* in struct event */
};

static const struct event_field event_fields[] = {
    {"t", EVENT_NUMBER, offsetof(struct event, t)},
    {"dur", EVENT_NUMBER, offsetof(struct event, dur)},
    {"kind", EVENT_KIND_WORD, offsetof(struct event, kind)},
    {"srv", EVENT_WORD, offsetof(struct event, srv)},
    {"thr", EVENT_WORD, offsetof(struct event, thr)},
    {"req", EVENT_NUMBER, offsetof(struct event, req)},
    {"by", EVENT_NUMBER, offsetof(struct event, by)},
    {"obj", EVENT_NUMBER, offsetof(struct event, obj)},
    {"off", EVENT_NUMBER, offsetof(struct event, off)},
    {"len", EVENT_NUMBER, offsetof(struct event, len)},
    {"sec", EVENT_NUMBER, offsetof(struct event, sec)},
    {"cls", EVENT_CLASS_WORD, offsetof(struct event, cls)},
    {"what", EVENT_WORD, offsetof(struct event, what)},
    {"wait", EVENT_NUMBER, offsetof(struct event, wait)},
    {"n", EVENT_NUMBER, offsetof(struct event, n)},
    {"res", EVENT_NUMBER, offsetof(struct event, res)},
};
#define EVENT_FIELDS (sizeof(event_fields) / sizeof(event_fields[0]))

const char *event_kind_name(enum event_kind kind)
{
    if (kind >= EVENT_GUEST_KINDS)
        return layer_kind_name(kind == EVENT_DISK_WRITE ? LAYER_DISK_WRITE : LAYER_DISK_READ);
    return choice_trace_kinds[kind].name;
}

uint32_t event_kind_keys(enum event_kind kind)
{
    return event_keys_of_kinds[kind];
}

static error_t event_number_set(uint64_t *to, const char *text, size_t length)
{
    uint64_t value = 0;

    if (length == 0)
        return EINVAL;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return EINVAL;
    }
    *to = value;
    return 0;
}

static bool event_word_is(const char *name, const char *text, size_t length)
{
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

static error_t event_kind_set(enum event_kind *to, const char *text, size_t length)
{
    for (unsigned i = 0; i < EVENT_GUEST_KINDS; i++) {
        if (event_word_is(choice_trace_kinds[i].name, text, length)) {
            *to = (enum event_kind)i;
            return 0;
        }
    }
    return EINVAL;
}

static error_t event_class_set(enum layer_class *to, const char *text, size_t length)
{
    for (unsigned i = 0; i < LAYER_SPLIT; i++) {
        if (event_word_is(layer_class_name((enum layer_class)i), text, length)) {
            *to = (enum layer_class)i;
            return 0;
        }
    }
    return EINVAL;
}

static error_t event_field_set(struct event *event, const struct event_field *field,
                               const char *text, size_t length, struct names *names)
{
    void *to = (char *)event + field->offset;

    switch (field->form) {
    case EVENT_NUMBER:
        return event_number_set(to, text, length);
    case EVENT_KIND_WORD:
        return event_kind_set(to, text, length);
    case EVENT_CLASS_WORD:
        return event_class_set(to, text, length);
    default:
        *(const char **)to = names_get(names, text, length);
        return *(const char **)to == NULL ? EINVAL : 0;
    }
}

/* Whether the sum is a number that also a signed one can hold, with room for rounding it up. */
static bool event_sum_fits(uint64_t a, uint64_t b)
{
    return a <= INT64_MAX / 2 && b <= INT64_MAX / 2;
}

/* Reads the fields at TEXT as long as they are known and in order. Returns where it stopped. */
static const char *event_fields_read(struct event *event, const char *text, struct names *names)
{
    for (unsigned i = 0; i < EVENT_FIELDS; i++) {
        size_t name = strlen(event_fields[i].name);
        size_t value;

        if (strncmp(text, event_fields[i].name, name) != 0 || text[name] != '=')
            continue;
        value = strcspn(text + name + 1, " ");
        if (event_field_set(event, &event_fields[i], text + name + 1, value, names) != 0)
            return text;
        event->keys |= UINT32_C(1) << i;
        text += name + 1 + value;
        if (*text == '\0')
            break;
        text++;
    }
    return text;
}

static const struct event_field *event_field_lookup(const char *name)
{
    for (unsigned i = 0; i < EVENT_FIELDS; i++) {
        if (strcmp(event_fields[i].name, name) == 0)
            return &event_fields[i];
    }
    return NULL;
}

error_t event_number_put(struct event *event, const char *name, uint64_t number)
{
    const struct event_field *field = event_field_lookup(name);

    if (field == NULL || field->form != EVENT_NUMBER)
        return EINVAL;
    *(uint64_t *)(void *)((char *)event + field->offset) = number;
    event->keys |= UINT32_C(1) << (field - event_fields);
    return 0;
}

error_t event_word_put(struct event *event, const char *name, const char *word, struct names *names)
{
    const struct event_field *field = event_field_lookup(name);

    if (field == NULL || field->form == EVENT_NUMBER ||
        event_field_set(event, field, word, strlen(word), names) != 0)
        return EINVAL;
    event->keys |= UINT32_C(1) << (field - event_fields);
    return 0;
}

bool event_is_whole(const struct event *event)
{
    return event->keys == event_keys_of_kinds[event->kind] && event->req != 0 &&
           event_sum_fits(event->t, event->dur) && event_sum_fits(event->off, event->len) &&
           event->sec <= INT64_MAX / MBR_SECTOR_BYTES;
}

void event_init(struct event *event)
{
    *event = (struct event){.srv = "", .thr = "", .what = "", .cls = LAYER_META};
}

error_t event_parse(struct event *event, const char *text, struct names *names)
{
    static const char head[] = "event ";

    event_init(event);
    if (strncmp(text, head, sizeof(head) - 1) != 0)
        return EINVAL;
    text = event_fields_read(event, text + sizeof(head) - 1, names);
    return *text == '\0' && event_is_whole(event) ? 0 : EINVAL;
}
