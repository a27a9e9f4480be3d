// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "file-map.h"

static struct file_map map;

static int setup(void **state)
{
    (void)state;
    file_map_init(&map);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    file_map_destroy(&map);
    return 0;
}

static void add(uint64_t offset, uint64_t start, uint64_t bytes)
{
    file_map_add(&map, (struct file_piece){offset, start, bytes});
}

static void what_goes_on_in_both_is_one_piece(void **state)
{
    (void)state;
    add(0, 1000, 10);
    add(10, 1010, 20);
    assert_int_equal(map.count, 1);
    add(30, 1031, 5); /* a gap on the disk */
    add(36, 1036, 5); /* a gap in the file */
    assert_int_equal(map.count, 3);
    assert_int_equal(file_map_longest(&map), 30);
}

static void bytes_of_the_file_are_counted_wherever_they_lie(void **state)
{
    (void)state;
    add(0, 3000, 100);
    add(100, 1000, 100);
    add(200, 2000, 100);
    file_map_finish(&map);
    assert_int_equal(file_map_inside(&map, 0, 1000), 0);
    assert_int_equal(file_map_inside(&map, 0, 1001), 1);
    assert_int_equal(file_map_inside(&map, 1099, 1), 1);
    assert_int_equal(file_map_inside(&map, 1100, 900), 0);
    assert_int_equal(file_map_inside(&map, 1050, 1000), 100);
    assert_int_equal(file_map_inside(&map, 0, 10000), 300);
    assert_int_equal(file_map_inside(&map, 3099, 5), 1);
    assert_int_equal(file_map_inside(&map, 3100, 5), 0);
}

static void a_byte_of_the_file_is_found_on_the_disk(void **state)
{
    (void)state;
    add(0, 3000, 100);
    add(200, 1000, 100);
    assert_int_equal(file_map_locate(&map, 0), 3000);
    assert_int_equal(file_map_locate(&map, 99), 3099);
    assert_int_equal(file_map_locate(&map, 100), UINT64_MAX);
    assert_int_equal(file_map_locate(&map, 299), 1099);
    assert_int_equal(file_map_locate(&map, 300), UINT64_MAX);
}

static void a_map_of_nothing_holds_nothing(void **state)
{
    (void)state;
    assert_int_equal(file_map_inside(&map, 0, 100), 0);
    file_map_finish(&map);
    assert_int_equal(file_map_inside(&map, 0, 100), 0);
    assert_int_equal(file_map_longest(&map), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_goes_on_in_both_is_one_piece),
        TEST(bytes_of_the_file_are_counted_wherever_they_lie),
        TEST(a_byte_of_the_file_is_found_on_the_disk),
        TEST(a_map_of_nothing_holds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
