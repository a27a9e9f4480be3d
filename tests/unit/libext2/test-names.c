// SPDX-License-Identifier: GPL-2.0-or-later
/* Names, links and attributes: the cases that random sequences seldom meet. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Have debugfs change the image. */
static void names_debugfs(struct device *device, const char *requests)
{
    char output[4096];
    const char *path = image_store(device);
    image_run(output, sizeof output, "printf '%s' | debugfs -w -f - %s 2>&1", requests, path);
    device_destroy(device);
    assert_true(image_load(device, path));
}

static void a_name_must_be_one(void **state)
{
    struct fixture fixture;
    struct ext2_inode *inode;
    char name[EXT2_NAME_MAX + 2];
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    memset(name, 'n', sizeof name);
    name[EXT2_NAME_MAX + 1] = '\0';
    assert_int_equal(ext2_create(fixture.root, name, 0100644, 0, 0, &inode), ENAMETOOLONG);
    assert_int_equal(ext2_lookup(fixture.root, name, &inode), ENAMETOOLONG);
    name[EXT2_NAME_MAX] = '\0';
    ext2_inode_put(fixture_create(&fixture, name));
    ext2_inode_put(fixture_lookup(&fixture, name));
    assert_int_equal(ext2_create(fixture.root, "", 0100644, 0, 0, &inode), EINVAL);
    assert_int_equal(ext2_mkdir(fixture.root, "a/b", 0755, 0, 0, &inode), EINVAL);
    assert_int_equal(ext2_create(fixture.root, ".", 0100644, 0, 0, &inode), EEXIST);
    assert_int_equal(ext2_create(fixture.root, "device", 0020644, 0, 0, &inode), EINVAL);
    assert_int_equal(ext2_unlink(fixture.root, ".."), EISDIR);
    assert_int_equal(ext2_rmdir(fixture.root, "."), EINVAL);
    assert_int_equal(ext2_rmdir(fixture.root, ".."), ENOTEMPTY);
    assert_int_equal(ext2_rename(fixture.root, ".", fixture.root, "x"), EINVAL);
    assert_int_equal(ext2_rename(fixture.root, "lost+found", fixture.root, ".."), EINVAL);
    fixture_teardown(&fixture);
}

static void what_is_no_directory_has_no_names(void **state)
{
    struct fixture fixture;
    struct ext2_inode *inode;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    struct ext2_inode *file = fixture_create(&fixture, "file");
    assert_int_equal(ext2_lookup(file, "x", &inode), ENOTDIR);
    assert_int_equal(ext2_create(file, "x", 0100644, 0, 0, &inode), ENOTDIR);
    assert_int_equal(ext2_unlink(file, "x"), ENOTDIR);
    assert_int_equal(ext2_link(file, "x", file), ENOTDIR);
    assert_int_equal(ext2_rename(file, "x", fixture.root, "y"), ENOTDIR);
    assert_int_equal(ext2_rename(fixture.root, "file", file, "y"), ENOTDIR);
    assert_int_equal(ext2_dir_iterate(file, 0, NULL, NULL), ENOTDIR);
    assert_int_equal(ext2_inode_resize(fixture.root, 0), EINVAL);
    struct ext2_run run;
    assert_int_equal(ext2_block_allocate(fixture.root, 0, 1, &run), EINVAL);
    ext2_inode_put(file);
    fixture_teardown(&fixture);
}

static void only_inodes_of_files_can_be_had(void **state)
{
    struct fixture fixture;
    struct ext2_inode *inode;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    assert_int_equal(ext2_inode_get(fixture.fs, 0, &inode), EINVAL);
    assert_int_equal(ext2_inode_get(fixture.fs, 1, &inode), EINVAL);
    assert_int_equal(ext2_inode_get(fixture.fs, 7, &inode), EINVAL);
    assert_int_equal(ext2_inode_get(fixture.fs, 1000000, &inode), EINVAL);
    assert_int_equal(ext2_inode_get(fixture.fs, 12, &inode), ENOENT);
    fixture_teardown(&fixture);
}

