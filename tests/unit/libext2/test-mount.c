// SPDX-License-Identifier: GPL-2.0-or-later
/* What is mounted, what is refused, and what a mount leaves in the super block. */
#include "fixture.h"

#include <stdio.h>

#define SUPER           1024u /* byte offsets of fields of the super block */
#define SUPER_MNT_COUNT (SUPER + 52)
#define SUPER_MAGIC     (SUPER + 56)
#define SUPER_STATE     (SUPER + 58)
#define SUPER_REV       (SUPER + 76)
#define SUPER_INCOMPAT  (SUPER + 96)
#define SUPER_RO_COMPAT (SUPER + 100)

static uint16_t mount_u16(const struct device *device, uint32_t offset)
{
    uint16_t value;
    memcpy(&value, device->bytes + offset, sizeof value);
    return value;
}

static void mount_or_u32(struct device *device, uint32_t offset, uint32_t bits)
{
    uint32_t value;
    memcpy(&value, device->bytes + offset, sizeof value);
    value |= bits;
    memcpy(device->bytes + offset, &value, sizeof value);
}

static error_t mount_try(struct device *device)
{
    struct ext2_fs *fs;
    error_t error = ext2_mount(&device_ops, device, device->size, false, &fs);
    if (error == 0)
        assert_ok(ext2_unmount(fs));
    device_check_idle(device);
    return error;
}

static void what_is_not_ext2_is_refused(void **state)
{
    struct device device;
    (void)state;
    device_init(&device, MIB);
    assert_int_equal(mount_try(&device), EINVAL);
    assert_non_null(strstr(device.report, "no ext2"));
    device.size = 1500;
    assert_int_equal(mount_try(&device), EINVAL);
    device_destroy(&device);
}

static void an_image_that_was_cut_short_is_refused(void **state)
{
    struct device device;
    (void)state;
    image_make(&device, "-t ext2 -b 1024", 4 * MIB);
    device.size -= 1024;
    assert_int_equal(mount_try(&device), EINVAL);
    assert_non_null(strstr(device.report, "shorter"));
    device_destroy(&device);
}

static void each_unknown_incompatible_feature_is_refused_by_name(void **state)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } features[] = {
        {0x1, "compression"}, {0x4, "needs_recovery"}, {0x8, "journal_dev"}, {0x10, "meta_bg"},
        {0x40, "extents"},    {0x80, "64bit"},         {0x100, "mmp"},       {0x200, "flex_bg"},
        {0x400, "ea_inode"},  {0x8000, "inline_data"}, {0x20, "bit 5"},      {1u << 31, "bit 31"},
    };
    struct device device;
    (void)state;
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        image_make(&device, "-t ext2 -b 1024", MIB);
        mount_or_u32(&device, SUPER_INCOMPAT, features[i].bit);
        assert_int_equal(mount_try(&device), EOPNOTSUPP);
        assert_non_null(strstr(device.report, features[i].name));
        assert_int_equal(device.ndirty, 0);
        device_destroy(&device);
    }
}

static void an_unknown_read_only_feature_mounts_read_only(void **state)
{
    struct device device;
    struct ext2_fs *fs;
    struct ext2_statfs statfs;
    struct ext2_inode *root;
    struct ext2_inode *inode;
    (void)state;
    image_make(&device, "-t ext2 -b 1024", MIB);
    mount_or_u32(&device, SUPER_RO_COMPAT, 0x4000);
    assert_ok(ext2_mount(&device_ops, &device, device.size, false, &fs));
    ext2_statfs(fs, &statfs);
    assert_true(statfs.read_only);
    assert_ok(ext2_inode_get(fs, EXT2_ROOT_INO, &root));
    assert_int_equal(ext2_create(root, "file", 0100644, 0, 0, &inode), EROFS);
    assert_int_equal(ext2_mkdir(root, "file", 0755, 0, 0, &inode), EROFS);
    assert_int_equal(ext2_symlink(root, "file", "target", 0, 0, &inode), EROFS);
    assert_int_equal(ext2_rmdir(root, "lost+found"), EROFS);
    assert_int_equal(ext2_unlink(root, "lost+found"), EROFS);
    assert_int_equal(ext2_link(root, "link", root), EROFS);
    assert_int_equal(ext2_rename(root, "lost+found", root, "found"), EROFS);
    assert_int_equal(ext2_inode_chmod(root, 0700), EROFS);
    assert_int_equal(ext2_inode_chown(root, 1, 1), EROFS);
    assert_int_equal(ext2_inode_utimes(root, 1, 1), EROFS);
    assert_int_equal(ext2_inode_touch(root, EXT2_TOUCH_ATIME), EROFS);
    ext2_inode_put(root);
    assert_ok(ext2_sync(fs));
    assert_ok(ext2_unmount(fs));
    assert_int_equal(device.ndirty, 0);
    device_destroy(&device);
}

