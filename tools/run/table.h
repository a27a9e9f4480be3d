// SPDX-License-Identifier: GPL-2.0-or-later
/* The run for people: one table with all layers, policies side by side, and what it means. */
#ifndef RUN_TABLE_H
#define RUN_TABLE_H

#include <stdio.h>

#include "result.h"

#define TABLE_COLUMNS 100

/* Print what was run, the layers, the times and the checks. => at most TABLE_COLUMNS wide. */
void table_print(const struct run *run, FILE *stream);

/* Print the columns' names. */
void table_columns_print(FILE *stream);

/* Print a row of them: what COUNTS says of a layer under a policy. MICROSECONDS is the time that
   the rate is over; 0: there is no rate. */
void table_layer_print(const char *layer, const char *policy, const struct layer *counts,
                       uint64_t microseconds, FILE *stream);

/* Print TEXT, broken between words, with INDENT blanks in front of each line after the first. */
void table_wrap(const char *text, unsigned column, unsigned indent, FILE *stream);

#endif
