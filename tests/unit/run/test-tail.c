// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "tail.h"

#include <unistd.h>

static char path[] = "/tmp/machbed-test-tail-XXXXXX";
static struct console console;
static struct tail tail;
static FILE *writer;

static int setup(void **state)
{
    (void)state;
    strcpy(path + sizeof(path) - 7, "XXXXXX");
    writer = fdopen(mkstemp(path), "w");
    assert_non_null(writer);
    console_init(&console);
    tail_init(&tail, path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fclose(writer);
    tail_destroy(&tail);
    console_destroy(&console);
    unlink(path);
    return 0;
}

static void write_text(const char *text)
{
    fputs(text, writer);
    fflush(writer);
    tail_read(&tail, &console);
}

static void a_line_is_taken_when_its_end_has_arrived(void **state)
{
    (void)state;
    write_text("machbed start ser");
    assert_int_equal(console.lines, 0);
    write_text("ver=pager\r\nmachbed sta");
    assert_int_equal(console.lines, 1);
    assert_non_null(console_server_lookup(&console, "pager"));
    tail_finish(&tail, &console);
    assert_int_equal(console.lines, 2);
}

static void a_file_that_comes_later_is_no_harm(void **state)
{
    (void)state;
    unlink(path);
    tail_read(&tail, &console);
    assert_int_equal(tail.bytes, 0);
}

static void a_line_without_end_is_cut(void **state)
{
    static char text[3 * TAIL_LINE_BYTES];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    write_text(text);
    assert_int_equal(console.lines, 3);
}

static const char *last(unsigned count)
{
    static char text[4096];
    FILE *stream = fmemopen(text, sizeof(text), "w");

    assert_non_null(stream);
    tail_print_last(path, count, stream);
    fclose(stream);
    return text;
}

static void the_last_lines_are_printed_without_what_upsets_a_terminal(void **state)
{
    (void)state;
    assert_string_equal(last(3), "  (it is empty)\n");
    write_text("one\r\ntwo\x1b[2J\r\n\r\nthree\r\nfour");
    assert_string_equal(last(3), "  two[2J\n  three\n  four\n");
    assert_string_equal(last(30), "  one\n  two[2J\n  three\n  four\n");
    write_text("\r\n\r\n\r\n\r\n");
    assert_string_equal(last(3), "  two[2J\n  three\n  four\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_is_taken_when_its_end_has_arrived),
        TEST(a_file_that_comes_later_is_no_harm),
        TEST(a_line_without_end_is_cut),
        TEST(the_last_lines_are_printed_without_what_upsets_a_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
