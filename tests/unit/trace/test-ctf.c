// SPDX-License-Identifier: GPL-2.0-or-later
/* A trace in CTF says what the text says, and loses nothing without a word. */
#include <unistd.h>

#include "libtrace/private.h"
#include "run/size.h"
#include "streams.h"

static struct ctf_stream stream;

static int setup(void **state)
{
    (void)state;
    streams_begin();
    streams_init(&stream, "file/2");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    streams_remove();
    return 0;
}

/* Takes all that was put and reads it. */
static void read_all(void)
{
    ctf_stream_flush(&stream);
    assert_int_equal(streams_end(0), 0);
    assert_int_equal(streams_read(), 0);
}

/* --- The same as the text ----------------------------------------------------------------------
 */

#define EVENTS_MAX 64

static struct trace_event events[EVENTS_MAX];
static size_t events_count;

static void event_add(struct trace_event event)
{
    ctf_stream_put(&stream, &event);
    events[events_count++] = event;
}

/* Each key of an event has another number, none of them a small one. */
static struct trace_event event_of(enum trace_kind kind, enum trace_what what, enum rt_class class)
{
    uint64_t start = 4000000000123 + events_count * 1000003;

    return (struct trace_event){.kind = (uint8_t)kind,
                                .start = start,
                                .end = start + 900001,
                                .offset = 0x123456789a000,
                                .sector = 0x7654321098,
                                .wait = 0x5555555555,
                                .length = 0xfffff000,
                                .request = 0xfedcba98,
                                .cause = 0x89abcdef,
                                .object = 0xdeadbeef,
                                .count = 0xcafe0001,
                                .what = (uint8_t)what,
                                .class = (uint8_t) class,
                                .result = 255};
}

static void assert_same_event(const struct event *ctf, const struct event *text)
{
    assert_int_equal(ctf->keys, text->keys);
    assert_int_equal(ctf->kind, text->kind);
    assert_int_equal(ctf->t, text->t);
    assert_int_equal(ctf->dur, text->dur);
    assert_int_equal(ctf->req, text->req);
    assert_int_equal(ctf->by, text->by);
    assert_int_equal(ctf->obj, text->obj);
    assert_int_equal(ctf->off, text->off);
    assert_int_equal(ctf->len, text->len);
    assert_int_equal(ctf->sec, text->sec);
    assert_int_equal(ctf->wait, text->wait);
    assert_int_equal(ctf->n, text->n);
    assert_int_equal(ctf->res, text->res);
    assert_int_equal(ctf->cls, text->cls);
    assert_string_equal(ctf->srv, text->srv);
    assert_string_equal(ctf->thr, text->thr);
    assert_string_equal(ctf->what, text->what);
}

/* Each event as it was read is what its line would have been read as. */
static void assert_same_as_lines(void)
{
    struct log *log = &streams.record.log;

    assert_int_equal(log->count, events_count);
    for (size_t i = 0; i < events_count; i++) {
        char line[TRACE_LINE_MAX];
        struct event event;

        trace_event_format(&events[i], "pager", "file/2", line);
        assert_int_equal(event_parse(&event, line, &log->names), 0);
        assert_same_event(&log->events[i], &event);
    }
}

static void an_event_of_each_kind_says_the_same_as_its_line(void **state)
{
    (void)state;
    events_count = 0;
    for (unsigned kind = 0; kind < TRACE_KINDS; kind++)
        event_add(event_of((enum trace_kind)kind, TRACE_READ, RT_CLASS_FILE));
    read_all();
    assert_string_equal(streams_warnings(), "");
    assert_same_as_lines();
}

static void each_word_is_the_same(void **state)
{
    (void)state;
    events_count = 0;
    for (unsigned what = TRACE_READ; what < TRACE_WHATS; what++)
        event_add(event_of(TRACE_DATA_RETURN, (enum trace_what)what,
                           what % 2 == 0 ? RT_CLASS_FILE : RT_CLASS_META));
    read_all();
    assert_same_as_lines();
}

static void times_are_rounded_as_in_a_line(void **state)
{
    (void)state;
    events_count = 0;
    for (unsigned i = 0; i < 9; i++) {
        struct trace_event event = event_of(TRACE_ALLOC_LOCK, TRACE_READ, RT_CLASS_FILE);

        event.start += i / 3;
        event.end += i % 3;
        event.wait = i;
        event_add(event);
    }
    read_all();
    assert_same_as_lines();
}

/* --- Packets and files -------------------------------------------------------------------------
 */

