// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

const struct choice view_choices[] = {
    {"summary", "the run's table from the trace alone, held against result.json"},
    {"request", "one request's way through the layers; REQUEST is its number"},
    {"latency", "how long each layer takes: percentiles"},
    {"csv", "every event a row, the disk's commands among them"},
    {"perfetto", "a file for ui.perfetto.dev and chrome://tracing, for each policy"},
    {"html", "a page to look at in a browser: sizes, time line, offsets, latencies"},
    {"plot", "pictures, PNG and SVG: sizes, latencies, offsets; by gnuplot"},
    {NULL, NULL},
};

/* In the same order. */
static view_show_t *const view_shows[] = {view_summary,  view_request, view_latency, view_csv,
                                          view_perfetto, view_html,    view_plot};

_Static_assert(sizeof(view_choices) / sizeof(view_choices[0]) ==
                   sizeof(view_shows) / sizeof(view_shows[0]) + 1,
               "each view has its function");

view_show_t *view_lookup(const struct choice *choice)
{
    return view_shows[choice - view_choices];
}
