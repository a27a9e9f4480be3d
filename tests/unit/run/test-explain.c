// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "explain.h"

static struct layers layers;
static struct file_map map;
static struct explain_case explained;
static char text[EXPLAIN_BYTES];

static int setup(void **state)
{
    (void)state;
    layers = (struct layers){0};
    file_map_init(&map);
    explained =
        (struct explain_case){.layers = &layers, .map = &map, .policy = policy_lookup("page")};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    file_map_destroy(&map);
    return 0;
}

static void add(enum layer_kind kind, uint64_t bytes)
{
    layer_add(&layers.at[kind][LAYER_FILE], bytes);
}

static void assert_explained(enum layer_kind kind, const char *policy, const char *part)
{
    explained.policy = policy_lookup(policy);
    explain_layer(&explained, kind, text);
    assert_contains(text, part);
}

static void nothing_is_said_of_a_layer_without_requests(void **state)
{
    (void)state;
    explain_layer(&explained, LAYER_DATA_RETURN, text);
    assert_string_equal(text, "");
    add(LAYER_DISK_READ, 512);
    explain_layer(&explained, LAYER_DISK_READ, text);
    assert_string_equal(text, "");
}

static void messages_are_explained_by_their_largest(void **state)
{
    (void)state;
    add(LAYER_DATA_RETURN, 4096);
    assert_explained(LAYER_DATA_RETURN, "page", "single pages");
    add(LAYER_DATA_RETURN, 65536);
    assert_explained(LAYER_DATA_RETURN, "page", "not capped");
    add(LAYER_DATA_RETURN, 131072);
    assert_explained(LAYER_DATA_RETURN, "page", "capped by the kernel: at most 32 pages (131,072");
    add(LAYER_DATA_RETURN, 1048576);
    assert_explained(LAYER_DATA_RETURN, "page", "larger than a kernel with DATA_WRITE_MAX at 32");
}

static void calls_are_explained_by_the_policy_the_message_or_neither(void **state)
{
    (void)state;
    add(LAYER_DATA_RETURN, 131072);
    add(LAYER_STORE_WRITE, 8192);
    assert_explained(LAYER_STORE_WRITE, "chunk2", "capped by the policy: 2 pages (8,192 bytes)");
    assert_explained(LAYER_STORE_WRITE, "run128", "not capped: every run ended before");
    assert_explained(LAYER_STORE_WRITE, "page", "larger than the policy allows");
    add(LAYER_STORE_WRITE, 131072);
    assert_explained(LAYER_STORE_WRITE, "run128", "capped by the message");
    add(LAYER_STORE_WRITE, 524288);
    assert_explained(LAYER_STORE_WRITE, "run128", "capped by the policy: 128 pages (524,288");
}

static void commands_are_explained_by_the_driver_or_the_call(void **state)
{
    (void)state;
    add(LAYER_STORE_WRITE, 8192);
    add(LAYER_DISK_WRITE, 8192);
    assert_explained(LAYER_DISK_WRITE, "page", "not capped: each call is one command");
    add(LAYER_DISK_WRITE, 4096);
    assert_explained(LAYER_DISK_WRITE, "page", "as large as the largest call");
    add(LAYER_STORE_WRITE, 131072);
    assert_explained(LAYER_DISK_WRITE, "page", "at most 8,192 bytes a command, calls have up to");
    add(LAYER_DISK_WRITE, 32768);
    assert_explained(LAYER_DISK_WRITE, "page", "capped by the kernel's disk driver: 8 buffers");
}

static void a_tuned_kernel_is_explained_by_its_own_limits(void **state)
{
    static const struct tune tune = {.limits = {{"DATA_WRITE_MAX", 256}, {"MAX_BUF", 16}},
                                     .count = 2};

    (void)state;
    explained.tune = &tune;
    add(LAYER_DATA_RETURN, 131072);
    assert_explained(LAYER_DATA_RETURN, "page", "ended before the kernel's 256 pages (1,048,576");
    add(LAYER_DATA_RETURN, 1048576);
    assert_explained(LAYER_DATA_RETURN, "page",
                     "capped by the kernel: at most 256 pages (1,048,576");
    add(LAYER_STORE_WRITE, 131072);
    add(LAYER_DISK_WRITE, 32768);
    assert_explained(LAYER_DISK_WRITE, "page", "at most 32,768 bytes a command");
    add(LAYER_DISK_WRITE, 65536);
    assert_explained(LAYER_DISK_WRITE, "page", "capped by the kernel's disk driver: 16 buffers");
}

static void a_fault_asks_for_one_page(void **state)
{
    (void)state;
    add(LAYER_DATA_REQUEST, 4096);
    assert_explained(LAYER_DATA_REQUEST, "page", "a page fault asks for one page (4,096 bytes)");
}

