// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "sums.h"
#include "synth-test.h"

#define WRITES 10u

/* WRITES returns of 32 KiB, each with its write, but for those from HERE on. */
static void write_out(unsigned here)
{
    for (unsigned i = 0; i < WRITES; i++) {
        uint64_t t = 1000000000 + i * 2000000;

        if (i >= here) {
            synth_command(&synth, t + 100000, true, i * 64, 32768);
            continue;
        }
        synth_write(&synth, t, i + 1, 100 + i, i * 64, 32768);
        synth_event(&synth, t, 1500000, "data_return",
                    "srv=pager thr=w req=%u obj=1 off=%u len=32768 cls=file what=dirty res=0",
                    100 + i, i * 32768);
    }
}

/* What result.json says of them. */
static void count(const char *layer, uint64_t requests)
{
    static const char *const wheres[] = {"layers", "layers_file", "servers/pager"};

    for (size_t i = 0; i < 3; i++)
        synth_count(&synth, wheres[i], layer, requests, requests * 32768);
    synth_count(&synth, "layers_meta", layer, 0, 0);
}

static void count_all(void)
{
    count("data_request", 0);
    count("data_return", WRITES);
    count("store_write", WRITES);
    count("store_read", 0);
    synth_count(&synth, "layers", "disk_write", WRITES, WRITES * UINT64_C(32768));
    synth_count(&synth, "layers", "disk_read", 0, 0);
}

/* Loads, shows the summary, and expects STATUS and what it says. */
static void assert_summary(int status, const char *says)
{
    const char *text;

    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    text = synth_view(&synth, view_summary, 0, NULL);
    if (synth.failure.status != status)
        fail_msg("status %d, not %d: %s", synth.failure.status, status, text);
    assert_contains(text, says);
}

static void a_trace_that_is_whole_equals_the_result(void **state)
{
    (void)state;
    write_out(WRITES);
    count_all();
    synth_close(&synth, 2 * WRITES, 0);
    assert_summary(STATUS_SUCCESS, "agree in 56 numbers\n");
    assert_int_equal(synth.record.warnings_count, 0);
}

static void a_count_that_differs_is_named(void **state)
{
    (void)state;
    write_out(WRITES);
    count_all();
    synth_count(&synth, "layers_file", "store_write", WRITES + 1, (WRITES + 1) * UINT64_C(32768));
    synth_close(&synth, 2 * WRITES, 0);
    assert_summary(STATUS_FAILED,
                   "differs: layers_file.store_write.count is 10 by the trace, 11 by result.json");
    assert_contains(synth.failure.reason, "differ in 3 places");
}

static void a_histogram_that_differs_is_named(void **state)
{
    json_t *hist;

    (void)state;
    write_out(WRITES);
    count_all();
    hist = json_object_get(json_object_get(json_object_get(synth.job, "layers"), "disk_write"),
                           "hist");
    json_object_set_new(hist, "32768", json_integer(9));
    json_object_set_new(hist, "16384", json_integer(1));
    synth_close(&synth, 2 * WRITES, 0);
    assert_summary(STATUS_FAILED, "layers.disk_write.hist.16384 is 0 by the trace, 1 by");
}

static void a_line_that_vanished_is_a_difference(void **state)
{
    (void)state;
    write_out(WRITES - 1);
    count_all();
    synth_close(&synth, 2 * WRITES, 0);
    assert_summary(
        STATUS_FAILED,
        "differs: pager printed 20 events by its own account, 18 are here\n"
        "  differs: servers.pager.data_return.count is 9 by the trace, 10 by result.json");
    assert_contains(synth.record.warnings[0], "pager printed 20 events, 18 are here");
}

static void a_damaged_line_in_a_whole_log_is_a_difference(void **state)
{
    (void)state;
    write_out(WRITES);
    synth_say(&synth, "event t=12");
    count_all();
    synth_close(&synth, 2 * WRITES, 0);
    assert_summary(STATUS_FAILED, "differs: 1 damaged line in a log that is whole");
    assert_contains(synth.record.warnings[0], "1 damaged line is left out: serial.log 24");
}

static void events_that_were_dropped_are_no_difference(void **state)
{
    (void)state;
    write_out(WRITES - 1);
    count_all();
    synth_close(&synth, 2 * WRITES - 2, 2);
    assert_summary(STATUS_SUCCESS, "a part of the trace is not there to compare");
    assert_contains(synth.record.warnings[0], "pager dropped 2 events");
}

