// SPDX-License-Identifier: GPL-2.0-or-later
/* The block map: all levels, holes, clipping, sizes; on each block size. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const map_options[] = {"-t ext2 -b 1024", "-t ext2 -b 2048", "-t ext2 -b 4096"};

#define MAP_SIZES 3u

/* The first file block behind the pointers of each level. */
static uint32_t map_level_end(const struct fixture *fixture, unsigned int level)
{
    uint64_t pointers = fixture->block_size / 4;
    uint64_t end = 12;
    for (uint64_t span = pointers; level > 0; level--, span *= pointers)
        end += span;
    return (uint32_t)(end < UINT32_MAX ? end : UINT32_MAX);
}

/* What debugfs says about a block of the root's file NAME. */
static uint32_t map_bmap(const struct fixture *fixture, const char *name, uint32_t file_block)
{
    char request[100];
    snprintf(request, sizeof request, "bmap %s %u", name, file_block);
    return (uint32_t)strtoul(image_debugfs(&fixture->device, request), NULL, 10);
}

static void map_check_block(struct fixture *fixture, const char *name, uint32_t file_block)
{
    struct ext2_run run;
    struct ext2_inode *inode = fixture_lookup(fixture, name);
    assert_ok(ext2_block_map(inode, file_block, 1, &run));
    assert_int_equal(run.block, map_bmap(fixture, name, file_block));
    assert_int_equal(run.count, 1);
    ext2_inode_put(inode);
}

static void every_level_maps_as_debugfs_says(void **state)
{
    struct fixture fixture;
    (void)state;
    for (unsigned int i = 0; i < MAP_SIZES; i++) {
        fixture_setup(&fixture, map_options[i], 16 * MIB);
        struct ext2_inode *inode = fixture_create(&fixture, "file");
        for (unsigned int level = 0; level <= 2; level++) {
            uint32_t end = map_level_end(&fixture, level);
            if ((uint64_t)end * fixture.block_size < UINT32_MAX)
                fixture_grow(&fixture, inode, end - 2, 4);
        }
        ext2_inode_put(inode);
        for (unsigned int level = 0; level <= 2; level++)
            for (uint32_t around = 0; around < 6; around++)
                map_check_block(&fixture, "file", map_level_end(&fixture, level) + around - 3);
        fixture_teardown(&fixture);
    }
}

static void the_last_block_of_a_file_maps_and_the_next_is_too_big(void **state)
{
    struct fixture fixture;
    struct ext2_run run;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 16 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    uint32_t end = map_level_end(&fixture, 3);
    assert_int_equal(end, 16843020);
    assert_ok(ext2_block_allocate(inode, end - 1, 10, &run));
    assert_int_equal(run.count, 1);
    assert_int_equal(ext2_block_allocate(inode, end, 1, &run), EFBIG);
    assert_ok(ext2_block_map(inode, end, 5, &run));
    assert_true(run.block == 0 && run.count == 5);
    assert_int_equal(ext2_inode_resize(inode, (uint64_t)end * 1024 + 1), EFBIG);
    assert_ok(ext2_inode_resize(inode, (uint64_t)end * 1024));
    ext2_inode_put(inode);
    fixture_teardown(&fixture);
}

static void a_hole_is_told_as_one_run_across_levels(void **state)
{
    struct fixture fixture;
    struct ext2_run run;
    (void)state;
    for (unsigned int i = 0; i < MAP_SIZES; i++) {
        fixture_setup(&fixture, map_options[i], 16 * MIB);
        struct ext2_inode *inode = fixture_create(&fixture, "file");
        uint32_t far = map_level_end(&fixture, 1) + 1000;
        fixture_grow(&fixture, inode, 3, 1);
        fixture_grow(&fixture, inode, far, 1);
        assert_ok(ext2_block_map(inode, 0, UINT32_MAX, &run));
        assert_true(run.block == 0 && run.count == 3);
        assert_ok(ext2_block_map(inode, 4, UINT32_MAX, &run));
        assert_true(run.block == 0 && run.count == far - 4);
        assert_ok(ext2_block_map(inode, far + 1, UINT32_MAX, &run));
        assert_true(run.block == 0 && run.count == UINT32_MAX - far - 1);
        ext2_inode_put(inode);
        fixture_teardown(&fixture);
    }
}

