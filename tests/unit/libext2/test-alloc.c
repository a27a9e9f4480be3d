// SPDX-License-Identifier: GPL-2.0-or-later
/* Where files come to lie, and what happens when there is no room. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define CALL_BYTES 65536u /* one write of the default job */

static void alloc_write_turn(struct fixture *fixture, struct ext2_inode *inode, uint32_t turn)
{
    uint32_t count = CALL_BYTES / fixture->block_size;
    fixture_grow(fixture, inode, turn * count, count);
}

static unsigned int alloc_extents(struct fixture *fixture, const char *name)
{
    assert_ok(ext2_sync(fixture->fs));
    return image_count_extents(&fixture->device, name);
}

static void a_new_file_of_128_mib_has_3_extents_at_most(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 4096", 512 * MIB);
    fixture.device.direct = true;
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    uint64_t dirty = fixture.device.ndirty;
    for (uint32_t turn = 0; turn < 2048; turn++)
        alloc_write_turn(&fixture, inode, turn);
    assert_true(fixture.device.ndirty - dirty < 2048 * 5);
    ext2_inode_put(inode);
    assert_in_range(alloc_extents(&fixture, "file"), 1, 3);
    fixture_teardown(&fixture);
}

static void four_files_written_in_turns_have_4_extents_each_at_most(void **state)
{
    struct fixture fixture;
    struct ext2_inode *inodes[4];
    char name[4][8];
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 4096", 512 * MIB);
    fixture.device.direct = true;
    for (unsigned int i = 0; i < 4; i++) {
        snprintf(name[i], sizeof name[i], "file%u", i % 10);
        inodes[i] = fixture_create(&fixture, name[i]);
    }
    for (uint32_t turn = 0; turn < 512; turn++)
        for (unsigned int i = 0; i < 4; i++)
            alloc_write_turn(&fixture, inodes[i], turn);
    for (unsigned int i = 0; i < 4; i++) {
        ext2_inode_put(inodes[i]);
        assert_in_range(alloc_extents(&fixture, name[i]), 1, 4);
    }
    fixture_teardown(&fixture);
}

static void a_window_filled_out_of_order_is_one_extent(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 16 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    fixture_grow(&fixture, inode, 0, 8);
    fixture_grow(&fixture, inode, 8, 1);
    for (uint32_t i = 0; i < 101; i++) /* 37 and 101 have no factor in common */
        fixture_grow(&fixture, inode, 9 + i * 37 % 101, 1);
    ext2_inode_put(inode);
    assert_int_equal(alloc_extents(&fixture, "file"), 1);
    fixture_teardown(&fixture);
}

static void indirect_blocks_lie_side_by_side(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 16 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    for (uint32_t turn = 0; turn < 64; turn++)
        alloc_write_turn(&fixture, inode, turn);
    ext2_inode_put(inode);
    assert_ok(ext2_sync(fixture.fs));
    const char *text = image_debugfs(&fixture.device, "stat file");
    unsigned long last = 0;
    for (const char *at = strstr(text, "IND):"); at != NULL; at = strstr(at + 1, "IND):")) {
        unsigned long block = strtoul(at + 5, NULL, 10);
        assert_true(last == 0 || block == last + 1);
        last = block;
    }
    assert_true(last != 0);
    fixture_teardown(&fixture);
}

static unsigned long alloc_indirect_block(struct fixture *fixture, const char *name)
{
    char command[32];
    snprintf(command, sizeof command, "stat %s", name);
    const char *at = strstr(image_debugfs(&fixture->device, command), "(IND):");
    assert_non_null(at);
    return strtoul(at + 6, NULL, 10);
}

static void indirect_blocks_of_many_files_lie_in_few_stretches(void **state)
{
    struct fixture fixture;
    char name[16];
    unsigned long last = 0;
    unsigned int nstretches = 0;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024 -N 512", 16 * MIB);
    for (unsigned int i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "f%u", i);
        struct ext2_inode *inode = fixture_create(&fixture, name);
        fixture_grow(&fixture, inode, 0, 16);
        ext2_inode_put(inode);
    }
    assert_ok(ext2_sync(fixture.fs));
    for (unsigned int i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "f%u", i);
        unsigned long block = alloc_indirect_block(&fixture, name);
        nstretches += block != last + 1;
        last = block;
        assert_int_equal(image_count_extents(&fixture.device, name), 1);
    }
    assert_in_range(nstretches, 2, 5); /* a zone has 64 blocks, and directories are in some */
    fixture_teardown(&fixture);
}

