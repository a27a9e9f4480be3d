// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events are lines that start with "event "; the runner's reader of the console takes the others.
 * Damaged is a line that starts as one of ours and is not, and one that has an event's fields in
 * its middle: the beginning of such a line was lost, or stands behind what another line lost.
 */
#include "log.h"
#include "run/array.h"

#include <stdlib.h>
#include <string.h>

#define LOG_BUFFER_BYTES (1u << 20)

static void log_damage_note(struct log *log)
{
    if (log->damaged_count < LOG_DAMAGED_MAX)
        log->damaged[log->damaged_count] = log->lines;
    log->damaged_count++;
}

void log_event_add(struct log *log, const struct event *event)
{
    log->events = array_grow(log->events, log->count, sizeof(*event));
    log->events[log->count++] = *event;
}

static void log_event_take(struct log *log, const char *line)
{
    struct event event;

    if (event_parse(&event, line, &log->names) != 0) {
        log_damage_note(log);
        return;
    }
    event.line = log->lines;
    log_event_add(log, &event);
}

/* Each line is judged by itself: `broken` keeps only the first. */
static void log_other_take(struct log *log, const char *line)
{
    log->console.broken[0] = '\0';
    log->console.lines = log->lines - 1;
    console_feed(&log->console, line);
    if (log->console.broken[0] != '\0' ||
        (strstr(line, " kind=") != NULL && strstr(line, " srv=") != NULL))
        log_damage_note(log);
}

/* Cuts off the line's end. Returns whether there was one. The kernel's console adds a carriage
   return, behind the line break. */
static bool log_line_chop(char **line, size_t length)
{
    bool whole = length != 0 && (*line)[length - 1] == '\n';

    while (length > 0 && ((*line)[length - 1] == '\n' || (*line)[length - 1] == '\r'))
        (*line)[--length] = '\0';
    *line += strspn(*line, "\r");
    return whole;
}

/* A line without an end that says something was cut off, however well it reads. */
static void log_line_take(struct log *log, char *line, size_t length)
{
    bool whole = log_line_chop(&line, length);
    bool event = strncmp(line, "event ", 6) == 0;

    log->lines++;
    log->cut = !whole;
    if (!whole && (event || strncmp(line, "machbed ", 8) == 0))
        log_damage_note(log);
    else if (event)
        log_event_take(log, line);
    else
        log_other_take(log, line);
}

static int log_events_compare(const void *left, const void *right)
{
    const struct event *a = left;
    const struct event *b = right;

    if (a->t != b->t)
        return a->t < b->t ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

void log_sort(struct log *log)
{
    if (log->count != 0)
        qsort(log->events, log->count, sizeof(*log->events), log_events_compare);
}

void log_read(struct log *log, FILE *stream)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    *log = (struct log){0};
    names_init(&log->names);
    console_init(&log->console);
    while ((length = getline(&line, &capacity, stream)) >= 0)
        log_line_take(log, line, (size_t)length);
    free(line);
    log_sort(log);
}

int log_load(struct log *log, const char *path, struct failure *failure)
{
    FILE *stream = fopen(path, "re");

    if (stream == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "%s cannot be read: %s", path,
                           strerror(errno));
    setvbuf(stream, NULL, _IOFBF, LOG_BUFFER_BYTES);
    log_read(log, stream);
    fclose(stream);
    return STATUS_SUCCESS;
}

void log_destroy(struct log *log)
{
    names_destroy(&log->names);
    console_destroy(&log->console);
    free(log->events);
}

uint64_t log_count(const struct log *log, const char *server)
{
    const char *name = names_get(&((struct log *)log)->names, server, strlen(server));
    uint64_t count = 0;

    for (size_t i = 0; i < log->count; i++)
        count += log->events[i].srv == name;
    return count;
}
