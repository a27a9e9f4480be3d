// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample-run.h"

#include <jansson.h>
#include <unistd.h>

static json_t *root;

/* Writes the sample run and reads it back. */
static void write_and_read(void)
{
    char path[] = "/tmp/machbed-test-result-XXXXXX";
    struct failure failure = {0};
    int file = mkstemp(path);

    assert_true(file >= 0);
    close(file);
    assert_int_equal(result_write(&sample_run, path, &failure), STATUS_SUCCESS);
    root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    unlink(path);
    assert_non_null(root);
}

static int setup(void **state)
{
    sample_setup(state);
    write_and_read();
    return 0;
}

static int teardown(void **state)
{
    json_decref(root);
    return sample_teardown(state);
}

/* The value at PATH, names and array indices with a slash between. */
static json_t *at(const char *path)
{
    json_t *value = root;

    while (*path != '\0') {
        char name[64];
        size_t length = strcspn(path, "/");

        snprintf(name, sizeof(name), "%.*s", (int)length, path);
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(name))
                                     : json_object_get(value, name);
        if (value == NULL)
            fail_msg("there is no %s", name);
        path += length + (path[length] == '/');
    }
    return value;
}

static void assert_number(const char *path, int64_t value)
{
    assert_true(json_is_integer(at(path)));
    assert_int_equal(json_integer_value(at(path)), value);
}

static void assert_real(const char *path, double value)
{
    assert_true(json_is_real(at(path)));
    assert_true(json_real_value(at(path)) == value);
}

static void assert_text(const char *path, const char *text)
{
    assert_true(json_is_string(at(path)));
    assert_string_equal(json_string_value(at(path)), text);
}

static void assert_is_null(const char *path)
{
    assert_true(json_is_null(at(path)));
}

static void the_head_says_which_kernel_and_machine(void **state)
{
    (void)state;
    assert_number("machbed", 1);
    assert_text("kernel/version", "1.8");
    assert_text("kernel/sha256", "abcd");
    assert_text("kernel/origin", "package");
    assert_text("kernel/variant", "up");
    assert_int_equal(json_object_size(at("kernel/tune")), 0);
    assert_text("machine/arch", "i386");
    assert_text("machine/machine", "pc");
    assert_text("machine/disk", "ahci");
    assert_text("machine/driver", "kernel");
    assert_text("machine/firmware", "bios");
    assert_text("machine/medium", "iso");
    assert_number("machine/mem_mib", 512);
    assert_text("machine/accel", "tcg");
    assert_is_null("machine/fail_sector");
    assert_number("machine/fail_times", 0);
}

static void each_boot_is_an_entry(void **state)
{
    (void)state;
    assert_int_equal(json_array_size(at("jobs")), 2);
    assert_text("jobs/0/name", "pager");
    assert_text("jobs/0/policy", "page");
    assert_text("jobs/1/policy", "run128");
    assert_text("jobs/0/fs", "none");
    assert_number("jobs/0/block_size", 4096);
    assert_number("jobs/0/bytes", 134217728);
    assert_number("jobs/0/fill_us", 2684354);
    assert_number("jobs/0/sync_us", 4000000);
    assert_number("jobs/0/runtime_us", 6684400);
    assert_number("jobs/0/plain_us", 2000000);
    assert_real("jobs/0/plain_128k_us", 750);
    assert_is_null("jobs/1/plain_128k_us");
    assert_text("jobs/0/sides/0/name", "resizer");
    assert_number("jobs/0/sides/0/count", 1648);
    assert_number("jobs/0/sides/0/faults", 2);
    assert_real("jobs/0/sides/0/p99_us", 29081);
    assert_real("jobs/0/sides/0/max_us", 128468);
    assert_int_equal(json_array_size(at("jobs/1/sides")), 0);
    assert_is_null("jobs/1/plain_us");
    assert_number("jobs/0/alloc_lock/count", 5190);
    assert_real("jobs/0/alloc_lock/p99_us", 3.072);
    assert_real("jobs/0/alloc_lock/max_us", 10431.022);
    assert_is_null("jobs/1/alloc_lock");
    assert_is_null("jobs/0/merge_max");
    assert_number("jobs/0/boot_ms/kernel", 900);
    assert_number("jobs/0/boot_ms/workload", 1900);
    assert_number("jobs/0/boot_ms/end", 9000);
    assert_number("jobs/0/seed", 4711);
}

static void layers_have_count_bytes_average_largest_and_histogram(void **state)
{
    (void)state;
    assert_number("jobs/0/layers/data_return/count", 1024);
    assert_number("jobs/0/layers/data_return/bytes", 134217728);
    assert_number("jobs/0/layers/data_return/avg", 131072);
    assert_number("jobs/0/layers/data_return/max", 131072);
    assert_number("jobs/0/layers/data_return/hist/131072", 1024);
    assert_int_equal(json_object_size(at("jobs/0/layers/data_return/hist")), 1);
    assert_number("jobs/0/layers/data_request/count", 32768);
    assert_number("jobs/0/layers/store_read/count", 0);
    assert_number("jobs/0/layers/disk_write/count", 32768);
    assert_number("jobs/0/layers/disk_read/bytes", 512);
    assert_number("jobs/1/layers/disk_write/hist/32768", 4096);
}

