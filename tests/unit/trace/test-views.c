// SPDX-License-Identifier: GPL-2.0-or-later
#include "kin.h"
#include "run-test.h"
#include "synth.h"

static struct synth synth;

static int setup(void **state)
{
    (void)state;
    synth_begin(&synth);
    synth_two_writes(&synth);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    synth_end(&synth);
    return 0;
}

/* The place of a request of the pager. */
static size_t place(uint64_t request)
{
    for (size_t i = 0; i < synth.record.count; i++) {
        const struct event *event = &synth.record.events[i];

        if (event->req == request && strcmp(event->srv, "pager") == 0)
            return i;
    }
    fail_msg("there is no such request");
    return 0;
}

static uint64_t request_at(size_t at)
{
    assert_true(at < synth.record.count);
    return synth.record.events[at].req;
}

static void a_write_is_followed_to_the_first_return_behind_it(void **state)
{
    struct kin children;

    (void)state;
    kin_children(&synth.record, place(11), &children);
    assert_int_equal(children.count, 2);
    assert_int_equal(request_at(children.at[0]), 12);
    assert_int_equal(request_at(children.at[1]), 40);
    kin_destroy(&children);
    kin_children(&synth.record, place(21), &children);
    assert_int_equal(children.count, 1);
    assert_int_equal(request_at(children.at[0]), 41);
    kin_destroy(&children);
}

static void a_run_is_below_each_of_its_returns(void **state)
{
    struct kin children;

    (void)state;
    for (uint64_t request = 40; request <= 41; request++) {
        kin_children(&synth.record, place(request), &children);
        assert_int_equal(children.count, 1);
        assert_int_equal(request_at(children.at[0]), 42);
        kin_destroy(&children);
    }
    assert_int_equal(kin_parent(&synth.record, place(42)), place(40));
}

static void commands_are_below_their_store_write(void **state)
{
    struct kin children;

    (void)state;
    kin_children(&synth.record, place(43), &children);
    assert_int_equal(children.count, 2);
    assert_int_equal(synth.record.events[children.at[0]].kind, EVENT_DISK_WRITE);
    assert_int_equal(kin_parent(&synth.record, children.at[0]), place(43));
    kin_destroy(&children);
}

static void a_return_knows_who_wrote_its_bytes_and_who_asked_for_it(void **state)
{
    struct kin writers;

    (void)state;
    kin_writers(&synth.record, place(40), &writers);
    assert_int_equal(writers.count, 1);
    assert_int_equal(request_at(writers.at[0]), 11);
    kin_destroy(&writers);
    assert_int_equal(kin_window(&synth.record, place(40)), place(32));
    assert_int_equal(kin_parent(&synth.record, place(40)), SIZE_MAX);
    kin_writers(&synth.record, place(90), &writers);
    assert_int_equal(writers.count, 0);
    kin_destroy(&writers);
    assert_int_equal(kin_window(&synth.record, place(90)), SIZE_MAX);
}

static void calls_and_faults_know_their_callers(void **state)
{
    (void)state;
    assert_int_equal(request_at(kin_parent(&synth.record, place(11))), 1);
    assert_int_equal(request_at(kin_parent(&synth.record, place(12))), 11);
    assert_int_equal(request_at(kin_parent(&synth.record, place(13))), 12);
    assert_int_equal(request_at(kin_parent(&synth.record, place(31))), 3);
    assert_int_equal(request_at(kin_parent(&synth.record, place(32))), 31);
}

