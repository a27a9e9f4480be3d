// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "size.h"

static void size_takes_plain_bytes_and_k_m_g_in_either_case(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"1", 1},
        {"512", 512},
        {"4k", 4096},
        {"4K", 4096},
        {"128m", 1u << 27},
        {"1G", 1u << 30},
        {"2g", UINT64_C(1) << 31},
        {"007", 7},
        {"18446744073709551615", UINT64_MAX},
        {"17179869183g", UINT64_MAX << 30},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t bytes = 0;

        assert_int_equal(size_parse(cases[i].text, &bytes), 0);
        assert_int_equal(bytes, cases[i].bytes);
    }
}

static void size_refuses_what_is_no_size(void **state)
{
    static const char *const cases[] = {"",    "k",   "-1", "+1", " 1",   "1 ",  "1kk",
                                        "1kb", "0x1", "1t", "1.", "1.5m", "1k\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t bytes;

        assert_int_equal(size_parse(cases[i], &bytes), EINVAL);
    }
}

static void size_refuses_zero_whatever_its_unit(void **state)
{
    uint64_t bytes;

    (void)state;
    assert_int_equal(size_parse("0", &bytes), EDOM);
    assert_int_equal(size_parse("0g", &bytes), EDOM);
}

static void size_refuses_what_64_bits_cannot_hold(void **state)
{
    uint64_t bytes;

    (void)state;
    assert_int_equal(size_parse("18446744073709551616", &bytes), ERANGE);
    assert_int_equal(size_parse("17179869184g", &bytes), ERANGE);
    assert_int_equal(size_parse("99999999999999999999", &bytes), ERANGE);
}

static void number_takes_digits_alone(void **state)
{
    uint64_t value = 7;

    (void)state;
    assert_int_equal(number_parse("0", &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(number_parse("1k", &value), EINVAL);
    assert_int_equal(number_parse("", &value), EINVAL);
    assert_int_equal(number_parse("18446744073709551616", &value), ERANGE);
}

static void sizes_are_written_with_the_largest_unit_that_divides_them(void **state)
{
    (void)state;
    assert_string_equal(SIZE_TEXT(0), "0");
    assert_string_equal(SIZE_TEXT(1023), "1023");
    assert_string_equal(SIZE_TEXT(1024), "1K");
    assert_string_equal(SIZE_TEXT(1536), "1536");
    assert_string_equal(SIZE_TEXT(3u << 20), "3M");
    assert_string_equal(SIZE_TEXT(1u << 30), "1G");
}

static void numbers_are_written_with_commas_between_thousands(void **state)
{
    (void)state;
    assert_string_equal(NUMBER_TEXT(0), "0");
    assert_string_equal(NUMBER_TEXT(999), "999");
    assert_string_equal(NUMBER_TEXT(1000), "1,000");
    assert_string_equal(NUMBER_TEXT(134217728), "134,217,728");
    assert_string_equal(NUMBER_TEXT(UINT64_MAX), "18,446,744,073,709,551,615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_takes_plain_bytes_and_k_m_g_in_either_case),
        cmocka_unit_test(size_refuses_what_is_no_size),
        cmocka_unit_test(size_refuses_zero_whatever_its_unit),
        cmocka_unit_test(size_refuses_what_64_bits_cannot_hold),
        cmocka_unit_test(number_takes_digits_alone),
        cmocka_unit_test(sizes_are_written_with_the_largest_unit_that_divides_them),
        cmocka_unit_test(numbers_are_written_with_commas_between_thousands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
