// SPDX-License-Identifier: GPL-2.0-or-later
#include "gauge.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "tracks.h"
#include "run/array.h"

#define GAUGE_SERVERS_MAX 16 /* more are left out */

/* By how much a number changes at T. */
struct gauge_step {
    uint64_t t;
    int change;
};

struct gauge_steps {
    struct gauge_step *steps;
    size_t count;
};

typedef bool gauge_rule_t(const struct event *event);

static bool gauge_is_return(const struct event *event)
{
    return event->kind == EVENT_DATA_RETURN;
}

static bool gauge_is_store(const struct event *event)
{
    return event->kind == EVENT_STORE_WRITE || event->kind == EVENT_STORE_READ;
}

static bool gauge_is_command(const struct event *event)
{
    return event->kind >= EVENT_GUEST_KINDS;
}

static void gauge_step_add(struct gauge_steps *steps, uint64_t t, int change)
{
    steps->steps = array_grow(steps->steps, steps->count, sizeof(*steps->steps));
    steps->steps[steps->count++] = (struct gauge_step){t, change};
}

/* What ends when another begins has ended before. */
static int gauge_steps_compare(const void *left, const void *right)
{
    const struct gauge_step *a = left;
    const struct gauge_step *b = right;

    if (a->t != b->t)
        return a->t < b->t ? -1 : 1;
    return a->change - b->change;
}

static void gauge_point_add(struct gauge *gauge, uint64_t t, uint64_t value)
{
    gauge->points = array_grow(gauge->points, gauge->count, sizeof(*gauge->points));
    gauge->points[gauge->count++] = (struct gauge_point){t, value};
    if (value > gauge->max)
        gauge->max = value;
}

/* Keeps the largest number of each span of time, and at its end the last. */
static void gauge_thin(struct gauge *gauge)
{
    uint64_t start = gauge->points[0].t;
    uint64_t span = (gauge->points[gauge->count - 1].t - start) / (GAUGE_POINTS_MAX / 2) + 1;
    size_t kept = 0;

    for (size_t i = 0; i < gauge->count;) {
        uint64_t at = (gauge->points[i].t - start) / span;
        size_t largest = i;

        for (; i < gauge->count && (gauge->points[i].t - start) / span == at; i++) {
            if (gauge->points[i].value > gauge->points[largest].value)
                largest = i;
        }
        gauge->points[kept++] = gauge->points[largest];
        if (largest != i - 1)
            gauge->points[kept++] = gauge->points[i - 1];
    }
    gauge->count = kept;
}

static struct gauge *gauge_new(struct gauges *gauges, const char *process, const char *name)
{
    struct gauge *gauge;

    gauges->gauges = array_grow(gauges->gauges, gauges->count, sizeof(*gauges->gauges));
    gauge = &gauges->gauges[gauges->count++];
    *gauge = (struct gauge){.process = process, .name = name};
    return gauge;
}

static void gauge_of_steps(struct gauges *gauges, const char *process, const char *name,
                           const struct gauge_steps *steps)
{
    struct gauge *gauge;
    uint64_t value = 0;

    if (steps->count == 0)
        return;
    gauge = gauge_new(gauges, process, name);
    qsort(steps->steps, steps->count, sizeof(*steps->steps), gauge_steps_compare);
    for (size_t i = 0; i < steps->count; i++) {
        value += (uint64_t)steps->steps[i].change;
        if (i + 1 == steps->count || steps->steps[i + 1].t != steps->steps[i].t)
            gauge_point_add(gauge, steps->steps[i].t, value);
    }
    if (gauge->count > GAUGE_POINTS_MAX)
        gauge_thin(gauge);
}

/* How many of the events of SERVER (NULL: of any) that RULE picks went on at once. What has no
   duration never went on. */
static void gauge_count(struct gauges *gauges, const struct record *record, const char *process,
                        const char *name, gauge_rule_t *rule)
{
    struct gauge_steps steps = {0};

    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];

        if (!rule(event) || event->dur == 0 ||
            (strcmp(process, TRACKS_DISK) != 0 && event->srv != process))
            continue;
        gauge_step_add(&steps, event->t, 1);
        gauge_step_add(&steps, event_end(event), -1);
    }
    gauge_of_steps(gauges, process, name, &steps);
    free(steps.steps);
}

static void gauge_memory(struct gauges *gauges, const struct record *record)
{
    struct gauge *gauge = NULL;

    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];

        if (event->kind != EVENT_MEMORY)
            continue;
        if (gauge == NULL)
            gauge = gauge_new(gauges, event->srv, "free pages");
        gauge_point_add(gauge, event->t, event->n);
    }
    if (gauge != NULL && gauge->count > GAUGE_POINTS_MAX)
        gauge_thin(gauge);
}

/* Those of a server, once. */
static void gauges_of_server(struct gauges *gauges, const struct record *record, const char *srv,
                             const char *seen[GAUGE_SERVERS_MAX])
{
    for (size_t i = 0; i < GAUGE_SERVERS_MAX; i++) {
        if (seen[i] == srv)
            return;
        if (seen[i] != NULL)
            continue;
        seen[i] = srv;
        gauge_count(gauges, record, srv, "data_returns waiting", gauge_is_return);
        gauge_count(gauges, record, srv, "store calls in flight", gauge_is_store);
        return;
    }
}

void gauges_find(struct gauges *gauges, const struct record *record)
{
    const char *seen[GAUGE_SERVERS_MAX] = {NULL};

    *gauges = (struct gauges){0};
    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];

        if (gauge_is_return(event) || gauge_is_store(event))
            gauges_of_server(gauges, record, event->srv, seen);
    }
    gauge_count(gauges, record, TRACKS_DISK, "commands in flight", gauge_is_command);
    gauge_memory(gauges, record);
}

void gauges_destroy(struct gauges *gauges)
{
    for (size_t i = 0; i < gauges->count; i++)
        free(gauges->gauges[i].points);
    free(gauges->gauges);
}