static void a_deleted_file_lives_as_long_as_its_last_user(void **state)
{
    struct fixture fixture;
    struct ext2_inode *again;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    uint32_t free_before = fixture_statfs(&fixture).nblocks_free;
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    uint32_t ino = ext2_inode_number(inode);
    fixture_grow(&fixture, inode, 0, 20);
    ext2_inode_ref(inode);
    assert_ok(ext2_unlink(fixture.root, "file"));
    assert_int_equal(ext2_inode_get(fixture.fs, ino, &again), ENOENT);
    assert_int_equal(ext2_link(fixture.root, "again", inode), ENOENT);
    fixture_grow(&fixture, inode, 20, 20);
    ext2_inode_put(inode);
    assert_true(fixture_statfs(&fixture).nblocks_free < free_before);
    ext2_inode_put(inode);
    assert_int_equal(fixture_statfs(&fixture).nblocks_free, free_before);
    fixture_teardown(&fixture);
}

static void blocks_that_were_metadata_are_forgotten_before_they_are_free(void **state)
{
    struct fixture fixture;
    struct ext2_inode *inode;
    char target[100] = {0};
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    inode = fixture_create(&fixture, "file");
    fixture_grow(&fixture, inode, 0, 12 + 256 + 1);
    assert_ok(ext2_inode_resize(inode, 0)); /* an indirect block, and two for the last one */
    assert_int_equal(fixture.device.nforgotten, 3);
    ext2_inode_put(inode);
    assert_ok(ext2_mkdir(fixture.root, "folder", 0755, 0, 0, &inode));
    ext2_inode_put(inode);
    assert_ok(ext2_rmdir(fixture.root, "folder"));
    assert_int_equal(fixture.device.nforgotten, 4);
    memset(target, 't', sizeof target - 1);
    assert_ok(ext2_symlink(fixture.root, "link", target, 0, 0, &inode));
    ext2_inode_put(inode);
    assert_ok(ext2_unlink(fixture.root, "link"));
    assert_int_equal(fixture.device.nforgotten, 5);
    fixture_teardown(&fixture);
}

static void the_place_of_a_removed_name_is_used_again(void **state)
{
    struct fixture fixture;
    char name[32];
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    uint64_t size = fixture_stat(fixture.root).size;
    for (unsigned int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "%0*u", (int)(1 + i % 30), i);
        ext2_inode_put(fixture_create(&fixture, name));
        assert_ok(ext2_unlink(fixture.root, name));
    }
    assert_int_equal(fixture_stat(fixture.root).size, size);
    fixture_teardown(&fixture);
}

static void links_are_limited(void **state)
{
    struct fixture fixture;
    struct ext2_inode *inode;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    ext2_inode_put(fixture_create(&fixture, "file"));
    assert_ok(ext2_mkdir(fixture.root, "folder", 0755, 0, 0, &inode));
    ext2_inode_put(inode);
    assert_ok(ext2_mkdir(fixture.root, "other", 0755, 0, 0, &inode));
    ext2_inode_put(inode);
    fixture_unmount(&fixture);
    names_debugfs(&fixture.device, "sif file links_count 31999\\nsif folder links_count 32000\\n");
    fixture_mount(&fixture);
    inode = fixture_lookup(&fixture, "file");
    assert_ok(ext2_link(fixture.root, "second", inode));
    assert_int_equal(ext2_link(fixture.root, "third", inode), EMLINK);
    ext2_inode_put(inode);
    struct ext2_inode *folder = fixture_lookup(&fixture, "folder");
    assert_int_equal(ext2_mkdir(folder, "x", 0755, 0, 0, &inode), EMLINK);
    assert_int_equal(ext2_rename(fixture.root, "other", folder, "x"), EMLINK);
    ext2_inode_put(folder);
    fixture_unmount(&fixture);
    device_destroy(&fixture.device);
}

