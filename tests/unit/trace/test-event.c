// SPDX-License-Identifier: GPL-2.0-or-later
#include "event.h"
#include "run-test.h"

static struct names names;

/* A line of each kind, as servers print them. */
static const char *const lines[EVENT_GUEST_KINDS] = {
    "event t=1 dur=2 kind=op srv=workload thr=main req=3 off=4096 len=512 what=write res=0",
    "event t=1 dur=2 kind=io srv=ext2 thr=rpc/1 req=3 obj=12 off=0 len=512 what=io_write res=28",
    "event t=1 dur=2 kind=data_request srv=ext2 thr=file req=3 obj=12 off=0 len=4096 cls=file "
    "res=0",
    "event t=1 dur=2 kind=data_unlock srv=ext2 thr=file req=3 obj=12 off=0 len=4096 cls=file res=0",
    "event t=1 dur=2 kind=data_return srv=ext2 thr=file req=3 obj=12 off=0 len=4096 cls=meta "
    "what=dirty res=0",
    "event t=1 dur=2 kind=lock_request srv=ext2 thr=file req=3 by=2 obj=12 off=0 len=4096 cls=file "
    "what=sync",
    "event t=1 dur=2 kind=run srv=ext2 thr=file req=3 by=2 obj=12 off=0 len=4096 cls=file n=2",
    "event t=1 dur=2 kind=alloc_lock srv=ext2 thr=file req=3 by=2 obj=12 what=read wait=1",
    "event t=1 dur=2 kind=store_write srv=ext2 thr=file req=3 by=2 len=4096 sec=8 cls=file res=0",
    "event t=1 dur=2 kind=store_read srv=ext2 thr=file req=3 by=2 len=4096 sec=8 cls=file res=0",
    "event t=1 dur=2 kind=memory srv=ext2 thr=trace req=3 n=123456",
};

static int setup(void **state)
{
    (void)state;
    names_init(&names);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    names_destroy(&names);
    return 0;
}

static void a_line_of_each_kind_is_understood(void **state)
{
    (void)state;
    for (unsigned i = 0; i < EVENT_GUEST_KINDS; i++) {
        struct event event;

        assert_int_equal(event_parse(&event, lines[i], &names), 0);
        assert_int_equal(event.kind, i);
        assert_int_equal(event.t, 1);
        assert_int_equal(event.dur, 2);
        assert_int_equal(event.req, 3);
        assert_int_equal(event.keys, event_kind_keys(event.kind));
    }
}

static void every_field_goes_where_it_belongs(void **state)
{
    struct event event;

    (void)state;
    assert_int_equal(event_parse(&event,
                                 "event t=8123456789 dur=152340 kind=store_write srv=ext2 "
                                 "thr=file req=70211 by=70210 len=131072 sec=6936 cls=meta res=5",
                                 &names),
                     0);
    assert_int_equal(event.t, 8123456789);
    assert_string_equal(event.srv, "ext2");
    assert_string_equal(event.thr, "file");
    assert_int_equal(event.by, 70210);
    assert_int_equal(event.len, 131072);
    assert_int_equal(event.sec, 6936);
    assert_int_equal(event.cls, LAYER_META);
    assert_int_equal(event.res, 5);
    assert_int_equal(event_parse(&event, lines[EVENT_RUN], &names), 0);
    assert_int_equal(event.n, 2);
    assert_int_equal(event.obj, 12);
    assert_int_equal(event_parse(&event, lines[EVENT_ALLOC_LOCK], &names), 0);
    assert_int_equal(event.wait, 1);
    assert_string_equal(event.what, "read");
}

static void equal_names_are_one(void **state)
{
    struct event event;
    struct event other;

    (void)state;
    assert_int_equal(event_parse(&event, lines[EVENT_IO], &names), 0);
    assert_int_equal(event_parse(&other, lines[EVENT_RUN], &names), 0);
    assert_ptr_equal(event.srv, other.srv);
    assert_ptr_not_equal(event.thr, other.thr);
}

/* Where a line may be cut and still be whole: in the word or number at its end. */
static size_t last_value(const char *line)
{
    return (size_t)(strrchr(line, '=') - line) + 2;
}

