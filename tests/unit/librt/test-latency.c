// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librt/latency.h"

#define COUNT 10000u

static struct rt_latency latency;
static uint64_t samples[COUNT];

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* The P-th percentile as the definition has it: so many of the samples are not above it. */
static uint64_t percentile(unsigned int percent)
{
    return samples[(COUNT * percent + 99) / 100 - 1];
}

static void nothing_has_no_percentiles(void **state)
{
    (void)state;
    memset(&latency, 0, sizeof(latency));
    assert_int_equal(rt_latency_count(&latency), 0);
    assert_int_equal(rt_latency_percentile(&latency, 99), 0);
    assert_int_equal(latency.max, 0);
}

static void short_times_are_exact(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 16; i++) {
        memset(&latency, 0, sizeof(latency));
        rt_latency_add(&latency, i);
        rt_latency_add(&latency, 1000);
        assert_int_equal(rt_latency_percentile(&latency, 50), i);
        assert_int_equal(rt_latency_percentile(&latency, 99), 1000);
    }
}

static void no_percentile_is_above_the_longest(void **state)
{
    (void)state;
    memset(&latency, 0, sizeof(latency));
    rt_latency_add(&latency, 1025); /* its class goes on to 1151 */
    assert_int_equal(rt_latency_percentile(&latency, 99), 1025);
    assert_int_equal(rt_latency_percentile(&latency, 1), 1025);
}

static void percentiles_are_at_most_an_eighth_too_high_and_never_too_low(void **state)
{
    static const unsigned int percents[] = {1, 25, 50, 90, 99, 100};

    (void)state;
    memset(&latency, 0, sizeof(latency));
    srandom(1);
    for (unsigned int i = 0; i < COUNT; i++) {
        samples[i] = (uint64_t)random() >> random() % 31;
        rt_latency_add(&latency, samples[i]);
    }
    qsort(samples, COUNT, sizeof(samples[0]), compare);
    assert_int_equal(rt_latency_count(&latency), COUNT);
    assert_int_equal(latency.max, samples[COUNT - 1]);
    for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
        uint64_t exact = percentile(percents[i]);
        uint64_t got = rt_latency_percentile(&latency, percents[i]);

        assert_in_range(got, exact, exact + exact / 8);
    }
}

static void hours_are_counted_too(void **state)
{
    (void)state;
    memset(&latency, 0, sizeof(latency));
    rt_latency_add(&latency, UINT64_MAX);
    rt_latency_add(&latency, UINT64_C(1) << 45);
    assert_int_equal(rt_latency_count(&latency), 2);
    assert_true(latency.max == UINT64_MAX);
    assert_in_range(rt_latency_percentile(&latency, 50), UINT64_C(1) << 45,
                    (UINT64_C(1) << 45) + (UINT64_C(1) << 42));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_has_no_percentiles),
        cmocka_unit_test(short_times_are_exact),
        cmocka_unit_test(no_percentile_is_above_the_longest),
        cmocka_unit_test(percentiles_are_at_most_an_eighth_too_high_and_never_too_low),
        cmocka_unit_test(hours_are_counted_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