static void a_request_is_shown_with_all_its_layers(void **state)
{
    const char *text = synth_view(&synth, view_request, 11, "pager");

    (void)state;
    assert_int_equal(synth.failure.status, STATUS_SUCCESS);
    assert_contains(text, "         0.0        50.0        20.0           -  op 1 workload (main) "
                          "write 65,536 bytes at 0\n");
    assert_contains(text, "\n>       10.0        30.0        25.0        10.0    io 11 pager (w) "
                          "io_write object 7 65,536 bytes at 0\n");
    assert_contains(text, "        12.0         5.0         3.0         2.0      data_request 12 ");
    assert_contains(text,
                    "         2.0         2.0         1.0        alloc_lock 13 pager (w) read "
                    "object 7 granted after 0.5\n");
    assert_contains(text, "      2100.0      1800.0       300.0      2060.0      data_return 40 ");
    assert_contains(text,
                    "        run 42 pager (w) object 7 131,072 bytes at 0 file of 2 returns\n");
    assert_contains(text, "          store_write 43 pager (w) 65,536 bytes at sector 800 file\n");
    assert_contains(text, "            disk_write 32,768 bytes at sector 2,848\n");
    assert_contains(text, "            disk_write 32,768 bytes at sector 2,912\n");
    assert_contains(text, "\nown times: op 20.0, io 25.0, data_request 3.0, data_return 300.0, run "
                          "500.0, alloc_lock 2.0, store_write ");
}

static void a_requests_line_leads_up_to_who_wrote_and_who_asked(void **state)
{
    const char *text = synth_view(&synth, view_request, 43, NULL);

    (void)state;
    assert_int_equal(synth.failure.status, STATUS_SUCCESS);
    assert_contains(text, "  op 1 workload (main) write");
    assert_contains(text, "    io 11 pager (w) io_write");
    assert_contains(text, "  op 3 workload (main) sync");
    assert_contains(text, "    io 31 pager (w) file_sync");
    assert_contains(text, "      lock_request 32 pager (w) sync");
    assert_contains(text, "  data_return 40 pager (w) dirty");
    assert_contains(text, "\n>");
    assert_null(strstr(text, "data_return 41"));
}

static void a_number_that_several_servers_have_needs_one_of_them(void **state)
{
    (void)state;
    synth_view(&synth, view_request, 11, NULL);
    assert_int_equal(synth.failure.status, STATUS_BAD_INPUT);
    assert_contains(synth.failure.reason, "io of pager, io of other; choose with SERVER=");
    assert_contains(synth_view(&synth, view_request, 11, "other"), "error 28 (No space left");
    synth_view(&synth, view_request, 11, "workload");
    assert_int_equal(synth.failure.status, STATUS_BAD_INPUT);
    synth_view(&synth, view_request, 5000, NULL);
    assert_contains(synth.failure.reason, "request 5000 is not in the trace");
    synth_view(&synth, view_request, 0, NULL);
    assert_contains(synth.failure.reason, "which request?");
}

static void csv_has_a_row_for_each_event_and_command(void **state)
{
    const char *text = synth_view(&synth, view_csv, 0, NULL);
    unsigned rows = 0;
    uint64_t last = 0;

    (void)state;
    assert_contains(text, "policy,t,dur,kind,srv,thr,req,by,obj,off,len,sec,cls,what,wait,n,res\n");
    assert_contains(text, "\npage,1000013000,2000,alloc_lock,pager,w,13,12,7,,,,,read,500,,\n");
    assert_contains(text, "\npage,1002300000,1500000,run,pager,w,42,40,7,0,131072,,file,,,2,\n");
    assert_contains(text, ",disk_write,pager,,,43,,,32768,2848,file,,,,\n");
    for (text = strchr(text, '\n'); text[1] != '\0'; text = strchr(text + 1, '\n')) {
        uint64_t t = strtoull(text + sizeof("page,"), NULL, 10);
        unsigned commas = 0;

        for (const char *at = text + 1; *at != '\n'; at++)
            commas += *at == ',';
        assert_int_equal(commas, 16);
        assert_true(t >= last);
        last = t;
        rows++;
    }
    assert_int_equal(rows, synth.record.count);
}

/* The log may hold any word that has no blank in it. */
static void csv_quotes_words_that_would_break_it(void **state)
{
    struct synth odd;

    (void)state;
    synth_begin(&odd);
    synth_event(&odd, 1000, 1, "op", "srv=a,b thr=say\"x\" req=1 off=0 len=1 what=write res=0");
    assert_int_equal(synth_load(&odd), STATUS_SUCCESS);
    assert_contains(synth_view(&odd, view_csv, 0, NULL),
                    "\npage,1000,1,op,\"a,b\",\"say\"\"x\"\"\",1,,,0,1,,,write,,,0\n");
    synth_end(&odd);
}