static void a_run_is_clipped_to_what_was_asked_for(void **state)
{
    struct fixture fixture;
    struct ext2_run run;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 16 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    assert_int_equal(fixture_grow(&fixture, inode, 0, 12), 1);
    assert_ok(ext2_block_map(inode, 0, 12, &run));
    uint32_t start = run.block;
    assert_int_equal(run.count, 12);
    assert_ok(ext2_block_map(inode, 5, 3, &run));
    assert_true(run.first == 5 && run.count == 3 && run.block == start + 5);
    assert_ok(ext2_block_map(inode, 5, 100, &run));
    assert_true(run.count == 7 && run.block == start + 5);
    ext2_inode_put(inode);
    fixture_teardown(&fixture);
}

static void a_run_goes_on_across_indirect_blocks(void **state)
{
    struct fixture fixture;
    struct ext2_run run;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 16 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    fixture_grow(&fixture, inode, 0, 1000);
    uint64_t before = fixture.device.ngets;
    assert_ok(ext2_block_map(inode, 0, 1000, &run));
    assert_int_equal(run.count, 1000);
    assert_true(fixture.device.ngets - before <= 1 + 3 * 2); /* four leaves, three of them deeper */
    ext2_inode_put(inode);
    fixture_teardown(&fixture);
}

static void allocating_twice_gives_the_same_blocks(void **state)
{
    struct fixture fixture;
    struct ext2_run first;
    struct ext2_run again;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 2048", 16 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    assert_ok(ext2_block_allocate(inode, 2, 5, &first));
    assert_true(first.fresh);
    assert_ok(ext2_block_allocate(inode, 2, 9, &again));
    assert_true(!again.fresh && again.block == first.block && again.count == first.count);
    assert_ok(ext2_block_allocate(inode, 0, 9, &again));
    assert_true(again.fresh && again.count == 2);
    assert_ok(ext2_inode_resize(inode, 7 * 2048));
    ext2_inode_put(inode);
    fixture_teardown(&fixture);
}

static void truncating_frees_what_is_beyond_and_nothing_else(void **state)
{
    struct fixture fixture;
    (void)state;
    for (unsigned int i = 0; i < MAP_SIZES; i++) {
        fixture_setup(&fixture, map_options[i], 32 * MIB);
        uint32_t free_before = fixture_statfs(&fixture).nblocks_free;
        struct ext2_inode *inode = fixture_create(&fixture, "file");
        uint32_t count = map_level_end(&fixture, 1) + 700;
        fixture_grow(&fixture, inode, 0, count);
        for (uint32_t left = count; left > 0; left /= 3) {
            struct ext2_run run;
            assert_ok(ext2_inode_resize(inode, (uint64_t)left * fixture.block_size - 5));
            assert_ok(ext2_block_map(inode, left - 1, 2, &run));
            assert_true(run.block != 0 && run.count == 1);
            assert_int_equal(map_bmap(&fixture, "file", left), 0);
        }
        assert_ok(ext2_inode_resize(inode, 0));
        assert_int_equal(fixture_stat(inode).nsectors, 0);
        assert_int_equal(fixture_statfs(&fixture).nblocks_free, free_before);
        ext2_inode_put(inode);
        fixture_teardown(&fixture);
    }
}

static void growing_leaves_a_hole_and_marks_large_files(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 4096 -O ^large_file,^resize_inode", 16 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    assert_ok(ext2_inode_resize(inode, INT32_MAX));
    assert_ok(ext2_sync(fixture.fs));
    assert_null(strstr(image_debugfs(&fixture.device, "features"), "large_file"));
    assert_ok(ext2_inode_resize(inode, UINT64_C(5) << 30));
    assert_int_equal(fixture_stat(inode).size, UINT64_C(5) << 30);
    assert_int_equal(fixture_stat(inode).nsectors, 0);
    assert_ok(ext2_sync(fixture.fs));
    assert_non_null(strstr(image_debugfs(&fixture.device, "features"), "large_file"));
    ext2_inode_put(inode);
    fixture_teardown(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_maps_as_debugfs_says),
        cmocka_unit_test(the_last_block_of_a_file_maps_and_the_next_is_too_big),
        cmocka_unit_test(a_hole_is_told_as_one_run_across_levels),
        cmocka_unit_test(a_run_is_clipped_to_what_was_asked_for),
        cmocka_unit_test(a_run_goes_on_across_indirect_blocks),
        cmocka_unit_test(allocating_twice_gives_the_same_blocks),
        cmocka_unit_test(truncating_frees_what_is_beyond_and_nothing_else),
        cmocka_unit_test(growing_leaves_a_hole_and_marks_large_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
