// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "failure.h"
#include "text.h"

static const char *cleaned(const char *from)
{
    static char text[64];

    snprintf(text, sizeof(text), "%s", from);
    return text_clean(text);
}

static void text_keeps_what_can_be_printed(void **state)
{
    (void)state;
    assert_string_equal(cleaned("a B~9"), "a B~9");
    assert_string_equal(cleaned("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
                        "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void text_loses_what_would_move_a_terminal(void **state)
{
    (void)state;
    assert_string_equal(cleaned("a\nb\r\tc\x1b[31m\x7f"), "a?b?\tc?[31m?");
    assert_string_equal(cleaned("\xc2\x9b"), "??");
}

static void text_loses_bytes_that_are_not_utf_8(void **state)
{
    (void)state;
    assert_string_equal(cleaned("h\xe9llo"), "h?llo");
    assert_string_equal(cleaned("\xc3"), "?");
    assert_string_equal(cleaned("\xe2\x82"), "??");
    assert_string_equal(cleaned("\xc0\x80 \xe0\x80\x80"), "?? ???");
    assert_string_equal(cleaned("\xed\xa0\x80 \xf4\x90\x80\x80 \xff"), "??? ???? ?");
}

static void long_text_keeps_its_two_ends(void **state)
{
    char text[20];

    (void)state;
    assert_string_equal(text_fit(text, sizeof(text), "1234567890123456789"), "1234567890123456789");
    assert_string_equal(text_fit(text, sizeof(text), "12345678901234567890"),
                        "1234567 ... 4567890");
}

static void a_failure_is_one_line_that_says_at_its_end_what_was_expected(void **state)
{
    struct failure failure = {0};
    char name[4096];

    (void)state;
    memset(name, '\n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(failure_set(&failure, STATUS_BAD_INPUT, "'%s' is no name", name),
                     STATUS_BAD_INPUT);
    assert_null(strchr(failure.reason, '\n'));
    assert_contains(failure.reason, "'?");
    assert_contains(failure.reason, "?' is no name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_keeps_what_can_be_printed),
        cmocka_unit_test(text_loses_what_would_move_a_terminal),
        cmocka_unit_test(text_loses_bytes_that_are_not_utf_8),
        cmocka_unit_test(long_text_keeps_its_two_ends),
        cmocka_unit_test(a_failure_is_one_line_that_says_at_its_end_what_was_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
