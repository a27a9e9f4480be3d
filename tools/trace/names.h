// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that occur again and again, each kept once: equal names are the same pointer. */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include <stddef.h>

#define NAMES_SLOTS 4096u /* a power of two; a log has some dozen names */

struct names {
    char *slots[NAMES_SLOTS];
    size_t count;
};

void names_init(struct names *names);
void names_destroy(struct names *names);

/* The kept copy of the LENGTH bytes at TEXT. => NULL: there are far more names than a log can have;
   memory that runs out ends the program. */
const char *names_get(struct names *names, const char *text, size_t length);

#endif
