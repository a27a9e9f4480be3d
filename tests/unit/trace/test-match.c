// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "synth-test.h"

static void load(uint64_t events)
{
    synth_close(&synth, events, 0);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
}

/* The INDEX-th command of the disk, in time. */
static const struct event *command(size_t index)
{
    for (size_t i = 0; i < synth.record.count; i++) {
        if (synth.record.events[i].kind >= EVENT_GUEST_KINDS && index-- == 0)
            return &synth.record.events[i];
    }
    fail_msg("there is no such command");
    return NULL;
}

static void commands_belong_to_the_call_that_names_their_sectors(void **state)
{
    (void)state;
    synth.drift = 0.02;
    synth_write(&synth, 1000000000, 1, 9, 0, 131072);
    synth_write(&synth, 1002000000, 2, 9, 256, 4096);
    load(2);
    assert_int_equal(synth.record.count, 7);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(command(i)->by, i < 4 ? 1 : 2);
        assert_string_equal(command(i)->srv, "pager");
        assert_int_equal(command(i)->cls, LAYER_FILE);
    }
    assert_int_equal(command(1)->sec, SYNTH_PARTITION + 64);
    assert_int_equal(command(1)->len, 32768);
    assert_int_equal(synth.record.calls, 2);
    assert_int_equal(synth.record.uncovered, 0);
    assert_int_equal(synth.record.warnings_count, 0);
}

static void commands_are_put_within_their_calls_time(void **state)
{
    (void)state;
    synth.drift = -0.1;
    for (uint64_t i = 0; i < 50; i++)
        synth_write(&synth, 1000000000 + i * 5000000, i + 1, 0, i * 256, 131072);
    load(50);
    assert_true(synth.record.align.known);
    for (size_t i = 0; i < 200; i++) {
        uint64_t begin = 1000000000 + i / 4 * 5000000;

        assert_true(command(i)->t >= begin && event_end(command(i)) <= begin + 1000000);
        assert_int_equal(event_end(command(i)), i % 4 == 3 ? begin + 1000000 : command(i + 1)->t);
    }
}

static void sectors_that_are_written_again_belong_to_the_later_call(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        synth_write(&synth, 1000000000 + i * 2000000, i + 1, 0, 8 * (i % 2), 4096);
    load(10);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(command(i)->by, i + 1);
}

/* The calls of the first and the third write are missing: time tells, not order. */
static void a_call_that_is_missing_does_not_shift_the_others(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        synth_write(&synth, 500000000 + i * 2000000, 100 + i, 0, 800 + 8 * i, 4096);
    for (uint64_t i = 0; i < 5; i++) {
        if (i == 0 || i == 2)
            synth_command(&synth, 1000100000 + i * 2000000, true, 0, 4096);
        else
            synth_write(&synth, 1000000000 + i * 2000000, i + 1, 0, 0, 4096);
    }
    load(10);
    assert_int_equal(command(5)->by, 0);
    assert_int_equal(command(6)->by, 2);
    assert_int_equal(command(7)->by, 0);
    assert_int_equal(command(8)->by, 4);
    assert_int_equal(command(9)->by, 5);
    assert_int_equal(command(5)->cls, LAYER_META);
    assert_string_equal(command(5)->srv, "");
    assert_int_equal(synth.record.uncovered, 0);
}

static void without_stamps_order_decides(void **state)
{
    (void)state;
    synth.stamped = false;
    synth_write(&synth, 1000000000, 1, 0, 0, 4096);
    synth_write(&synth, 1002000000, 2, 0, 0, 4096);
    load(2);
    assert_false(synth.record.align.known);
    assert_int_equal(command(0)->by, 1);
    assert_int_equal(command(1)->by, 2);
    assert_int_equal(command(0)->keys & EVENT_HAS_T, 0);
}

static void a_write_that_never_came_is_noticed(void **state)
{
    (void)state;
    synth_write(&synth, 1000000000, 1, 0, 0, 65536);
    synth_event(&synth, 1002000000, 1000000, "store_write",
                "srv=pager thr=w req=2 by=0 len=65536 sec=256 cls=file res=0");
    synth_command(&synth, 1002100000, true, 256, 32768);
    load(2);
    assert_int_equal(synth.record.uncovered, 1);
}

static void a_write_that_came_too_late_is_noticed(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        synth_write(&synth, 500000000 + i * 2000000, 100 + i, 0, 800 + 8 * i, 4096);
    synth_event(&synth, 1002000000, 1000000, "store_write",
                "srv=pager thr=w req=2 by=0 len=4096 sec=256 cls=file res=0");
    synth_command(&synth, 1050100000, true, 256, 4096);
    synth_command(&synth, 1060100000, true, 256, 4096);
    load(6);
    assert_int_equal(synth.record.uncovered, 1);
}

static void a_call_that_failed_need_not_reach_the_disk(void **state)
{
    (void)state;
    synth_write(&synth, 1000000000, 1, 0, 0, 4096);
    synth_event(&synth, 1002000000, 1000000, "store_write",
                "srv=pager thr=w req=2 by=0 len=4096 sec=256 cls=file res=5");
    load(2);
    assert_int_equal(synth.record.uncovered, 0);
}