static bool names_take(void *hook, const struct ext2_entry *entry)
{
    uint64_t *cookie = hook;
    *cookie = entry->cookie;
    return false;
}

static bool names_note(void *hook, const struct ext2_entry *entry)
{
    char *met = hook;
    if (entry->name[0] >= 'a' && entry->length == 4 && entry->name[1] == entry->name[0])
        met[entry->name[0] - 'a']++;
    return true;
}

static void cookies_outlive_names_that_come_and_go(void **state)
{
    struct fixture fixture;
    char name[5] = "aaaa";
    char met[26] = {0};
    uint64_t cookie = 0;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    for (char c = 'a'; c <= 'z'; c++) {
        memset(name, c, 4);
        ext2_inode_put(fixture_create(&fixture, name));
    }
    for (unsigned int i = 0; i < 3 + 10; i++) /* ".", "..", "lost+found", "aaaa" to "jjjj" */
        assert_ok(ext2_dir_iterate(fixture.root, cookie, names_take, &cookie));
    assert_ok(ext2_unlink(fixture.root, "jjjj")); /* its entry becomes the end of the one before */
    assert_ok(ext2_unlink(fixture.root, "kkkk"));
    ext2_inode_put(fixture_create(&fixture, "new1"));
    assert_ok(ext2_dir_iterate(fixture.root, cookie, names_note, met));
    for (char c = 'a'; c <= 'z'; c++)
        assert_int_equal(met[c - 'a'], c > 'k' ? 1 : 0);
    fixture_teardown(&fixture);
}

static void an_indexed_directory_stays_valid(void **state)
{
    struct fixture fixture;
    char output[8192];
    char name[64];
    struct ext2_inode *folder;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024 -O dir_index -N 1000", 8 * MIB);
    assert_ok(ext2_mkdir(fixture.root, "folder", 0755, 0, 0, &folder));
    for (unsigned int i = 0; i < 300; i++) {
        struct ext2_inode *inode;
        snprintf(name, sizeof name, "a-rather-long-name-number-%u", i);
        assert_ok(ext2_create(folder, name, 0100644, 0, 0, &inode));
        ext2_inode_put(inode);
    }
    ext2_inode_put(folder);
    fixture_unmount(&fixture);
    const char *path = image_store(&fixture.device);
    assert_int_equal(image_run(output, sizeof output, "e2fsck -fyD %s 2>&1", path) & ~1, 0);
    device_destroy(&fixture.device);
    assert_true(image_load(&fixture.device, path));

    fixture_mount(&fixture);
    folder = fixture_lookup(&fixture, "folder");
    assert_true((fixture_stat(folder).flags & 0x1000) != 0);
    assert_ok(ext2_unlink(folder, "a-rather-long-name-number-77"));
    assert_ok(
        ext2_rename(folder, "a-rather-long-name-number-7", folder, "a-rather-long-name-number-8"));
    assert_true((fixture_stat(folder).flags & 0x1000) != 0);
    ext2_inode_put(folder);
    fixture_unmount(&fixture);
    assert_true(image_is_clean(&fixture.device));

    fixture_mount(&fixture);
    folder = fixture_lookup(&fixture, "folder");
    for (unsigned int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "another-name-%u", i);
        struct ext2_inode *inode;
        assert_ok(ext2_mkdir(folder, name, 0755, 0, 0, &inode));
        ext2_inode_put(inode);
    }
    assert_true((fixture_stat(folder).flags & 0x1000) == 0);
    ext2_inode_put(folder);
    fixture_teardown(&fixture);
}

