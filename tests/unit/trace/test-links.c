// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>

#include "carry.h"
#include "kin.h"
#include "links.h"
#include "log.h"
#include "run-test.h"
#include "synth.h"

#define PAGE        4096u
#define CARRIES_MAX 256

static struct synth synth;
static struct links links;

static int setup(void **state)
{
    (void)state;
    synth_begin(&synth);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    links_destroy(&links);
    synth_end(&synth);
    return 0;
}

static void load(void)
{
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    links_find(&links, &synth.record);
}

/* Every event has as children, all together, what it has when it is asked for alone. */
static void assert_links_are_kin(void)
{
    for (size_t i = 0; i < synth.record.count; i++) {
        size_t count = links.first[i + 1] - links.first[i];
        struct kin children;

        kin_children(&synth.record, i, &children);
        if (children.count != count)
            fail_msg("event %zu has %zu children, %zu links", i, children.count, count);
        for (size_t j = 0; j < count; j++) {
            assert_int_equal(links.links[links.first[i] + j].parent, i);
            assert_int_equal(links.links[links.first[i] + j].child, children.at[j]);
        }
        kin_destroy(&children);
    }
    assert_int_equal(links.first[synth.record.count], links.count);
}

static void all_links_are_those_of_single_events(void **state)
{
    (void)state;
    synth_two_writes(&synth);
    load();
    assert_links_are_kin();
    assert_true(links.count > 10);
}

/* Operations on a mapping, of two clients, with page faults, and returns of several pages which
   bring what some of them wrote. */
static void operations_on_mappings_are_linked_as_well(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        uint64_t t = 1000000000 + i * UINT64_C(100000);
        uint64_t off = (i * 7 % 24) * PAGE;

        synth_event(&synth, t, 70000, "op",
                    "srv=workload thr=main/%u req=%u off=%" PRIu64 " len=%u what=write res=0",
                    i % 2, i + 1, off, 2 * PAGE);
        synth_event(&synth, t + 10000, 20000, "data_request",
                    "srv=pager thr=w req=%u obj=1 off=%" PRIu64 " len=4096 cls=file res=0",
                    1000 + i, off);
        if (i % 5 == 4)
            synth_event(&synth, t + 80000, 9000, "data_return",
                        "srv=pager thr=w req=%u obj=1 off=%u len=%u cls=file what=dirty res=0",
                        2000 + i, i % 3 * 8 * PAGE, 8 * PAGE);
    }
    synth_close(&synth, 48, 0);
    load();
    assert_links_are_kin();
    assert_true(links.count > 60);
}

/* What a kind has behind its length; a `by` stands before the object. */
static const struct {
    const char *name;
    bool by;
    const char *rest;
} random_kinds[] = {
    {"io", false, "what=io_write res=0"},
    {"data_return", false, "cls=file what=dirty res=0"},
    {"lock_request", true, "cls=file what=sync"},
    {"run", true, "cls=file n=1"},
    {"run", true, "cls=file n=2"},
};

/* Random events of few requests, objects and pages: whatever they are, both answers are one. */
static void links_and_kin_agree_on_random_events(void **state)
{
    unsigned seed = 12345;

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        unsigned kind = (unsigned)rand_r(&seed) % 5;
        char by[16] = "";

        if (random_kinds[kind].by)
            snprintf(by, sizeof(by), " by=%d", rand_r(&seed) % 300);
        synth_event(&synth, 1000000000 + i * UINT64_C(1000), (unsigned)rand_r(&seed) % 30000,
                    random_kinds[kind].name, "srv=pager thr=w req=%u%s obj=%d off=%d len=%d %s",
                    i + 1, by, rand_r(&seed) % 2 + 1, rand_r(&seed) % 16 * 4096,
                    (rand_r(&seed) % 8 + 1) * 4096, random_kinds[kind].rest);
    }
    synth_close(&synth, 300, 0);
    load();
    assert_links_are_kin();
    assert_true(links.count > 300);
}

/* --- What carried what ----------------------------------------------------------------------- */

static struct carry carries[CARRIES_MAX];
static size_t carries_count;

static void carry_note(void *argument, const struct carry *carry)
{
    assert_null(argument);
    assert_true(carries_count < CARRIES_MAX);
    carries[carries_count++] = *carry;
}

static void carries_load(void)
{
    load();
    carries_count = 0;
    carries_find(&synth.record, &links, carry_note, NULL);
}

