// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Damaged images: bytes of sound ones changed at random, what the fuzzer has found, and the images
 * of e2fsprogs' own tests. No crash, no hang, no broken rule, whatever comes of it.
 */
#include "fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "exercise.h"
#include "fuzz.h"

#define DAMAGE_ROUNDS  4000u
#define DAMAGE_SECONDS 120u /* for one image; a hang takes longer */
#define DAMAGE_FOUND   "tests/unit/libext2/found"

static uint32_t damage_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static void random_changes_do_no_harm(void **state)
{
    uint8_t input[2 + 40 * 5 + 160];
    uint64_t random = 12345;
    (void)state;
    for (unsigned int round = 0; round < DAMAGE_ROUNDS; round++) {
        for (size_t i = 0; i < sizeof input; i++)
            input[i] = (uint8_t)damage_random(&random);
        input[1] = input[1] % 40;
        for (unsigned int i = 0; i < input[1]; i++)
            if (input[2 + i * 5] % 4 != 0)
                input[2 + i * 5 + 2] = 0; /* most metadata is in the first 64 KiB */
        bool all = damage_random(&random) % 2 == 0;
        alarm(DAMAGE_SECONDS);
        fuzz_one(input, all ? 2 + input[1] * 5u : sizeof input);
    }
    alarm(0);
}

static void damage_replay(const char *path)
{
    static uint8_t input[1 << 16];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(input, 1, sizeof input, file);
    fclose(file);
    alarm(DAMAGE_SECONDS);
    fuzz_one(input, size);
    alarm(0);
}

static void what_the_fuzzer_has_found_does_no_harm(void **state)
{
    struct dirent *entry;
    char path[512];
    (void)state;
    DIR *folder = opendir(DAMAGE_FOUND);
    if (folder == NULL) {
        fail_msg("run this at the top of the project");
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", DAMAGE_FOUND, entry->d_name);
        if (entry->d_name[0] != '.')
            damage_replay(path);
    }
    closedir(folder);
}

/* One pointer of the file "big" that leads where it must not. */
static void damage_pointer(uint32_t block)
{
    struct fixture fixture;
    struct ext2_run run;
    fixture_setup(&fixture, "-t ext2 -b 1024 -N 64", MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "big");
    fixture_grow(&fixture, inode, 0, 14);
    assert_ok(ext2_block_map(inode, 12, 1, &run));
    uint32_t indirect = run.block - 1;
    while (memcmp(fixture.device.bytes + indirect * 1024, &run.block, 4) != 0)
        indirect--;
    memcpy(fixture.device.bytes + indirect * 1024, &block, 4);
    assert_int_equal(ext2_block_map(inode, 12, 1, &run), EIO);
    assert_true(fixture.device.nreports > 0);
    assert_int_equal(ext2_inode_resize(inode, 0), EIO);
    ext2_inode_put(inode);
    fixture_unmount(&fixture);
    assert_int_equal(fixture.device.bytes[1024 + 58], 2);
    device_destroy(&fixture.device);
}

static void pointers_to_metadata_and_beyond_are_damage(void **state)
{
    (void)state;
    damage_pointer(1);    /* the super block */
    damage_pointer(2);    /* the group descriptors */
    damage_pointer(1024); /* just beyond the end */
    damage_pointer(UINT32_MAX);
}

static void a_tree_of_indirect_blocks_that_leads_in_circles_ends(void **state)
{
    struct fixture fixture;
    struct ext2_run run;
    (void)state;
    fixture_setup(&fixture, "-t ext2 -b 4096 -N 64", 4 * MIB);
    struct ext2_inode *inode = fixture_create(&fixture, "file");
    assert_ok(ext2_block_allocate(inode, 12 + 1024 + 1024 * 1024, 1, &run));
    assert_ok(ext2_inode_resize(inode, (UINT64_C(12) + 1024 + 1024 * 1024 + 1) * 4096));
    assert_ok(ext2_sync(fixture.fs));
    const char *text = strstr(image_debugfs(&fixture.device, "stat file"), "(TIND):");
    assert_non_null(text);
    uint32_t *pointers =
        (void *)(fixture.device.bytes + strtoul(text + strlen("(TIND):"), NULL, 10) * 4096);
    for (unsigned int i = 0; i < 1024; i++)
        pointers[i] = (uint32_t)strtoul(text + strlen("(TIND):"), NULL, 10);
    alarm(DAMAGE_SECONDS);
    assert_int_equal(ext2_inode_resize(inode, 0), EIO);
    alarm(0);
    ext2_inode_put(inode);
    fixture_unmount(&fixture);
    device_destroy(&fixture.device);
}

/* A fixture with the file "file" and the directories "a" and "a/b", unmounted. */
static void damage_setup(struct fixture *fixture, const char *options)
{
    struct ext2_inode *dir;
    struct ext2_inode *inode;
    fixture_setup(fixture, options, 4 * MIB);
    inode = fixture_create(fixture, "file");
    fixture_grow(fixture, inode, 0, 3);
    ext2_inode_put(inode);
    assert_ok(ext2_mkdir(fixture->root, "a", 0755, 0, 0, &dir));
    assert_ok(ext2_mkdir(dir, "b", 0755, 0, 0, &inode));
    ext2_inode_put(inode);
    ext2_inode_put(dir);
    fixture_unmount(fixture);
}

/* Unmount; the damage must be marked. */
static void damage_teardown(struct fixture *fixture)
{
    fixture_unmount(fixture);
    assert_true(fixture->device.nreports > 0);
    assert_int_equal(fixture->device.bytes[1024 + 58], 2);
    device_destroy(&fixture->device);
}

