// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "qemu-trace.h"

#define OPEN  "bdrv_open_common bs 0xa2 filename \"disk.img\" flags 0x22002 format_name \"raw\"\n"
#define START "fw_cfg_select 0xf0 key 0x3ff0 'unknown', ret: 0\n"
#define STOP  "fw_cfg_select 0xf0 key 0x3ff1 'unknown', ret: 0\n"

static struct failure trace_failure;
static struct trace trace;

static int read_trace(const char *text, bool torn)
{
    FILE *stream = text_stream(text);
    int status;

    trace_failure = (struct failure){0};
    status = trace_read(&trace, stream, "qemu.trace", "disk.img", torn, &trace_failure);
    fclose(stream);
    return status;
}

static int discard_trace(void **state)
{
    (void)state;
    trace_destroy(&trace);
    trace = (struct trace){0};
    return 0;
}

static void assert_request(size_t index, bool write, uint64_t offset, uint64_t bytes,
                           enum trace_phase phase)
{
    assert_true(index < trace.count);
    assert_int_equal(trace.requests[index].write, write);
    assert_int_equal(trace.requests[index].offset, offset);
    assert_int_equal(trace.requests[index].bytes, bytes);
    assert_int_equal(trace.requests[index].phase, phase);
}

static void requests_are_sorted_by_the_marks(void **state)
{
    (void)state;
    assert_int_equal(
        read_trace(OPEN "blk_co_preadv blk 0x1 bs 0xa2 offset 0 bytes 512 flags 0x0\n" START
                        "blk_co_pwritev blk 0x1 bs 0xa2 offset 1024 bytes 32768 flags 0x0\n" STOP
                        "blk_co_pwritev blk 0x1 bs 0xa2 offset 9000000000 bytes 1 flags 0x2\n",
                   false),
        STATUS_SUCCESS);
    assert_int_equal(trace.count, 3);
    assert_request(0, false, 0, 512, TRACE_BEFORE);
    assert_request(1, true, 1024, 32768, TRACE_COUNTED);
    assert_request(2, true, UINT64_C(9000000000), 1, TRACE_AFTER);
    assert_int_equal(trace.starts, 1);
    assert_int_equal(trace.stops, 1);
}

static void only_the_test_disk_counts(void **state)
{
    (void)state;
    assert_int_equal(
        read_trace(
            "bdrv_open_common bs 0xa1 filename \"disk.img\" flags 0x2 format_name \"file\"\n" OPEN
            "bdrv_open_common bs 0xb2 filename \"/x/boot.iso\" flags 0x2 format_name \"raw\"\n"
            "blk_co_preadv blk 0x1 bs 0xb2 offset 0 bytes 2048 flags 0x0\n"
            "blk_co_pwritev blk 0x1 bs 0xa1 offset 0 bytes 512 flags 0x0\n"
            "blk_co_pwritev blk 0x1 bs 0xa2 offset 512 bytes 512 flags 0x0\n",
            false),
        STATUS_SUCCESS);
    assert_int_equal(trace.count, 1);
    assert_request(0, true, 512, 512, TRACE_BEFORE);
}

static void a_disk_that_fails_is_the_test_disk_all_the_same(void **state)
{
    (void)state;
    assert_int_equal(
        read_trace("bdrv_open_common bs 0xa0 filename \"\" flags 0x2 format_name \"blkdebug\"\n"
                   "bdrv_open_common bs 0xa1 filename \"disk.img\" flags 0x2 format_name \"file\"\n"
                   "bdrv_open_common bs 0xa2 filename \"blkdebug:blkdebug.cfg:disk.img\" flags 0x2 "
                   "format_name \"raw\"\n"
                   "blk_co_pwritev blk 0x1 bs 0xa2 offset 512 bytes 512 flags 0x0\n",
                   false),
        STATUS_SUCCESS);
    assert_int_equal(trace.count, 1);
    assert_request(0, true, 512, 512, TRACE_BEFORE);
}

static void the_file_below_the_disk_does_not_count_whenever_it_is_opened(void **state)
{
    (void)state;
    assert_int_equal(
        read_trace(OPEN
                   "bdrv_open_common bs 0xa1 filename \"disk.img\" flags 0x2 format_name \"file\"\n"
                   "blk_co_pwritev blk 0x1 bs 0xa1 offset 0 bytes 512 flags 0x0\n"
                   "blk_co_pwritev blk 0x1 bs 0xa2 offset 512 bytes 512 flags 0x0\n",
                   false),
        STATUS_SUCCESS);
    assert_int_equal(trace.count, 1);
    assert_request(0, true, 512, 512, TRACE_BEFORE);
}

static void the_disk_is_found_by_the_last_part_of_its_path(void **state)
{
    (void)state;
    assert_int_equal(
        read_trace(
            "bdrv_open_common bs 0xa9 filename \"/a/notdisk.img\" flags 0x2 format_name \"raw\"\n"
            "bdrv_open_common bs 0xa2 filename \"/a/disk.img\" flags 0x2 format_name \"raw\"\n"
            "blk_co_pwritev blk 0x1 bs 0xa9 offset 0 bytes 512 flags 0x0\n"
            "blk_co_pwritev blk 0x1 bs 0xa2 offset 0 bytes 512 flags 0x0\n",
            false),
        STATUS_SUCCESS);
    assert_int_equal(trace.count, 1);
}

