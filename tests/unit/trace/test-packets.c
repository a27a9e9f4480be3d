// SPDX-License-Identifier: GPL-2.0-or-later
/* A damaged trace in CTF: what is there is read, and what is missing is said. */
#include <sanitizer/lsan_interface.h>
#include <unistd.h>

#include "packets.h"
#include "streams.h"

#define STREAM  "ctf/pager-file-2"
#define PACKETS 3

#define EVENT_BYTES (1 + 8 + 8 + 4 + 4 + 4 + 8 + 1 + 1) /* of a store_read */

static size_t events_all; /* in the whole trace */

/* A stream of PACKETS packets, and another of four. */
static int setup(void **state)
{
    static struct ctf_stream stream;
    static struct ctf_stream other;

    (void)state;
    streams_begin();
    streams_init(&stream, "file/2");
    streams_init(&other, "rpc");
    for (unsigned i = 0; i < PACKETS; i++) {
        streams_fill(&stream, 100 * i, 1 + 10 * i, 10);
        ctf_stream_flush(&stream);
    }
    for (unsigned i = 0; i < 4; i++) {
        streams_fill(&other, 1 + 100 * i, 1000 + 10 * i, 10);
        ctf_stream_flush(&other);
    }
    assert_int_equal(streams_end(0), 0);
    assert_int_equal(streams_read(), 0);
    events_all = 10 * PACKETS + 40;
    assert_int_equal(streams.record.log.count, events_all);
    assert_string_equal(streams_warnings(), "");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    streams_remove();
    return 0;
}

/* Write the COUNT bytes at DATA to the place OFFSET of the stream's file. */
static void damage(size_t offset, const void *data, size_t count)
{
    FILE *file = fopen(streams_path(STREAM), "r+");

    assert_non_null(file);
    assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
    assert_int_equal(fwrite(data, 1, count, file), count);
    fclose(file);
}

static void assert_read(size_t count, const char *warning)
{
    assert_int_equal(streams_read(), 0);
    assert_contains(streams_warnings(), warning);
    assert_int_equal(streams.record.log.count, count);
}

static void a_file_that_is_cut_off_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    assert_int_equal(truncate(streams_path(STREAM), 2 * CTF_PACKET_BYTES + 100), 0);
    assert_read(events_all - 10, "1 file of CTF is cut off: pager-file-2");
}

static void a_file_that_is_cut_between_packets_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    assert_int_equal(truncate(streams_path(STREAM), 2 * CTF_PACKET_BYTES), 0);
    assert_int_equal(streams_read(), 0);
    assert_int_equal(streams.record.log.count, events_all - 10); /* nothing in CTF says more */
}

static void a_file_that_is_missing_leaves_the_others(void **state)
{
    (void)state;
    assert_int_equal(unlink(streams_path(STREAM)), 0);
    assert_int_equal(streams_read(), 0);
    assert_int_equal(streams.record.log.count, events_all - 10 * PACKETS);
}

static void a_damaged_head_costs_one_packet(void **state)
{
    static const size_t places[] = {
        offsetof(struct ctf_packet_head, magic),
        offsetof(struct ctf_packet_head, stream_type),
        offsetof(struct ctf_packet_head, packet_bits),
        offsetof(struct ctf_packet_head, begin_ns),
        offsetof(struct ctf_packet_head, content_bits),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        uint8_t whole[CTF_PACKET_BYTES];
        FILE *file = fopen(streams_path(STREAM), "r");

        assert_non_null(file);
        assert_int_equal(fseek(file, CTF_PACKET_BYTES, SEEK_SET), 0);
        assert_int_equal(fread(whole, 1, sizeof(whole), file), sizeof(whole));
        fclose(file);
        damage(CTF_PACKET_BYTES + places[i], "\xff\xff\xff\xff", 4);
        assert_read(events_all - 10, "1 damaged packet of CTF is left out: pager-file-2");
        assert_contains(streams_warnings(), "1 packet of CTF is missing, say the numbers");
        damage(CTF_PACKET_BYTES, whole, sizeof(whole));
    }
}

static void a_packet_that_went_missing_is_missed(void **state)
{
    uint8_t last[CTF_PACKET_BYTES];
    FILE *file = fopen(streams_path(STREAM), "r");

    (void)state;
    assert_non_null(file);
    assert_int_equal(fseek(file, 2 * CTF_PACKET_BYTES, SEEK_SET), 0);
    assert_int_equal(fread(last, 1, sizeof(last), file), sizeof(last));
    fclose(file);
    damage(CTF_PACKET_BYTES, last, sizeof(last));
    assert_int_equal(truncate(streams_path(STREAM), 2 * CTF_PACKET_BYTES), 0);
    assert_read(events_all - 10, "1 packet of CTF is missing, say the numbers of the others");
}

