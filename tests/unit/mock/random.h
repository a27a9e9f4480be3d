// SPDX-License-Identifier: GPL-2.0-or-later
/* What tests in random order share: numbers that a seed repeats, and what the environment says. */
#ifndef MOCK_RANDOM_H
#define MOCK_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Each thread has a STATE of its own, which is never 0 (xorshift64*). */
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static inline size_t random_below(uint64_t *state, size_t limit)
{
    return (size_t)(random_next(state) >> 33) % limit;
}

/* What the variable NAME says. */
static inline uint64_t environment_number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

#endif
