// SPDX-License-Identifier: GPL-2.0-or-later
#include <jansson.h>

#include "gauge.h"
#include "run-test.h"
#include "synth.h"
#include "tracks.h"

#define SLICES_MAX 64

static struct synth synth;
static json_t *trace; /* the file */
static json_t *events;

static int setup(void **state)
{
    (void)state;
    trace = NULL;
    synth_begin(&synth);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    json_decref(trace);
    synth_end(&synth);
    return 0;
}

static void load(void)
{
    char path[128];
    const char *said;

    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    said = synth_view(&synth, view_perfetto, 0, NULL);
    assert_int_equal(synth.failure.status, STATUS_SUCCESS);
    snprintf(path, sizeof(path), "%s/page/perfetto.json", synth.folder);
    assert_contains(said, path);
    trace = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(trace);
    events = json_object_get(trace, "traceEvents");
    assert_true(json_is_array(events));
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));

    return text == NULL ? "" : text;
}

static json_int_t number_of(const json_t *event, const char *key)
{
    return json_integer_value(json_object_get(event, key));
}

static json_int_t ns_of(const json_t *event, const char *key)
{
    return (json_int_t)(json_real_value(json_object_get(event, key)) * 1000 + 0.5);
}

/* The events of that phase and name, or NULL for all names. */
static size_t count(const char *phase, const char *name)
{
    size_t found = 0;
    size_t i;
    json_t *event;

    json_array_foreach(events, i, event)
    {
        found += strcmp(text_of(event, "ph"), phase) == 0 &&
                 (name == NULL || strcmp(text_of(event, "name"), name) == 0);
    }
    return found;
}

/* The name that the file's metadata give to a process or thread. */
static const char *name_of(const json_t *event, const char *what)
{
    size_t i;
    json_t *meta;

    json_array_foreach(events, i, meta)
    {
        if (strcmp(text_of(meta, "name"), what) == 0 &&
            number_of(meta, "pid") == number_of(event, "pid") &&
            (what[0] == 'p' || number_of(meta, "tid") == number_of(event, "tid")))
            return text_of(json_object_get(meta, "args"), "name");
    }
    return "";
}

/* The first slice or asynchronous event of that name. */
static const json_t *first(const char *name)
{
    size_t i;
    json_t *event;

    json_array_foreach(events, i, event)
    {
        if (strcmp(text_of(event, "name"), name) == 0 && strchr("Xb", text_of(event, "ph")[0]))
            return event;
    }
    fail_msg("there is no %s", name);
    return NULL;
}

static void every_event_is_there_once_with_its_fields(void **state)
{
    const json_t *args;

    (void)state;
    synth_two_writes(&synth);
    load();
    assert_int_equal(count("X", NULL) + count("b", NULL), synth.record.count);
    assert_int_equal(count("b", NULL), count("e", NULL));
    assert_int_equal(count("X", "io_write"), 3);
    assert_int_equal(count("X", "disk_write"), 2);
    assert_int_equal(count("b", "data_return"), 3);
    assert_int_equal(ns_of(first("run"), "ts"), 1002300000);
    assert_int_equal(ns_of(first("run"), "dur"), 1500000);
    args = json_object_get(first("run"), "args");
    assert_int_equal(number_of(args, "req"), 42);
    assert_int_equal(number_of(args, "by"), 40);
    assert_int_equal(number_of(args, "len"), 131072);
    assert_int_equal(number_of(args, "n"), 2);
    assert_string_equal(text_of(args, "cls"), "file");
    assert_null(json_object_get(args, "sec"));
}

static void tracks_have_the_names_of_servers_and_threads(void **state)
{
    size_t i;
    json_t *event;

    (void)state;
    synth_two_writes(&synth);
    load();
    json_array_foreach(events, i, event)
    {
        assert_string_not_equal(name_of(event, "process_name"), "");
        if (text_of(event, "ph")[0] == 'X')
            assert_string_not_equal(name_of(event, "thread_name"), "");
    }
    assert_string_equal(name_of(first("op write"), "process_name"), "workload");
    assert_string_equal(name_of(first("op write"), "thread_name"), "main");
    assert_string_equal(name_of(first("run"), "process_name"), "pager");
    assert_string_equal(name_of(first("run"), "thread_name"), "w");
    assert_string_equal(name_of(first("disk_write"), "process_name"), "disk");
    assert_int_equal(number_of(first("op write"), "pid"), 1);
}