static void a_line_that_was_cut_is_damaged(void **state)
{
    (void)state;
    for (unsigned i = 0; i < EVENT_GUEST_KINDS; i++) {
        for (size_t length = 0; length < last_value(lines[i]) - 1; length++) {
            struct event event;
            char line[256];

            snprintf(line, sizeof(line), "%.*s", (int)length, lines[i]);
            if (event_parse(&event, line, &names) == 0)
                fail_msg("understood: %s", line);
        }
    }
}

static void a_line_that_lost_its_middle_is_damaged(void **state)
{
    (void)state;
    for (unsigned i = 0; i < EVENT_GUEST_KINDS; i++) {
        for (const char *at = strchr(lines[i], ' '); at != NULL; at = strchr(at + 1, ' ')) {
            const char *next = strchr(at + 1, ' ');
            struct event event;
            char line[256];

            snprintf(line, sizeof(line), "%.*s%s", (int)(at - lines[i]), lines[i],
                     next == NULL ? "" : next);
            assert_int_not_equal(event_parse(&event, line, &names), 0);
        }
    }
}

static void what_is_malformed_is_damaged(void **state)
{
    static const char *const wrong[] = {
        "event",
        "event ",
        "events t=1 dur=2 kind=op srv=w thr=m req=3 off=0 len=512 what=write res=0",
        "event  t=1 dur=2 kind=op srv=w thr=m req=3 off=0 len=512 what=write res=0",
        "event t=-1 dur=2 kind=op srv=w thr=m req=3 off=0 len=512 what=write res=0",
        "event t=0x1 dur=2 kind=op srv=w thr=m req=3 off=0 len=512 what=write res=0",
        "event t= dur=2 kind=op srv=w thr=m req=3 off=0 len=512 what=write res=0",
        "event t=1 dur=2 kind=ops srv=w thr=m req=3 off=0 len=512 what=write res=0",
        "event t=1 dur=2 kind=disk_write sec=1 len=2",
        "event t=1 dur=2 kind=op srv=w thr=m req=0 off=0 len=512 what=write res=0",
        "event t=1 dur=2 kind=op srv=w thr=m req=3 len=512 off=0 what=write res=0",
        "event t=1 dur=2 kind=op srv=w thr=m req=3 off=0 len=512 what=write res=0 more=1",
        "event t=1 dur=2 kind=op srv=w thr=m req=3 off=0 len=512 what=write res=0 res=0",
        "event t=1 dur=2 kind=op srv=w thr=m req=3 obj=1 off=0 len=512 what=write res=0",
        "event t=1 dur=2 kind=run srv=w thr=m req=3 by=2 obj=12 off=0 len=4096 cls=other n=2",
        "event t=99999999999999999999 dur=2 kind=op srv=w thr=m req=3 off=0 len=1 what=write res=0",
        "event t=18446744073709551615 dur=2 kind=op srv=w thr=m req=3 off=0 len=1 what=w res=0",
        "event t=1 dur=2 kind=op srv=w thr=m req=3 off=18446744073709551615 len=1 what=w res=0",
        "event t=1 dur=2 kind=op srv=w thr=m req=3 off=18446744073709551614 len=1 what=w res=0",
        "event t=1 dur=2 kind=store_read srv=e thr=f req=3 by=2 len=1 sec=18446744073709551615 "
        "cls=file res=0",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct event event;

        if (event_parse(&event, wrong[i], &names) == 0)
            fail_msg("understood: %s", wrong[i]);
    }
}

static void a_log_cannot_have_endlessly_many_names(void **state)
{
    bool refused = false;

    (void)state;
    for (unsigned i = 0; i < NAMES_SLOTS; i++) {
        char line[160];
        struct event event;

        snprintf(line, sizeof(line),
                 "event t=1 dur=2 kind=op srv=w%u thr=m req=3 off=0 len=1 what=w res=0", i);
        refused = refused || event_parse(&event, line, &names) != 0;
    }
    assert_true(refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_of_each_kind_is_understood, setup, teardown),
        cmocka_unit_test_setup_teardown(every_field_goes_where_it_belongs, setup, teardown),
        cmocka_unit_test_setup_teardown(equal_names_are_one, setup, teardown),
        cmocka_unit_test_setup_teardown(a_line_that_was_cut_is_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(a_line_that_lost_its_middle_is_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_malformed_is_damaged, setup, teardown),
        cmocka_unit_test_setup_teardown(a_log_cannot_have_endlessly_many_names, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