static void more_than_fits_a_packet_goes_to_the_next(void **state)
{
    const struct log *log = &streams.record.log;

    (void)state;
    streams_fill(&stream, 100, 1, 1000);
    read_all();
    assert_string_equal(streams_warnings(), "");
    assert_int_equal(log->count, 1000);
    for (size_t i = 0; i < log->count; i++) {
        assert_int_equal(log->events[i].req, 1 + i);
        assert_int_equal(log->events[i].t, (100 + i) * 1000);
    }
    assert_true(streams_size("ctf/pager-file-2") > 2 * CTF_PACKET_BYTES);
    assert_int_equal(streams_size("ctf/pager-file-2") % CTF_PACKET_BYTES, 0);
}

static void each_thread_has_a_file_of_its_own(void **state)
{
    static struct ctf_stream other;

    (void)state;
    streams_init(&other, "rpc");
    for (unsigned i = 0; i < 3; i++) {
        streams_fill(&stream, 100 * i, 1 + 2 * i, 1);
        ctf_stream_flush(&stream);
        streams_fill(&other, 100 * i, 2 + 2 * i, 1);
        ctf_stream_flush(&other);
        ctf_take(&streams.ctf);
    }
    read_all();
    assert_string_equal(streams_warnings(), "");
    assert_int_equal(streams.record.log.count, 6);
    assert_int_equal(streams_size("ctf/pager-file-2"), 3 * CTF_PACKET_BYTES);
    assert_int_equal(streams_size("ctf/pager-rpc"), 3 * CTF_PACKET_BYTES);
}

static void a_boot_that_never_ended_can_be_read(void **state)
{
    (void)state;
    streams_fill(&stream, 1, 1, 200);
    ctf_take(&streams.ctf);
    assert_int_equal(streams_read(), 0);
    assert_true(streams.record.log.count > 50);
    assert_true(streams.record.log.count < 200);
}

static void a_boot_without_any_packet_can_be_read(void **state)
{
    (void)state;
    assert_int_equal(streams_read(), 0);
    assert_int_equal(streams.record.log.count, 0);
}

static void a_slot_that_is_never_filled_holds_nobody_up(void **state)
{
    (void)state;
    streams_fill(&stream, 1, 1, 1);
    ctf_stream_flush(&stream);
    ((struct ctf_memory *)(void *)streams.memory)->taken++;
    streams_fill(&stream, 2, 2, 1);
    ctf_stream_flush(&stream);
    ctf_take(&streams.ctf);
    assert_int_equal(streams_size("ctf/pager-file-2"), 2 * CTF_PACKET_BYTES);
    read_all();
    assert_int_equal(streams.record.log.count, 2);
}

static void a_slot_that_is_filled_later_is_taken_later(void **state)
{
    static uint8_t kept[CTF_PACKET_BYTES];
    uint8_t *slot = streams.memory + CTF_PACKET_BYTES;

    (void)state;
    streams_fill(&stream, 1, 1, 1);
    ctf_stream_flush(&stream);
    memcpy(kept, slot, sizeof(kept));
    memset(slot, 0, sizeof(kept));
    ctf_take(&streams.ctf);
    assert_int_not_equal(access(streams_path("ctf/pager-file-2"), F_OK), 0);
    memcpy(slot, kept, sizeof(kept));
    ctf_take(&streams.ctf);
    assert_int_equal(streams_size("ctf/pager-file-2"), CTF_PACKET_BYTES);
}

static void names_that_are_no_names_of_files_are_made_some(void **state)
{
    static struct ctf_stream other;

    (void)state;
    streams_init(&other, "../x y");
    streams_fill(&other, 1, 1, 1);
    ctf_stream_flush(&other);
    read_all();
    assert_int_equal(streams_size("ctf/pager-..-x-y"), CTF_PACKET_BYTES);
    assert_string_equal(streams.record.log.events[0].thr, "../x y");
}

static void a_packet_that_names_nobody_is_a_failure(void **state)
{
    static uint8_t packet[CTF_PACKET_BYTES];
    const uint32_t magic = CTF_MAGIC;

    (void)state;
    memset(packet, 'x', sizeof(packet));
    memcpy(packet, &magic, sizeof(magic));
    streams_put(packet);
    assert_int_equal(streams_end(0), STATUS_FAILED);
    assert_contains(streams.failure.reason, "does not say of which server and thread it is");
}

/* --- What is discarded -------------------------------------------------------------------------
 */

