// SPDX-License-Identifier: GPL-2.0-or-later
/* What the runner's unit tests share. */
#ifndef TESTS_RUN_TEST_H
#define TESTS_RUN_TEST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>

#include <cmocka.h>

/* TEXT holds PART; says both if not. */
static inline void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' does not hold '%s'", text, part);
}

/* A stream that reads TEXT (not empty). */
static inline FILE *text_stream(const char *text)
{
    FILE *stream = fmemopen((char *)text, strlen(text), "r");

    assert_non_null(stream);
    return stream;
}

#endif
