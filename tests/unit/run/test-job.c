// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "job.h"

static struct failure job_failure;
static struct job job;

static int read_job(const char *text)
{
    FILE *stream = text_stream(text);
    int status;

    job_destroy(&job);
    job_failure = (struct failure){0};
    status = job_read(&job, stream, "a.job", &job_failure);
    fclose(stream);
    return status;
}

static void assert_refused(const char *text, const char *reason)
{
    assert_int_equal(read_job(text), STATUS_BAD_INPUT);
    assert_contains(job_failure.reason, reason);
}

static void a_job_says_what_the_workload_does(void **state)
{
    (void)state;
    assert_int_equal(read_job("# a comment\n; another\n\n[pager-1_x]\nfs=none\nrw = write\r\n"
                              "  ioengine=mmap  \nbs=4k\nsize=128m\nend_fsync=0\nverify=1\n"
                              "fault=crash"),
                     STATUS_SUCCESS);
    assert_string_equal(job.name, "pager-1_x");
    assert_string_equal(job.fs, "none");
    assert_string_equal(job.rw, "write");
    assert_string_equal(job.ioengine, "mmap");
    assert_string_equal(job.fault, "crash");
    assert_int_equal(job.bs, 4096);
    assert_int_equal(job.size, 128u << 20);
    assert_false(job.end_fsync);
    assert_true(job.verify);
}

static void keys_that_are_left_out_have_their_defaults(void **state)
{
    (void)state;
    assert_int_equal(read_job("[x]\n"), STATUS_SUCCESS);
    assert_string_equal(job.fs, "none");
    assert_string_equal(job.fault, "none");
    assert_int_equal(job.bs, 65536);
    assert_int_equal(job.size, 0);
    assert_true(job.end_fsync);
    assert_false(job.verify);
}

static void case_does_not_matter_but_for_the_name(void **state)
{
    (void)state;
    assert_int_equal(read_job("[Big]\nRW=Write\nSIZE=1M\n"), STATUS_SUCCESS);
    assert_string_equal(job.name, "Big");
    assert_string_equal(job.rw, "write");
}

static void an_unknown_key_is_refused_with_its_line_and_what_exists(void **state)
{
    (void)state;
    assert_refused("[x]\n\nsise=1m\n", "a.job:3: unknown key 'sise'; there are: fs, rw, ioengine");
}

static void an_unknown_value_is_refused_with_its_line_and_what_exists(void **state)
{
    (void)state;
    assert_refused("[x]\nrw=trim\n",
                   "a.job:2: unknown value 'trim' of 'rw'; there are: write, read");
    assert_refused("[x]\nverify=yes\n", "unknown value 'yes' of 'verify'; there are: 0, 1");
}

static void a_size_that_makes_no_sense_is_refused_with_its_line(void **state)
{
    (void)state;
    assert_refused("[x]\nbs=0\n", "a.job:2: bs: '0' is zero");
    assert_refused("[x]\nbs=1q\n", "a.job:2: bs: '1q' is not a size");
    assert_refused("[x]\nbs=\n", "a.job:2: bs: '' is not a size");
}

static void a_job_of_ext2_names_its_file(void **state)
{
    (void)state;
    assert_int_equal(read_job("[x]\nfs=ext2\nioengine=rpc\nfilename = a/b c/d=e \noverwrite=1\n"
                              "fragment=2\n"),
                     STATUS_SUCCESS);
    assert_string_equal(job.filename, "a/b c/d=e");
    assert_true(job.overwrite);
    assert_int_equal(job.fragment, 2);
    assert_true(job_is_ext2(&job) && job_is_rpc(&job) && !job_is_read(&job));
    assert_int_equal(read_job("[x]\nrw=read\nfs=ext2\n"), STATUS_SUCCESS);
    assert_string_equal(job.filename, "job.data");
    assert_true(job_is_read(&job) && !job_is_rpc(&job));
}

