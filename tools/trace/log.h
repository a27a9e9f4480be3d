// SPDX-License-Identifier: GPL-2.0-or-later
/* What the guest said on its console, events and all, and what is wrong with it. */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "event.h"
#include "run/console.h"
#include "run/failure.h"

#define LOG_DAMAGED_MAX 8

struct log {
    struct event *events; /* in the order of their beginnings */
    size_t count;
    struct names names;
    struct console console;
    uint64_t lines;
    uint64_t damaged[LOG_DAMAGED_MAX]; /* numbers of the first lines that cannot be understood */
    size_t damaged_count;              /* of all of them */
    bool cut;                          /* the last line has no end */
};

/*
 * Read a console's log from STREAM. A line that is damaged is counted and left out.
 * => nothing that a log can hold is an error; memory that runs out ends the program. Free it with
 *    log_destroy.
 */
void log_read(struct log *log, FILE *stream);

/* The same from the file PATH. */
int log_load(struct log *log, const char *path, struct failure *failure);

void log_destroy(struct log *log);

/* Add EVENT, the next that was read, and put all in the order of their beginnings when none comes
   any more. */
void log_event_add(struct log *log, const struct event *event);
void log_sort(struct log *log);

/* How many events of SERVER are here. */
uint64_t log_count(const struct log *log, const char *server);

#endif
