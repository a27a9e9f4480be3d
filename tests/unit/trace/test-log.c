// SPDX-License-Identifier: GPL-2.0-or-later
#include "log.h"
#include "run-test.h"

#define OP(t, req)                                                                                 \
    "event t=" #t " dur=2 kind=op srv=workload thr=main req=" #req " off=0 len=1 what=write res=0"

static struct log log_;

static void read_log(const char *text)
{
    FILE *stream = text_stream(text);

    log_read(&log_, stream);
    fclose(stream);
}

static int teardown(void **state)
{
    (void)state;
    log_destroy(&log_);
    return 0;
}

static void events_are_put_in_the_order_of_their_beginnings(void **state)
{
    (void)state;
    read_log(OP(3, 1) "\n" OP(1, 2) "\n" OP(2, 3) "\n" OP(1, 4) "\n");
    assert_int_equal(log_.count, 4);
    assert_int_equal(log_.events[0].req, 2);
    assert_int_equal(log_.events[1].req, 4);
    assert_int_equal(log_.events[2].req, 3);
    assert_int_equal(log_.events[3].req, 1);
    assert_int_equal(log_.events[3].line, 1);
    assert_int_equal(log_count(&log_, "workload"), 4);
    assert_int_equal(log_count(&log_, "pager"), 0);
}

static void the_kernels_carriage_returns_are_no_harm(void **state)
{
    (void)state;
    read_log(
        "GNU Mach 1.8\r\n\rbiosmem: map\r\n\r" OP(1, 1) "\r\n\rmachbed start server=ext2\r\n\r");
    assert_int_equal(log_.count, 1);
    assert_int_equal(log_.damaged_count, 0);
    assert_int_equal(log_.console.servers_count, 1);
    assert_string_equal(log_.console.kernel, "GNU Mach 1.8");
}

static void damaged_lines_are_counted_and_numbered(void **state)
{
    (void)state;
    read_log("hello\n" OP(1, 1) "\nevent t=1 dur=2\n"
                                "machbed trace server=pager events=x dropped=0 drain_us=0\n" OP(
                                    2, 2) "\n"
                                          "=5 kind=op srv=workload thr=main req=9\n"
                                          "machbed nonsense\nkind of you\n");
    assert_int_equal(log_.count, 2);
    assert_int_equal(log_.damaged_count, 4);
    assert_int_equal(log_.damaged[0], 3);
    assert_int_equal(log_.damaged[1], 4);
    assert_int_equal(log_.damaged[2], 6);
    assert_int_equal(log_.damaged[3], 7);
    assert_int_equal(log_.lines, 8);
    assert_false(log_.cut);
}

static void two_lines_that_ran_together_are_damaged(void **state)
{
    (void)state;
    read_log(OP(1, 1) OP(2, 2) "\n" OP(3, 3) "\n");
    assert_int_equal(log_.count, 1);
    assert_int_equal(log_.damaged_count, 1);
}

static void a_last_line_without_an_end_is_damaged_however_well_it_reads(void **state)
{
    (void)state;
    read_log(OP(1, 1) "\n" OP(2, 2));
    assert_int_equal(log_.count, 1);
    assert_int_equal(log_.damaged_count, 1);
    assert_int_equal(log_.damaged[0], 2);
    assert_true(log_.cut);
}

static void more_damage_than_can_be_listed_is_counted(void **state)
{
    (void)state;
    read_log(
        "event\nevent \nevent 1\nevent 1\nevent 1\nevent 1\nevent 1\nevent 1\nevent 1\nevent 1\n");
    assert_int_equal(log_.damaged_count, 9); /* the first is no event, and no damage */
    assert_int_equal(log_.damaged[LOG_DAMAGED_MAX - 1], 9);
}

/* A file can hold anything. */
static void noise_is_no_harm(void **state)
{
    static char noise[20001];
    uint32_t x = 1;

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(noise); i++) {
        x = x * 1664525u + 1013904223u;
        noise[i] = (x >> 24) % 61 == 0 ? '\n' : (char)((x >> 16) % 255 + 1);
    }
    for (size_t i = 0; i + 40 < sizeof(noise); i += 97)
        memcpy(noise + i, i % 2 == 0 ? "\nevent t=" : "\nmachbed trace", i % 2 == 0 ? 9 : 14);
    read_log(noise);
    assert_int_equal(log_.count, 0);
}

static void a_file_that_is_missing_is_an_error(void **state)
{
    struct failure failure = {0};

    (void)state;
    log_ = (struct log){0};
    assert_int_equal(log_load(&log_, "/nonexistent/serial.log", &failure), STATUS_BAD_INPUT);
    assert_contains(failure.reason, "/nonexistent/serial.log cannot be read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(events_are_put_in_the_order_of_their_beginnings, teardown),
        cmocka_unit_test_teardown(the_kernels_carriage_returns_are_no_harm, teardown),
        cmocka_unit_test_teardown(damaged_lines_are_counted_and_numbered, teardown),
        cmocka_unit_test_teardown(two_lines_that_ran_together_are_damaged, teardown),
        cmocka_unit_test_teardown(a_last_line_without_an_end_is_damaged_however_well_it_reads,
                                  teardown),
        cmocka_unit_test_teardown(more_damage_than_can_be_listed_is_counted, teardown),
        cmocka_unit_test_teardown(noise_is_no_harm, teardown),
        cmocka_unit_test(a_file_that_is_missing_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
