// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the console's file while QEMU writes it, and hands whole lines on. */
#ifndef RUN_TAIL_H
#define RUN_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "console.h"

#define TAIL_LINE_BYTES 4096

struct tail {
    const char *path;
    FILE *stream;               /* NULL until the file exists */
    char line[TAIL_LINE_BYTES]; /* the part of the last line that has arrived */
    size_t used;
    uint64_t bytes; /* read so far */
};

/* PATH is the caller's, and need not exist yet. */
void tail_init(struct tail *tail, const char *path);
void tail_destroy(struct tail *tail);

/* Read what is new and feed the lines that are complete to CONSOLE. */
void tail_read(struct tail *tail, struct console *console);

/* Read what is new, and take the rest as a line even if no line break follows. */
void tail_finish(struct tail *tail, struct console *console);

/* Print the last COUNT (at most 32) lines of the file that are not empty, each behind two blanks.
   => prints nothing when there is no file. */
void tail_print_last(const char *path, unsigned count, FILE *stream);

#endif