/* Fill the file system with the file "full"; returns the number of its blocks. */
static uint32_t alloc_fill(struct fixture *fixture, struct ext2_inode *inode)
{
    struct ext2_run run;
    uint32_t count = 0;
    while (ext2_block_allocate(inode, count, 1000, &run) == 0)
        count += run.count;
    assert_ok(ext2_inode_resize(inode, (uint64_t)count * fixture->block_size));
    return count;
}

static void a_full_disk_says_so_and_every_block_can_be_used(void **state)
{
    struct fixture fixture;
    struct ext2_run run;
    struct ext2_inode *other;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 8 * MIB);
    struct ext2_inode *holder = fixture_create(&fixture, "holder");
    fixture_grow(&fixture, holder, 0, 9); /* and a window, which must not keep others out */
    struct ext2_inode *inode = fixture_create(&fixture, "full");
    uint32_t count = alloc_fill(&fixture, inode);
    assert_in_range(fixture_statfs(&fixture).nblocks_free, 0, 2);
    uint64_t sectors = fixture_stat(inode).nsectors;
    assert_int_equal(ext2_block_allocate(inode, count + 5000, 1, &run), ENOSPC);
    assert_int_equal(ext2_block_allocate(inode, count, 1, &run), ENOSPC);
    assert_int_equal(fixture_stat(inode).nsectors, sectors);
    assert_int_equal(ext2_mkdir(fixture.root, "folder", 0755, 0, 0, &other), ENOSPC);
    assert_int_equal(ext2_lookup(fixture.root, "folder", &other), ENOENT);
    assert_ok(ext2_inode_resize(inode, 0));
    assert_ok(ext2_mkdir(fixture.root, "folder", 0755, 0, 0, &other));
    ext2_inode_put(other);
    assert_in_range(alloc_fill(&fixture, inode), count - 3, count);
    ext2_inode_put(inode);
    ext2_inode_put(holder);
    fixture_teardown(&fixture);
}

static void holes_of_two_blocks_give_runs_of_two(void **state)
{
    struct fixture fixture;
    char name[16];
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 4096 -N 8192", 64 * MIB);
    fixture.device.direct = true;
    for (unsigned int i = 0; i < 4000; i++) {
        snprintf(name, sizeof name, "f%u", i);
        struct ext2_inode *inode = fixture_create(&fixture, name);
        fixture_grow(&fixture, inode, 0, 2);
        ext2_inode_put(inode);
    }
    struct ext2_inode *filler = fixture_create(&fixture, "filler");
    alloc_fill(&fixture, filler);
    for (unsigned int i = 0; i < 4000; i += 2) {
        snprintf(name, sizeof name, "f%u", i);
        assert_ok(ext2_unlink(fixture.root, name));
    }
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    uint64_t before = fixture.device.ngets;
    assert_int_equal(fixture_grow(&fixture, inode, 0, 2048), 1024);
    assert_true(fixture.device.ngets - before < 1024 * 16);
    ext2_inode_put(inode);
    ext2_inode_put(filler);
    fixture_teardown(&fixture);
}

static void no_inode_is_enospc_and_takes_nothing(void **state)
{
    struct fixture fixture;
    struct ext2_inode *inode;
    char name[16];
    error_t error = 0;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024 -N 32", 4 * MIB);
    for (unsigned int i = 0; error == 0; i++) {
        snprintf(name, sizeof name, "f%u", i);
        error = ext2_create(fixture.root, name, 0100644, 0, 0, &inode);
        if (error == 0)
            ext2_inode_put(inode);
    }
    assert_int_equal(error, ENOSPC);
    assert_int_equal(fixture_statfs(&fixture).ninodes_free, 0);
    assert_int_equal(ext2_lookup(fixture.root, name, &inode), ENOENT);
    assert_ok(ext2_unlink(fixture.root, "f0"));
    assert_ok(ext2_create(fixture.root, name, 0100644, 0, 0, &inode));
    ext2_inode_put(inode);
    fixture_teardown(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_of_128_mib_has_3_extents_at_most),
        cmocka_unit_test(four_files_written_in_turns_have_4_extents_each_at_most),
        cmocka_unit_test(a_window_filled_out_of_order_is_one_extent),
        cmocka_unit_test(indirect_blocks_lie_side_by_side),
        cmocka_unit_test(indirect_blocks_of_many_files_lie_in_few_stretches),
        cmocka_unit_test(a_full_disk_says_so_and_every_block_can_be_used),
        cmocka_unit_test(holes_of_two_blocks_give_runs_of_two),
        cmocka_unit_test(no_inode_is_enospc_and_takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