static void the_file_system_says_which_servers_and_which_partition(void **state)
{
    (void)state;
    assert_int_equal(read_job("[x]\nfs=ext2\n"), STATUS_SUCCESS);
    assert_string_equal(job_servers(&job), "ext2 workload");
    assert_string_equal(job_server(&job), "ext2");
    assert_int_equal(job_partition(&job), 1);
    assert_int_equal(read_job("[x]\n"), STATUS_SUCCESS);
    assert_string_equal(job_servers(&job), "pager workload");
    assert_string_equal(job_server(&job), "pager");
    assert_int_equal(job_partition(&job), 2);
}

static void a_path_that_no_file_can_have_is_refused(void **state)
{
    char text[JOB_FILE_BYTES + 64] = "[x]\nfs=ext2\nfilename=";
    size_t start = strlen(text);

    (void)state;
    assert_refused("[x]\nfilename=/a\n", "a.job:2: filename: '/a' has an empty part");
    assert_refused("[x]\nfilename=a//b\n", "has an empty part");
    assert_refused("[x]\nfilename=a/\n", "has an empty part");
    assert_refused("[x]\nfilename=\n", "has an empty part");
    assert_refused("[x]\nfilename=a/../b\n", "has a part that is . or ..");
    assert_refused("[x]\nfilename=./b\n", "has a part that is . or ..");
    assert_refused("[x]\nfilename=a\"b\n", "holds a quote");
    assert_refused("[x]\nfilename=a\\b\n", "holds a quote, a backslash");
    assert_refused("[x]\nfilename=a\tb\n", "control character");
    assert_int_equal(read_job("[x]\nfs=ext2\nfilename=...\n"), STATUS_SUCCESS);
    memset(text + start, 'a', 255);
    assert_int_equal(read_job(text), STATUS_SUCCESS);
    text[start + 255] = 'a';
    assert_refused(text, "a part of more than 255 bytes");
    for (size_t i = 0; i < JOB_FILE_BYTES; i++)
        text[start + i] = i % 2 == 0 ? 'a' : '/';
    assert_refused(text, "is too long");
    text[start + JOB_FILE_BYTES - 1] = '\0';
    assert_int_equal(read_job(text), STATUS_SUCCESS);
}

static void a_number_of_blocks_is_a_number(void **state)
{
    (void)state;
    assert_refused("[x]\nfragment=two\n", "a.job:2: fragment: 'two' is no number from 0 to 65536");
    assert_refused("[x]\nfragment=65537\n", "is no number from 0");
}

static void values_that_make_no_sense_together_are_refused_with_their_line(void **state)
{
    (void)state;
    assert_refused("[x]\nsize=1m\nrw=read\n", "a.job:3: rw=read needs fs=ext2");
    assert_refused("[x]\nioengine=rpc\nfs=none\n", "a.job:2: ioengine=rpc needs fs=ext2");
    assert_refused("[x]\nfilename=a\n", "a.job:2: filename=a needs fs=ext2");
    assert_refused("[x]\noverwrite=1\n", "a.job:2: overwrite=1 needs fs=ext2");
    assert_refused("[x]\nfragment=2\n", "a.job:2: fragment=2 needs fs=ext2");
    assert_refused("[x]\nfs=ext2\nrw=read\noverwrite=1\n", "a.job:4: overwrite=1 needs rw=write");
    assert_refused("[x]\nfs=ext2\nrw=read\nverify=1\n", "a.job:4: verify=1 needs rw=write");
    assert_refused("[x]\nfs=ext2\nfault=claim\n", "a.job:3: fault=claim needs fs=none");
    assert_refused("[x]\nfs=ext2\nfault=crash_pager\n", "a.job:3: fault=crash_pager needs fs=none");
    assert_refused("[x]\nfs=ext2\nioengine=rpc\nunmap=1\n", "a.job:4: unmap=1 needs ioengine=mmap");
    assert_refused("[x]\nverify=1\nunmap=1\n", "a.job:3: unmap=1 needs verify=0");
    assert_int_equal(read_job("[x]\nfilename=job.data\noverwrite=0\nfragment=0\nrw=write\n"),
                     STATUS_SUCCESS);
}