static void latency_has_a_row_for_each_kind_and_operation(void **state)
{
    const char *text = synth_view(&synth, view_latency, 0, NULL);

    (void)state;
    assert_contains(text, "\nop           write          workload page            2       50.0 ");
    assert_contains(text, "\nio           io_write       pager    page            2       30.0 ");
    assert_contains(text, "\nalloc_lock   read wait      pager    page            1        0.5 ");
    assert_contains(text, "\ndisk_write   at most        pager    page            2 ");
}

/* By rank: of 100 times from 1 to 100 us, p90 is 90. */
static void percentiles_are_times_that_occurred(void **state)
{
    struct synth times;
    const char *text;

    (void)state;
    synth_begin(&times);
    for (unsigned i = 0; i < 100; i++)
        synth_event(&times, 1000 + i, (i * 37 % 100 + 1) * 1000, "op",
                    "srv=workload thr=main req=%u off=0 len=1 what=write res=0", i + 1);
    assert_int_equal(synth_load(&times), STATUS_SUCCESS);
    text = synth_view(&times, view_latency, 0, NULL);
    assert_contains(text, "      100       50.0       90.0       99.0       100.0\n");
    synth_end(&times);
}

/* Of three, more than half do not exceed the second; no two of three are 90 of 100. */
static void percentiles_of_few_times_are_by_rank_too(void **state)
{
    struct synth times;
    const char *text;

    (void)state;
    synth_begin(&times);
    for (unsigned i = 0; i < 3; i++)
        synth_event(&times, 1000 + i, (i + 1) * 1000, "op",
                    "srv=workload thr=main req=%u off=0 len=1 what=write res=0", i + 1);
    assert_int_equal(synth_load(&times), STATUS_SUCCESS);
    text = synth_view(&times, view_latency, 0, NULL);
    assert_contains(text, "        3        2.0        3.0        3.0         3.0\n");
    synth_end(&times);
}

static void views_are_found_by_their_names(void **state)
{
    (void)state;
    assert_ptr_equal(view_lookup(choice_lookup(view_choices, "SUMMARY")), view_summary);
    assert_ptr_equal(view_lookup(choice_lookup(view_choices, "request")), view_request);
    assert_ptr_equal(view_lookup(choice_lookup(view_choices, "latency")), view_latency);
    assert_ptr_equal(view_lookup(choice_lookup(view_choices, "csv")), view_csv);
    assert_ptr_equal(view_lookup(choice_lookup(view_choices, "perfetto")), view_perfetto);
    assert_ptr_equal(view_lookup(choice_lookup(view_choices, "html")), view_html);
    assert_ptr_equal(view_lookup(choice_lookup(view_choices, "plot")), view_plot);
    assert_null(choice_lookup(view_choices, "plots"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_write_is_followed_to_the_first_return_behind_it),
        TEST(a_run_is_below_each_of_its_returns),
        TEST(commands_are_below_their_store_write),
        TEST(a_return_knows_who_wrote_its_bytes_and_who_asked_for_it),
        TEST(calls_and_faults_know_their_callers),
        TEST(a_request_is_shown_with_all_its_layers),
        TEST(a_requests_line_leads_up_to_who_wrote_and_who_asked),
        TEST(a_number_that_several_servers_have_needs_one_of_them),
        TEST(csv_has_a_row_for_each_event_and_command),
        TEST(csv_quotes_words_that_would_break_it),
        TEST(latency_has_a_row_for_each_kind_and_operation),
        cmocka_unit_test(percentiles_are_times_that_occurred),
        cmocka_unit_test(percentiles_of_few_times_are_by_rank_too),
        cmocka_unit_test(views_are_found_by_their_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
