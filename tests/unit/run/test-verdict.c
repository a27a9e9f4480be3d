// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "verdict.h"

#include <signal.h>

static struct console console;
static struct qemu_ending ending;
static struct failure verdict_failure;
static const char *qemu_error;
static bool kvm;
static bool trace;
static const struct job job = {.name = "pager", .fs = "none", .fault = "none", .size = 131072};

static const char *const good_lines[] = {
    "machbed start server=pager",
    "machbed start server=workload",
    "machbed job name=pager fill_us=1 sync_us=2 runtime_us=3 bytes=131072",
    "machbed counter server=pager layer=data_request class=file count=0 bytes=0 max=0 hist=-",
    "machbed counter server=pager layer=data_return class=file count=1 bytes=131072 max=131072 "
    "hist=131072:1",
    "machbed counter server=pager layer=store_write class=file count=1 bytes=131072 max=131072 "
    "hist=131072:1",
    "machbed counter server=pager layer=store_read class=file count=0 bytes=0 max=0 hist=-",
    "machbed claim server=pager device=sd0s2 sector=0 sectors=256 times=1",
    "machbed store server=pager device=sd0s2 block=4096 rmw_bytes=0 copied_bytes=0",
    "machbed threads server=pager first=7 last=7",
    "machbed end status=0 reason=\"done\"",
};
#define GOOD_LINES (sizeof(good_lines) / sizeof(good_lines[0]))

static int setup(void **state)
{
    (void)state;
    console_init(&console);
    qemu_error = "";
    kvm = false;
    trace = false;
    ending = (struct qemu_ending){.end = QEMU_EXITED, .value = 33};
    verdict_failure = (struct failure){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    console_destroy(&console);
    return 0;
}

static void judge(void)
{
    struct verdict_case verdict = {&console, &ending, &job, qemu_error, kvm, trace};

    verdict_judge(&verdict, &verdict_failure);
}

static void assert_verdict(int status, const char *says)
{
    judge();
    if (verdict_failure.status != status)
        fail_msg("status %d, not %d: %s", verdict_failure.status, status, verdict_failure.reason);
    assert_contains(verdict_failure.reason, says);
}

static void good_but(size_t left_out)
{
    for (size_t i = 0; i < GOOD_LINES; i++) {
        if (i != left_out)
            console_feed(&console, good_lines[i]);
    }
}

static void a_boot_that_said_all_is_well(void **state)
{
    (void)state;
    good_but(GOOD_LINES);
    judge();
    assert_int_equal(verdict_failure.status, STATUS_SUCCESS);
}

static void a_server_that_records_says_what_it_recorded(void **state)
{
    (void)state;
    trace = true;
    good_but(GOOD_LINES);
    console_feed(&console, "machbed trace server=pager events=2 dropped=0 drain_us=5");
    assert_verdict(STATUS_FAILED, "the server workload never said what it recorded");
    console_feed(&console, "machbed trace server=workload events=0 dropped=0 drain_us=0");
    verdict_failure = (struct failure){0};
    judge();
    assert_int_equal(verdict_failure.status, STATUS_SUCCESS);
}

static void no_line_can_be_left_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < GOOD_LINES; i++) {
        if (i == 7)
            continue; /* the claim: verdict_claims_judge */
        teardown(NULL);
        setup(NULL);
        good_but(i);
        judge();
        if (verdict_failure.status != STATUS_FAILED)
            fail_msg("passed without '%s'", good_lines[i]);
    }
}

static void a_server_whose_threads_became_more_has_failed(void **state)
{
    (void)state;
    good_but(GOOD_LINES - 2);
    console_feed(&console, "machbed threads server=pager first=7 last=8");
    assert_verdict(STATUS_FAILED,
                   "the server pager had 7 threads when it began to serve, and 8 at its end");
}

static void an_ext2_job_needs_the_counters_of_both_classes(void **state)
{
    static const struct job file_job = {.name = "x", .fs = "ext2", .fault = "none", .size = 4096};
    struct verdict_case verdict = {&console, &ending, &file_job, "", false, false};

    (void)state;
    console_feed(&console, "machbed start server=ext2");
    console_feed(&console, "machbed start server=workload");
    console_feed(&console, "machbed job name=x fill_us=1 sync_us=2 runtime_us=3 bytes=4096");
    for (unsigned kind = 0; kind < LAYER_GUEST_KINDS; kind++) {
        char line[128];

        snprintf(line, sizeof(line), "machbed counter server=ext2 layer=%s class=file %s",
                 layer_kind_name((enum layer_kind)kind), "count=0 bytes=0 max=0 hist=-");
        console_feed(&console, line);
    }
    console_feed(&console, "machbed store server=ext2 device=sd0s1 block=4096 rmw_bytes=0 "
                           "copied_bytes=0");
    console_feed(&console, "machbed end status=0 reason=\"done\"");
    verdict_judge(&verdict, &verdict_failure);
    assert_int_equal(verdict_failure.status, STATUS_FAILED);
    assert_contains(verdict_failure.reason,
                    "the server ext2 never said its data_request counter (meta)");
}