static void a_key_given_twice_is_refused_with_both_lines(void **state)
{
    (void)state;
    assert_refused("[x]\nbs=4k\nBS=8k\n", "a.job:3: 'bs' again; it stands in line 2");
}

static void lines_that_are_no_job_are_refused(void **state)
{
    (void)state;
    assert_refused("size=1m\n", "a.job:1: a key before the job's [name]");
    assert_refused("[x]\nsize\n", "a.job:2: 'size' is neither key=value nor [name]");
    assert_refused("[x\n", "a.job:1: '[x' lacks its ']'");
    assert_refused("[]\n", "is no job name");
    assert_refused("[]", "is no job name");
    assert_refused("[", "lacks its ']'");
    assert_refused("[a b]\n", "'a b' is no job name");
    assert_refused("[../x]\n", "is no job name");
    assert_refused("[x]\n[a b]\n", "a.job:2: 'a b' is no job name");
    assert_refused("# nothing\n", "a.job holds no job");
}

static void bytes_that_are_no_lines_of_text_are_refused(void **state)
{
    static const char zero[] = "[x]\nsize=1m\0garbage\n";
    static char line[10000];
    FILE *stream = fmemopen((char *)zero, sizeof(zero) - 1, "r");

    (void)state;
    job_destroy(&job);
    job_failure = (struct failure){0};
    assert_int_equal(job_read(&job, stream, "a.job", &job_failure), STATUS_BAD_INPUT);
    fclose(stream);
    assert_string_equal(job_failure.reason, "a.job:2: a byte of value 0 is no text");
    memset(line, '#', sizeof(line) - 1);
    assert_refused(line, "a.job:1: the line has more than 8191 bytes");
    line[8191] = '\0';
    assert_refused(line, "a.job holds no job");
}

static void a_name_that_is_too_long_is_refused(void **state)
{
    char text[JOB_NAME_BYTES + 4];

    (void)state;
    memset(text, 'a', sizeof(text));
    text[0] = '[';
    strcpy(text + JOB_NAME_BYTES + 1, "]\n");
    assert_refused(text, "is no job name");
    strcpy(text + JOB_NAME_BYTES, "]\n");
    assert_int_equal(read_job(text), STATUS_SUCCESS);
}

#define FIRST "[x]\nfs=ext2\nioengine=rpc\nbs=4k\nsize=1m\nfilename=f\n"

static void further_sections_are_side_jobs_that_begin_with_what_the_first_says(void **state)
{
    (void)state;
    assert_int_equal(read_job(FIRST "[a]\nrw=resize\n[b]\nrw=write\nioengine=mmap\nbs=8k\n"
                                    "size=64k\nfilename=g\nloops=7\n"),
                     STATUS_SUCCESS);
    assert_int_equal(job.sides_count, 2);
    assert_string_equal(job.name, "x");
    assert_string_equal(job.rw, "write");
    assert_string_equal(job.sides[0].name, "a");
    assert_string_equal(job.sides[0].rw, "resize");
    assert_string_equal(job.sides[0].filename, "f");
    assert_int_equal(job.sides[0].bs, 4096);
    assert_int_equal(job.sides[0].loops, 0);
    assert_string_equal(job.sides[1].ioengine, "mmap");
    assert_string_equal(job.sides[1].filename, "g");
    assert_int_equal(job.sides[1].bs, 8192);
    assert_int_equal(job.sides[1].loops, 7);
}