static void more_are_missing_than_were_dropped(void **state)
{
    (void)state;
    write_out(WRITES - 3);
    count_all();
    synth_close(&synth, 2 * WRITES - 6, 2);
    assert_summary(STATUS_FAILED, "servers.pager.store_write.count is 7 by the trace, 10 by");
}

static void more_than_the_result_is_a_difference_even_if_events_were_dropped(void **state)
{
    (void)state;
    write_out(WRITES);
    count_all();
    count("store_write", WRITES - 1);
    synth_close(&synth, 2 * WRITES, 5);
    assert_summary(STATUS_FAILED, "store_write.count is 10 by the trace, 9 by result.json");
}

static void kinds_that_were_not_recorded_are_not_compared(void **state)
{
    (void)state;
    for (unsigned i = 0; i < WRITES; i++)
        synth_write(&synth, 1000000000 + i * 2000000, i + 1, 0, i * 64, 32768);
    count_all();
    synth.kinds = "io,store_write";
    synth_close(&synth, WRITES, 0);
    assert_summary(STATUS_SUCCESS, "a part of the trace is not there to compare");
    assert_int_equal(synth.record.kinds, 1u << EVENT_IO | 1u << EVENT_STORE_WRITE);
}

static void a_log_that_is_cut_off_is_no_difference(void **state)
{
    (void)state;
    write_out(WRITES - 5);
    count_all();
    fputs("event t=1234 dur=12 kind=store_wr", synth.serial);
    assert_summary(STATUS_SUCCESS, "a part of the trace is not there to compare");
    assert_int_equal(synth.record.warnings_count, 4);
    assert_contains(synth.record.warnings[0], "1 damaged line is left out: serial.log 14");
    assert_contains(synth.record.warnings[1], "pager never said how many events it recorded: 10");
    assert_contains(synth.record.warnings[2], "serial.log is cut off");
    assert_contains(synth.record.warnings[3], "qemu.trace ends before the servers had stopped");
}

static void a_write_of_the_disk_in_the_wrong_class_is_a_difference(void **state)
{
    (void)state;
    write_out(WRITES);
    count_all();
    synth_count(&synth, "layers_file", "disk_write", WRITES - 1, (WRITES - 1) * UINT64_C(32768));
    synth_count(&synth, "layers_meta", "disk_write", 1, 32768);
    synth_close(&synth, 2 * WRITES, 0);
    assert_summary(STATUS_FAILED, "layers_meta.disk_write.count is 0 by the trace, 1 by result");
}

static void blocks_that_hold_both_classes_have_no_class(void **state)
{
    (void)state;
    write_out(WRITES);
    count_all();
    synth_count(&synth, "layers_file", "disk_write", WRITES - 1, (WRITES - 1) * UINT64_C(32768));
    json_object_set_new(synth.job, "rmw_bytes", json_integer(512));
    synth_close(&synth, 2 * WRITES, 0);
    assert_summary(STATUS_SUCCESS, "a part of the trace is not there to compare");
}

static void without_a_result_there_is_nothing_to_compare(void **state)
{
    (void)state;
    write_out(WRITES);
    synth_close(&synth, 2 * WRITES, 0);
    json_object_del(synth.job, "layers");
    json_object_del(synth.job, "servers");
    assert_summary(STATUS_SUCCESS, "a part of the trace is not there to compare");
}

static void a_write_that_failed_is_not_counted(void **state)
{
    (void)state;
    write_out(WRITES);
    count_all();
    synth_event(&synth, 2000000000, 1000000, "store_write",
                "srv=pager thr=w req=200 by=0 len=32768 sec=9999 cls=file res=5");
    synth_close(&synth, 2 * WRITES + 1, 0);
    assert_summary(STATUS_SUCCESS, "agree in 56 numbers\n");
}

static void a_write_that_the_disk_did_not_get_is_a_difference(void **state)
{
    (void)state;
    write_out(WRITES);
    count_all();
    synth_event(&synth, 2000000000, 1000000, "store_write",
                "srv=pager thr=w req=200 by=0 len=32768 sec=9999 cls=file res=0");
    count("store_write", WRITES + 1);
    synth_close(&synth, 2 * WRITES + 1, 0);
    assert_summary(STATUS_FAILED, "differs: 1 store call wants more than the disk was asked for");
}

static void a_store_without_a_disk_asks_none(void **state)
{
    json_t *layers;

    (void)state;
    synth_event(&synth, 2000000000, 1000000, "store_write",
                "srv=pager thr=w req=200 by=0 len=32768 sec=9999 cls=file res=0");
    count("store_write", 1);
    synth_close(&synth, 1, 0);
    layers = json_object_get(synth.job, "layers");
    assert_int_equal(json_object_set_new(layers, "disk_write", json_null()), 0);
    assert_summary(STATUS_SUCCESS, "no difference");
}

