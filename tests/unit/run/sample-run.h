// SPDX-License-Identifier: GPL-2.0-or-later
/* A run of two boots with made-up counts, for the tests of what is printed and written. */
#ifndef TESTS_SAMPLE_RUN_H
#define TESTS_SAMPLE_RUN_H

#include "run-test.h"
#include "result.h"

static struct options sample_options;
static struct run sample_run;
static const struct job sample_job = {
    .name = "pager",
    .fs = "none",
    .rw = "write",
    .ioengine = "mmap",
    .filename = "job.data",
    .fault = "none",
    .plain = "0",
    .bs = 65536,
    .size = 134217728,
    .end_fsync = true,
    .nrfiles = 1,
    .numjobs = 1,
};

static inline void sample_feed(struct boot *boot, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        console_feed(&boot->console, lines[i]);
    assert_string_equal(boot->console.broken, "");
    boot->layers = console_server_lookup(&boot->console, "pager")->layers;
}

static inline void sample_commands(struct boot *boot, uint64_t bytes)
{
    boot->traced = true;
    for (uint64_t done = 0; done < sample_job.size; done += bytes)
        layer_add(&boot->layers.at[LAYER_DISK_WRITE][LAYER_FILE], bytes);
    layer_add(&boot->layers.at[LAYER_DISK_READ][LAYER_META], 512);
    strcpy(boot->content, "ok");
    strcpy(boot->disk_agrees, "ok");
}

static inline void sample_boot_page(struct boot *boot)
{
    static const char *const lines[] = {
        "machbed start server=pager",
        "machbed start server=workload",
        "machbed job name=pager fill_us=2684354 sync_us=4000000 runtime_us=6684400 bytes=134217728",
        "machbed counter server=pager layer=data_request class=file count=32768 bytes=134217728 "
        "max=4096 hist=4096:32768",
        "machbed counter server=pager layer=data_return class=file count=1024 bytes=134217728 "
        "max=131072 hist=131072:1024",
        "machbed counter server=pager layer=store_write class=file count=32768 bytes=134217728 "
        "max=4096 hist=4096:32768",
        "machbed counter server=pager layer=store_read class=file count=0 bytes=0 max=0 hist=-",
        "machbed plain bytes=134217728 us=2000000 one_ns=750000",
        "machbed side name=resizer count=1648 faults=2 p99_ns=29081000 max_ns=128468000",
        "machbed wait server=pager what=alloc_lock count=5190 p99_ns=3072 max_ns=10431022",
        "machbed store server=pager device=sd0s2 block=4096 rmw_bytes=3 copied_bytes=5",
        "machbed store server=pager device=sd0s3 block=4096 rmw_bytes=4 copied_bytes=6",
        "machbed threads server=pager first=11 last=11",
        "machbed trace server=pager events=98304 dropped=12 drain_us=31400000",
        "machbed trace server=workload events=2 dropped=0 drain_us=0",
    };

    boot_init(boot, &sample_options, &sample_job, policy_lookup("page"), 4711);
    sample_feed(boot, lines, sizeof(lines) / sizeof(lines[0]));
    sample_commands(boot, 4096);
    boot->mbr.partitions[1] = (struct mbr_partition){1050624, 524288};
    boot->ending = (struct qemu_ending){
        .end = QEMU_EXITED, .value = 33, .kernel_ms = 900, .server_ms = 1900, .end_ms = 9000};
}

static inline void sample_boot_run128(struct boot *boot)
{
    static const char *const lines[] = {
        "machbed start server=pager",
        "machbed job name=pager fill_us=2700000 sync_us=1000000 runtime_us=3700000 bytes=134217728",
        "machbed counter server=pager layer=data_return class=file count=1024 bytes=134217728 "
        "max=131072 hist=131072:1024",
        "machbed counter server=pager layer=store_write class=file count=1024 bytes=134217728 "
        "max=131072 hist=131072:1024",
        "machbed counter server=pager layer=store_write class=meta count=1 bytes=4096 max=4096 "
        "hist=4096:1",
        "machbed check name=read_back result=ok",
    };

    boot_init(boot, &sample_options, &sample_job, policy_lookup("run128"), 4712);
    sample_feed(boot, lines, sizeof(lines) / sizeof(lines[0]));
    sample_commands(boot, 32768);
    strcpy(boot->content, "byte 4,099 (sector 8; sector 1,050,632 of the disk) is 0x00 and should "
                          "be 0x12: the sector is all zeros; 1 of 262,144 sectors differ");
    failure_set(&boot->failure, STATUS_FAILED, "content: \"quoted\" \t and a tab");
}

static inline int sample_setup(void **state)
{
    char *words[] = {(char *)"machbed-run", (char *)"--kernel-version", (char *)"1.8", NULL};
    struct failure failure = {0};

    (void)state;
    assert_int_equal(options_parse(&sample_options, 3, words, &failure), STATUS_SUCCESS);
    sample_run = (struct run){.options = &sample_options, .job = &sample_job, .boots_count = 2};
    strcpy(sample_run.kernel_sha256, "abcd");
    sample_boot_page(&sample_run.boots[0]);
    sample_boot_run128(&sample_run.boots[1]);
    failure_set(&sample_run.failure, STATUS_FAILED, "policy run128: content");
    return 0;
}

static inline int sample_teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sample_run.boots_count; i++)
        boot_destroy(&sample_run.boots[i]);
    return 0;
}

#endif