static void what_was_counted_must_be_claimed(void **state)
{
    struct verdict_case verdict = {&console, &ending, &job, "", false, false};

    (void)state;
    good_but(GOOD_LINES);
    verdict_claims_judge(&verdict, &verdict_failure);
    assert_int_equal(verdict_failure.status, STATUS_SUCCESS);
    teardown(NULL);
    setup(NULL);
    good_but(7);
    verdict_claims_judge(&verdict, &verdict_failure);
    assert_int_equal(verdict_failure.status, STATUS_FAILED);
    assert_contains(verdict_failure.reason, "counted store_writes of 131,072 bytes, but claims 0");
}

static void a_fault_that_nobody_noticed_is_a_failure(void **state)
{
    struct job faulty = job;
    struct verdict_case verdict = {&console, &ending, &faulty, "", false, false};

    (void)state;
    verdict_fault_judge(&verdict, &verdict_failure);
    assert_int_equal(verdict_failure.status, STATUS_SUCCESS);
    faulty.fault = "claim";
    verdict_fault_judge(&verdict, &verdict_failure);
    assert_int_equal(verdict_failure.status, STATUS_FAILED);
    assert_contains(verdict_failure.reason, "fault=claim was asked for, and nothing went wrong");
}

static void each_exit_of_the_guest_has_its_status(void **state)
{
    static const struct {
        int exit;
        int status;
    } cases[] = {{35, 77}, {37, 10}, {39, 99}, {41, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[64];

        teardown(NULL);
        setup(NULL);
        snprintf(line, sizeof(line), "machbed end status=%d reason=\"so it is\"", cases[i].status);
        console_feed(&console, line);
        ending.value = cases[i].exit;
        assert_verdict(cases[i].status, "so it is");
    }
}

static void an_exit_that_contradicts_the_end_line_fails(void **state)
{
    (void)state;
    good_but(GOOD_LINES);
    ending.value = 39;
    assert_verdict(STATUS_FAILED, "said that it ends with status 0, and ended with 99");
}

static void an_exit_without_the_end_line_fails(void **state)
{
    (void)state;
    good_but(GOOD_LINES - 1);
    assert_verdict(STATUS_FAILED, "never said so");
}

static void a_reset_without_the_end_line_is_the_kernels(void **state)
{
    (void)state;
    good_but(GOOD_LINES - 1);
    ending.value = 0;
    assert_verdict(STATUS_KERNEL_DIED, "nobody said how it went");
}

static void a_reset_without_a_single_line_is_the_kernels_too(void **state)
{
    (void)state;
    ending.value = 0;
    assert_verdict(STATUS_KERNEL_DIED, "nobody said how it went");
}

static void a_reset_after_the_end_line_contradicts_it(void **state)
{
    (void)state;
    good_but(GOOD_LINES);
    ending.value = 0;
    assert_verdict(STATUS_FAILED, "but QEMU exited with 0");
}

static void a_qemu_that_refuses_is_bad_input_with_its_words(void **state)
{
    (void)state;
    qemu_error = "qemu: no such option";
    ending.value = 1;
    assert_verdict(STATUS_BAD_INPUT, "QEMU did not start: qemu: no such option");
}

static void a_qemu_that_gives_up_later_is_not_bad_input(void **state)
{
    (void)state;
    console_feed(&console, "GNU Mach");
    ending.value = 1;
    assert_verdict(STATUS_KERNEL_DIED, "QEMU exited with 1 before");
}

static void a_signal_that_kills_qemu_is_named(void **state)
{
    (void)state;
    ending = (struct qemu_ending){.end = QEMU_KILLED, .value = SIGSEGV};
    assert_verdict(STATUS_KERNEL_DIED, "QEMU was killed by signal 11");
}

static void the_time_limit_is_no_end(void **state)
{
    (void)state;
    ending = (struct qemu_ending){.end = QEMU_TIMED_OUT, .value = 300};
    assert_verdict(STATUS_NO_END, "no end within 300 seconds");
}

static void a_guest_that_explains_itself_at_the_time_limit_is_quoted(void **state)
{
    (void)state;
    console_feed(&console, "machbed hang kind=no_progress told=1 sentence=\"main waits\"");
    console_feed(&console, "machbed end status=10 reason=\"no end in time: main waits\"");
    ending = (struct qemu_ending){.end = QEMU_EXITED, .value = 37, .told_s = 300};
    assert_verdict(STATUS_NO_END, "no end within 300 seconds: main waits");
}

static void a_guest_that_does_not_answer_has_stopped(void **state)
{
    (void)state;
    ending = (struct qemu_ending){.end = QEMU_TIMED_OUT,
                                  .value = 300,
                                  .told_s = 300,
                                  .cpu = {"the processor is halted", false}};
    assert_verdict(STATUS_KERNEL_DIED, "the kernel stopped: no end within 300 seconds");
    assert_contains(verdict_failure.reason, "and the processor is halted");
}

static void a_guest_whose_tasks_run_has_not_stopped(void **state)
{
    (void)state;
    ending = (struct qemu_ending){.end = QEMU_TIMED_OUT,
                                  .value = 300,
                                  .told_s = 300,
                                  .cpu = {"the processor is at 0x8", true}};
    assert_verdict(STATUS_NO_END, "no end within 300 seconds, and asked why, no answer in time; "
                                  "the processor is at 0x8");
}

static void a_guest_that_never_came_up_has_not_stopped(void **state)
{
    (void)state;
    ending = (struct qemu_ending){
        .end = QEMU_TIMED_OUT, .value = 300, .cpu = {"the processor is halted", false}};
    assert_verdict(STATUS_NO_END, "startup never came up; the processor is halted");
}

static void a_debugger_that_was_left_is_no_failure(void **state)
{
    (void)state;
    ending = (struct qemu_ending){.end = QEMU_LEFT};
    assert_verdict(STATUS_SKIPPED, "the debugger was left before the job was done");
    ending.value = SIGKILL;
    verdict_failure = (struct failure){0};
    assert_verdict(STATUS_SKIPPED, "the debugger was killed by signal 9");
    ending.value = -STATUS_BAD_INPUT;
    verdict_failure = (struct failure){0};
    assert_verdict(STATUS_BAD_INPUT, "the debugger did not begin");
}

static void a_machine_that_a_debugger_left_paused_has_no_end(void **state)
{
    (void)state;
    ending = (struct qemu_ending){.end = QEMU_LEFT_PAUSED};
    assert_verdict(STATUS_NO_END, "has left the machine standing still");
}

static void a_host_without_room_is_no_fault_of_the_guests(void **state)
{
    (void)state;
    ending = (struct qemu_ending){.end = QEMU_NO_ROOM};
    assert_verdict(STATUS_BAD_INPUT, "the host has no room");
}

static void silence_under_kvm_names_the_way_out(void **state)
{
    (void)state;
    ending = (struct qemu_ending){.end = QEMU_SILENT, .value = 15};
    assert_verdict(STATUS_BAD_INPUT, "KVM gives no sign of life");
    assert_contains(verdict_failure.reason, "ACCEL=tcg");
}

static void a_reset_without_a_word_is_kvms_under_kvm(void **state)
{
    (void)state;
    kvm = true;
    ending.value = 0;
    assert_verdict(STATUS_BAD_INPUT, "KVM gives no sign of life");
    console_feed(&console, "GNU Mach");
    verdict_failure = (struct failure){0};
    assert_verdict(STATUS_KERNEL_DIED, "nobody said how it went");
}

static void a_panic_comes_before_all_that_follows_from_it(void **state)
{
    (void)state;
    console_feed(&console, "panic a.c:1: f: oh");
    ending = (struct qemu_ending){.end = QEMU_TIMED_OUT, .value = 300};
    assert_verdict(STATUS_KERNEL_DIED, "the kernel panicked: panic a.c:1: f: oh");
}

static void an_assertion_is_told_from_a_panic(void **state)
{
    (void)state;
    console_feed(&console, "a.c:1: f: Assertion `x' failed.");
    ending = (struct qemu_ending){.end = QEMU_DIED, .value = 0};
    assert_verdict(STATUS_KERNEL_DIED, "the kernel failed an assertion: a.c:1");
}

static void a_crash_comes_before_the_time_limit(void **state)
{
    (void)state;
    console_feed(&console, "machbed crash server=pager thread=w pc=0x1 symbol=f+0x1 exception=1 "
                           "code=1 subcode=0x0");
    ending = (struct qemu_ending){.end = QEMU_TIMED_OUT, .value = 300};
    assert_verdict(STATUS_FAILED, "pager crashed in thread w");
}

static void a_signal_to_the_runner_comes_first(void **state)
{
    (void)state;
    ending = (struct qemu_ending){.end = QEMU_INTERRUPTED, .value = SIGINT};
    assert_verdict(128 + SIGINT, "ended by signal 2");
}

static void a_check_that_failed_in_the_guest_fails_the_boot(void **state)
{
    (void)state;
    good_but(GOOD_LINES);
    console_feed(&console, "machbed check name=content result=\"page 7 differs\"");
    assert_verdict(STATUS_FAILED, "the guest's check content: page 7 differs");
}

static void another_job_than_the_one_asked_for_fails(void **state)
{
    (void)state;
    good_but(2);
    console_feed(&console, "machbed job name=pager fill_us=1 sync_us=2 runtime_us=3 bytes=4096");
    assert_verdict(STATUS_FAILED, "of 131,072 bytes was asked for, pager of 4,096 was run");
}

static void a_torn_line_fails_a_boot_that_is_well_otherwise(void **state)
{
    (void)state;
    good_but(GOOD_LINES);
    console_feed(&console, "machbed claim server=pager");
    assert_verdict(STATUS_FAILED, "the console's line 12 lacks 'device='");
}

static void only_a_guest_that_ended_by_itself_has_its_disk_checked(void **state)
{
    struct verdict_case verdict = {&console, &ending, &job, "", false, false};

    (void)state;
    assert_false(verdict_is_checkable(&verdict));
    good_but(GOOD_LINES);
    assert_true(verdict_is_checkable(&verdict));
    console.end.status = STATUS_FAILED;
    assert_true(verdict_is_checkable(&verdict));
    console.end.status = STATUS_SKIPPED;
    assert_false(verdict_is_checkable(&verdict));
    console.end.status = STATUS_SUCCESS;
    ending.end = QEMU_TIMED_OUT;
    assert_false(verdict_is_checkable(&verdict));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_boot_that_said_all_is_well),
        TEST(a_server_that_records_says_what_it_recorded),
        TEST(no_line_can_be_left_out),
        TEST(a_server_whose_threads_became_more_has_failed),
        TEST(an_ext2_job_needs_the_counters_of_both_classes),
        TEST(what_was_counted_must_be_claimed),
        TEST(a_fault_that_nobody_noticed_is_a_failure),
        TEST(each_exit_of_the_guest_has_its_status),
        TEST(an_exit_that_contradicts_the_end_line_fails),
        TEST(an_exit_without_the_end_line_fails),
        TEST(a_reset_without_the_end_line_is_the_kernels),
        TEST(a_reset_without_a_single_line_is_the_kernels_too),
        TEST(a_reset_after_the_end_line_contradicts_it),
        TEST(a_qemu_that_refuses_is_bad_input_with_its_words),
        TEST(a_qemu_that_gives_up_later_is_not_bad_input),
        TEST(a_signal_that_kills_qemu_is_named),
        TEST(the_time_limit_is_no_end),
        TEST(a_guest_that_explains_itself_at_the_time_limit_is_quoted),
        TEST(a_guest_that_does_not_answer_has_stopped),
        TEST(a_guest_whose_tasks_run_has_not_stopped),
        TEST(a_guest_that_never_came_up_has_not_stopped),
        TEST(a_debugger_that_was_left_is_no_failure),
        TEST(a_machine_that_a_debugger_left_paused_has_no_end),
        TEST(a_host_without_room_is_no_fault_of_the_guests),
        TEST(silence_under_kvm_names_the_way_out),
        TEST(a_reset_without_a_word_is_kvms_under_kvm),
        TEST(a_panic_comes_before_all_that_follows_from_it),
        TEST(an_assertion_is_told_from_a_panic),
        TEST(a_crash_comes_before_the_time_limit),
        TEST(a_signal_to_the_runner_comes_first),
        TEST(a_check_that_failed_in_the_guest_fails_the_boot),
        TEST(another_job_than_the_one_asked_for_fails),
        TEST(a_torn_line_fails_a_boot_that_is_well_otherwise),
        TEST(only_a_guest_that_ended_by_itself_has_its_disk_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
