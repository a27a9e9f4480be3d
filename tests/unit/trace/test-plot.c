// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "plot.h"
#include "run-test.h"
#include "synth.h"

#define SCRIPT_BYTES_MAX (4u << 20)

static struct synth synth;
static char *script;

static int setup(void **state)
{
    (void)state;
    script = NULL;
    synth_begin(&synth);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(script);
    synth_end(&synth);
    return 0;
}

static void load(void)
{
    struct view_case view = {"run", &synth.record, 1, 0, NULL, NULL, synth.folder, NULL};
    struct latency *latency;
    size_t bytes;
    FILE *stream;

    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    stream = open_memstream(&script, &bytes);
    assert_non_null(stream);
    latency = latency_create(&view);
    plot_script_print(&view, latency, stream);
    latency_free(latency);
    fclose(stream);
}

/* What the block NAME holds: its lines, and the sum of their last numbers. */
static unsigned block(const char *name, double *sum)
{
    char head[64];
    const char *at;
    unsigned lines = 0;

    snprintf(head, sizeof(head), "$%s << END\n", name);
    at = strstr(script, head);
    if (at == NULL)
        fail_msg("there is no block %s", name);
    *sum = 0;
    for (at += strlen(head); strncmp(at, "END\n", 4) != 0; at = strchr(at, '\n') + 1) {
        const char *end = strchr(at, '\n');

        while (end[-1] != ' ')
            end--;
        *sum += strtod(end, NULL);
        lines++;
    }
    return lines;
}

/* Classes go from the 4 KiB of the page fault to the 128 KiB of the return and the run. */
static void bars_are_as_high_as_there_were_requests(void **state)
{
    double sum;

    (void)state;
    synth_two_writes(&synth);
    load();
    assert_contains(script,
                    "\"4K\" 0\n\"8K\" 0\n\"16K\" 0\n\"32K\" 0\n\"64K\" 2\n\"128K\" 1\nEND\n");
    assert_int_equal(block("sizes0", &sum), 6);
    assert_int_equal(sum, 2);
    assert_contains(script, "set title \"op write, workload\"\nplot $sizes0 using 2:xtic(1) title "
                            "\"page\"");
    assert_contains(script, "set title \"disk_write, pager\"");
}

static void curves_have_a_point_for_each_percent(void **state)
{
    double sum;

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        synth_event(&synth, 1000 + i, (i + 1) * 1000, "op",
                    "srv=workload thr=main req=%u off=0 len=512 what=write res=0", i + 1);
    load();
    assert_int_equal(block("latency0_0", &sum), PLOT_PERCENTS);
    assert_int_equal(sum, 5050);
    assert_contains(script, "\n10.000 1\n20.000 2\n");
    assert_contains(script, "\n990.000 99\n1000.000 100\nEND\n");
}

static void points_stand_for_all_events_of_their_cell(void **state)
{
    double sum;

    (void)state;
    synth_two_writes(&synth);
    load();
    assert_int_equal(block("data_return_page", &sum), 3);
    assert_int_equal(sum, 3);
    block("disk_write_page", &sum);
    assert_int_equal(sum, 2);
    block("io_page", &sum);
    assert_int_equal(sum, 3);
    assert_null(strstr(script, "$store_read_page"));
}

/* Random places at random times: every cell is a point, and more events make no more points. */
static void many_events_do_not_make_the_script_longer(void **state)
{
    unsigned seed = 1;
    double sum;

    (void)state;
    for (unsigned i = 0; i < 60000; i++)
        synth_event(&synth, 1000000000 + i * UINT64_C(1000), 900, "store_write",
                    "srv=pager thr=w req=%u by=0 len=4096 sec=%d cls=file res=0", i + 1,
                    rand_r(&seed) % 100000 * 8);
    load();
    assert_true(block("store_write_page", &sum) <= PLOT_COLUMNS * PLOT_ROWS);
    assert_true(block("store_write_page", &sum) > PLOT_COLUMNS * PLOT_ROWS / 2);
    assert_int_equal(sum, 60000);
    assert_true(strlen(script) < 400000);
}

static void a_name_cannot_break_the_script(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        synth_event(&synth, 1000, 1000, "op",
                    "srv=a\";`touch thr=main req=%u off=0 len=512 what=b'\\ res=0", i + 1);
    load();
    assert_contains(script, "set title \"op b, a;touch\"\n");
}

static void a_host_without_gnuplot_is_told_which_package_has_it(void **state)
{
    (void)state;
    synth_two_writes(&synth);
    assert_int_equal(synth_load(&synth), STATUS_SUCCESS);
    setenv("PATH", "/no/such/folder", 1);
    synth_view(&synth, view_plot, 0, NULL);
    assert_int_equal(synth.failure.status, STATUS_BAD_INPUT);
    assert_contains(synth.failure.reason, "the Debian package gnuplot-nox has it");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bars_are_as_high_as_there_were_requests),
        TEST(curves_have_a_point_for_each_percent),
        TEST(points_stand_for_all_events_of_their_cell),
        TEST(many_events_do_not_make_the_script_longer),
        TEST(a_name_cannot_break_the_script),
        TEST(a_host_without_gnuplot_is_told_which_package_has_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