static void a_size_from_outside_is_that_of_side_jobs_without_their_own(void **state)
{
    (void)state;
    assert_int_equal(read_job(FIRST "[a]\nrw=sync\n[b]\nrw=resize\nsize=64k\n"), STATUS_SUCCESS);
    assert_int_equal(job_resize(&job, 2u << 20, "a.job", &job_failure), STATUS_SUCCESS);
    assert_int_equal(job.sides[0].size, 2u << 20);
    assert_int_equal(job.sides[1].size, 65536);
}

static void sizes_of_a_side_job_must_fit_together_where_it_writes(void **state)
{
    (void)state;
    assert_int_equal(read_job(FIRST "[a]\nrw=resize\nbs=1m\nsize=4k\n"), STATUS_SUCCESS);
    assert_int_equal(job_resize(&job, 0, "a.job", &job_failure), STATUS_SUCCESS);
    assert_int_equal(read_job(FIRST "[a]\nrw=write\nbs=1m\nsize=4k\n"), STATUS_SUCCESS);
    assert_int_equal(job_resize(&job, 0, "a.job", &job_failure), STATUS_BAD_INPUT);
    assert_contains(job_failure.reason, "size=4K is not a multiple of bs=1M");
    assert_int_equal(read_job(FIRST "[a]\nrw=sync\nsize=100\n"), STATUS_SUCCESS);
    assert_int_equal(job_resize(&job, 0, "a.job", &job_failure), STATUS_BAD_INPUT);
}

static void what_makes_no_side_job_is_refused(void **state)
{
    (void)state;
    assert_refused(FIRST "[a]\nbs=4k\n", "side job [a]: its section lacks rw=resize, rw=sync or");
    assert_refused(FIRST "[a]\nrw=read\n", "side job [a]: rw is resize, sync or write");
    assert_refused(FIRST "[a]\nrw=sync\nplain=after\n",
                   "a.job:9: 'plain' stands in the first section");
    assert_refused(FIRST "loops=1\n", "a.job:7: 'loops' stands in sections behind the first only");
    assert_refused("[x]\nrw=resize\nfs=ext2\n", "a.job:2: rw=resize stands in sections behind");
    assert_refused("[x]\nsize=1m\n[a]\nrw=sync\n", "the first section needs fs=ext2 and rw=write");
    assert_refused(FIRST "end_fsync=0\n[a]\nrw=sync\n", "it needs loops=");
    assert_refused(FIRST "[a]\nrw=sync\nrw=sync\n", "a.job:9: 'rw' again; it stands in line 8");
    assert_refused(FIRST "[a]\nrw=sync\n[b]\nrw=sync\n[c]\nrw=sync\n[d]\nrw=sync\n[e]\n",
                   "a.job:15: more than 4 sections behind the first");
}

static void global_says_what_holds_for_all_sections(void **state)
{
    (void)state;
    assert_int_equal(read_job("[global]\nfs=ext2\nbs=4k\nsize=1m\n[x]\nbs=8k\n[a]\nrw=sync\n"),
                     STATUS_SUCCESS);
    assert_string_equal(job.name, "x");
    assert_string_equal(job.fs, "ext2");
    assert_int_equal(job.bs, 8192);
    assert_int_equal(job.sides[0].size, 1u << 20);
    assert_refused("[x]\n[global]\n", "a.job:2: [global] stands in front of all other sections");
    assert_refused("[global]\n[global]\n", "a.job:2: [global] stands in front");
    assert_refused("[global]\nsize=1m\n", "a.job holds no job: a [name] is missing");
    assert_refused("[global]\noverwrite=1\n[x]\n", "a.job:2: overwrite=1 needs fs=ext2");
}