static void assert_carry(size_t place, uint64_t write, uint64_t run, uint64_t store,
                         uint64_t sector)
{
    const struct event *events = synth.record.events;

    assert_true(place < carries_count);
    assert_int_equal(events[carries[place].write].req, write);
    assert_int_equal(events[carries[place].run].req, run);
    assert_int_equal(events[carries[place].store].req, store);
    assert_int_equal(events[carries[place].command].kind, EVENT_DISK_WRITE);
    assert_int_equal(events[carries[place].command].sec, SYNTH_PARTITION + sector);
}

/* A write of 64 KiB, one of 4 KiB behind it, one return, one run, two calls of 64 KiB and 4 KiB. */
static void each_write_knows_the_commands_of_its_bytes(void **state)
{
    (void)state;
    synth_event(&synth, 1000000000, 1000, "io",
                "srv=pager thr=w req=1 obj=7 off=0 len=65536 what=io_write res=0");
    synth_event(&synth, 1000010000, 1000, "io",
                "srv=pager thr=w req=2 obj=7 off=65536 len=4096 what=io_write res=0");
    synth_event(&synth, 1001000000, 8000000, "data_return",
                "srv=pager thr=w req=3 obj=7 off=0 len=69632 cls=file what=dirty res=0");
    synth_event(&synth, 1001100000, 7000000, "run",
                "srv=pager thr=w req=4 by=3 obj=7 off=0 len=69632 cls=file n=1");
    synth_write(&synth, 1001200000, 5, 4, 800, 65536);
    synth_write(&synth, 1003200000, 6, 4, 8000, 4096);
    synth_close(&synth, 6, 0);
    carries_load();
    assert_int_equal(carries_count, 3);
    assert_carry(0, 1, 4, 5, 800);
    assert_carry(1, 1, 4, 5, 864);
    assert_carry(2, 2, 4, 6, 8000);
}

static void without_commands_a_write_ends_at_its_store_write(void **state)
{
    (void)state;
    synth_event(&synth, 1000000000, 1000, "io",
                "srv=pager thr=w req=1 obj=7 off=0 len=4096 what=io_write res=0");
    synth_event(&synth, 1001000000, 8000000, "data_return",
                "srv=pager thr=w req=3 obj=7 off=0 len=4096 cls=file what=dirty res=0");
    synth_event(&synth, 1001100000, 7000000, "run",
                "srv=pager thr=w req=4 by=3 obj=7 off=0 len=4096 cls=file n=1");
    synth_event(&synth, 1001200000, 900, "store_write",
                "srv=pager thr=w req=5 by=4 len=4096 sec=8 cls=file res=0");
    synth_close(&synth, 4, 0);
    carries_load();
    assert_int_equal(carries_count, 1);
    assert_int_equal(synth.record.events[carries[0].store].req, 5);
    assert_int_equal(carries[0].command, carries[0].store);
}

/* A call failed, and the run was written again page by page: each may have carried all of it. */
static void calls_that_were_repeated_carry_all(void **state)
{
    (void)state;
    synth_event(&synth, 1000000000, 1000, "io",
                "srv=pager thr=w req=1 obj=7 off=0 len=4096 what=io_write res=0");
    synth_event(&synth, 1001000000, 8000000, "data_return",
                "srv=pager thr=w req=3 obj=7 off=0 len=8192 cls=file what=dirty res=0");
    synth_event(&synth, 1001100000, 7000000, "run",
                "srv=pager thr=w req=4 by=3 obj=7 off=0 len=8192 cls=file n=1");
    synth_write(&synth, 1001200000, 5, 4, 800, 8192);
    synth_write(&synth, 1003200000, 6, 4, 800, 4096);
    synth_write(&synth, 1005200000, 7, 4, 808, 4096);
    synth_close(&synth, 6, 0);
    carries_load();
    assert_int_equal(carries_count, 3);
    assert_carry(0, 1, 4, 5, 800);
    assert_carry(1, 1, 4, 6, 800);
    assert_carry(2, 1, 4, 7, 808);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_links_are_those_of_single_events),
        TEST(operations_on_mappings_are_linked_as_well),
        TEST(links_and_kin_agree_on_random_events),
        TEST(each_write_knows_the_commands_of_its_bytes),
        TEST(without_commands_a_write_ends_at_its_store_write),
        TEST(calls_that_were_repeated_carry_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
