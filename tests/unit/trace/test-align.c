// SPDX-License-Identifier: GPL-2.0-or-later
#include "align.h"
#include "run-test.h"

#include <math.h>

#define PAIRS   400u
#define HOST_US UINT64_C(1700000000000000)

static struct align_pair pairs[PAIRS];
static struct align align;
static uint32_t seed;

static uint32_t random_below(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

/* What the guest's clock shows, with an offset of 2.5 s. */
static double guest_ns(double host_us, double drift)
{
    return 2.5e9 + (1 + drift) * (host_us - (double)HOST_US) * 1000;
}

/* COUNT calls of up to 1 ms within SECONDS, each with a command somewhere in it. */
static void make_pairs(unsigned count, double seconds, double drift)
{
    for (unsigned i = 0; i < count; i++) {
        double host = (double)HOST_US + seconds * 1e6 * (i + 1) / count;
        double now = guest_ns(host, drift);

        pairs[i].host_us = (uint64_t)host;
        pairs[i].begin_ns = (uint64_t)(now - 1000 - random_below(500000));
        pairs[i].end_ns = (uint64_t)(now + 1000 + random_below(500000));
    }
}

/* The clock that was found is right, to what it says of itself, at HOST. */
static void assert_clock(double host, double drift)
{
    double found = (double)align_guest_ns(&align, (uint64_t)host);
    double is = guest_ns((double)(uint64_t)host, drift);

    if (fabs(found - is) > align.uncertainty_ns + 1001)
        fail_msg("off by %.0f ns, said at most %.0f", found - is, align.uncertainty_ns);
}

static void the_clock_is_found_as_exactly_as_it_says(void **state)
{
    static const double drifts[] = {0, 1e-6, -5e-4, 0.027, -0.14, 0.3};

    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        double drift = drifts[i % 6];

        seed = i;
        make_pairs(PAIRS, 10, drift);
        align_find(&align, pairs, PAIRS);
        assert_true(align.known);
        assert_true(align.miss_ns == 0);
        assert_true(align.uncertainty_ns < 100000);
        assert_true(fabs(align.drift - drift) <= align.drift_tolerance + 1e-9);
        assert_true(align.drift_tolerance < 1e-4);
        assert_clock((double)pairs[0].host_us, drift);
        assert_clock((double)pairs[PAIRS / 2].host_us, drift);
        assert_clock((double)pairs[PAIRS - 1].host_us, drift);
    }
}

static void pairs_may_come_in_any_order(void **state)
{
    struct align forward;

    (void)state;
    seed = 5;
    make_pairs(PAIRS, 1, 1e-5);
    align_find(&forward, pairs, PAIRS);
    for (unsigned i = 0; i < PAIRS / 2; i++) {
        struct align_pair pair = pairs[i];

        pairs[i] = pairs[PAIRS - 1 - i];
        pairs[PAIRS - 1 - i] = pair;
    }
    align_find(&align, pairs, PAIRS);
    assert_int_equal(align_guest_ns(&align, HOST_US) / 1000,
                     align_guest_ns(&forward, HOST_US) / 1000);
}

static void one_pair_gives_an_offset(void **state)
{
    (void)state;
    seed = 1;
    make_pairs(1, 1, 0);
    align_find(&align, pairs, 1);
    assert_true(align.known);
    assert_clock((double)pairs[0].host_us, 0);
    assert_true(align.drift_tolerance > 0.4);
}

static void without_pairs_nothing_is_known(void **state)
{
    (void)state;
    align_find(&align, pairs, 0);
    assert_false(align.known);
}

static void pairs_that_contradict_each_other_are_said_to(void **state)
{
    (void)state;
    seed = 3;
    make_pairs(PAIRS, 10, 0);
    pairs[PAIRS / 2].begin_ns += 60000000;
    pairs[PAIRS / 2].end_ns += 60000000;
    align_find(&align, pairs, PAIRS);
    assert_true(align.known);
    assert_true(align.miss_ns > 10000000 && align.miss_ns < 60000000);
}

/* 0.9 us are cut off a stamp, and the call began in that very moment. */
static void what_stamps_are_cut_by_is_no_contradiction(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        double now = guest_ns((double)HOST_US + i * 1000.0, 0) + (i % 2 == 0 ? 900 : 0);

        pairs[i] = (struct align_pair){HOST_US + i * 1000, (uint64_t)now, (uint64_t)now + 10};
    }
    align_find(&align, pairs, 100);
    assert_true(align.miss_ns == 0);
}

static void a_moment_before_the_guests_zero_is_its_zero(void **state)
{
    (void)state;
    seed = 4;
    make_pairs(2, 1, 0);
    align_find(&align, pairs, 2);
    assert_int_equal(align_guest_ns(&align, HOST_US - 100000000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_is_found_as_exactly_as_it_says),
        cmocka_unit_test(pairs_may_come_in_any_order),
        cmocka_unit_test(one_pair_gives_an_offset),
        cmocka_unit_test(without_pairs_nothing_is_known),
        cmocka_unit_test(pairs_that_contradict_each_other_are_said_to),
        cmocka_unit_test(what_stamps_are_cut_by_is_no_contradiction),
        cmocka_unit_test(a_moment_before_the_guests_zero_is_its_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