static void the_guest_gets_side_jobs_by_number(void **state)
{
    char text[2048] = "";
    FILE *stream = fmemopen(text, sizeof(text), "w");

    (void)state;
    assert_int_equal(read_job(FIRST "[a]\nrw=resize\nloops=3\n"), STATUS_SUCCESS);
    assert_int_equal(job_resize(&job, 0, "a.job", &job_failure), STATUS_SUCCESS);
    job_print(&job, stream);
    fclose(stream);
    assert_contains(text, "\nsides=1\nside0.name=a\nside0.rw=resize\nside0.ioengine=rpc\n"
                          "side0.bs=4096\nside0.size=1048576\nside0.filename=f\nside0.loops=3\n");
}

static int resize(const char *text, uint64_t size)
{
    assert_int_equal(read_job(text), STATUS_SUCCESS);
    return job_resize(&job, size, "a.job", &job_failure);
}

static void a_size_from_outside_replaces_the_jobs(void **state)
{
    (void)state;
    assert_int_equal(resize("[x]\nsize=1m\n", 2u << 20), STATUS_SUCCESS);
    assert_int_equal(job.size, 2u << 20);
    assert_int_equal(resize("[x]\nsize=1m\n", 0), STATUS_SUCCESS);
    assert_int_equal(job.size, 1u << 20);
}

static void sizes_that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    assert_int_equal(resize("[x]\n", 0), STATUS_BAD_INPUT);
    assert_contains(job_failure.reason, "'size' is missing");
    assert_int_equal(resize("[x]\nbs=513\nsize=1m\n", 0), STATUS_BAD_INPUT);
    assert_contains(job_failure.reason, "bs=513 is not a multiple of 512");
    assert_int_equal(resize("[x]\nbs=2m\nsize=2m\n", 0), STATUS_BAD_INPUT);
    assert_contains(job_failure.reason, "bs=2M is more than 1M");
    assert_int_equal(resize("[x]\nbs=512\nsize=4608\n", 0), STATUS_BAD_INPUT);
    assert_contains(job_failure.reason, "not a multiple of the page");
    assert_int_equal(resize("[x]\nbs=64k\nsize=68k\n", 0), STATUS_BAD_INPUT);
    assert_contains(job_failure.reason, "size=68K is not a multiple of bs=64K");
}

static void the_guest_gets_every_key_with_sizes_in_plain_bytes(void **state)
{
    char text[512] = "";
    FILE *stream = fmemopen(text, sizeof(text), "w");

    (void)state;
    assert_int_equal(resize("[x]\nsize=1m\n", 0), STATUS_SUCCESS);
    job_print(&job, stream);
    fclose(stream);
    assert_string_equal(text, "fs=none\nrw=write\nioengine=mmap\nbs=65536\nsize=1048576\n"
                              "filename=job.data\nnrfiles=1\nnumjobs=1\noverwrite=0\n"
                              "fragment=0\nend_fsync=1\nunmap=0\nfsync_on_close=0\nlinger=0\n"
                              "verify=0\nplain=0\nloops=0\nfault=none\nsides=0\n");
}

static void assert_not_resized(const char *text, const char *reason)
{
    assert_int_equal(resize(text, 0), STATUS_BAD_INPUT);
    assert_contains(job_failure.reason, reason);
}

static void files_and_clients_share_a_jobs_bytes(void **state)
{
    char name[JOB_FILE_BYTES];

    (void)state;
    assert_int_equal(resize("[x]\nfs=ext2\nsize=68k\nnrfiles=17\nnumjobs=4\nfilename=a/b\n", 0),
                     STATUS_SUCCESS);
    assert_int_equal(job_file_name(&job, 16, name), 0);
    assert_string_equal(name, "a/b.16");
    assert_int_equal(resize("[x]\nfs=ext2\nsize=1m\nnumjobs=4\n", 0), STATUS_SUCCESS);
    assert_int_equal(job.nrfiles, 4);
    assert_int_equal(resize("[x]\nfs=ext2\nsize=1m\n", 0), STATUS_SUCCESS);
    assert_int_equal(job.nrfiles, 1);
    assert_int_equal(job_file_name(&job, 0, name), 0);
    assert_string_equal(name, "job.data");
}