static uint32_t damage_u32(const struct fixture *fixture, uint64_t offset)
{
    uint32_t value;
    memcpy(&value, fixture->device.bytes + offset, sizeof value);
    return value;
}

static void metadata_that_is_marked_as_free_is_not_given_away(void **state)
{
    struct fixture fixture;
    struct ext2_run run;
    (void)state;
    damage_setup(&fixture, "-t ext2 -b 1024");
    memset(fixture.device.bytes + damage_u32(&fixture, 2048) * 1024, 0, 512); /* block bitmap */
    fixture_mount(&fixture);
    struct ext2_inode *inode = fixture_create(&fixture, "new");
    error_t error = 0;
    for (uint32_t at = 0; error == 0; at += run.count)
        error = ext2_block_allocate(inode, at, 256, &run);
    assert_int_equal(error, EIO);
    assert_non_null(strstr(fixture.device.report, "marked as free"));
    ext2_inode_put(inode);
    damage_teardown(&fixture);
}

static void an_inode_in_use_that_is_marked_as_free_is_not_given_away(void **state)
{
    struct fixture fixture;
    struct ext2_inode *other;
    (void)state;
    damage_setup(&fixture, "-t ext2 -b 1024");
    memset(fixture.device.bytes + damage_u32(&fixture, 2048 + 4) * 1024, 0, 2); /* inode bitmap */
    fixture_mount(&fixture);
    struct ext2_inode *lost = fixture_lookup(&fixture, "lost+found"); /* the first such inode */
    assert_int_equal(ext2_create(fixture.root, "new", 0100644, 0, 0, &other), EIO);
    ext2_inode_put(lost);
    damage_teardown(&fixture);
}

static void counts_that_promise_too_much_are_found_out(void **state)
{
    struct fixture fixture;
    struct ext2_inode *inode;
    (void)state;
    damage_setup(&fixture, "-t ext2 -b 1024 -N 64");
    memset(fixture.device.bytes + damage_u32(&fixture, 2048 + 4) * 1024, 0xff, 1024);
    fixture_mount(&fixture);
    assert_int_equal(ext2_create(fixture.root, "new", 0100644, 0, 0, &inode), EIO);
    damage_teardown(&fixture);
}

static void a_directory_above_itself_is_found_out(void **state)
{
    struct fixture fixture;
    (void)state;
    damage_setup(&fixture, "-t ext2 -b 1024");
    fixture_mount(&fixture);
    struct ext2_inode *a = fixture_lookup(&fixture, "a");
    struct ext2_inode *b;
    struct ext2_run run;
    uint32_t ino = ext2_inode_number(a);
    assert_ok(ext2_lookup(a, "b", &b));
    assert_ok(ext2_block_map(a, 0, 1, &run));
    memcpy(fixture.device.bytes + run.block * 1024 + 12, &ino, sizeof ino); /* its ".." */
    assert_int_equal(ext2_rename(fixture.root, "lost+found", b, "x"), EIO);
    ext2_inode_put(b);
    ext2_inode_put(a);
    damage_teardown(&fixture);
}

static void attributes_that_are_none_do_not_keep_a_file_from_being_removed(void **state)
{
    struct fixture fixture;
    uint32_t values[] = {1, 100000, 3000};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char output[1000];
        damage_setup(&fixture, "-t ext2 -b 1024");
        const char *path = image_store(&fixture.device);
        image_run(output, sizeof output, "debugfs -w -R 'sif file file_acl %u' %s 2>&1", values[i],
                  path);
        device_destroy(&fixture.device);
        assert_true(image_load(&fixture.device, path));
        fixture_mount(&fixture);
        assert_ok(ext2_unlink(fixture.root, "file"));
        damage_teardown(&fixture);
    }
}

/* The images that the environment names: one file name a line in LIBEXT2_IMAGES. */
static void images_of_e2fsprogs_do_no_harm(void **state)
{
    char path[512];
    struct device device;
    struct exercise_counts counts;
    unsigned int nimages = 0;
    unsigned int nmounted = 0;
    unsigned int ninodes = 0;
    (void)state;
    const char *list = getenv("LIBEXT2_IMAGES");
    FILE *file = fopen(list != NULL ? list : "build/tests/e2fsprogs/images", "r");
    if (file == NULL)
        skip();
    while (fgets(path, sizeof path, file) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        assert_true(image_load(&device, path));
        memset(&counts, 0, sizeof counts);
        alarm(DAMAGE_SECONDS);
        nimages++;
        nmounted += exercise_all(&device, &counts) == 0 ? 1 : 0;
        ninodes += counts.ninodes;
        device_destroy(&device);
    }
    alarm(0);
    fclose(file);
    print_message("# %u images, %u mounted, %u inodes met\n", nimages, nmounted, ninodes);
    assert_true(nimages > 100 && nmounted > nimages / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes_do_no_harm),
        cmocka_unit_test(what_the_fuzzer_has_found_does_no_harm),
        cmocka_unit_test(pointers_to_metadata_and_beyond_are_damage),
        cmocka_unit_test(a_tree_of_indirect_blocks_that_leads_in_circles_ends),
        cmocka_unit_test(metadata_that_is_marked_as_free_is_not_given_away),
        cmocka_unit_test(an_inode_in_use_that_is_marked_as_free_is_not_given_away),
        cmocka_unit_test(counts_that_promise_too_much_are_found_out),
        cmocka_unit_test(a_directory_above_itself_is_found_out),
        cmocka_unit_test(attributes_that_are_none_do_not_keep_a_file_from_being_removed),
        cmocka_unit_test(images_of_e2fsprogs_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