/* 1 KiB in a device block of 4 KiB: the driver reads the block, and writes all of it. */
static void a_part_of_a_block_is_read_and_written_whole(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t t = 1000000000 + i * 2000000;

        synth_event(&synth, t, 1000000, "store_write",
                    "srv=pager thr=w req=%d by=0 len=1024 sec=%d cls=meta res=0", (int)i + 1,
                    (int)(2 * i));
        synth_command(&synth, t + 100000, false, 0, 4096);
        synth_command(&synth, t + 200000, true, 0, 4096);
    }
    load(2);
    assert_int_equal(command(0)->kind, EVENT_DISK_READ);
    assert_int_equal(command(0)->by, 1);
    assert_int_equal(command(1)->by, 1);
    assert_int_equal(command(2)->by, 2);
    assert_int_equal(command(3)->by, 2);
    assert_int_equal(synth.record.uncovered, 0);
}

/* Both calls are going on when both commands come. */
static void calls_that_meet_in_a_block_have_a_command_each(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        synth_write(&synth, 500000000 + i * UINT64_C(2000000), 100 + i, 0, 800 + 8 * i, 4096);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t t = 1000000000 + i * 1000;

        synth_event(&synth, t, 1000000, "store_write",
                    "srv=pager thr=w req=%u by=0 len=1024 sec=%u cls=meta res=0", i + 1, 2 * i);
        synth_command(&synth, t + 200000, true, 0, 4096);
    }
    load(7);
    assert_int_equal(command(5)->by, 1);
    assert_int_equal(command(6)->by, 2);
    assert_int_equal(synth.record.uncovered, 0);
}

static void reads_belong_to_reads(void **state)
{
    (void)state;
    synth_event(&synth, 1000000000, 1000000, "store_read",
                "srv=pager thr=w req=1 by=7 len=4096 sec=0 cls=file res=0");
    synth_command(&synth, 1000100000, false, 0, 4096);
    synth_write(&synth, 1002000000, 2, 0, 0, 4096);
    synth_command(&synth, 2000000000, false, 8, 4096);
    load(2);
    assert_int_equal(command(0)->by, 1);
    assert_int_equal(command(1)->by, 2);
    assert_int_equal(command(2)->by, 0);
}

static void commands_outside_the_servers_time_are_left_out(void **state)
{
    (void)state;
    synth_write(&synth, 1000000000, 1, 0, 0, 4096);
    synth_close(&synth, 1, 0);
    synth_command(&synth, 1100000000, true, 0, 4096);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    assert_int_equal(synth.record.count, 2);
}

static void without_partitions_a_command_belongs_to_nobody(void **state)
{
    (void)state;
    json_object_del(synth.job, "partitions");
    synth_write(&synth, 1000000000, 1, 0, 0, 4096);
    load(1);
    assert_int_equal(synth.record.calls, 0);
    assert_int_equal(command(0)->by, 0);
    assert_contains(synth.record.warnings[0], "where the disk's partitions begin is not known");
}

/* No clock is right for all three. */
static void commands_that_contradict_their_calls_are_noticed(void **state)
{
    static const uint64_t came[] = {1000500000, 2000500000, 2500000000};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        synth_event(&synth, (i + 1) * UINT64_C(1000000000), 1000000, "store_write",
                    "srv=pager thr=w req=%u by=0 len=4096 sec=%u cls=file res=0", i + 1, 8 * i);
        synth_command(&synth, came[i], true, 8 * i, 4096);
    }
    load(3);
    assert_contains(synth.record.warnings[0], "came at times that contradict their calls");
}

/* A log that was cut off has no store line; the job says where its server's store is. */
static void the_job_tells_the_servers_partition(void **state)
{
    (void)state;
    synth_write(&synth, 1000000000, 1, 0, 0, 4096);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    assert_int_equal(command(0)->by, 1);
}

static void lengths_that_no_disk_has_are_no_harm(void **state)
{
    (void)state;
    synth_event(&synth, 1, 1, "store_write",
                "srv=pager thr=w req=1 by=0 len=4611686018427387903 sec=0 cls=file res=0");
    synth_event(&synth, 1, 1, "store_read",
                "srv=pager thr=w req=2 by=0 len=0 sec=18014398509481983 cls=file res=0");
    load(2);
    assert_int_equal(synth.record.count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commands_belong_to_the_call_that_names_their_sectors),
        TEST(commands_are_put_within_their_calls_time),
        TEST(sectors_that_are_written_again_belong_to_the_later_call),
        TEST(a_call_that_is_missing_does_not_shift_the_others),
        TEST(without_stamps_order_decides),
        TEST(a_write_that_never_came_is_noticed),
        TEST(a_write_that_came_too_late_is_noticed),
        TEST(a_call_that_failed_need_not_reach_the_disk),
        TEST(a_part_of_a_block_is_read_and_written_whole),
        TEST(calls_that_meet_in_a_block_have_a_command_each),
        TEST(reads_belong_to_reads),
        TEST(commands_outside_the_servers_time_are_left_out),
        TEST(without_partitions_a_command_belongs_to_nobody),
        TEST(commands_that_contradict_their_calls_are_noticed),
        TEST(the_job_tells_the_servers_partition),
        TEST(lengths_that_no_disk_has_are_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