static void extended_attributes_are_kept_and_freed_with_their_last_file(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024 -I 128", 4 * MIB);
    ext2_inode_put(fixture_create(&fixture, "file"));
    fixture_unmount(&fixture);
    names_debugfs(&fixture.device, "ea_set file user.colour green\\n");
    fixture_mount(&fixture);
    uint32_t free_before = fixture_statfs(&fixture).nblocks_free;
    struct ext2_inode *inode = fixture_lookup(&fixture, "file");
    assert_int_equal(fixture_stat(inode).nsectors, 2);
    fixture_grow(&fixture, inode, 0, 3);
    assert_ok(ext2_inode_resize(inode, 0));
    assert_int_equal(fixture_stat(inode).nsectors, 2);
    ext2_inode_put(inode);
    assert_ok(ext2_sync(fixture.fs));
    assert_non_null(strstr(image_debugfs(&fixture.device, "ea_get file user.colour"), "green"));
    assert_ok(ext2_unlink(fixture.root, "file"));
    assert_int_equal(fixture_statfs(&fixture).nblocks_free, free_before + 1);
    fixture_teardown(&fixture);
}

static void shared_extended_attributes_lose_one_user(void **state)
{
    struct fixture fixture;
    char requests[200];
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024 -I 128", 4 * MIB);
    ext2_inode_put(fixture_create(&fixture, "one"));
    ext2_inode_put(fixture_create(&fixture, "two"));
    fixture_unmount(&fixture);
    names_debugfs(&fixture.device, "ea_set one user.colour green\\n");
    const char *text = strstr(image_debugfs(&fixture.device, "stat one"), "File ACL: ");
    assert_non_null(text);
    uint32_t block = (uint32_t)strtoul(text + strlen("File ACL: "), NULL, 10);
    snprintf(requests, sizeof requests, "sif two file_acl %u\\nsif two blocks 2\\n", block);
    names_debugfs(&fixture.device, requests);
    fixture.device.bytes[block * 1024 + 4] = 2;
    assert_true(image_is_clean(&fixture.device));
    fixture_mount(&fixture);
    assert_ok(ext2_unlink(fixture.root, "one"));
    assert_int_equal(fixture.device.bytes[block * 1024 + 4], 1);
    assert_ok(ext2_unlink(fixture.root, "two"));
    fixture_teardown(&fixture);
}

static void a_new_inode_takes_nothing_over_from_an_old_one(void **state)
{
    struct fixture fixture;
    struct ext2_inode *inode;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 4096 -I 256", 4 * MIB);
    inode = fixture_create(&fixture, "file");
    uint32_t ino = ext2_inode_number(inode);
    ext2_inode_put(inode);
    fixture_unmount(&fixture);
    names_debugfs(&fixture.device, "ea_set file user.colour green\\n");
    assert_non_null(strstr(image_debugfs(&fixture.device, "ea_list file"), "user.colour"));
    fixture_mount(&fixture);
    assert_ok(ext2_unlink(fixture.root, "file"));
    inode = fixture_create(&fixture, "file");
    assert_int_equal(ext2_inode_number(inode), ino);
    ext2_inode_put(inode);
    assert_ok(ext2_sync(fixture.fs));
    assert_null(strstr(image_debugfs(&fixture.device, "ea_list file"), "user.colour"));
    assert_non_null(strstr(image_debugfs(&fixture.device, "stat file"), "extra inode fields: 32"));
    fixture_teardown(&fixture);
}

static void devices_that_are_there_are_told(void **state)
{
    struct fixture fixture;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    fixture_unmount(&fixture);
    names_debugfs(&fixture.device, "mknod dev c 5 1\\nmknod big b 200 300\\n");
    fixture_mount(&fixture);
    struct ext2_inode *inode = fixture_lookup(&fixture, "dev");
    assert_int_equal(fixture_stat(inode).rdev, 5 << 8 | 1);
    assert_int_equal(fixture_stat(inode).mode & S_IFMT, S_IFCHR);
    ext2_inode_put(inode);
    inode = fixture_lookup(&fixture, "big");
    assert_true(fixture_stat(inode).rdev != 0);
    ext2_inode_put(inode);
    assert_ok(ext2_unlink(fixture.root, "dev"));
    fixture_teardown(&fixture);
}

