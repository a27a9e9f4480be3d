// SPDX-License-Identifier: GPL-2.0-or-later
#include "tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "size.h"

/* One word, NAME=value. */
static int tune_word_parse(struct tune *tune, const char *word, size_t length,
                           struct failure *failure)
{
    const char *equals = memchr(word, '=', length);
    struct tune_limit *limit = &tune->limits[tune->count];
    char value[32];

    if (tune->count == TUNE_LIMITS_MAX)
        return failure_set(failure, STATUS_BAD_INPUT, "--tune: more than %d limits",
                           TUNE_LIMITS_MAX);
    if (equals == NULL || equals == word || equals - word >= TUNE_NAME_BYTES)
        return failure_set(failure, STATUS_BAD_INPUT, "--tune: '%.*s' is not NAME=value",
                           (int)length, word);
    snprintf(limit->name, sizeof(limit->name), "%.*s", (int)(equals - word), word);
    snprintf(value, sizeof(value), "%.*s", (int)(word + length - equals - 1), equals + 1);
    if (number_parse(value, &limit->value) != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "--tune: %s='%s' is not a number",
                           limit->name, value);
    tune->count++;
    return STATUS_SUCCESS;
}

int tune_parse(struct tune *tune, const char *text, struct failure *failure)
{
    int status = STATUS_SUCCESS;

    tune->count = 0;
    while (status == STATUS_SUCCESS && *(text += strspn(text, " ")) != '\0') {
        size_t length = strcspn(text, " ");

        status = tune_word_parse(tune, text, length, failure);
        text += length;
    }
    return status;
}

uint64_t tune_value(const struct tune *tune, const char *name, uint64_t unchanged)
{
    for (size_t i = 0; i < tune->count; i++) {
        if (strcmp(tune->limits[i].name, name) == 0)
            return tune->limits[i].value;
    }
    return unchanged;
}

const char *tune_print(const struct tune *tune, char *text, size_t bytes)
{
    text[0] = '\0';
    for (size_t i = 0; i < tune->count; i++) {
        size_t used = strlen(text);

        snprintf(text + used, bytes - used, "%s%s=%" PRIu64, i == 0 ? "" : " ",
                 tune->limits[i].name, tune->limits[i].value);
    }
    return text;
}
