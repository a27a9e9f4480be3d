// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "tune.h"

static void limits_are_read_and_printed(void **state)
{
    struct failure failure = {0};
    struct tune tune;
    char text[128];

    (void)state;
    assert_int_equal(tune_parse(&tune, " MAX_BUF=16  PRDTL_SIZE=32", &failure), 0);
    assert_int_equal(tune_value(&tune, "MAX_BUF", 8), 16);
    assert_int_equal(tune_value(&tune, "PRDTL_SIZE", 8), 32);
    assert_int_equal(tune_value(&tune, "DATA_WRITE_MAX", 32), 32);
    assert_string_equal(tune_print(&tune, text, sizeof(text)), "MAX_BUF=16 PRDTL_SIZE=32");
}

static void no_words_are_no_limits(void **state)
{
    struct failure failure = {0};
    struct tune tune;
    char text[128];

    (void)state;
    assert_int_equal(tune_parse(&tune, "", &failure), 0);
    assert_int_equal(tune.count, 0);
    assert_int_equal(tune_parse(&tune, " ", &failure), 0);
    assert_int_equal(tune.count, 0);
    assert_string_equal(tune_print(&tune, text, sizeof(text)), "");
}

static void what_is_no_limit_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"MAX_BUF", "'MAX_BUF' is not NAME=value"},
        {"A=1 =2", "'=2' is not NAME=value"},
        {"MAX_BUF=", "MAX_BUF='' is not a number"},
        {"MAX_BUF=1x", "MAX_BUF='1x' is not a number"},
        {"A=1 B=1 C=1 D=1 E=1 F=1 G=1 H=1 I=1 J=1 K=1 L=1 M=1 N=1 O=1 P=1 Q=1", "more than 16"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct failure failure = {0};
        struct tune tune;

        assert_int_equal(tune_parse(&tune, cases[i].text, &failure), STATUS_BAD_INPUT);
        assert_contains(failure.reason, cases[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_read_and_printed),
        cmocka_unit_test(no_words_are_no_limits),
        cmocka_unit_test(what_is_no_limit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
