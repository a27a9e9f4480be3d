// SPDX-License-Identifier: GPL-2.0-or-later
/* What is easily taken for kin and is not, and what rows make of crowds. */
#include "kin.h"
#include "run-test.h"
#include "synth-test.h"

/* An io_write of 64 KiB at 0 of object 7, or a return of it. */
static void io_write(uint64_t t, unsigned request)
{
    synth_event(&synth, t, 1000, "io",
                "srv=pager thr=w req=%u obj=7 off=0 len=65536 what=io_write res=0", request);
}

static void data_return(uint64_t t, uint64_t dur, unsigned request, const char *what)
{
    synth_event(&synth, t, dur, "data_return",
                "srv=pager thr=w req=%u obj=7 off=0 len=65536 cls=file what=%s res=0", request,
                what);
}

static void run(uint64_t t, unsigned request, unsigned by, unsigned returns)
{
    synth_event(&synth, t, 1000, "run",
                "srv=pager thr=w req=%u by=%u obj=7 off=0 len=65536 cls=file n=%u", request, by,
                returns);
}

static size_t place(uint64_t request)
{
    for (size_t i = 0; i < synth.record.count; i++) {
        if (synth.record.events[i].req == request)
            return i;
    }
    fail_msg("there is no such request");
    return 0;
}

static void load(void)
{
    synth_close(&synth, 0, 0);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
}

/* The children of a request are those of the list, which 0 ends. */
static void assert_children(uint64_t request, const uint64_t *requests)
{
    struct kin children;
    size_t count = 0;

    kin_children(&synth.record, place(request), &children);
    for (; count < children.count && requests[count] != 0; count++)
        assert_int_equal(synth.record.events[children.at[count]].req, requests[count]);
    assert_int_equal(requests[count], 0);
    assert_int_equal(children.count, count);
    kin_destroy(&children);
}

#define CHILDREN(...) ((const uint64_t[]){__VA_ARGS__, 0})
#define NO_CHILDREN   ((const uint64_t[]){0})

static void only_the_first_return_of_a_page_is_a_writes(void **state)
{
    (void)state;
    io_write(1000000, 1);
    data_return(2000000, 10, 2, "clean");
    data_return(3000000, 10, 3, "dirty");
    data_return(4000000, 10, 4, "dirty");
    load();
    assert_children(1, CHILDREN(3));
}

static void a_return_brings_what_was_written_since_the_one_before(void **state)
{
    struct kin writers;

    (void)state;
    io_write(1000000, 1);
    data_return(2000000, 10, 2, "dirty");
    io_write(3000000, 3);
    io_write(4000000, 4);
    data_return(5000000, 10, 5, "dirty");
    load();
    kin_writers(&synth.record, place(5), &writers);
    assert_int_equal(writers.count, 2);
    assert_int_equal(synth.record.events[writers.at[0]].req, 3);
    assert_int_equal(synth.record.events[writers.at[1]].req, 4);
    kin_destroy(&writers);
}

static void a_run_of_one_return_belongs_to_that_one(void **state)
{
    (void)state;
    data_return(1000000, 100000, 1, "dirty");
    data_return(1001000, 100000, 2, "dirty");
    run(1010000, 3, 1, 1);
    run(1020000, 4, 2, 1);
    load();
    assert_children(1, CHILDREN(3));
    assert_children(2, CHILDREN(4));
}

static void another_servers_numbers_are_not_ours(void **state)
{
    (void)state;
    data_return(1000000, 100000, 1, "dirty");
    synth_event(&synth, 1010000, 1000, "run",
                "srv=other thr=w req=2 by=1 obj=7 off=0 len=65536 cls=file n=1");
    load();
    assert_children(1, NO_CHILDREN);
    assert_int_equal(kin_parent(&synth.record, place(2)), SIZE_MAX);
}

static void an_operations_call_is_of_its_bytes(void **state)
{
    (void)state;
    synth_event(&synth, 1000000, 10000, "op",
                "srv=workload thr=main req=50 off=65536 len=65536 what=write res=0");
    io_write(1001000, 1);
    synth_event(&synth, 1003000, 1000, "io",
                "srv=pager thr=w req=2 obj=7 off=65536 len=65536 what=io_write res=0");
    synth_event(&synth, 1009500, 1000, "io",
                "srv=pager thr=w req=3 obj=7 off=65536 len=65536 what=io_write res=0");
    load();
    assert_children(50, CHILDREN(2));
}