static void packets_in_the_wrong_order_are_damage(void **state)
{
    uint8_t first[CTF_PACKET_BYTES];
    FILE *file = fopen(streams_path(STREAM), "r");

    (void)state;
    assert_non_null(file);
    assert_int_equal(fread(first, 1, sizeof(first), file), sizeof(first));
    fclose(file);
    damage(2 * CTF_PACKET_BYTES, first, sizeof(first));
    assert_read(events_all - 10, "1 damaged packet of CTF is left out: pager-file-2");
}

/* Where the first event of a packet is. */
static size_t first_event(void)
{
    return sizeof(struct ctf_packet_head) + sizeof("pager") + sizeof("file/2");
}

static void an_event_of_no_kind_ends_its_stream_and_no_other(void **state)
{
    (void)state;
    damage(CTF_PACKET_BYTES + first_event(), "\x63", 1);
    assert_read(events_all - 20, "1 stream of CTF cannot be read to the end: ");
}

/* The last packet says that it is full: what lies behind its events is read as more of them, up to
   one that the file's end cuts off. */
static void a_file_may_end_within_an_event(void **state)
{
    const size_t place =
        (PACKETS - 1) * CTF_PACKET_BYTES + offsetof(struct ctf_packet_head, content_bits);
    const uint32_t all = CTF_PACKET_BYTES * 8;

    (void)state;
    for (uint32_t bits = all - 400; bits <= all; bits += 8) {
        damage(place, &bits, sizeof(bits));
        assert_read(events_all, "events of CTF are left out, not as docs/trace.md says");
    }
}

static void an_event_with_a_value_that_means_nothing_is_left_out(void **state)
{
    const size_t class = first_event() + 1 + 8 + 8 + 4 + 4 + 4 + 8; /* of a store_read */

    (void)state;
    damage(class, "\x07", 1);
    assert_read(events_all - 1, "1 event of CTF is left out, not as docs/trace.md says");
}

/* Whatever a byte is changed to: what is read was there, or is one of the events that were changed.
 */
static void any_byte_can_be_damaged(void **state)
{
    const size_t used = first_event() + 10 * EVENT_BYTES;
    uint32_t x = 1;

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        char before = 0;
        char after;
        size_t place;
        FILE *file = fopen(streams_path(STREAM), "r");

        x = x * 1664525u + 1013904223u;
        place = (x >> 8) % PACKETS * CTF_PACKET_BYTES + (x >> 10) % used;
        assert_non_null(file);
        assert_int_equal(fseek(file, (long)place, SEEK_SET), 0);
        before = (char)fgetc(file);
        fclose(file);
        after = (char)(before ^ (1 + x % 255));
        damage(place, &after, 1);
        assert_int_equal(streams_read(), 0);
        assert_in_range(streams.record.log.count, 10, events_all);
        damage(place, &before, 1);
    }
}

static void a_file_of_noise_is_damaged_packets(void **state)
{
    FILE *file = fopen(streams_path("ctf/noise"), "w");
    uint32_t x = 1;

    (void)state;
    assert_non_null(file);
    for (size_t i = 0; i < 2 * CTF_PACKET_BYTES + 7; i++) {
        x = x * 1664525u + 1013904223u;
        fputc((int)(x >> 24), file);
    }
    fclose(file);
    assert_read(events_all, "2 damaged packets of CTF are left out: noise");
    assert_contains(streams_warnings(), "1 file of CTF is cut off: noise");
}

static void without_metadata_nothing_can_be_read(void **state)
{
    (void)state;
    assert_int_equal(unlink(streams_path("ctf/metadata")), 0);
    assert_int_equal(streams_read(), STATUS_BAD_INPUT);
    assert_contains(streams.failure.reason, "the metadata of CTF: ");
    assert_contains(streams.failure.reason, "No such file");
}

static void metadata_that_are_damaged_are_one_error(void **state)
{
    (void)state;
    assert_int_equal(truncate(streams_path("ctf/metadata"), 2500), 0);
    __lsan_disable(); /* source.ctf.fs of babeltrace2 2.0.4 leaks 32 bytes then */
    assert_int_equal(streams_read(), STATUS_BAD_INPUT);
    __lsan_enable();
    assert_contains(streams.failure.reason, "cannot be read as CTF: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_is_cut_off_is_read_as_far_as_it_goes, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            a_file_that_is_cut_between_packets_is_read_as_far_as_it_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_missing_leaves_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(a_damaged_head_costs_one_packet, setup, teardown),
        cmocka_unit_test_setup_teardown(a_packet_that_went_missing_is_missed, setup, teardown),
        cmocka_unit_test_setup_teardown(packets_in_the_wrong_order_are_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(an_event_of_no_kind_ends_its_stream_and_no_other, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_file_may_end_within_an_event, setup, teardown),
        cmocka_unit_test_setup_teardown(an_event_with_a_value_that_means_nothing_is_left_out, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(any_byte_can_be_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_of_noise_is_damaged_packets, setup, teardown),
        cmocka_unit_test_setup_teardown(without_metadata_nothing_can_be_read, setup, teardown),
        cmocka_unit_test_setup_teardown(metadata_that_are_damaged_are_one_error, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
