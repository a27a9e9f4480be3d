// SPDX-License-Identifier: GPL-2.0-or-later
#include "fake-monitor.h"
#include "qmp.h"

static struct qmp qmp;

static void a_string_has_its_escapes_resolved(void **state)
{
    char text[64];

    (void)state;
    assert_int_equal(qmp_string_copy("{\"return\": \"a\\r\\nb \\\"c\\\" \\\\ \\t\"}\n",
                                     "\"return\":", text, sizeof(text)),
                     0);
    assert_string_equal(text, "a\nb \"c\" \\ \t");
}

static void a_string_is_cut_where_there_is_no_more_room(void **state)
{
    char text[4];

    (void)state;
    assert_int_equal(qmp_string_copy("\"return\": \"abcdef\"", "\"return\":", text, sizeof(text)),
                     0);
    assert_string_equal(text, "abc");
}

static void a_string_that_is_not_there_or_never_ends_is_no_accident(void **state)
{
    char text[16];

    (void)state;
    assert_int_equal(qmp_string_copy("{\"return\": {}}", "\"return\":", text, sizeof(text)),
                     ENOENT);
    assert_int_equal(qmp_string_copy("{}", "\"return\":", text, sizeof(text)), ENOENT);
    assert_int_equal(qmp_string_copy("\"return\": \"ab\\", "\"return\":", text, sizeof(text)), 0);
    assert_string_equal(text, "ab?");
}

static void commands_are_answered_past_events(void **state)
{
    static const struct fake_answer answers[] = {
        {"qmp_capabilities", "{\"event\": \"RESUME\"}\r\n{\"return\": {}}"},
        {"\"info status\"",
         "{\"event\": \"RTC_CHANGE\"}\r\n{\"return\": \"VM status: running\\r\\n\"}"},
        {NULL, NULL},
    };
    struct fake_monitor fake;
    char answer[64];

    (void)state;
    fake_monitor_init(&fake, answers);
    assert_int_equal(qmp_init(&qmp, fake.folder, FAKE_MONITOR_NAME), 0);
    assert_int_equal(qmp_monitor(&qmp, "info status", answer, sizeof(answer)), 0);
    assert_string_equal(answer, "VM status: running\n");
    qmp_destroy(&qmp);
    fake_monitor_destroy(&fake);
}

static void a_refusal_is_an_error(void **state)
{
    static const struct fake_answer answers[] = {
        {"qmp_capabilities", "{\"return\": {}}"},
        {"human", "{\"error\": {\"class\": \"CommandNotFound\", \"desc\": \"none\"}}"},
        {NULL, NULL},
    };
    struct fake_monitor fake;
    char answer[64];

    (void)state;
    fake_monitor_init(&fake, answers);
    assert_int_equal(qmp_init(&qmp, fake.folder, FAKE_MONITOR_NAME), 0);
    assert_int_equal(qmp_monitor(&qmp, "info cpus", answer, sizeof(answer)), EPROTO);
    qmp_destroy(&qmp);
    fake_monitor_destroy(&fake);
}

static void a_monitor_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(qmp_init(&qmp, "/tmp", "machbed-no-monitor"), ENOENT);
    assert_int_equal(qmp_init(&qmp, "/nowhere", "monitor"), ENOENT);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_has_its_escapes_resolved),
        cmocka_unit_test(a_string_is_cut_where_there_is_no_more_room),
        cmocka_unit_test(a_string_that_is_not_there_or_never_ends_is_no_accident),
        cmocka_unit_test(commands_are_answered_past_events),
        cmocka_unit_test(a_refusal_is_an_error),
        cmocka_unit_test(a_monitor_that_is_not_there_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
