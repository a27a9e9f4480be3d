// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "console.h"

static struct console console;

static int setup(void **state)
{
    (void)state;
    console_init(&console);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    console_destroy(&console);
    return 0;
}

/* The example of docs/protocol.md. */
static void every_line_of_the_protocol_is_understood(void **state)
{
    const struct console_server *pager;

    (void)state;
    console_feed(&console, "machbed start server=pager");
    console_feed(&console, "machbed tsc hz=2494141000");
    console_feed(&console, "machbed mark ns=1909919437");
    console_feed(&console, "machbed job name=pager fill_us=2718281 sync_us=314159 "
                           "runtime_us=3141592 bytes=134217728");
    console_feed(&console, "machbed plain bytes=134217728 us=740000 one_ns=193400");
    console_feed(&console, "machbed counter server=pager layer=data_return class=file count=1024 "
                           "bytes=134217728 max=131072 hist=131072:1024");
    console_feed(&console, "machbed claim server=pager device=sd0s2 sector=0 sectors=262144 "
                           "times=1");
    console_feed(&console, "machbed store server=pager device=sd0s2 block=4096 rmw_bytes=1 "
                           "copied_bytes=2");
    console_feed(&console, "machbed ram server=ext2 device=ram0s1 piece=525336576");
    console_feed(&console, "machbed check name=content result=ok");
    console_feed(&console, "machbed trace server=pager events=67586 dropped=3 drain_us=21415926");
    console_feed(&console, "machbed end status=0 reason=\"every request was answered\"");
    assert_int_equal(console.mark_ns, 1909919437);
    assert_string_equal(console.broken, "");
    assert_int_equal(console.lines, 12);
    assert_int_equal(console.rams_count, 1);
    assert_string_equal(console.rams[0].device, "ram0s1");
    assert_int_equal(console.rams[0].piece, 525336576);
    assert_true(console.plain.said);
    assert_int_equal(console.plain.bytes, 134217728);
    assert_int_equal(console.plain.us, 740000);
    assert_true(console.job.said);
    assert_string_equal(console.job.name, "pager");
    assert_int_equal(console.job.fill_us, 2718281);
    assert_int_equal(console.job.sync_us, 314159);
    assert_int_equal(console.job.runtime_us, 3141592);
    assert_int_equal(console.job.bytes, 134217728);
    pager = console_server_lookup(&console, "pager");
    assert_non_null(pager);
    assert_true(pager->started);
    assert_true(pager->counted[LAYER_DATA_RETURN][LAYER_FILE]);
    assert_false(pager->counted[LAYER_DATA_RETURN][LAYER_META]);
    assert_int_equal(pager->layers.at[LAYER_DATA_RETURN][LAYER_FILE].count, 1024);
    assert_int_equal(pager->layers.at[LAYER_DATA_RETURN][LAYER_FILE].max, 131072);
    assert_int_equal(pager->layers.at[LAYER_DATA_RETURN][LAYER_FILE].hist[17], 1024);
    assert_true(pager->trace.said);
    assert_int_equal(pager->trace.events, 67586);
    assert_int_equal(pager->trace.dropped, 3);
    assert_int_equal(pager->trace.drain_us, 21415926);
    assert_int_equal(console.claims_count, 1);
    assert_int_equal(console.claims[0].sectors, 262144);
    assert_int_equal(console.stores_count, 1);
    assert_int_equal(console.stores[0].block, 4096);
    assert_int_equal(console.stores[0].rmw_bytes, 1);
    assert_int_equal(console.stores[0].copied_bytes, 2);
    assert_int_equal(console.checks_count, 1);
    assert_string_equal(console.checks[0].result, "ok");
    assert_true(console.end.said);
    assert_int_equal(console.end.status, 0);
    assert_string_equal(console.end.reason, "every request was answered");
}

static void a_crash_is_put_into_words_and_the_first_one_kept(void **state)
{
    (void)state;
    console_feed(&console, "machbed crash server=workload thread=main pc=0x18000a31 "
                           "symbol=fault_crash+0x11 exception=1 code=1 subcode=0x0");
    console_feed(&console, "machbed crash server=pager thread=w1 pc=0x1 symbol=x exception=6 "
                           "code=0 subcode=0x0");
    assert_string_equal(console.broken, "");
    assert_string_equal(console.crash,
                        "workload crashed in thread main at 0x18000a31 (fault_crash+0x11): bad "
                        "access to memory (exception 1, code 1, subcode 0x0)");
}

static void an_exception_that_has_no_name_is_no_harm(void **state)
{
    (void)state;
    console_feed(&console, "machbed crash server=a thread=b pc=0x1 symbol=- exception=77 code=0 "
                           "subcode=0x0");
    assert_contains(console.crash, "unknown exception (exception 77");
}

