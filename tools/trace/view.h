// SPDX-License-Identifier: GPL-2.0-or-later
/* The ways to look at a run's trace. */
#ifndef TRACE_VIEW_H
#define TRACE_VIEW_H

#include <stdint.h>
#include <stdio.h>

#include "record.h"
#include "run/choice.h"

#define VIEW_RECORDS_MAX 16

struct view_case {
    const char *name; /* of the run */
    struct record *records;
    size_t count; /* one for each policy */
    uint64_t request;
    const char *server; /* NULL: any */
    FILE *stream;
    const char *folder;   /* of the run: views that make files put them there */
    const json_t *result; /* result.json, or NULL */
};

/* Shows the case on its stream. Returns a status; a sentence goes to FAILURE if that is not 0. */
typedef int view_show_t(const struct view_case *view, struct failure *failure);

view_show_t view_summary;
view_show_t view_request;
view_show_t view_latency;
view_show_t view_csv;
view_show_t view_perfetto;
view_show_t view_html;
view_show_t view_plot;

/* The views' names; the first is what is shown if none is asked for. */
extern const struct choice view_choices[];

/* The function that belongs to an entry of view_choices. */
view_show_t *view_lookup(const struct choice *choice);

#endif
