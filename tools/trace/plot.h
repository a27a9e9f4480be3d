// SPDX-License-Identifier: GPL-2.0-or-later
/* The script that has gnuplot draw the view's records. */
#ifndef TRACE_PLOT_H
#define TRACE_PLOT_H

#include <stdio.h>

#include "latency.h"
#include "view.h"

#define PLOT_COLUMNS  120u /* of the grid that points of offsets lie on */
#define PLOT_ROWS     60u
#define PLOT_PERCENTS 100u

/*
 * Write the script to STREAM, its data in it. It makes sizes and latency, and for each policy
 * offset-POLICY, each with the endings png and svg, in the folder where gnuplot runs.
 * => how long it is does not depend on how many events there are.
 */
void plot_script_print(const struct view_case *view, const struct latency *latency, FILE *stream);

#endif