/* The slice of that thread that began at that moment. */
static const json_t *slice_at(const json_t *point)
{
    size_t i;
    json_t *event;

    json_array_foreach(events, i, event)
    {
        if (text_of(event, "ph")[0] == 'X' && number_of(event, "pid") == number_of(point, "pid") &&
            number_of(event, "tid") == number_of(point, "tid") &&
            ns_of(event, "ts") == ns_of(point, "ts"))
            return event;
    }
    fail_msg("a flow points at nothing");
    return NULL;
}

/* Only what lies between the two writes and the two commands of each call is a flow. */
static void flows_lead_from_each_write_to_its_commands(void **state)
{
    size_t i;
    json_t *event;
    json_int_t id = 0;

    (void)state;
    synth_two_writes(&synth);
    load();
    assert_int_equal(count("s", NULL), 2);
    assert_int_equal(count("t", NULL), 4);
    assert_int_equal(count("f", NULL), 2);
    json_array_foreach(events, i, event)
    {
        const char *phase = text_of(event, "ph");

        if (strchr("stf", phase[0]) == NULL)
            continue;
        id += phase[0] == 's';
        assert_int_equal(number_of(event, "id"), id);
        assert_string_equal(text_of(slice_at(event), "name"),
                            phase[0] == 's'                              ? "io_write"
                            : phase[0] == 'f'                            ? "disk_write"
                            : text_of(slice_at(event), "name")[0] == 'r' ? "run"
                                                                         : "store_write");
    }
}

/* A lock that is held beyond the call that took it, and calls within one another. */
static void slices_of_a_thread_nest_and_what_does_not_is_asynchronous(void **state)
{
    (void)state;
    synth_event(&synth, 1000, 1000, "io",
                "srv=pager thr=w req=1 obj=7 off=0 len=1 what=io_write res=0");
    synth_event(&synth, 1000, 500, "alloc_lock",
                "srv=pager thr=w req=2 by=1 obj=7 what=read wait=0");
    synth_event(&synth, 1500, 500, "alloc_lock",
                "srv=pager thr=w req=3 by=1 obj=7 what=read wait=0");
    synth_event(&synth, 1700, 400, "alloc_lock",
                "srv=pager thr=w req=4 by=1 obj=7 what=write wait=0");
    synth_close(&synth, 4, 0);
    load();
    assert_int_equal(count("X", "alloc_lock read"), 2);
    assert_int_equal(count("X", "alloc_lock write"), 0);
    assert_int_equal(count("b", "alloc_lock write"), 1);
    assert_int_equal(number_of(json_object_get(first("alloc_lock write"), "args"), "req"), 4);
}

/* Two commands at once are on two tracks, and a third one takes the first that is free again. */
static void commands_of_the_disk_at_once_have_tracks_of_their_own(void **state)
{
    struct tracks tracks;
    size_t disk = 0;

    (void)state;
    synth_write(&synth, 1000000000, 1, 0, 800, 4096);
    synth_write(&synth, 1000500000, 2, 0, 8000, 4096);
    synth_write(&synth, 1002000000, 3, 0, 16000, 4096);
    synth_close(&synth, 3, 0);
    load();
    tracks_arrange(&tracks, &synth.record);
    for (size_t i = 0; i < tracks.count; i++)
        disk += strcmp(tracks.tracks[i].process, TRACKS_DISK) == 0;
    assert_int_equal(disk, 2);
    assert_int_equal(tracks.tracks[tracks.count - 2].events, 2);
    assert_int_equal(tracks.tracks[tracks.count - 1].events, 1);
    tracks_destroy(&tracks);
    assert_string_equal(name_of(first("disk_write"), "thread_name"), "commands");
}

