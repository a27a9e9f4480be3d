// SPDX-License-Identifier: GPL-2.0-or-later
#include "view.h"

const struct choice view_choices[] = {
    {"summary", "the run's table from the trace alone, held against result.json"},
    {"request", "one request's way through the layers; REQUEST is its number"},
    {"latency", "how long each layer takes: percentiles"},
    {"csv", "every event a row, the disk's commands among them"},
    {"perfetto", "a file for ui.perfetto.dev and chrome://tracing, for each policy"},
    {NULL, NULL},
};

static view_show_t *const view_shows[] = {view_summary, view_request, view_latency, view_csv,
                                          view_perfetto};

view_show_t *view_lookup(const struct choice *choice)
{
    return view_shows[choice - view_choices];
}
