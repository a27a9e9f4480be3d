// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that have a made-up run each, in a folder of its own. */
#ifndef TESTS_SYNTH_TEST_H
#define TESTS_SYNTH_TEST_H

#include "synth.h"

static struct synth synth;

static int setup(void **state)
{
    (void)state;
    synth_begin(&synth);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    synth_end(&synth);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