static void fields_behind_the_known_ones_are_skipped(void **state)
{
    (void)state;
    console_feed(&console, "machbed start server=pager pages=7 why=\"a b\"");
    assert_string_equal(console.broken, "");
    assert_non_null(console_server_lookup(&console, "pager"));
}

static void an_empty_histogram_is_a_dash(void **state)
{
    (void)state;
    console_feed(&console, "machbed counter server=p layer=store_read class=meta count=0 bytes=0 "
                           "max=0 hist=-");
    assert_string_equal(console.broken, "");
}

static void a_line_that_breaks_the_rules_is_reported_by_its_number(void **state)
{
    static const struct {
        const char *line;
        const char *says;
    } cases[] = {
        {"machbed startle server=pager", "unknown keyword"},
        {"machbed start", "lacks 'server='"},
        {"machbed start server=", "malformed"},
        {"machbed start name=pager", "lacks 'server='"},
        {"machbed tsc hz=fast", "malformed"},
        {"machbed mark", "lacks 'ns='"},
        {"machbed job name=a fill_us=1 sync_us=2 bytes=3", "lacks 'runtime_us='"},
        {"machbed job name=a sync_us=2 fill_us=1 runtime_us=3 bytes=3", "lacks 'fill_us='"},
        {"machbed job name=a fill_us=-1 sync_us=2 runtime_us=3 bytes=3", "malformed"},
        {"machbed check name=x result=\"not ended", "lacks 'result='"},
        {"machbed check name=x result=\"a\"b", "lacks 'result='"},
        {"machbed check name=x result=a\"b", "lacks 'result='"},
        {"machbed claim server=p device=sd0s2 sector=0 sectors=0 times=1", "malformed"},
        {"machbed wait server=p what=alloc_lock count=1 p99_ns=2 max_ns=1", "malformed"},
        {"machbed wait server=p what=io_lock count=1 p99_ns=1 max_ns=1", "malformed"},
        {"machbed failed server=p device=sd0s2 sector=0 sectors=0 times=1", "malformed"},
        {"machbed claim server=p device=sd0s2 sector=0 sectors=1 times=0", "malformed"},
        {"machbed claim server=p device=sd0s2 sector=0 sectors=1 times=2147483648", "malformed"},
        {"machbed store server=p device=sd0s2 block=0 rmw_bytes=0 copied_bytes=0", "malformed"},
        {"machbed store server=p device=sd0s2 block=513 rmw_bytes=0 copied_bytes=0", "malformed"},
        {"machbed counter server=p layer=data class=file count=0 bytes=0 max=0 hist=-",
         "malformed"},
        {"machbed counter server=p layer=disk_write class=file count=0 bytes=0 max=0 hist=-",
         "malformed"},
        {"machbed counter server=p layer=data_return class=all count=0 bytes=0 max=0 hist=-",
         "malformed"},
        {"machbed counter server=p layer=data_return class=file count=2 bytes=8192 max=4096 "
         "hist=4096:1",
         "malformed"},
        {"machbed counter server=p layer=data_return class=file count=1 bytes=4096 max=4096 "
         "hist=4097:1",
         "malformed"},
        {"machbed counter server=p layer=data_return class=file count=1 bytes=4096 max=8192 "
         "hist=4096:1",
         "malformed"},
        {"machbed counter server=p layer=data_return class=file count=0 bytes=0 max=0 hist=",
         "malformed"},
        {"machbed counter server=p layer=data_return class=file count=1 bytes=4096 max=4096 "
         "hist=4096",
         "malformed"},
        {"machbed end status=ok reason=\"x\"", "malformed"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        console_destroy(&console);
        console_init(&console);
        console_feed(&console, "pager: a line for people");
        console_feed(&console, cases[i].line);
        assert_contains(console.broken, "line 2 ");
        assert_contains(console.broken, cases[i].says);
        assert_int_equal(console.claims_count + console.stores_count + console.checks_count, 0);
        assert_false(console.job.said || console.end.said);
    }
}

static void what_may_be_said_once_is_not_taken_twice(void **state)
{
    static const char *const lines[] = {
        "machbed end status=0 reason=\"x\"",
        "machbed job name=a fill_us=1 sync_us=2 runtime_us=3 bytes=3",
        "machbed counter server=p layer=data_return class=file count=0 bytes=0 max=0 hist=-",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        console_destroy(&console);
        console_init(&console);
        console_feed(&console, lines[i]);
        assert_string_equal(console.broken, "");
        console_feed(&console, lines[i]);
        assert_contains(console.broken, "says a thing twice");
    }
}

static void a_line_of_any_length_is_no_harm(void **state)
{
    static char line[8000] = "machbed ";

    (void)state;
    memset(line + 8, 'x', sizeof(line) - 9);
    console_feed(&console, line);
    assert_contains(console.broken, "is too long");
    memcpy(line, "machbed end status=0 reason=", 28);
    line[1020] = '\0';
    console_feed(&console, line);
    assert_true(console.end.said);
}

static void lines_for_people_are_left_alone(void **state)
{
    (void)state;
    console_feed(&console, "pager: machbed start server=pager");
    console_feed(&console, "machbedstart server=pager");
    console_feed(&console, "");
    assert_string_equal(console.broken, "");
    assert_int_equal(console.servers_count, 0);
}

static void events_are_left_to_those_who_read_traces(void **state)
{
    (void)state;
    console_feed(&console, "event t=1 dur=2 kind=op srv=workload thr=panic x.c:1: y: z req=1");
    console_feed(&console, "event");
    assert_int_equal(console.lines, 2);
    assert_string_equal(console.broken, "");
    assert_string_equal(console.death, "");
}

static void the_kernels_first_line_is_kept(void **state)
{
    (void)state;
    console_feed(&console, "error: Can't get controller info..");
    assert_string_equal(console.kernel, "");
    console_feed(&console, "GNU Mach 1.8+git20250702-up-486");
    console_feed(&console, "GNU Mach again");
    assert_string_equal(console.kernel, "GNU Mach 1.8+git20250702-up-486");
}

static void a_panic_is_recognised_at_the_start_of_a_line(void **state)
{
    static const char line[] = "panic ../vm/vm_page.c:1618: vm_page_evict: vm_page: unable to "
                               "recycle any page";

    (void)state;
    console_feed(&console, "pager: panic ../vm/vm_page.c:1618: x: y");
    console_feed(&console, "panic: not the kernel's way");
    console_feed(&console, "panicking: 1: 2: 3");
    console_feed(&console, "panic is what this line is about: no");
    assert_string_equal(console.death, "");
    console_feed(&console, line);
    assert_string_equal(console.death, line);
    assert_true(console.death_is_panic);
}

static void a_panic_of_a_kernel_with_several_processors_is_recognised(void **state)
{
    (void)state;
    console_feed(&console, "panic {cpu0} ../kern/debug.c:105: SoftDebugger: oh");
    assert_true(console.death_is_panic);
}

static void a_kernel_assertion_is_recognised(void **state)
{
    static const char line[] = "../i386/i386/pmap.c:12: pmap_x: Assertion `offset < size' failed.";

    (void)state;
    console_feed(&console, "Assertion `x' failed.");
    console_feed(&console, "pager: f: Assertion `x' failed.");
    assert_string_equal(console.death, "");
    console_feed(&console, line);
    assert_string_equal(console.death, line);
    assert_false(console.death_is_panic);
}

static void what_stands_behind_an_assertion_is_cut_off(void **state)
{
    (void)state;
    console_feed(&console, "a.c:1: f: Assertion `x' failed.panic ../kern/debug.c:103: Debugger: y");
    assert_string_equal(console.death, "a.c:1: f: Assertion `x' failed.");
    assert_false(console.death_is_panic);
}

static void the_first_of_the_last_words_is_kept(void **state)
{
    (void)state;
    console_feed(&console, "a.c:1: f: Assertion `x' failed.");
    console_feed(&console, "panic ../kern/debug.c:105: Debugger: there is none");
    assert_contains(console.death, "a.c:1");
    assert_false(console.death_is_panic);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_line_of_the_protocol_is_understood),
        TEST(a_crash_is_put_into_words_and_the_first_one_kept),
        TEST(an_exception_that_has_no_name_is_no_harm),
        TEST(fields_behind_the_known_ones_are_skipped),
        TEST(an_empty_histogram_is_a_dash),
        TEST(a_line_that_breaks_the_rules_is_reported_by_its_number),
        TEST(what_may_be_said_once_is_not_taken_twice),
        TEST(a_line_of_any_length_is_no_harm),
        TEST(lines_for_people_are_left_alone),
        TEST(events_are_left_to_those_who_read_traces),
        TEST(the_kernels_first_line_is_kept),
        TEST(a_panic_is_recognised_at_the_start_of_a_line),
        TEST(a_panic_of_a_kernel_with_several_processors_is_recognised),
        TEST(a_kernel_assertion_is_recognised),
        TEST(what_stands_behind_an_assertion_is_cut_off),
        TEST(the_first_of_the_last_words_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
