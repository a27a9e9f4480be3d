// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits of the kernel that were changed in its source before it was built (kernel/tune.sh). */
#ifndef RUN_TUNE_H
#define RUN_TUNE_H

#include <stddef.h>
#include <stdint.h>

#include "failure.h"

#define TUNE_LIMITS_MAX 16
#define TUNE_NAME_BYTES 64

struct tune_limit {
    char name[TUNE_NAME_BYTES];
    uint64_t value;
};

struct tune {
    struct tune_limit limits[TUNE_LIMITS_MAX];
    size_t count;
};

/* Read "NAME=value NAME=value"; blanks alone are none. */
int tune_parse(struct tune *tune, const char *text, struct failure *failure);

/* The value of NAME, or UNCHANGED if it is none of the limits. */
uint64_t tune_value(const struct tune *tune, const char *name, uint64_t unchanged);

/* Write "NAME=value NAME=value" to TEXT, "" if there are none. Return TEXT. */
const char *tune_print(const struct tune *tune, char *text, size_t bytes);

#endif