static void an_address_that_is_used_again_is_another_disk(void **state)
{
    (void)state;
    assert_int_equal(
        read_trace(OPEN
                   "bdrv_open_common bs 0xa2 filename \"boot.iso\" flags 0x2 format_name \"raw\"\n"
                   "blk_co_pwritev blk 0x1 bs 0xa2 offset 0 bytes 512 flags 0x0\n",
                   false),
        STATUS_SUCCESS);
    assert_int_equal(trace.count, 0);
}

static void a_process_and_time_in_front_are_read(void **state)
{
    (void)state;
    assert_int_equal(read_trace("1234@1700000000.123456:" OPEN
                                "1234@1700000000.123457:blk_co_pwritev blk 0x1 bs 0xa2 offset 0 "
                                "bytes 512 flags 0x0\n"
                                "blk_co_pwritev blk 0x1 bs 0xa2 offset 0 bytes 512 flags 0x0\n",
                                false),
                     STATUS_SUCCESS);
    assert_int_equal(trace.count, 2);
    assert_int_equal(trace.requests[0].host_us, UINT64_C(1700000000123457));
    assert_int_equal(trace.requests[1].host_us, 0);
}

static void other_selectors_are_no_marks(void **state)
{
    (void)state;
    assert_int_equal(read_trace("fw_cfg_select 0xf0 key 0x0019 'file_dir', ret: 1\n"
                                "fw_cfg_select 0xf0 key 0x8000 'acpi_tables', ret: 1\n",
                                false),
                     STATUS_SUCCESS);
    assert_int_equal(trace.starts + trace.stops, 0);
}

static void a_line_that_cannot_be_understood_is_an_error(void **state)
{
    static const char *const lines[] = {
        "blk_co_pwritev blk 0x1 bs 0xa2 offset 0 bytes 512\n",
        "blk_co_pwritev blk 0x1 bs 0xa2 offset 0 bytes 512 flags 0x0 more\n",
        "blk_co_pwritev blk 0x1 bs 0xa2 offset -1 bytes 512 flags 0x0\n",
        "blk_co_pwritev blk 0x1 bs 0xa2 offset 0x10 bytes 512 flags 0x0\n",
        "blk_co_pwritev blk 0x1 bs 0xa2 offset 18446744073709551615 bytes 512 flags 0x0\n",
        "blk_co_pwritev blk 0x1 bs 0xa2 offset 99999999999999999999 bytes 512 flags 0x0\n",
        "blk_co_pwritev blk 0x1 bs zz offset 0 bytes 512 flags 0x0\n",
        "blk_co_pwritevblk 0x1 bs 0xa2 offset 0 bytes 512 flags 0x0\n",
        "bdrv_open_common bs 0xa2 filename \"disk.img flags 0x22002\n",
        "1234@1700000000.12345:fw_cfg_select 0xf0 key 0x3ff0 'unknown', ret: 0\n",
        "1234@.123456:fw_cfg_select 0xf0 key 0x3ff0 'unknown', ret: 0\n",
        "fw_cfg_select 0xf0 key 3ff0 'unknown', ret: 0\n",
        "invalid/unsupported opcode\n",
        "\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[512];

        snprintf(text, sizeof(text), OPEN "%s", lines[i]);
        assert_int_equal(read_trace(text, false), STATUS_FAILED);
        assert_contains(trace_failure.reason, "qemu.trace:2: ");
        discard_trace(NULL);
    }
}

static void a_torn_last_line_is_forgiven_only_if_qemu_was_ended_from_outside(void **state)
{
    (void)state;
    assert_int_equal(read_trace(OPEN "blk_co_pwritev blk 0x1 bs 0xa2 offs", true), STATUS_SUCCESS);
    discard_trace(NULL);
    assert_int_equal(read_trace(OPEN "blk_co_pwritev blk 0x1 bs 0xa2 offs", false), STATUS_FAILED);
}

static void the_events_file_names_what_the_reader_needs(void **state)
{
    (void)state;
    assert_contains(trace_events, "bdrv_open_common\n");
    assert_contains(trace_events, "fw_cfg_select\n");
    assert_contains(trace_events, "blk_co_pwritev\n");
    assert_contains(trace_events, "blk_co_preadv\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(requests_are_sorted_by_the_marks, discard_trace),
        cmocka_unit_test_teardown(only_the_test_disk_counts, discard_trace),
        cmocka_unit_test_teardown(a_disk_that_fails_is_the_test_disk_all_the_same, discard_trace),
        cmocka_unit_test_teardown(the_file_below_the_disk_does_not_count_whenever_it_is_opened,
                                  discard_trace),
        cmocka_unit_test_teardown(the_disk_is_found_by_the_last_part_of_its_path, discard_trace),
        cmocka_unit_test_teardown(an_address_that_is_used_again_is_another_disk, discard_trace),
        cmocka_unit_test_teardown(a_process_and_time_in_front_are_read, discard_trace),
        cmocka_unit_test_teardown(other_selectors_are_no_marks, discard_trace),
        cmocka_unit_test_teardown(a_line_that_cannot_be_understood_is_an_error, discard_trace),
        cmocka_unit_test_teardown(a_torn_last_line_is_forgiven_only_if_qemu_was_ended_from_outside,
                                  discard_trace),
        cmocka_unit_test(the_events_file_names_what_the_reader_needs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
