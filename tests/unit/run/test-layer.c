// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "layer.h"

static void sizes_fall_into_classes_from_k_to_below_2k(void **state)
{
    struct layer layer = {0};

    (void)state;
    layer_add(&layer, 4096);
    layer_add(&layer, 8191);
    layer_add(&layer, 8192);
    assert_int_equal(layer.count, 3);
    assert_int_equal(layer.bytes, 4096 + 8191 + 8192);
    assert_int_equal(layer.max, 8192);
    assert_int_equal(layer.hist[12], 2);
    assert_int_equal(layer.hist[13], 1);
    assert_int_equal(layer_class_floor(12), 4096);
}

static void an_average_is_rounded_to_the_nearest(void **state)
{
    struct layer layer = {.count = 2, .bytes = 3};

    (void)state;
    assert_int_equal(layer_average(&layer), 2);
    layer = (struct layer){.count = 3, .bytes = 4};
    assert_int_equal(layer_average(&layer), 1);
    layer = (struct layer){0};
    assert_int_equal(layer_average(&layer), 0);
}

static void a_sum_has_both_classes(void **state)
{
    struct layers layers = {0};
    struct layer sum;

    (void)state;
    layer_add(&layers.at[LAYER_DISK_WRITE][LAYER_FILE], 32768);
    layer_add(&layers.at[LAYER_DISK_WRITE][LAYER_META], 512);
    sum = layers_sum(&layers, LAYER_DISK_WRITE);
    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.bytes, 33280);
    assert_int_equal(sum.max, 32768);
    assert_int_equal(sum.hist[9], 1);
    assert_int_equal(sum.hist[15], 1);
}

static void a_histogram_must_add_up_to_the_count(void **state)
{
    struct layer layer = {.count = 3};

    (void)state;
    assert_int_equal(layer_hist_parse(&layer, "4096:2,65536:1"), 0);
    assert_int_equal(layer.hist[12], 2);
    assert_int_equal(layer.hist[16], 1);
    assert_int_equal(layer_hist_parse(&layer, "4096:2"), EINVAL);
    assert_int_equal(layer_hist_parse(&layer, "-"), EINVAL);
}

static void a_histogram_of_another_form_is_refused(void **state)
{
    static const char *const cases[] = {
        "",        "4096",   "4096:", "4096:1,", ":1",       "0:1", "3:1",
        "4096:1 ", "4096;1", "-1:1",  "1:-1",    "4096:1:1", "x:1", "4096:99999999999999999999",
        "--"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct layer layer = {.count = 1};

        if (layer_hist_parse(&layer, cases[i]) != EINVAL)
            fail_msg("'%s' was taken", cases[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_fall_into_classes_from_k_to_below_2k),
        cmocka_unit_test(an_average_is_rounded_to_the_nearest),
        cmocka_unit_test(a_sum_has_both_classes),
        cmocka_unit_test(a_histogram_must_add_up_to_the_count),
        cmocka_unit_test(a_histogram_of_another_form_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