static void an_operation_on_a_mapping_has_its_faults_and_returns(void **state)
{
    struct kin writers;

    (void)state;
    synth_event(&synth, 1000000, 10000, "op",
                "srv=workload thr=main req=50 off=0 len=65536 what=write res=0");
    synth_event(&synth, 1001000, 1000, "data_request",
                "srv=pager thr=w req=1 obj=7 off=0 len=4096 cls=file res=0");
    synth_event(&synth, 1003000, 1000, "data_request",
                "srv=pager thr=w req=2 obj=0 off=0 len=4096 cls=meta res=0");
    synth_event(&synth, 1020000, 1000, "data_request",
                "srv=pager thr=w req=3 obj=7 off=4096 len=4096 cls=file res=0");
    data_return(2000000, 10, 4, "dirty");
    load();
    assert_children(50, CHILDREN(1, 4));
    assert_int_equal(kin_parent(&synth.record, place(1)), place(50));
    kin_writers(&synth.record, place(4), &writers);
    assert_int_equal(writers.count, 1);
    assert_int_equal(writers.at[0], place(50));
    kin_destroy(&writers);
}

/* 100 us, of which the children cover 10 to 60 and, within that, 20 to 30: 50 are its own. */
static void time_that_two_children_share_counts_once(void **state)
{
    (void)state;
    synth_event(&synth, 1000000, 100000, "run",
                "srv=pager thr=w req=1 by=0 obj=7 off=0 len=65536 cls=file n=1");
    synth_event(&synth, 1010000, 50000, "alloc_lock",
                "srv=pager thr=w req=2 by=1 obj=7 what=read wait=0");
    synth_event(&synth, 1020000, 10000, "alloc_lock",
                "srv=pager thr=w req=3 by=1 obj=7 what=read wait=0");
    load();
    assert_contains(synth_view(&synth, view_request, 1, NULL),
                    "\n>        0.0       100.0        50.0           -  run 1 ");
}

/* The window ends at 20 us of 100, the return in it at 90. */
static void a_syncs_own_time_is_not_that_of_its_returns(void **state)
{
    (void)state;
    synth_event(&synth, 1000000, 100000, "io",
                "srv=pager thr=w req=1 obj=7 off=0 len=0 what=file_sync res=0");
    synth_event(&synth, 1010000, 10000, "lock_request",
                "srv=pager thr=w req=2 by=1 obj=7 off=0 len=65536 cls=file what=sync");
    data_return(1015000, 75000, 3, "dirty");
    load();
    assert_contains(synth_view(&synth, view_request, 1, NULL),
                    "\n>        0.0       100.0        20.0           -  io 1 ");
}

static void crowds_are_counted_and_cut(void **state)
{
    const char *text;

    (void)state;
    data_return(1000000, 100000, 100, "dirty");
    run(1000000, 99, 100, 1);
    for (unsigned i = 0; i < 10; i++)
        synth_event(&synth, 1001000 + i * 1000, 500, "alloc_lock",
                    "srv=pager thr=w req=%u by=99 obj=7 what=read wait=0", i + 1);
    synth_write(&synth, 1002000, 50, 99, 0, 4096);
    load();
    text = synth_view(&synth, view_request, 99, NULL);
    assert_contains(text, "    alloc_lock 4 ");
    assert_null(strstr(text, "    alloc_lock 5 "));
    assert_null(strstr(text, "    alloc_lock 9 "));
    assert_contains(text, "    ... 6 more alloc_lock\n");
    assert_contains(text, "    store_write 50 ");
    assert_contains(text, "\nown times of what is shown: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_the_first_return_of_a_page_is_a_writes),
        TEST(a_return_brings_what_was_written_since_the_one_before),
        TEST(a_run_of_one_return_belongs_to_that_one),
        TEST(another_servers_numbers_are_not_ours),
        TEST(an_operations_call_is_of_its_bytes),
        TEST(an_operation_on_a_mapping_has_its_faults_and_returns),
        TEST(time_that_two_children_share_counts_once),
        TEST(a_syncs_own_time_is_not_that_of_its_returns),
        TEST(crowds_are_counted_and_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