static void a_journal_is_no_hindrance_unless_it_must_be_replayed(void **state)
{
    struct device device;
    (void)state;
    image_make(&device, "-t ext3 -b 1024", 16 * MIB);
    assert_ok(mount_try(&device));
    assert_true(image_is_clean(&device));
    mount_or_u32(&device, SUPER_INCOMPAT, 0x4);
    assert_int_equal(mount_try(&device), EOPNOTSUPP);
    device_destroy(&device);
}

static void mounting_counts_and_marks_and_unmounting_cleans(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 4096", 4 * MIB);
    assert_int_equal(mount_u16(&fixture.device, SUPER_STATE), 0);
    assert_int_equal(mount_u16(&fixture.device, SUPER_MNT_COUNT), 1);
    assert_true(fixture_statfs(&fixture).clean);
    fixture_unmount(&fixture);
    assert_int_equal(mount_u16(&fixture.device, SUPER_STATE), 1);
    fixture_mount(&fixture);
    assert_int_equal(mount_u16(&fixture.device, SUPER_MNT_COUNT), 2);
    fixture_teardown(&fixture);
}

static void a_sync_writes_what_has_changed_and_no_more(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 16 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    assert_ok(ext2_sync(fixture.fs));
    uint64_t dirty = fixture.device.ndirty;
    fixture.device.now += 100;
    assert_ok(ext2_sync(fixture.fs));
    assert_int_equal(fixture.device.ndirty - dirty, 0);
    fixture_grow(&fixture, inode, 0, 1);
    dirty = fixture.device.ndirty;
    assert_ok(ext2_sync(fixture.fs));
    assert_int_equal(fixture.device.ndirty - dirty, 2); /* a descriptor and the super block */
    ext2_inode_put(inode);
    fixture_teardown(&fixture);
}

static void a_crash_is_noticed_by_the_next_mount_and_stays_marked(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 4096", 4 * MIB);
    fixture_unmount(&fixture);
    memset(fixture.device.bytes + SUPER_STATE, 0, 2);
    fixture_mount(&fixture);
    assert_non_null(strstr(fixture.device.report, "not unmounted cleanly"));
    assert_false(fixture_statfs(&fixture).clean);
    fixture_unmount(&fixture);
    assert_int_equal(mount_u16(&fixture.device, SUPER_STATE), 0);
    device_destroy(&fixture.device);
}

static void damage_marks_the_super_block(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 4096", 4 * MIB);
    ext2_damaged(fixture.fs, "a block could not be written");
    assert_string_equal(fixture.device.report, "a block could not be written");
    assert_ok(ext2_sync(fixture.fs));
    assert_int_equal(mount_u16(&fixture.device, SUPER_STATE), 2);
    fixture_unmount(&fixture);
    assert_int_equal(mount_u16(&fixture.device, SUPER_STATE), 2);
    device_destroy(&fixture.device);
}

static void revision_0_works_and_revision_2_is_refused(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024 -r 0", 4 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    fixture_grow(&fixture, inode, 0, 300);
    assert_int_equal(ext2_inode_resize(inode, UINT64_C(1) << 31), EFBIG);
    ext2_inode_put(inode);
    fixture_unmount(&fixture);
    assert_true(image_is_clean(&fixture.device));
    mount_or_u32(&fixture.device, SUPER_REV, 2);
    assert_int_equal(mount_try(&fixture.device), EOPNOTSUPP);
    device_destroy(&fixture.device);
}

