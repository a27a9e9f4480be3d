// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample-run.h"
#include "table.h"

static char text[32768];

static void print(void)
{
    FILE *stream = fmemopen(text, sizeof(text), "w");

    assert_non_null(stream);
    table_print(&sample_run, stream);
    fclose(stream);
}

static int setup(void **state)
{
    sample_setup(state);
    print();
    return 0;
}

static void no_line_is_wider_than_the_table(void **state)
{
    const char *line = text;

    (void)state;
    while (*line != '\0') {
        size_t length = strcspn(line, "\n");

        if (length > TABLE_COLUMNS)
            fail_msg("%zu columns: %.*s", length, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void lines_have_no_blanks_at_their_ends(void **state)
{
    (void)state;
    assert_null(strstr(text, " \n"));
}

static void a_sector_that_fails_stands_in_the_head(void **state)
{
    (void)state;
    assert_null(strstr(text, "fault:"));
    sample_options.fail_sector = 7651;
    print();
    assert_contains(text, "(package)\nfault: sector 7,651 of the disk fails\n\nlayer ");
    sample_options.fail_times = 9;
    print();
    assert_contains(text,
                    "\nfault: sector 7,651 of the disk fails in the first 9 requests for it\n");
}

static void a_disk_in_memory_has_no_commands_and_the_table_says_so(void **state)
{
    (void)state;
    assert_null(strstr(text, "amd64"));
    sample_options.disk = disk_lookup("ram");
    sample_options.arch = choice_lookup(choice_archs, "amd64");
    for (size_t i = 0; i < sample_run.boots_count; i++) {
        struct layer *commands = sample_run.boots[i].layers.at[LAYER_DISK_WRITE];

        commands[LAYER_FILE] = commands[LAYER_META] = (struct layer){0};
    }
    print();
    assert_contains(text, "\nmachine: pc, amd64, ram disk, ");
    assert_contains(text,
                    "\ndisk_write   none: the store is memory, into which each call is copied\n\n");
}

static void waits_for_the_allocation_lock_stand_below_the_times(void **state)
{
    (void)state;
    assert_contains(text, "\nalloc_lock   page     5,190 waits: p99 3.1 us, worst 10431.0 us; one "
                          "write of 128K takes 750.0 us\n  for");
    assert_contains(text,
                    "\nside jobs    page     resizer: 1,648 calls: p99 29.081 ms, worst 128.468 "
                    "ms; 2 met no file\n\n");
}

static void each_layer_has_a_row_for_each_policy(void **state)
{
    (void)state;
    assert_contains(text, "\nworkload     page        32,768   134,217,728     4,096     4,096     "
                          "50.0  4K:32,768\n             run128  ");
    assert_contains(text, "\ndata_return  page         1,024   134,217,728   131,072   131,072     "
                          "33.6  128K:1,024\n             run128       1,024 ");
    assert_contains(text, "\nstore_write  page        32,768   134,217,728     4,096     4,096 ");
    assert_contains(text, "\ndisk_write   page        32,768 ");
    assert_contains(text, "             run128       4,096   134,217,728    32,768    32,768    "
                          "134.2  32K:4,096\n");
}

static void sizes_that_need_more_room_go_on_below(void **state)
{
    (void)state;
    assert_contains(text, "  4K:1 128K:1,024\n");
    for (unsigned i = 9; i < 16; i++)
        sample_run.boots[0].layers.at[LAYER_DISK_WRITE][LAYER_FILE].hist[i] = 12345;
    print();
    no_line_is_wider_than_the_table(state);
    assert_contains(text, "\n                                                                     "
                          "       2K:12,345 4K:12,345\n");
}

static void layers_without_requests_are_left_out(void **state)
{
    (void)state;
    assert_null(strstr(text, "store_read"));
    assert_contains(text, "disk_read");
}

static void reads_have_no_rate(void **state)
{
    (void)state;
    assert_contains(text, "\ndata_request page        32,768   134,217,728     4,096     4,096     "
                          "   -  4K:32,768\n");
}

static void a_cap_that_all_policies_share_is_said_once(void **state)
{
    const char *first = strstr(text, "DATA_WRITE_MAX");

    (void)state;
    assert_non_null(first);
    assert_null(strstr(first + 1, "DATA_WRITE_MAX"));
    assert_contains(text,
                    "\n  capped by the kernel: at most 32 pages (131,072 bytes) in one message");
}

static void caps_that_differ_are_said_for_each_policy(void **state)
{
    (void)state;
    assert_contains(text, "\n  page: capped by the policy: one page (4,096 bytes) a call\n");
    assert_contains(text, "\n  run128: capped by the message: no call holds more than one "
                          "data_return;");
    assert_contains(text, "\n  page: not capped: each call is one command; of a disk block");
    assert_contains(text, "\n  run128: capped by the kernel's disk driver: 8 buffers of a page "
                          "(32,768 bytes)");
}

static void times_and_checks_are_said_for_each_boot(void **state)
{
    (void)state;
    assert_contains(text,
                    "page     fill 2.684 s, sync 4.000 s, both 6.684 s\n"
                    "             page     plain loop of 1M 2.000 s, 67.1 MB/s; the sync ran at "
                    "0.50 of that\n");
    assert_contains(text, "checks       page     ok: content, disk_agrees\n"
                          "             run128   ok: disk_agrees, read_back\n"
                          "             run128   content: byte 4,099 ");
}

static void a_boot_that_recorded_says_how_much(void **state)
{
    (void)state;
    assert_contains(
        text, "\ntrace        page     98,306 events, 12 dropped; giving them out took 31.40 s\n");
    assert_null(strstr(text, "run128   0 events"));
}

static void file_data_and_metadata_are_shown_apart_where_there_are_both(void **state)
{
    (void)state;
    assert_contains(text, "\nstore_write  page        32,768 ");
    assert_contains(text, "             run128       1,025   134,221,824   130,948   131,072 ");
    assert_contains(text, "\n  file data  page        32,768   134,217,728     4,096     4,096     "
                          "33.6  4K:32,768\n             run128       1,024   134,217,728 ");
    assert_contains(text, "\n  metadata   run128           1         4,096     4,096     4,096     "
                          "   -  4K:1\n"
                          "  metadata, writes for each page of it: run128 1.000\n  page: capped");
    assert_null(strstr(strstr(text, "\ndisk_write"), "file data"));
}

static void a_job_of_ext2_says_what_is_special_about_it(void **state)
{
    static struct job job;

    (void)state;
    job = sample_job;
    job.fs = "ext2";
    job.rw = "write";
    job.ioengine = "rpc";
    strcpy(job.filename, "a/b");
    job.overwrite = true;
    job.fragment = 2;
    sample_run.job = sample_run.boots[0].job = &job;
    sample_run.boots[0].volume.block_bytes = 1024;
    print();
    assert_contains(text, "job pager: 128M, fs=ext2 in blocks of 1K, rw=write ioengine=rpc bs=64K "
                          "end_fsync=1 filename=a/b overwrite=1 fragment=2\n");
    assert_contains(text, "\nworkload     page         2,048   134,217,728    65,536    65,536 ");
    job.rw = "read";
    job.overwrite = false;
    print();
    assert_contains(text, "rw=read ioengine=rpc bs=64K filename=a/b fragment=2\n");
}

static void a_boot_that_said_nothing_has_no_rows(void **state)
{
    (void)state;
    boot_destroy(&sample_run.boots[1]);
    boot_init(&sample_run.boots[1], &sample_options, &sample_job, policy_lookup("chunk2"), 1);
    print();
    assert_null(strstr(text, "chunk2"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, sample_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_line_is_wider_than_the_table),
        TEST(lines_have_no_blanks_at_their_ends),
        TEST(a_sector_that_fails_stands_in_the_head),
        TEST(a_disk_in_memory_has_no_commands_and_the_table_says_so),
        TEST(waits_for_the_allocation_lock_stand_below_the_times),
        TEST(each_layer_has_a_row_for_each_policy),
        TEST(sizes_that_need_more_room_go_on_below),
        TEST(layers_without_requests_are_left_out),
        TEST(reads_have_no_rate),
        TEST(a_cap_that_all_policies_share_is_said_once),
        TEST(caps_that_differ_are_said_for_each_policy),
        TEST(times_and_checks_are_said_for_each_boot),
        TEST(a_boot_that_recorded_says_how_much),
        TEST(file_data_and_metadata_are_shown_apart_where_there_are_both),
        TEST(a_job_of_ext2_says_what_is_special_about_it),
        TEST(a_boot_that_said_nothing_has_no_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
