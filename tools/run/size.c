// SPDX-License-Identifier: GPL-2.0-or-later
#include "size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Reads the digits at *TEXT and moves *TEXT behind them. */
static error_t number_scan(const char **text, uint64_t *value)
{
    const char *at = *text;
    uint64_t sum = 0;

    if (*at < '0' || *at > '9')
        return EINVAL;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(sum, 10u, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum))
            return ERANGE;
    }
    *text = at;
    *value = sum;
    return 0;
}

error_t number_parse(const char *text, uint64_t *value)
{
    error_t error = number_scan(&text, value);

    if (error != 0)
        return error;
    return *text == '\0' ? 0 : EINVAL;
}

static error_t size_unit_shift(const char *unit, unsigned *shift)
{
    static const char units[] = "kKmMgG";
    const char *found;

    *shift = 0;
    if (*unit == '\0')
        return 0;
    found = strchr(units, *unit);
    if (found == NULL || unit[1] != '\0')
        return EINVAL;
    *shift = 10 * (unsigned)((found - units) / 2 + 1);
    return 0;
}

error_t size_parse(const char *text, uint64_t *bytes)
{
    unsigned shift;
    uint64_t value;
    error_t error = number_scan(&text, &value);

    if (error != 0)
        return error;
    error = size_unit_shift(text, &shift);
    if (error != 0)
        return error;
    if (value == 0)
        return EDOM;
    if (value > UINT64_MAX >> shift)
        return ERANGE;
    *bytes = value << shift;
    return 0;
}

const char *size_explain(error_t error)
{
    switch (error) {
    case EDOM:
        return "is zero";
    case ERANGE:
        return "is too large";
    default:
        return "is not a size (digits, then K, M, G or nothing)";
    }
}

const char *size_format(uint64_t bytes, char text[SIZE_TEXT_BYTES])
{
    static const char units[] = {'G', 'M', 'K'};

    for (unsigned i = 0; i < sizeof(units); i++) {
        unsigned shift = 30 - 10 * i;

        if (bytes != 0 && bytes % (UINT64_C(1) << shift) == 0) {
            snprintf(text, SIZE_TEXT_BYTES, "%" PRIu64 "%c", bytes >> shift, units[i]);
            return text;
        }
    }
    snprintf(text, SIZE_TEXT_BYTES, "%" PRIu64, bytes);
    return text;
}

const char *number_format(uint64_t value, char text[SIZE_TEXT_BYTES])
{
    char digits[SIZE_TEXT_BYTES];
    int ndigits = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    char *to = text;

    for (int i = 0; i < ndigits; i++) {
        if (i > 0 && (ndigits - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}