/* A field of the super block, and a value that it cannot have. */
static void damaged_super_blocks_are_refused(void **state)
{
    static const struct {
        uint32_t offset;
        uint32_t value;
    } faults[] = {
        {0, 0},           {0, 1000},        {4, 0},           {4, UINT32_MAX}, {20, 0},
        {20, 7},          {24, 3},          {24, UINT32_MAX}, {32, 0},         {32, 7},
        {32, 8193},       {40, 0},          {40, UINT32_MAX}, {84, 3},         {84, UINT32_MAX},
        {88, 0x00000000}, {88, 0x000000ff}, {88, 0x00000800}, {206, 0xffff},
    };
    struct device device;
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        image_make(&device, "-t ext2 -b 1024", 4 * MIB);
        memcpy(device.bytes + SUPER + faults[i].offset, &faults[i].value, 4);
        assert_int_equal(mount_try(&device), EINVAL);
        device_destroy(&device);
    }
}

static void damaged_group_descriptors_are_refused(void **state)
{
    static const uint32_t values[] = {0, 1, 2, 8193, UINT32_MAX};
    struct device device;
    (void)state;
    image_make(&device, "-t ext2 -b 1024", 16 * MIB);
    for (uint32_t field = 0; field < 12; field += 4)
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            uint32_t good;
            memcpy(&good, device.bytes + 2048 + field, 4);
            memcpy(device.bytes + 2048 + field, &values[i], 4);
            assert_int_equal(mount_try(&device), EINVAL);
            memcpy(device.bytes + 2048 + field, &good, 4);
        }
    memset(device.bytes + 2048 + 32 + 12, 0xff, 2); /* free blocks of group 1 */
    assert_int_equal(mount_try(&device), EINVAL);
    assert_non_null(strstr(device.report, "group 1"));
    device_destroy(&device);
}

static void a_mount_without_hooks_works(void **state)
{
    struct device device;
    struct ext2_fs *fs;
    struct ext2_inode *root;
    struct ext2_inode *inode;
    const struct ext2_ops bare = {.get = device_ops.get, .put = device_ops.put};
    (void)state;
    image_make(&device, "-t ext2 -b 1024", 4 * MIB);
    assert_ok(ext2_mount(&bare, &device, device.size, false, &fs));
    assert_ok(ext2_inode_get(fs, EXT2_ROOT_INO, &root));
    assert_ok(ext2_mkdir(root, "folder", 0755, 0, 0, &inode));
    ext2_inode_put(inode);
    assert_ok(ext2_rmdir(root, "folder"));
    ext2_damaged(fs, "not heard by anybody");
    ext2_inode_put(root);
    assert_ok(ext2_sync(fs));
    assert_ok(ext2_unmount(fs));
    assert_true(mount_u16(&device, SUPER_STATE) == 2);
    device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_ext2_is_refused),
        cmocka_unit_test(an_image_that_was_cut_short_is_refused),
        cmocka_unit_test(each_unknown_incompatible_feature_is_refused_by_name),
        cmocka_unit_test(an_unknown_read_only_feature_mounts_read_only),
        cmocka_unit_test(a_journal_is_no_hindrance_unless_it_must_be_replayed),
        cmocka_unit_test(mounting_counts_and_marks_and_unmounting_cleans),
        cmocka_unit_test(a_sync_writes_what_has_changed_and_no_more),
        cmocka_unit_test(a_crash_is_noticed_by_the_next_mount_and_stays_marked),
        cmocka_unit_test(damage_marks_the_super_block),
        cmocka_unit_test(revision_0_works_and_revision_2_is_refused),
        cmocka_unit_test(damaged_super_blocks_are_refused),
        cmocka_unit_test(damaged_group_descriptors_are_refused),
        cmocka_unit_test(a_mount_without_hooks_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