/* --- Gauges ---------------------------------------------------------------------------------- */

static const struct gauge *gauge(const struct gauges *gauges, const char *name)
{
    for (size_t i = 0; i < gauges->count; i++) {
        if (strcmp(gauges->gauges[i].name, name) == 0)
            return &gauges->gauges[i];
    }
    fail_msg("there is no gauge %s", name);
    return NULL;
}

static void queues_and_free_pages_are_counted_over_time(void **state)
{
    struct gauges gauges;
    const struct gauge *returns;

    (void)state;
    synth_two_writes(&synth);
    synth_event(&synth, 1000000000, 10, "memory", "srv=pager thr=trace req=99 n=120000");
    load();
    gauges_find(&gauges, &synth.record);
    returns = gauge(&gauges, "data_returns waiting");
    assert_int_equal(returns->max, 2);
    assert_int_equal(returns->count, 5);
    assert_int_equal(returns->points[3].t, 1002110000);
    assert_int_equal(returns->points[3].value, 2);
    assert_int_equal(returns->points[4].value, 0);
    assert_int_equal(gauge(&gauges, "store calls in flight")->max, 1);
    assert_int_equal(gauge(&gauges, "commands in flight")->max, 1);
    assert_int_equal(gauge(&gauges, "free pages")->points[0].value, 120000);
    assert_int_equal(count("C", "free pages"), 1);
    assert_int_equal(count("C", "data_returns waiting"), 5);
    gauges_destroy(&gauges);
}

/* 20,000 calls one after the other, and in the middle two at once for a moment. */
static void a_gauge_that_changes_often_keeps_its_largest_numbers(void **state)
{
    struct gauges gauges;
    const struct gauge *calls;

    (void)state;
    for (unsigned i = 0; i < 20000; i++)
        synth_event(&synth, 1000000000 + i * UINT64_C(1000), i == 10000 ? 1001 : 900, "store_read",
                    "srv=pager thr=w req=%u by=0 len=4096 sec=8 cls=file res=0", i + 1);
    synth_close(&synth, 20000, 0);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    gauges_find(&gauges, &synth.record);
    calls = gauge(&gauges, "store calls in flight");
    assert_true(calls->count <= GAUGE_POINTS_MAX);
    assert_true(calls->count > GAUGE_POINTS_MAX / 4);
    assert_int_equal(calls->max, 2);
    assert_int_equal(calls->points[calls->count - 1].value, 0);
    for (size_t i = 1; i < calls->count; i++)
        assert_true(calls->points[i - 1].t < calls->points[i].t);
    gauges_destroy(&gauges);
}

/* --- Failures -------------------------------------------------------------------------------- */

static void a_name_cannot_break_the_file(void **state)
{
    (void)state;
    synth_event(&synth, 1000, 1000, "op",
                "srv=work\"load thr=ma\\in req=1 off=0 len=1 what=\xff\x01 res=0");
    synth_close(&synth, 0, 0);
    load();
    assert_string_equal(text_of(first("op ??"), "ph"), "X");
    assert_string_equal(name_of(first("op ??"), "process_name"), "work\"load");
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
    struct view_case view;

    (void)state;
    synth_two_writes(&synth);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    view = (struct view_case){"run", &synth.record, 1, 0, NULL, stdout, "/dev/null", NULL};
    assert_int_equal(view_perfetto(&view, &synth.failure), STATUS_BAD_INPUT);
    assert_contains(synth.failure.reason, "/dev/null/page/perfetto.json");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_event_is_there_once_with_its_fields),
        TEST(tracks_have_the_names_of_servers_and_threads),
        TEST(flows_lead_from_each_write_to_its_commands),
        TEST(slices_of_a_thread_nest_and_what_does_not_is_asynchronous),
        TEST(commands_of_the_disk_at_once_have_tracks_of_their_own),
        TEST(queues_and_free_pages_are_counted_over_time),
        TEST(a_gauge_that_changes_often_keeps_its_largest_numbers),
        TEST(a_name_cannot_break_the_file),
        TEST(a_file_that_cannot_be_written_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
