// SPDX-License-Identifier: GPL-2.0-or-later
/* A file that a view makes in the run's folder, and what JSON in it looks like. */
#ifndef TRACE_OUTPUT_H
#define TRACE_OUTPUT_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "run/failure.h"

struct output {
    FILE *stream;
    char path[PATH_MAX];
    char unfinished[PATH_MAX]; /* its name until it is whole */
};

/* Begin FOLDER/FILE, or FOLDER/SUBFOLDER/FILE; a file of that name stays until output_close. */
int output_open(struct output *output, const char *folder, const char *subfolder, const char *file,
                struct failure *failure);

/* End the file. BYTES becomes its size. => nothing of it is left after a failure. */
int output_close(struct output *output, uint64_t *bytes, struct failure *failure);

/* Write a word, with its quotes, as JSON, also within HTML. => any bytes; what is no ASCII
   character becomes '?'. */
void output_json_word(FILE *stream, const char *word);

#endif
