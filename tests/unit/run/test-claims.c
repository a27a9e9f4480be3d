// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "claims.h"

#define START 2048u /* of partition 2 of the disk that these tests have */

static struct console console;
static struct trace_request requests[4096];
static struct trace trace;
static char result[CLAIMS_RESULT_BYTES];

static const struct mbr mbr = {
    .partitions = {{0, 0}, {START, 100000}, {START + 100000, 1000}, {0, 0}},
    .disk_bytes = 1u << 30,
};

static int setup(void **state)
{
    (void)state;
    console_init(&console);
    console_feed(&console, "machbed store server=pager device=sd0s2 block=4096 rmw_bytes=0 "
                           "copied_bytes=0");
    trace = (struct trace){.requests = requests};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    console_destroy(&console);
    return 0;
}

static void claim(unsigned sector, unsigned sectors, unsigned times)
{
    char line[200];

    snprintf(line, sizeof(line),
             "machbed claim server=pager device=sd0s2 sector=%u sectors=%u times=%u", sector,
             sectors, times);
    console_feed(&console, line);
    assert_string_equal(console.broken, "");
}

static void written_at(uint64_t offset, uint64_t bytes, enum trace_phase phase)
{
    requests[trace.count++] =
        (struct trace_request){.offset = offset, .bytes = bytes, .phase = phase, .write = true};
}

static void failed(unsigned sector, unsigned sectors, unsigned times)
{
    char line[200];

    snprintf(line, sizeof(line),
             "machbed failed server=pager device=sd0s2 sector=%u sectors=%u times=%u", sector,
             sectors, times);
    console_feed(&console, line);
    assert_string_equal(console.broken, "");
}

/* Sectors from the partition's start on. */
static void written(unsigned sector, unsigned sectors)
{
    written_at((START + sector) * UINT64_C(512), sectors * UINT64_C(512), TRACE_COUNTED);
}

static void assert_result(const char *part)
{
    claims_check(&console, &trace, &mbr, "sd0", result);
    assert_contains(result, part);
}

static void assert_agrees(void)
{
    claims_check(&console, &trace, &mbr, "sd0", result);
    assert_string_equal(result, "ok");
}

static void nothing_agrees_with_nothing(void **state)
{
    (void)state;
    assert_agrees();
}

static void one_claim_agrees_with_the_commands_it_became(void **state)
{
    (void)state;
    claim(0, 256, 1);
    for (unsigned i = 0; i < 4; i++)
        written(64 * i, 64);
    assert_agrees();
}

static void the_order_of_the_commands_does_not_matter(void **state)
{
    (void)state;
    claim(8, 8, 1);
    claim(64, 16, 2);
    written(72, 8);
    written(64, 16);
    written(8, 8);
    written(64, 8);
    assert_agrees();
}

static void a_claimed_sector_that_was_not_written_is_named(void **state)
{
    (void)state;
    claim(0, 64, 1);
    written(0, 24);
    written(32, 32);
    assert_result("sector 2,072 of the disk: the servers claim it, the disk was never asked");
}

static void a_written_sector_that_nobody_claims_is_named(void **state)
{
    (void)state;
    claim(0, 8, 1);
    written(0, 16);
    assert_result("sector 2,056 of the disk: the disk was asked to write it, no server claims it");
}

static void the_first_sector_is_named_whichever_side_lacks_it(void **state)
{
    (void)state;
    claim(0, 8, 1);
    claim(80, 8, 1);
    written(0, 8);
    written(40, 8);
    assert_result("sector 2,088 of the disk: the disk was asked");
}

static void a_place_claimed_twice_must_be_written_twice(void **state)
{
    (void)state;
    claim(0, 8, 1);
    claim(8, 8, 2);
    written(0, 8);
    written(8, 8);
    assert_result("sector 2,056 of the disk: claimed 2 times, written only 1 times");
}

static void more_bytes_than_claims_and_rounding_explain_are_refused(void **state)
{
    (void)state;
    claim(0, 8, 1);
    written(0, 8);
    written(0, 8);
    assert_result("claim 4,096 bytes and 0 that rounding added, the disk was asked to write 8,192");
}

static void a_claim_is_rounded_outward_to_the_device_block(void **state)
{
    (void)state;
    console_destroy(&console);
    console_init(&console);
    console_feed(&console, "machbed store server=pager device=sd0s2 block=4096 rmw_bytes=6144 "
                           "copied_bytes=0");
    claim(6, 4, 1); /* ends of two blocks, so both are written */
    written(0, 16);
    assert_agrees();
}

static void two_claims_in_one_block_are_one_rounded_place(void **state)
{
    (void)state;
    console_destroy(&console);
    console_init(&console);
    console_feed(&console, "machbed store server=pager device=sd0s2 block=4096 rmw_bytes=7168 "
                           "copied_bytes=0");
    claim(0, 1, 1);
    claim(7, 1, 1);
    written(0, 8);
    written(0, 8);
    assert_agrees();
}

static void the_rounding_goes_no_further_than_the_block(void **state)
{
    (void)state;
    claim(6, 4, 1);
    written(0, 24);
    assert_result("sector 2,064 of the disk: the disk was asked to write it, no server claims it");
}

static void a_write_before_the_servers_started_is_refused(void **state)
{
    (void)state;
    written_at(512, 512, TRACE_BEFORE);
    assert_result("asked to write 512 bytes at its sector 1 before the servers started");
}

static void a_write_after_the_servers_stopped_is_refused(void **state)
{
    (void)state;
    claim(0, 8, 1);
    written(0, 8);
    written_at(START * UINT64_C(512), 4096, TRACE_AFTER);
    assert_result("after the servers had stopped");
}

