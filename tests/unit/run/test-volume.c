// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "volume.h"

#define START 1048576u

static struct volume volume;
static struct job job;

static int setup(void **state)
{
    (void)state;
    volume_init(&volume);
    job = (struct job){.filename = "job.data", .size = 134217728, .nrfiles = 1};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    volume_destroy(&volume);
    return 0;
}

static void report(const char *text)
{
    FILE *stream = text_stream(text);

    volume_report_read(&volume, &job, stream, START);
    fclose(stream);
}

static void fsck(const char *text, int code)
{
    FILE *stream = text_stream(text);

    volume_fsck_read(&volume, stream, code);
    fclose(stream);
}

#define SUPER                                                                                      \
    "debugfs 1.47.0 (5-Feb-2023)\n"                                                                \
    "debugfs: stats -h\n"                                                                          \
    "Filesystem state:         clean\n"                                                            \
    "Block size:               2048\n"                                                             \
    "Fragment size:            2048\n"
#define INODE                                                                                      \
    "debugfs: stat \"/job.data\"\n"                                                                \
    "Inode: 14   Type: regular    Mode:  0644   Flags: 0x0\n"                                      \
    "User:     0   Group:     0   Project:     0   Size: 134217728\n"                              \
    "File ACL: 0\n"                                                                                \
    "Fragment:  Address: 0    Number: 0    Size: 0\n"                                              \
    "BLOCKS:\n"

static void a_files_length_and_blocks_are_read(void **state)
{
    (void)state;
    report(
        SUPER INODE
        "(0-11):555-566, (IND):567, (12-13):568-569, (DIND):570, (IND):571, (14):400\nTOTAL: 18\n");
    assert_int_equal(volume.block_bytes, 2048);
    assert_string_equal(volume.state, "clean");
    assert_int_equal(volume.files_count, 1);
    assert_true(volume.files[0].found);
    assert_int_equal(volume.files[0].size, 134217728);
    assert_int_equal(volume.map.count, 3);
    assert_int_equal(volume.map.pieces[1].offset, 12 * 2048);
    assert_int_equal(volume.map.pieces[1].start, START + 568 * 2048);
    assert_int_equal(volume.map.pieces[1].bytes, 2 * 2048);
    assert_int_equal(file_map_locate(&volume.map, 14 * 2048), START + 400 * 2048);
    assert_int_equal(file_map_inside(&volume.map, START + 567 * 2048, 2048), 0);
    assert_string_equal(volume.said, "");
}

static void pieces_that_only_an_indirect_block_elsewhere_parts_are_one(void **state)
{
    (void)state;
    report(SUPER INODE "(0-11):555-566, (IND):9000, (12-20):567-575\nTOTAL: 22\n");
    assert_int_equal(volume.map.count, 1);
    assert_int_equal(volume.map.pieces[0].bytes, 21 * 2048);
}

static void a_file_without_blocks_has_no_map(void **state)
{
    (void)state;
    report(SUPER INODE "\n");
    assert_true(volume.files[0].found);
    assert_int_equal(volume.map.count, 0);
}

static void blocks_that_make_no_sense_end_the_list(void **state)
{
    (void)state;
    report(SUPER INODE "(0-1):5-6, (2-):8, (9)10\n");
    assert_int_equal(volume.map.count, 1);
}

static void a_file_that_is_missing_is_not_found(void **state)
{
    (void)state;
    report("/job.data: File not found by ext2_lookup \n" SUPER "debugfs: stat \"/job.data\"\n");
    assert_false(volume.files[0].found);
    assert_string_equal(volume.said, "/job.data: File not found by ext2_lookup ");
}

static void several_files_are_parts_of_the_jobs_bytes(void **state)
{
    (void)state;
    job.size = 7 * 4096;
    job.nrfiles = 3;
    report(SUPER "debugfs: stat \"/job.data.0\"\n"
                 "User:     0   Group:     0   Project:     0   Size: 12288\n"
                 "BLOCKS:\n(0-5):500-505\nTOTAL: 6\n"
                 "debugfs: dump \"/job.data.0\" content.data.0\n"
                 "debugfs: stat \"/job.data.1\"\n"
                 "debugfs: stat \"/job.data.2\"\n"
                 "User:     0   Group:     0   Project:     0   Size: 8192\n"
                 "BLOCKS:\n(0-3):600-603\nTOTAL: 4\n");
    assert_int_equal(volume.files_count, 3);
    assert_true(volume.files[0].found);
    assert_int_equal(volume.files[0].size, 12288);
    assert_false(volume.files[1].found);
    assert_int_equal(volume.files[2].size, 8192);
    assert_int_equal(volume.map.count, 2);
    assert_int_equal(file_map_locate(&volume.map, 5 * 4096), START + 600 * 2048);
    assert_int_equal(file_map_locate(&volume.map, 3 * 4096), UINT64_MAX);
}

static void an_image_that_debugfs_cannot_open_has_no_blocks(void **state)
{
    (void)state;
    report("debugfs 1.47.0 (5-Feb-2023)\nstats: Filesystem not open\n");
    assert_int_equal(volume.block_bytes, 0);
    assert_string_equal(volume.said, "stats: Filesystem not open");
}

#define PASSES "e2fsck 1.47.0 (5-Feb-2023)\nPass 1: Checking inodes, blocks, and sizes\n"

static void a_clean_check_is_ok(void **state)
{
    (void)state;
    strcpy(volume.state, "clean");
    fsck(PASSES "\ndisk.img: 15/32768 files (0.0% non-contiguous), 34965/131072 blocks\n", 0);
    assert_string_equal(volume.fsck, "ok");
}

static void a_complaint_counts_even_when_e2fsck_exits_with_0(void **state)
{
    (void)state;
    strcpy(volume.state, "clean");
    fsck(PASSES "Free blocks count wrong (0, counted=96107).\nFix? no\n\ndisk.img: 15/32768\n", 0);
    assert_string_equal(volume.fsck, "Free blocks count wrong (0, counted=96107).");
}

static void the_first_complaint_is_told_without_its_question(void **state)
{
    (void)state;
    fsck(PASSES "Inode 14, i_blocks is 8, should be 16.  Fix? no\n\nmore\n", 4);
    assert_string_equal(volume.fsck, "Inode 14, i_blocks is 8, should be 16.");
}

static void a_status_without_a_complaint_is_not_ok(void **state)
{
    (void)state;
    strcpy(volume.state, "clean");
    fsck(PASSES, 8);
    assert_contains(volume.fsck, "exited with 8");
}

static void a_file_system_that_is_not_marked_clean_is_not_ok(void **state)
{
    (void)state;
    strcpy(volume.state, "not clean");
    fsck(PASSES, 0);
    assert_contains(volume.fsck, "marked as 'not clean'");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_files_length_and_blocks_are_read),
        TEST(pieces_that_only_an_indirect_block_elsewhere_parts_are_one),
        TEST(a_file_without_blocks_has_no_map),
        TEST(blocks_that_make_no_sense_end_the_list),
        TEST(a_file_that_is_missing_is_not_found),
        TEST(several_files_are_parts_of_the_jobs_bytes),
        TEST(an_image_that_debugfs_cannot_open_has_no_blocks),
        TEST(a_clean_check_is_ok),
        TEST(a_complaint_counts_even_when_e2fsck_exits_with_0),
        TEST(the_first_complaint_is_told_without_its_question),
        TEST(a_status_without_a_complaint_is_not_ok),
        TEST(a_file_system_that_is_not_marked_clean_is_not_ok),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