static void what_was_never_put_is_counted(void **state)
{
    (void)state;
    streams_fill(&stream, 1, 1, 1);
    ctf_stream_flush(&stream);
    ctf_stream_discard(&stream, 7, 100000);
    streams_fill(&stream, 100, 9, 1);
    ctf_stream_flush(&stream);
    ctf_stream_discard(&stream, 5, 200000);
    ctf_stream_close(&stream, 200000);
    read_all();
    assert_int_equal(streams.record.log.count, 2);
    assert_contains(streams_warnings(), "12 events were discarded, say CTF's own counters");
}

static void what_was_told_is_not_told_again(void **state)
{
    (void)state;
    streams_fill(&stream, 1, 1, 1);
    ctf_stream_flush(&stream);
    ctf_stream_discard(&stream, 7, 100000);
    streams_fill(&stream, 100, 9, 1);
    ctf_stream_flush(&stream);
    ctf_stream_close(&stream, 200000);
    read_all();
    assert_int_equal(streams_size("ctf/pager-file-2"), 2 * CTF_PACKET_BYTES);
    assert_contains(streams_warnings(), "7 events were discarded, say CTF's own counters");
}

static void what_was_lost_before_the_first_packet_is_counted(void **state)
{
    (void)state;
    ctf_stream_discard(&stream, 7, 100000);
    streams_fill(&stream, 100, 9, 1);
    read_all();
    assert_int_equal(streams.record.log.count, 1);
    assert_contains(streams_warnings(), "7 events were discarded, say CTF's own counters");
}

static void a_thread_that_lost_all_of_its_events_says_so(void **state)
{
    (void)state;
    streams.room = 0;
    streams_fill(&stream, 1, 1, 3);
    ctf_stream_close(&stream, 100000);
    read_all();
    assert_int_equal(streams.record.log.count, 0);
    assert_contains(streams_warnings(), "3 events were discarded, say CTF's own counters");
}

static void what_the_memory_has_no_room_for_is_counted(void **state)
{
    size_t here;

    (void)state;
    streams.room = 2;
    streams_fill(&stream, 1, 1, 500);
    ctf_stream_close(&stream, 1000000);
    read_all();
    here = streams.record.log.count;
    assert_int_equal(streams_size("ctf/pager-file-2"), 3 * CTF_PACKET_BYTES);
    assert_true(here > 100 && here < 500);
    for (size_t i = 0; i < here; i++)
        assert_int_equal(streams.record.log.events[i].req, 1 + i);
    assert_contains(streams_warnings(), NUMBER_TEXT(500 - here));
    assert_contains(streams_warnings(), "events were discarded");
}

/* --- The clock ---------------------------------------------------------------------------------
 */

static const char *metadata(void)
{
    static char text[65536];
    FILE *file = fopen(streams_path("ctf/metadata"), "r");
    size_t length;

    assert_non_null(file);
    length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    return text;
}

static void the_clock_has_the_offset_that_is_known_at_the_end(void **state)
{
    (void)state;
    assert_contains(metadata(), "freq = 1000000000;");
    assert_null(strstr(metadata(), "offset_s = 0;")); /* a guess, until then */
    assert_int_equal(streams_end(1700000000000000005), 0);
    assert_contains(metadata(), "offset_s = 1700000000;\n\toffset = 5;\n");
    assert_int_not_equal(access(streams_path("ctf.memory"), F_OK), 0);
}

static void an_offset_before_1970_is_written_as_ctf_wants_it(void **state)
{
    (void)state;
    assert_int_equal(streams_end(-1), 0);
    assert_contains(metadata(), "offset_s = -1;\n\toffset = 999999999;\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_of_each_kind_says_the_same_as_its_line, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(each_word_is_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(times_are_rounded_as_in_a_line, setup, teardown),
        cmocka_unit_test_setup_teardown(more_than_fits_a_packet_goes_to_the_next, setup, teardown),
        cmocka_unit_test_setup_teardown(each_thread_has_a_file_of_its_own, setup, teardown),
        cmocka_unit_test_setup_teardown(a_boot_that_never_ended_can_be_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_boot_without_any_packet_can_be_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_slot_that_is_never_filled_holds_nobody_up, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_slot_that_is_filled_later_is_taken_later, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(names_that_are_no_names_of_files_are_made_some, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_packet_that_names_nobody_is_a_failure, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_never_put_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_told_is_not_told_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_lost_before_the_first_packet_is_counted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_lost_all_of_its_events_says_so, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_the_memory_has_no_room_for_is_counted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_clock_has_the_offset_that_is_known_at_the_end, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_offset_before_1970_is_written_as_ctf_wants_it, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
