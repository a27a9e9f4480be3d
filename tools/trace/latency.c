// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A row for each kind of request, server and operation, and in it for each policy. Percentiles are
 * by rank: p99 is the smallest time that 99 of 100 requests do not exceed, one that occurred.
 */
#include "latency.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "run/array.h"
#include "run/size.h"

static bool latency_row_is(const struct latency_row *row, const struct event *event, bool waits,
                           size_t boot)
{
    return row->kind == event->kind && row->waits == waits && row->boot == boot &&
           strcmp(row->srv, event->srv) == 0 && strcmp(row->what, event->what) == 0;
}

/* The event's row, or NULL if there are too many. */
static struct latency_row *latency_row_get(struct latency *latency, const struct event *event,
                                           bool waits, size_t boot)
{
    size_t i = latency->last;

    if (i < latency->count && latency_row_is(&latency->rows[i], event, waits, boot))
        return &latency->rows[i];
    for (i = 0; i < latency->count; i++) {
        if (latency_row_is(&latency->rows[i], event, waits, boot))
            break;
    }
    if (i == LATENCY_ROWS_MAX)
        return NULL;
    if (i == latency->count)
        latency->rows[latency->count++] = (struct latency_row){.kind = event->kind,
                                                               .waits = waits,
                                                               .srv = event->srv,
                                                               .what = event->what,
                                                               .boot = boot};
    latency->last = i;
    return &latency->rows[i];
}

static void latency_add(struct latency *latency, const struct event *event, bool waits, size_t boot)
{
    struct latency_row *row = latency_row_get(latency, event, waits, boot);

    if (row == NULL)
        return;
    if ((event->keys & EVENT_HAS_LEN) != 0)
        layer_add(&row->sizes, event->len);
    if ((event->keys & EVENT_HAS_DUR) == 0)
        return;
    row->times = array_grow(row->times, row->count, sizeof(*row->times));
    row->times[row->count++] = waits ? event->wait : event->dur;
}

static void latency_collect(struct latency *latency, const struct record *record, size_t boot)
{
    for (size_t i = 0; i < record->count; i++) {
        const struct event *event = &record->events[i];

        latency_add(latency, event, false, boot);
        if ((event->keys & EVENT_HAS_WAIT) != 0)
            latency_add(latency, event, true, boot);
    }
}

static int latency_rows_compare(const void *left, const void *right)
{
    const struct latency_row *a = left;
    const struct latency_row *b = right;
    int order = (int)a->kind - (int)b->kind;

    if (order == 0)
        order = strcmp(a->srv, b->srv);
    if (order == 0)
        order = strcmp(a->what, b->what);
    if (order == 0)
        order = (int)a->waits - (int)b->waits;
    return order != 0 ? order : a->boot < b->boot ? -1 : a->boot > b->boot;
}

static int latency_times_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

uint64_t latency_percentile(const struct latency_row *row, unsigned percent)
{
    size_t rank = (row->count * percent + 99) / 100;

    return row->times[rank == 0 ? 0 : rank - 1];
}

static double latency_us(const struct latency_row *row, unsigned percent)
{
    return (double)latency_percentile(row, percent) / 1000;
}

static void latency_row_sort(struct latency_row *row)
{
    if (row->count != 0)
        qsort(row->times, row->count, sizeof(*row->times), latency_times_compare);
}

bool latency_is_same_group(const struct latency_row *a, const struct latency_row *b)
{
    return a->kind == b->kind && a->waits == b->waits && strcmp(a->srv, b->srv) == 0 &&
           strcmp(a->what, b->what) == 0;
}

static void latency_row_print(const struct view_case *view, const struct latency_row *row,
                              bool first)
{
    bool disk = row->kind >= EVENT_GUEST_KINDS;
    char what[32];

    snprintf(what, sizeof(what), "%s%s", row->what, disk ? "at most" : row->waits ? " wait" : "");
    fprintf(view->stream, "%-13s%-15s%-9s%-8s%9s %10.1f %10.1f %10.1f %11.1f\n",
            first ? event_kind_name(row->kind) : "", first ? what : "", first ? row->srv : "",
            view->records[row->boot].policy->choice.name, NUMBER_TEXT(row->count),
            latency_us(row, 50), latency_us(row, 90), latency_us(row, 99), latency_us(row, 100));
}

static void latency_print(const struct view_case *view, const struct latency *latency)
{
    fprintf(view->stream, "microseconds  %-15s%-9s%-8s%8s %10s %10s %10s %11s\n", "operation",
            "server", "policy", "count", "p50", "p90", "p99", "largest");
    for (size_t i = 0; i < latency->count; i++) {
        const struct latency_row *row = &latency->rows[i];

        if (row->count != 0)
            latency_row_print(view, row, i == 0 || !latency_is_same_group(row - 1, row));
    }
}

struct latency *latency_create(const struct view_case *view)
{
    struct latency *latency = calloc(1, sizeof(*latency));

    if (latency == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (size_t i = 0; i < view->count; i++)
        latency_collect(latency, &view->records[i], i);
    qsort(latency->rows, latency->count, sizeof(latency->rows[0]), latency_rows_compare);
    for (size_t i = 0; i < latency->count; i++)
        latency_row_sort(&latency->rows[i]);
    return latency;
}

void latency_free(struct latency *latency)
{
    for (size_t i = 0; i < latency->count; i++)
        free(latency->rows[i].times);
    free(latency);
}

int view_latency(const struct view_case *view, struct failure *failure)
{
    struct latency *latency = latency_create(view);

    (void)failure;
    latency_print(view, latency);
    latency_free(latency);
    return STATUS_SUCCESS;
}