static void directories_do_not_come_to_lie_in_themselves(void **state)
{
    struct fixture fixture;
    struct ext2_inode *a;
    struct ext2_inode *b;
    struct ext2_inode *c;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    assert_ok(ext2_mkdir(fixture.root, "a", 0755, 0, 0, &a));
    assert_ok(ext2_mkdir(a, "b", 0755, 0, 0, &b));
    assert_ok(ext2_mkdir(b, "c", 0755, 0, 0, &c));
    assert_int_equal(ext2_rename(fixture.root, "a", a, "x"), EINVAL);
    assert_int_equal(ext2_rename(fixture.root, "a", c, "x"), EINVAL);
    assert_int_equal(ext2_rename(a, "b", c, "x"), EINVAL);
    assert_int_equal(ext2_rename(b, "c", fixture.root, "a"), ENOTEMPTY);
    assert_ok(ext2_rename(b, "c", fixture.root, "c"));
    assert_ok(ext2_rename(fixture.root, "a", c, "a"));
    assert_int_equal(fixture_stat(c).nlinks, 3);
    assert_int_equal(fixture_stat(b).nlinks, 2);
    struct ext2_inode *above;
    assert_ok(ext2_lookup(a, "..", &above));
    assert_ptr_equal(above, c);
    ext2_inode_put(above);
    ext2_inode_put(c);
    ext2_inode_put(b);
    ext2_inode_put(a);
    fixture_teardown(&fixture);
}

static void a_removed_directory_takes_no_names(void **state)
{
    struct fixture fixture;
    struct ext2_inode *dir;
    struct ext2_inode *inode;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 1024", 4 * MIB);
    assert_ok(ext2_mkdir(fixture.root, "folder", 0755, 0, 0, &dir));
    assert_ok(ext2_rmdir(fixture.root, "folder"));
    assert_int_equal(ext2_create(dir, "file", 0100644, 0, 0, &inode), ENOENT);
    assert_int_equal(ext2_lookup(dir, "..", &inode), ENOENT);
    assert_int_equal(ext2_rename(fixture.root, "lost+found", dir, "x"), ENOENT);
    ext2_inode_put(dir);
    fixture_teardown(&fixture);
}

static void two_file_systems_are_two(void **state)
{
    struct fixture one;
    struct fixture two;
    (void)state;
    fixture_setup(&one, "-t ext2 -b 1024", 4 * MIB);
    fixture_setup(&two, "-t ext2 -b 4096", 4 * MIB);
    struct ext2_inode *inode = fixture_create(&one, "file");
    assert_int_equal(ext2_link(two.root, "file", inode), EXDEV);
    assert_int_equal(ext2_rename(one.root, "file", two.root, "file"), EXDEV);
    struct ext2_inode *other = fixture_create(&two, "file");
    fixture_grow(&one, inode, 0, 50);
    fixture_grow(&two, other, 0, 50);
    ext2_inode_put(other);
    ext2_inode_put(inode);
    fixture_teardown(&two);
    fixture_teardown(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_must_be_one),
        cmocka_unit_test(what_is_no_directory_has_no_names),
        cmocka_unit_test(only_inodes_of_files_can_be_had),
        cmocka_unit_test(a_deleted_file_lives_as_long_as_its_last_user),
        cmocka_unit_test(blocks_that_were_metadata_are_forgotten_before_they_are_free),
        cmocka_unit_test(the_place_of_a_removed_name_is_used_again),
        cmocka_unit_test(links_are_limited),
        cmocka_unit_test(cookies_outlive_names_that_come_and_go),
        cmocka_unit_test(an_indexed_directory_stays_valid),
        cmocka_unit_test(extended_attributes_are_kept_and_freed_with_their_last_file),
        cmocka_unit_test(shared_extended_attributes_lose_one_user),
        cmocka_unit_test(a_new_inode_takes_nothing_over_from_an_old_one),
        cmocka_unit_test(devices_that_are_there_are_told),
        cmocka_unit_test(directories_do_not_come_to_lie_in_themselves),
        cmocka_unit_test(a_removed_directory_takes_no_names),
        cmocka_unit_test(two_file_systems_are_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