static void metadata_does_not_hide_what_capped_the_data(void **state)
{
    (void)state;
    add(LAYER_DATA_RETURN, 131072);
    add(LAYER_STORE_WRITE, 4096);
    layer_add(&layers.at[LAYER_STORE_WRITE][LAYER_META], 8192);
    assert_explained(LAYER_STORE_WRITE, "page", "capped by the policy: one page");
}

static void metadata_is_explained_where_there_is_nothing_else(void **state)
{
    (void)state;
    layer_add(&layers.at[LAYER_STORE_WRITE][LAYER_META], 8192);
    assert_explained(LAYER_STORE_WRITE, "chunk2", "capped by the policy: 2 pages");
}

static void merged_calls_are_explained_by_the_largest_write_that_was_asked_for(void **state)
{
    (void)state;
    explained.merge_bytes = 1 << 20;
    add(LAYER_DATA_RETURN, 131072);
    add(LAYER_STORE_WRITE, 131072);
    assert_explained(LAYER_STORE_WRITE, "merge",
                     "not capped: no run of more blocks was queued at once; the policy's MERGE_MAX "
                     "(1,048,576 bytes)");
    add(LAYER_STORE_WRITE, 1 << 20);
    assert_explained(LAYER_STORE_WRITE, "merge",
                     "capped by the policy: MERGE_MAX (1,048,576 bytes) a call");
    explained.merge_bytes = 4 << 20;
    assert_explained(LAYER_STORE_WRITE, "merge", "not capped");
}

static void calls_that_end_where_the_file_does_not_go_on_are_explained_by_that(void **state)
{
    (void)state;
    add(LAYER_DATA_RETURN, 131072);
    add(LAYER_STORE_WRITE, 8192);
    file_map_add(&map, (struct file_piece){0, 4096, 8192});
    file_map_add(&map, (struct file_piece){8192, 20480, 4096});
    assert_explained(LAYER_STORE_WRITE, "run128",
                     "the file lies in 2 pieces of at most 8,192 bytes on the disk");
    assert_explained(LAYER_STORE_WRITE, "chunk2", "capped by the policy");
}

static void messages_that_become_several_calls_are_explained_by_the_pieces(void **state)
{
    (void)state;
    add(LAYER_DATA_RETURN, 131072);
    add(LAYER_STORE_WRITE, 131072);
    file_map_add(&map, (struct file_piece){0, 4096, 131072});
    explain_layer(&explained, LAYER_STORE_WRITE, text);
    assert_explained(LAYER_STORE_WRITE, "run128", "are out of reach");
    assert_null(strstr(text, "became"));
    add(LAYER_DATA_RETURN, 131072);
    add(LAYER_STORE_WRITE, 65536);
    add(LAYER_STORE_WRITE, 65536);
    file_map_add(&map, (struct file_piece){131072, 4096, 65536});
    file_map_add(&map, (struct file_piece){196608, 4096, 65536});
    assert_explained(LAYER_STORE_WRITE, "run128",
                     "; 2 messages became 3 calls, for the file lies in 3 pieces on the disk");
}

static void what_rounding_adds_is_said_of_the_commands(void **state)
{
    (void)state;
    add(LAYER_STORE_WRITE, 4096);
    add(LAYER_DISK_WRITE, 4096);
    add(LAYER_DISK_WRITE, 4096);
    explained.device_block = 4096;
    explained.rmw_bytes = 4096;
    assert_explained(LAYER_DISK_WRITE, "page",
                     "of a disk block (4,096 bytes) that is written in part the driver reads, "
                     "changes and writes the whole: 4,096 bytes more");
}

static void the_workload_is_what_the_job_says(void **state)
{
    struct job job = {.rw = "write", .ioengine = "rpc", .bs = 65536};

    (void)state;
    explain_workload(&job, text);
    assert_string_equal(text, "the job: io_write calls of 65,536 bytes");
    job.rw = "read";
    explain_workload(&job, text);
    assert_string_equal(text, "the job: io_read calls of 65,536 bytes");
    job.ioengine = "mmap";
    explain_workload(&job, text);
    assert_contains(text, "the job: loads of 65,536 bytes from a mapping");
    job.rw = "write";
    explain_workload(&job, text);
    assert_contains(text, "the job: stores of 65,536 bytes into a mapping");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_said_of_a_layer_without_requests),
        TEST(messages_are_explained_by_their_largest),
        TEST(calls_are_explained_by_the_policy_the_message_or_neither),
        TEST(commands_are_explained_by_the_driver_or_the_call),
        TEST(a_tuned_kernel_is_explained_by_its_own_limits),
        TEST(a_fault_asks_for_one_page),
        TEST(metadata_does_not_hide_what_capped_the_data),
        TEST(metadata_is_explained_where_there_is_nothing_else),
        TEST(merged_calls_are_explained_by_the_largest_write_that_was_asked_for),
        TEST(calls_that_end_where_the_file_does_not_go_on_are_explained_by_that),
        TEST(messages_that_become_several_calls_are_explained_by_the_pieces),
        TEST(what_rounding_adds_is_said_of_the_commands),
        TEST(the_workload_is_what_the_job_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
