// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "yardstick.h"

static struct options options;
static struct job job;
static struct run run;
static char text[4096];

static void boot_make(const char *policy, uint64_t count, uint64_t bytes)
{
    struct boot *boot = &run.boots[run.boots_count++];

    boot_init(boot, &options, &job, policy_lookup(policy), 1);
    boot->console.job.said = true;
    boot->volume.block_bytes = 4096;
    boot->layers.at[LAYER_STORE_WRITE][LAYER_FILE] =
        (struct layer){.count = count - 10, .bytes = bytes};
    boot->layers.at[LAYER_STORE_WRITE][LAYER_META].count = 10;
    boot->layers.at[LAYER_DISK_WRITE][LAYER_FILE] = (struct layer){.count = 4110, .bytes = bytes};
}

static int setup(void **state)
{
    (void)state;
    options = (struct options){0};
    job = (struct job){.fs = "ext2",
                       .rw = "write",
                       .ioengine = "rpc",
                       .bs = 65536,
                       .nrfiles = 1,
                       .size = 134217728,
                       .end_fsync = true};
    run = (struct run){.options = &options, .job = &job};
    boot_make("run128", 1035, 134397952);
    boot_make("chunk2", 16411, 134397952);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < run.boots_count; i++)
        boot_destroy(&run.boots[i]);
    return 0;
}

static void print(void)
{
    FILE *stream = fmemopen(text, sizeof(text), "w");

    memset(text, 0, sizeof(text));
    yardstick_print(&run, stream);
    fclose(stream);
}

static void figures_stand_beside_those_of_all_our_writes(void **state)
{
    (void)state;
    print();
    assert_contains(text,
                    "all writes   policy          here   average   published   average    GNU Hurd"
                    "   average\n"
                    "store_write  chunk2        16,411     8,190      16,510     8,132           -"
                    "         -\n"
                    "             run128         1,035   129,853       1,300   103,474       1,091"
                    "   123,150\n"
                    "disk_write   run128         4,110    32,700           -         -       4,171"
                    "    32,220\n");
}

static void no_line_is_wider_than_the_table(void **state)
{
    (void)state;
    print();
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
}

static void assert_nothing_compares(void)
{
    print();
    assert_string_equal(text, "");
}

static void what_does_not_compare_is_not_quoted(void **state)
{
    const struct job same = job;

    (void)state;
    job.size = 64u << 20;
    assert_nothing_compares();
    job = same;
    job.ioengine = "mmap";
    assert_nothing_compares();
    job = same;
    job.overwrite = true;
    assert_nothing_compares();
    job = same;
    job.fragment = 2;
    assert_nothing_compares();
    job = same;
    job.bs = 4096;
    assert_nothing_compares();
    job = same;
    job.end_fsync = false;
    assert_nothing_compares();
    job = same;
    job.fs = "none";
    assert_nothing_compares();
    job = same;
    options.image = "disk.img";
    assert_nothing_compares();
}

static void small_blocks_and_boots_that_failed_are_left_out(void **state)
{
    (void)state;
    run.boots[0].volume.block_bytes = 1024;
    run.boots[1].console.job.said = false;
    assert_nothing_compares();
    run.boots[1].console.job.said = true;
    print();
    assert_null(strstr(text, "run128"));
    assert_contains(text, "store_write  chunk2 ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(figures_stand_beside_those_of_all_our_writes),
        TEST(no_line_is_wider_than_the_table),
        TEST(what_does_not_compare_is_not_quoted),
        TEST(small_blocks_and_boots_that_failed_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