static void a_trace_of_the_disk_that_is_damaged_is_not_compared(void **state)
{
    (void)state;
    write_out(WRITES);
    count_all();
    fprintf(synth.trace, "nonsense\n");
    synth_close(&synth, 2 * WRITES, 0);
    synth_count(&synth, "layers", "disk_write", WRITES + 5, (WRITES + 5) * UINT64_C(32768));
    assert_summary(STATUS_SUCCESS, "a part of the trace is not there to compare");
    assert_contains(synth.record.warnings[0], "cannot be understood: nonsense; what follows");
}

static void the_table_has_a_row_for_each_server_class_and_layer(void **state)
{
    const char *text;

    (void)state;
    write_out(WRITES);
    synth_event(&synth, 990000000, 100000000, "op",
                "srv=workload thr=main req=1 off=0 len=0 what=sync res=0");
    synth_event(&synth, 800000000, 100000, "op",
                "srv=workload thr=main req=2 off=0 len=65536 what=write res=0");
    synth_close(&synth, 2 * WRITES, 0);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    text = synth_view(&synth, view_summary, 0, NULL);
    assert_contains(text, "\nop           page             1        65,536    65,536    65,536 ");
    assert_contains(text, "\npager, file data:\ndata_return  page            10       327,680    "
                          "32,768    32,768      3.3  32K:10\n");
    assert_contains(text, "\nstore_write  page            10       327,680 ");
    assert_contains(text, "\ndisk, file data:\ndisk_write   page            10 ");
    assert_null(strstr(text, "the rest"));
}

/* Two syncs at once take the time of one. */
static void a_rate_is_over_the_time_in_which_a_sync_went_on(void **state)
{
    (void)state;
    write_out(WRITES);
    for (unsigned i = 0; i < 2; i++)
        synth_event(&synth, 950000000 + i * 50000000, 100000000, "op",
                    "srv=workload thr=main req=%u off=0 len=0 what=sync res=0", i + 1);
    synth_close(&synth, 2 * WRITES, 0);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    assert_contains(
        synth_view(&synth, view_summary, 0, NULL),
        "\nstore_write  page            10       327,680    32,768    32,768      2.2 ");
}

static void what_was_written_outside_of_syncs_has_no_rate(void **state)
{
    (void)state;
    write_out(WRITES);
    synth_event(&synth, 990000000, 10000000, "op",
                "srv=workload thr=main req=1 off=0 len=0 what=sync res=0");
    synth_close(&synth, 2 * WRITES, 0);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    assert_contains(
        synth_view(&synth, view_summary, 0, NULL),
        "\nstore_write  page            10       327,680    32,768    32,768        - ");
}

static void a_log_without_events_is_not_usable(void **state)
{
    (void)state;
    synth_close(&synth, 0, 0);
    assert_int_equal(synth_load(&synth), STATUS_BAD_INPUT);
    assert_contains(synth.failure.reason,
                    "holds no events; was the run made with TRACE=text or TRACE=ctf?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_trace_that_is_whole_equals_the_result),
        TEST(a_count_that_differs_is_named),
        TEST(a_histogram_that_differs_is_named),
        TEST(a_line_that_vanished_is_a_difference),
        TEST(a_damaged_line_in_a_whole_log_is_a_difference),
        TEST(events_that_were_dropped_are_no_difference),
        TEST(more_are_missing_than_were_dropped),
        TEST(more_than_the_result_is_a_difference_even_if_events_were_dropped),
        TEST(kinds_that_were_not_recorded_are_not_compared),
        TEST(a_log_that_is_cut_off_is_no_difference),
        TEST(a_write_of_the_disk_in_the_wrong_class_is_a_difference),
        TEST(blocks_that_hold_both_classes_have_no_class),
        TEST(without_a_result_there_is_nothing_to_compare),
        TEST(a_write_that_failed_is_not_counted),
        TEST(a_write_that_the_disk_did_not_get_is_a_difference),
        TEST(a_store_without_a_disk_asks_none),
        TEST(a_trace_of_the_disk_that_is_damaged_is_not_compared),
        TEST(the_table_has_a_row_for_each_server_class_and_layer),
        TEST(a_rate_is_over_the_time_in_which_a_sync_went_on),
        TEST(what_was_written_outside_of_syncs_has_no_rate),
        TEST(a_log_without_events_is_not_usable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