static void file_and_the_rest_add_up(void **state)
{
    (void)state;
    assert_number("jobs/1/layers/store_write/count", 1025);
    assert_number("jobs/1/layers_file/store_write/count", 1024);
    assert_number("jobs/1/layers_meta/store_write/count", 1);
    assert_is_null("jobs/0/meta_writes_per_page");
    assert_float_equal(json_real_value(at("jobs/1/meta_writes_per_page")), 1, 0);
    assert_number("jobs/0/servers/pager/threads", 11);
    assert_null(json_object_get(at("jobs/1/servers/pager"), "threads"));
    assert_number("jobs/1/layers_meta/disk_read/count", 1);
    assert_number("jobs/1/layers_file/disk_read/count", 0);
}

static void each_server_has_its_own_layers(void **state)
{
    (void)state;
    assert_number("jobs/0/servers/pager/store_write/count", 32768);
    assert_int_equal(json_object_size(at("jobs/0/servers/workload")), 0);
}

static void what_was_recorded_stands_for_each_server(void **state)
{
    (void)state;
    assert_number("jobs/0/trace/pager/events", 98304);
    assert_number("jobs/0/trace/pager/dropped", 12);
    assert_number("jobs/0/trace/pager/drain_us", 31400000);
    assert_number("jobs/0/trace/workload/events", 2);
    assert_is_null("jobs/1/trace");
}

static void the_servers_partition_is_named(void **state)
{
    (void)state;
    assert_text("jobs/0/server", "pager");
    assert_int_equal(json_object_size(at("jobs/0/partitions")), 1);
    assert_number("jobs/0/partitions/sd0s2/sector", 1050624);
    assert_number("jobs/0/partitions/sd0s2/sectors", 524288);
}

static void what_was_not_measured_is_null(void **state)
{
    (void)state;
    assert_is_null("jobs/1/alloc_lock");
    assert_is_null("jobs/0/prefetch_unused_pages");
    assert_is_null("jobs/1/bytes_copied");
    assert_is_null("jobs/1/rmw_bytes");
}

static void store_lines_are_summed(void **state)
{
    (void)state;
    assert_number("jobs/0/rmw_bytes", 7);
    assert_number("jobs/0/bytes_copied", 11);
}

static void checks_status_and_reason_are_said_in_full(void **state)
{
    (void)state;
    assert_text("jobs/0/checks/content", "ok");
    assert_text("jobs/0/checks/disk_agrees", "ok");
    assert_text("jobs/1/checks/read_back", "ok");
    assert_contains(json_string_value(at("jobs/1/checks/content")), "byte 4,099 ");
    assert_ptr_equal(json_object_get(at("jobs/0/checks"), "fsck"), NULL);
    assert_number("jobs/0/status", 0);
    assert_number("jobs/1/status", 99);
    assert_text("jobs/1/reason", "content: \"quoted\" \t and a tab");
    assert_number("status", 99);
}

static void a_policy_that_merges_has_its_largest_write(void **state)
{
    (void)state;
    boot_destroy(&sample_run.boots[1]);
    boot_init(&sample_run.boots[1], &sample_options, &sample_job, policy_lookup("merge"), 1);
    json_decref(root);
    write_and_read();
    assert_number("jobs/1/merge_max", 1048576);
}

/* A boot of which nothing is known: the guest never said a word. */
static void a_boot_that_failed_early_has_nulls(void **state)
{
    (void)state;
    boot_destroy(&sample_run.boots[1]);
    boot_init(&sample_run.boots[1], &sample_options, &sample_job, policy_lookup("chunk2"), 1);
    json_decref(root);
    write_and_read();
    assert_is_null("jobs/1/fill_us");
    assert_is_null("jobs/1/plain_us");
    assert_is_null("jobs/1/boot_ms/kernel");
    assert_is_null("jobs/1/layers/data_return");
    assert_is_null("jobs/1/layers/disk_write");
    assert_is_null("jobs/1/layers_meta/disk_write");
    assert_int_equal(json_object_size(at("jobs/1/checks")), 0);
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
    struct failure failure = {0};

    (void)state;
    assert_int_equal(result_write(&sample_run, "/nonexistent/result.json", &failure),
                     STATUS_BAD_INPUT);
    assert_contains(failure.reason, "/nonexistent/result.json cannot be written");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_head_says_which_kernel_and_machine),
        TEST(each_boot_is_an_entry),
        TEST(layers_have_count_bytes_average_largest_and_histogram),
        TEST(file_and_the_rest_add_up),
        TEST(each_server_has_its_own_layers),
        TEST(what_was_recorded_stands_for_each_server),
        TEST(the_servers_partition_is_named),
        TEST(what_was_not_measured_is_null),
        TEST(store_lines_are_summed),
        TEST(checks_status_and_reason_are_said_in_full),
        TEST(a_policy_that_merges_has_its_largest_write),
        TEST(a_boot_that_failed_early_has_nulls),
        TEST(a_folder_that_is_missing_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
