// SPDX-License-Identifier: GPL-2.0-or-later
#include <jansson.h>

#include "html-page.h"
#include "latency.h"
#include "log.h"
#include "run-test.h"
#include "synth.h"
#include "thin.h"

#define PAGE_BYTES_MAX (4u << 20)
#define FIELDS         15 /* of an event in the stream, its parents aside */

static struct synth synth;
static char *page;
static json_t *data;

static int setup(void **state)
{
    (void)state;
    page = calloc(1, PAGE_BYTES_MAX);
    assert_non_null(page);
    synth_begin(&synth);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    json_decref(data);
    data = NULL;
    free(page);
    synth_end(&synth);
    return 0;
}

/* Makes the page, and reads it and the data in it. */
static void load(void)
{
    static const char before[] = "id=\"data\">\n";
    char path[128];
    char *begin;
    char *end;
    FILE *stream;

    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    assert_contains(synth_view(&synth, view_html, 0, NULL), "/trace.html: 1 policy, ");
    assert_int_equal(synth.failure.status, STATUS_SUCCESS);
    snprintf(path, sizeof(path), "%s/trace.html", synth.folder);
    stream = fopen(path, "r");
    assert_non_null(stream);
    assert_true(fread(page, 1, PAGE_BYTES_MAX - 1, stream) > 1000);
    fclose(stream);
    begin = strstr(page, before);
    assert_non_null(begin);
    begin += sizeof(before) - 1;
    end = strstr(begin, "</script>");
    assert_non_null(end);
    data = json_loadb(begin, (size_t)(end - begin), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(data);
}

static json_t *policy(void)
{
    return json_array_get(json_object_get(data, "policies"), 0);
}

static json_int_t number_of(const json_t *object, const char *key)
{
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

/* --- The stream ------------------------------------------------------------------------------ */

struct stream {
    uint8_t bytes[65536];
    size_t count;
    size_t at;
};

static void stream_open(struct stream *stream)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = json_string_value(json_object_get(policy(), "stream"));
    uint32_t bits = 0;

    assert_non_null(text);
    assert_int_equal(strlen(text) % 4, 0);
    stream->count = stream->at = 0;
    for (size_t i = 0; text[i] != '\0' && text[i] != '='; i++) {
        assert_non_null(strchr(digits, text[i]));
        bits = bits << 6 | (uint32_t)(strchr(digits, text[i]) - digits);
        if (i % 4 == 0)
            continue;
        assert_true(stream->count < sizeof(stream->bytes));
        stream->bytes[stream->count++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
}

static uint64_t stream_number(struct stream *stream)
{
    uint64_t number = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte;

        assert_true(stream->at < stream->count && shift < 64);
        byte = stream->bytes[stream->at++];
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
}

/* What is next in the stream is all that links say are the event's parents. */
static void assert_parents(struct stream *stream, const struct links *links, size_t event)
{
    uint64_t count = stream_number(stream);
    size_t expected = 0;

    for (size_t i = 0; i < links->count; i++)
        expected += links->links[i].child == event;
    assert_int_equal(count, expected);
    for (; count > 0; count--) {
        uint64_t parent = stream_number(stream);
        bool found = false;

        for (size_t i = 0; i < links->count; i++)
            found |= links->links[i].parent == parent && links->links[i].child == event;
        assert_true(found);
    }
}

static void the_stream_holds_every_event_as_it_was(void **state)
{
    static struct stream stream;
    struct links links;
    uint64_t t = 0;

    (void)state;
    synth_two_writes(&synth);
    load();
    stream_open(&stream);
    links_find(&links, &synth.record);
    assert_int_equal(number_of(policy(), "shown"), synth.record.count);
    for (size_t i = 0; i < synth.record.count; i++) {
        const struct event *event = &synth.record.events[i];
        uint64_t fields[FIELDS];

        for (unsigned j = 0; j < FIELDS; j++)
            fields[j] = stream_number(&stream);
        t += fields[0];
        assert_int_equal(t, event->t - synth.record.events[0].t);
        assert_int_equal(fields[1], event->dur);
        assert_int_equal(fields[2], event->kind);
        assert_string_equal(
            json_string_value(json_array_get(json_object_get(policy(), "whats"), fields[5])),
            event->what);
        assert_int_equal(fields[7], event->req);
        assert_int_equal(fields[9], event->off);
        assert_int_equal(fields[10], event->len);
        assert_int_equal(fields[11], event->sec);
        assert_parents(&stream, &links, i);
    }
    assert_int_equal(stream.at, stream.count);
    links_destroy(&links);
}

/* --- Tables ---------------------------------------------------------------------------------- */

/* The row of that kind. */
static json_t *row(const char *kind)
{
    size_t i;
    json_t *found;

    json_array_foreach(json_object_get(policy(), "rows"), i, found)
    {
        if (strcmp(json_string_value(json_object_get(found, "kind")), kind) == 0)
            return found;
    }
    fail_msg("there is no row for %s", kind);
    return NULL;
}

static void sizes_and_percentiles_are_those_of_all_events(void **state)
{
    (void)state;
    synth_two_writes(&synth);
    load();
    assert_int_equal(number_of(row("data_return"), "count"), 3);
    assert_int_equal(number_of(row("data_return"), "bytes"), 262144);
    assert_int_equal(number_of(row("data_return"), "largest"), 131072);
    assert_int_equal(number_of(json_object_get(row("data_return"), "hist"), "65536"), 2);
    assert_int_equal(number_of(json_object_get(row("data_return"), "hist"), "131072"), 1);
    assert_int_equal(number_of(row("data_return"), "p50"), 1790000);
    assert_int_equal(number_of(row("data_return"), "max"), 1800000);
    assert_int_equal(number_of(row("disk_write"), "count"), 2);
    assert_int_equal(number_of(row("disk_write"), "bytes"), 65536);
    assert_int_equal(json_array_size(json_object_get(data, "kinds")), EVENT_KINDS);
    assert_int_equal(number_of(policy(), "end_ns"), 105000000);
}

static void what_is_damaged_is_said_in_the_page(void **state)
{
    const char *note;

    (void)state;
    synth_two_writes(&synth);
    synth_say(&synth, "event t=1 dur=2 kind=op");
    load();
    note = json_string_value(json_array_get(json_object_get(policy(), "notes"), 0));
    assert_string_equal(note, "17 of 17 events are drawn");
    note = json_string_value(json_array_get(json_object_get(policy(), "notes"), 1));
    assert_contains(note, "1 damaged line is left out");
}

/* --- The page -------------------------------------------------------------------------------- */

static void the_page_needs_nothing_but_itself(void **state)
{
    static const char *const foreign[] = {"@STYLE@", "@DATA@", "@SCRIPT@", "<link rel=\"style",
                                          "<img",    " src=",  "@import",  "url("};

    (void)state;
    synth_two_writes(&synth);
    load();
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        if (strstr(page, foreign[i]) != NULL)
            fail_msg("the page has %s", foreign[i]);
    }
    assert_non_null(strstr(page, "default-src 'none'"));
    assert_non_null(strstr(page, html_style));
    assert_non_null(strstr(page, html_script));
    assert_null(strstr(html_script, "</script"));
    assert_string_equal(page + strlen(page) - 8, "</html>\n");
}

static void a_name_cannot_break_out_of_the_data(void **state)
{
    (void)state;
    synth_event(&synth, 1000, 1000, "op",
                "srv=</script><b> thr=\"main req=1 off=0 len=1 what=write res=0");
    synth_close(&synth, 0, 0);
    load();
    assert_string_equal(json_string_value(json_object_get(row("op"), "server")), "</script><b>");
}

/* --- Fewer events ---------------------------------------------------------------------------- */

/* 100 writes, with a return, a run, a store_write and its command each, and at last a sync. */
static void writes_make(void)
{
    for (unsigned i = 0; i < 100; i++) {
        uint64_t t = 1000000000 + i * UINT64_C(2000000);

        synth_event(&synth, t, 1000, "io",
                    "srv=pager thr=w req=%u obj=7 off=%u len=4096 what=io_write res=0", 4 * i + 1,
                    i * 4096);
        synth_event(&synth, t + 2000, 1500000, "data_return",
                    "srv=pager thr=w req=%u obj=7 off=%u len=4096 cls=file what=dirty res=0",
                    4 * i + 2, i * 4096);
        synth_event(&synth, t + 3000, 1400000, "run",
                    "srv=pager thr=w req=%u by=%u obj=7 off=%u len=4096 cls=file n=1", 4 * i + 3,
                    4 * i + 2, i * 4096);
        synth_write(&synth, t + 4000, 4 * i + 4, 4 * i + 3, 8 * i, 4096);
    }
    synth_event(&synth, 1900000000, 1000, "op",
                "srv=workload thr=main req=1 off=0 len=409600 what=sync res=0");
    synth_close(&synth, 400, 0);
}

static void fewer_events_are_whole_requests(void **state)
{
    struct links links;
    bool *kept;
    size_t count = 0;

    (void)state;
    writes_make();
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    assert_int_equal(synth.record.count, 501);
    links_find(&links, &synth.record);
    kept = thin_choose(&synth.record, &links, 5);
    for (size_t i = 0; i < synth.record.count; i++)
        count += kept[i];
    assert_int_equal(count, 101);
    for (size_t i = 0; i < links.count; i++)
        assert_int_equal(kept[links.links[i].parent], kept[links.links[i].child]);
    free(kept);
    kept = thin_choose(&synth.record, &links, 1);
    for (size_t i = 0; i < synth.record.count; i++)
        assert_true(kept[i]);
    free(kept);
    links_destroy(&links);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_stream_holds_every_event_as_it_was),
        TEST(sizes_and_percentiles_are_those_of_all_events),
        TEST(what_is_damaged_is_said_in_the_page),
        TEST(the_page_needs_nothing_but_itself),
        TEST(a_name_cannot_break_out_of_the_data),
        TEST(fewer_events_are_whole_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