static void reads_do_not_matter(void **state)
{
    (void)state;
    written_at(0, 512, TRACE_COUNTED);
    requests[0].write = false;
    assert_agrees();
}

static void what_failed_may_have_been_asked_of_the_disk_any_number_of_times(void **state)
{
    (void)state;
    claim(0, 8, 1);
    failed(8, 16, 2);
    written(0, 8);
    assert_agrees();
    for (unsigned i = 0; i < 5; i++) {
        written(8, 8);
        assert_agrees();
    }
}

static void what_failed_and_was_written_later_is_claimed_as_often_as_it_was_written(void **state)
{
    (void)state;
    failed(0, 16, 1);
    claim(0, 8, 2);
    written(0, 16);
    assert_result("sector 2,048 of the disk: claimed 2 times, written only 1 times");
    written(0, 8);
    assert_agrees();
}

static void what_failed_excuses_no_write_beside_it(void **state)
{
    (void)state;
    failed(9, 1, 1); /* rounded outward, sectors 8 to 15 */
    written(8, 8);
    assert_agrees();
    written(16, 1);
    assert_result("sector 2,064 of the disk: the disk was asked to write it, no server claims it");
}

static void what_failed_excuses_no_claim_that_was_not_written(void **state)
{
    (void)state;
    claim(0, 8, 1);
    failed(64, 8, 1);
    assert_result("sector 2,048 of the disk: the servers claim it, the disk was never asked");
}

static void a_failure_beyond_the_partition_is_refused(void **state)
{
    (void)state;
    failed(99999, 2, 1);
    assert_result("that is beyond the device's end");
}

static void a_claim_on_another_device_is_refused(void **state)
{
    static const char *const devices[] = {"sd1s2", "hd0s2", "sd0s1", "sd0s5", "sd0s", "sd0s22"};

    (void)state;
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        char line[200];

        snprintf(line, sizeof(line),
                 "machbed claim server=pager device=%s sector=0 sectors=8 "
                 "times=1",
                 devices[i]);
        console.claims_count = 0;
        console_feed(&console, line);
        assert_result("the test disk has no such device");
    }
}

static void a_claim_beyond_the_partition_is_refused(void **state)
{
    (void)state;
    claim(99992, 16, 1);
    written(99992, 16);
    assert_result("beyond the device's end");
}

static void a_claim_of_a_server_that_named_no_block_is_refused(void **state)
{
    (void)state;
    console_feed(&console, "machbed claim server=other device=sd0s2 sector=0 sectors=8 times=1");
    assert_result("no line says how large that device's block is");
}

static void claims_of_several_partitions_are_put_together(void **state)
{
    (void)state;
    console_feed(&console, "machbed store server=pager device=sd0s3 block=512 rmw_bytes=0 "
                           "copied_bytes=0");
    console_feed(&console, "machbed claim server=pager device=sd0s3 sector=1 sectors=1 times=1");
    claim(99992, 8, 1);
    written(99992, 8);
    written(100001, 1);
    assert_agrees();
}

/* Against the plain way: a count for each sector. */
static void random_claims_and_writes_are_judged_as_by_counting_each_sector(void **state)
{
    (void)state;
    srand(20261130);
    for (unsigned round = 0; round < 200; round++) {
        unsigned claimed[512] = {0};
        unsigned asked[512] = {0};
        bool agree = true;

        console.claims_count = 0;
        trace.count = 0;
        for (unsigned at = 0; at < 62; at += 2) {
            unsigned length = 1 + (unsigned)rand() % 2;

            if (rand() % 2 != 0) {
                claim(8 * at, 8 * length, 1);
                for (unsigned i = 0; i < 8 * length; i++)
                    claimed[8 * at + i]++;
                written(8 * at, 8 * length);
                if (rand() % 64 == 0)
                    requests[trace.count - 1].bytes -= 512;
                for (unsigned i = 0; i < requests[trace.count - 1].bytes / 512; i++)
                    asked[8 * at + i]++;
            }
        }
        for (unsigned i = 0; i < 512; i++)
            agree = agree && claimed[i] == asked[i];
        claims_check(&console, &trace, &mbr, "sd0", result);
        assert_int_equal(strcmp(result, "ok") == 0, agree);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_agrees_with_nothing),
        TEST(one_claim_agrees_with_the_commands_it_became),
        TEST(the_order_of_the_commands_does_not_matter),
        TEST(a_claimed_sector_that_was_not_written_is_named),
        TEST(a_written_sector_that_nobody_claims_is_named),
        TEST(the_first_sector_is_named_whichever_side_lacks_it),
        TEST(a_place_claimed_twice_must_be_written_twice),
        TEST(more_bytes_than_claims_and_rounding_explain_are_refused),
        TEST(a_claim_is_rounded_outward_to_the_device_block),
        TEST(two_claims_in_one_block_are_one_rounded_place),
        TEST(the_rounding_goes_no_further_than_the_block),
        TEST(a_write_before_the_servers_started_is_refused),
        TEST(a_write_after_the_servers_stopped_is_refused),
        TEST(reads_do_not_matter),
        TEST(what_failed_may_have_been_asked_of_the_disk_any_number_of_times),
        TEST(what_failed_and_was_written_later_is_claimed_as_often_as_it_was_written),
        TEST(what_failed_excuses_no_write_beside_it),
        TEST(what_failed_excuses_no_claim_that_was_not_written),
        TEST(a_failure_beyond_the_partition_is_refused),
        TEST(a_claim_on_another_device_is_refused),
        TEST(a_claim_beyond_the_partition_is_refused),
        TEST(a_claim_of_a_server_that_named_no_block_is_refused),
        TEST(claims_of_several_partitions_are_put_together),
        TEST(random_claims_and_writes_are_judged_as_by_counting_each_sector),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