static void numbers_of_files_and_clients_that_cannot_be_are_refused(void **state)
{
    char text[JOB_FILE_BYTES + 64] = "[x]\nfs=ext2\nsize=1m\nnrfiles=200\nfilename=";
    size_t start = strlen(text);

    (void)state;
    assert_refused("[x]\nnumjobs=2\n", "a.job:2: numjobs=2 needs fs=ext2");
    assert_refused("[x]\nnrfiles=2\n", "a.job:2: nrfiles=2 needs fs=ext2");
    assert_refused("[x]\nfs=ext2\nfsync_on_close=1\nrw=read\n",
                   "a.job:3: fsync_on_close=1 needs rw=write");
    assert_not_resized("[x]\nfs=ext2\nsize=1m\nnumjobs=0\n", "numjobs=0 is no number from 1 to 64");
    assert_not_resized("[x]\nfs=ext2\nsize=1m\nnumjobs=65\n", "numjobs=65 is no number from 1");
    assert_not_resized("[x]\nfs=ext2\nsize=1m\nnumjobs=3\nnrfiles=2\n",
                       "nrfiles=2 is less than a file for each of numjobs=3 clients");
    assert_not_resized("[x]\nfs=ext2\nsize=64k\nnrfiles=17\n",
                       "size=64K is less than a page (4,096 bytes) for each of nrfiles=17 files");
    memset(text + start, 'a', 255);
    assert_not_resized(text, "has a part of more than 255 bytes");
    for (size_t i = 0; i < JOB_FILE_BYTES - 2; i++)
        text[start + i] = i % 2 == 0 ? 'a' : '/';
    text[start + JOB_FILE_BYTES - 3] = '\0';
    assert_not_resized(text, "is too long for a number behind it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_says_what_the_workload_does),
        cmocka_unit_test(keys_that_are_left_out_have_their_defaults),
        cmocka_unit_test(case_does_not_matter_but_for_the_name),
        cmocka_unit_test(an_unknown_key_is_refused_with_its_line_and_what_exists),
        cmocka_unit_test(an_unknown_value_is_refused_with_its_line_and_what_exists),
        cmocka_unit_test(a_size_that_makes_no_sense_is_refused_with_its_line),
        cmocka_unit_test(a_job_of_ext2_names_its_file),
        cmocka_unit_test(the_file_system_says_which_servers_and_which_partition),
        cmocka_unit_test(a_path_that_no_file_can_have_is_refused),
        cmocka_unit_test(a_number_of_blocks_is_a_number),
        cmocka_unit_test(values_that_make_no_sense_together_are_refused_with_their_line),
        cmocka_unit_test(a_key_given_twice_is_refused_with_both_lines),
        cmocka_unit_test(lines_that_are_no_job_are_refused),
        cmocka_unit_test(bytes_that_are_no_lines_of_text_are_refused),
        cmocka_unit_test(a_name_that_is_too_long_is_refused),
        cmocka_unit_test(a_size_from_outside_replaces_the_jobs),
        cmocka_unit_test(sizes_that_do_not_fit_together_are_refused),
        cmocka_unit_test(the_guest_gets_every_key_with_sizes_in_plain_bytes),
        cmocka_unit_test(files_and_clients_share_a_jobs_bytes),
        cmocka_unit_test(numbers_of_files_and_clients_that_cannot_be_are_refused),
        cmocka_unit_test(further_sections_are_side_jobs_that_begin_with_what_the_first_says),
        cmocka_unit_test(a_size_from_outside_is_that_of_side_jobs_without_their_own),
        cmocka_unit_test(sizes_of_a_side_job_must_fit_together_where_it_writes),
        cmocka_unit_test(what_makes_no_side_job_is_refused),
        cmocka_unit_test(global_says_what_holds_for_all_sections),
        cmocka_unit_test(the_guest_gets_side_jobs_by_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
