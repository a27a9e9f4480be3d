// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device that fails. A script of all operations is run once to count its gets; then once for each
 * of them, with that one failing, and once more with all that follow failing too. Afterwards the
 * device is well again, and the image must be one that e2fsck accepts, or that says in its super
 * block that it must be checked.
 */
#include "fixture.h"

#include <stdio.h>

#define FAIL_STATE_OFFSET (1024u + 58)
#define FAIL_STATE_ERROR  2u

struct fail {
    struct device device;
    struct ext2_fs *fs;
    unsigned int neio; /* operations that failed with EIO */
};

static bool fail_injected(const struct fail *fail)
{
    return fail->device.fail_at != 0 && fail->device.ngets >= fail->device.fail_at;
}

/* Note how an operation went. Before the failure everything must work. */
static bool fail_went(struct fail *fail, error_t error)
{
    if (!fail_injected(fail))
        assert_int_equal(error, 0);
    fail->neio += error == EIO ? 1 : 0;
    return error == 0;
}

static void fail_put(struct ext2_inode *inode)
{
    if (inode != NULL)
        ext2_inode_put(inode);
}

static struct ext2_inode *fail_file(struct fail *fail, struct ext2_inode *dir, const char *name)
{
    struct ext2_inode *inode;
    return fail_went(fail, ext2_create(dir, name, 0100644, 1, 2, &inode)) ? inode : NULL;
}

static struct ext2_inode *fail_dir(struct fail *fail, struct ext2_inode *dir, const char *name)
{
    struct ext2_inode *inode;
    return fail_went(fail, ext2_mkdir(dir, name, 0755, 1, 2, &inode)) ? inode : NULL;
}

/* A map that fails behind its first piece gives that piece; who goes on from there meets the
   failure, unless it is over. */
static void fail_map(struct fail *fail, struct ext2_inode *inode, uint32_t first)
{
    struct ext2_run run;
    bool before = fail_injected(fail);
    bool went = fail_went(fail, ext2_block_map(inode, first, 1000, &run));
    if (went && !before && fail_injected(fail))
        fail->neio++;
}

/* Blocks on all levels, some of them taken away again. */
static void fail_script_file(struct fail *fail, struct ext2_inode *inode)
{
    static const uint32_t places[] = {0, 5, 11, 270, 271, 12 + 256 + 300, 12 + 256 + 65536};
    struct ext2_run run;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (fail_went(fail, ext2_block_allocate(inode, places[i], 3, &run)))
            (void)fail_went(fail, ext2_inode_resize(inode, (places[i] + UINT64_C(3)) * 4096));
    fail_map(fail, inode, 0);
    fail_map(fail, inode, 12 + 256 + 65536);
    (void)fail_went(fail, ext2_inode_resize(inode, 271 * 1024));
    (void)fail_went(fail, ext2_inode_chmod(inode, 0600));
    (void)fail_went(fail, ext2_inode_chown(inode, 100000, 5));
    (void)fail_went(fail, ext2_inode_utimes(inode, 5, 6));
    (void)fail_went(fail, ext2_inode_touch(inode, EXT2_TOUCH_ATIME | EXT2_TOUCH_MTIME));
}

static bool fail_visit(void *hook, const struct ext2_entry *entry)
{
    unsigned int *count = hook;
    *count += entry->length;
    return true;
}

/* Names enough for a second block, and a look at all of them. */
static void fail_script_names(struct fail *fail, struct ext2_inode *dir)
{
    char name[200];
    unsigned int count = 0;
    struct ext2_inode *inode;
    for (unsigned int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "%u-%0150u", i, 0u);
        fail_put(fail_file(fail, dir, name));
    }
    (void)fail_went(fail, ext2_dir_iterate(dir, 0, fail_visit, &count));
    for (unsigned int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "%u-%0150u", i, 0u);
        if (fail_went(fail, ext2_lookup(dir, name, &inode))) {
            (void)fail_went(fail, ext2_unlink(dir, name));
            ext2_inode_put(inode);
        }
    }
}

static void fail_script_links(struct fail *fail, struct ext2_inode *root)
{
    struct ext2_inode *inode;
    char target[200] = {0};
    size_t done;
    memset(target, 't', sizeof target - 1);
    if (fail_went(fail, ext2_symlink(root, "short", "target", 0, 0, &inode)))
        ext2_inode_put(inode);
    if (fail_went(fail, ext2_symlink(root, "long", target, 0, 0, &inode))) {
        char buffer[200];
        (void)fail_went(fail, ext2_readlink(inode, buffer, sizeof buffer, &done));
        (void)fail_went(fail, ext2_link(root, "link", inode));
        ext2_inode_put(inode);
        (void)fail_went(fail, ext2_unlink(root, "long"));
        (void)fail_went(fail, ext2_unlink(root, "link"));
    }
}

static void fail_script_renames(struct fail *fail, struct ext2_inode *root, struct ext2_inode *a,
                                struct ext2_inode *b)
{
    fail_put(fail_file(fail, a, "file"));
    fail_put(fail_file(fail, b, "other"));
    fail_put(fail_dir(fail, a, "folder"));
    fail_put(fail_dir(fail, b, "empty"));
    (void)fail_went(fail, ext2_rename(a, "file", a, "renamed"));
    (void)fail_went(fail, ext2_rename(a, "renamed", b, "other"));
    (void)fail_went(fail, ext2_rename(a, "folder", b, "folder"));
    (void)fail_went(fail, ext2_rename(b, "folder", b, "empty"));
    (void)fail_went(fail, ext2_rename(b, "empty", root, "empty"));
    (void)fail_went(fail, ext2_rmdir(root, "empty"));
    (void)fail_went(fail, ext2_unlink(b, "other"));
}

static void fail_script(struct fail *fail)
{
    struct ext2_inode *root;
    error_t error = ext2_mount(&device_ops, &fail->device, fail->device.size, false, &fail->fs);
    if (!fail_went(fail, error)) {
        fail->fs = NULL;
        return;
    }
    if (!fail_went(fail, ext2_inode_get(fail->fs, EXT2_ROOT_INO, &root)))
        return;
    struct ext2_inode *a = fail_dir(fail, root, "a");
    struct ext2_inode *b = fail_dir(fail, root, "b");
    struct ext2_inode *file = fail_file(fail, root, "file");
    if (file != NULL)
        fail_script_file(fail, file);
    if (a != NULL)
        fail_script_names(fail, a);
    fail_script_links(fail, root);
    if (a != NULL && b != NULL)
        fail_script_renames(fail, root, a, b);
    (void)fail_went(fail, ext2_unlink(root, "file"));
    fail_put(file);
    fail_put(b);
    fail_put(a);
    ext2_inode_put(root);
    (void)fail_went(fail, ext2_sync(fail->fs));
}

/* Run the script with the get number FAIL_AT failing; returns the number of gets. */
static uint64_t fail_run(const struct device *pristine, uint64_t fail_at, bool for_good)
{
    struct fail fail = {0};
    device_init(&fail.device, pristine->size);
    memcpy(fail.device.bytes, pristine->bytes, pristine->size);
    fail.device.fail_at = fail_at;
    fail.device.fail_for_good = for_good;
    fail_script(&fail);
    uint64_t ngets = fail.device.ngets;
    fail.device.fail_at = 0;
    if (fail.fs != NULL) {
        (void)ext2_sync(fail.fs);
        assert_ok(ext2_unmount(fail.fs));
    }
    device_check_idle(&fail.device);
    bool marked = (fail.device.bytes[FAIL_STATE_OFFSET] & FAIL_STATE_ERROR) != 0;
    if (!marked && !image_is_clean(&fail.device))
        fail_msg("get %llu failed%s, and nobody is told", (unsigned long long)fail_at,
                 for_good ? " for good" : "");
    if (fail_at != 0 && fail.neio == 0 && !marked)
        fail_msg("get %llu failed, and no operation did", (unsigned long long)fail_at);
    device_destroy(&fail.device);
    return ngets;
}

static void fail_everywhere(const char *options, uint64_t size)
{
    struct device pristine;
    image_make(&pristine, options, size);
    uint64_t ngets = fail_run(&pristine, 0, false);
    for (uint64_t n = 1; n <= ngets; n++)
        (void)fail_run(&pristine, n, false);
    for (uint64_t n = 1; n <= ngets; n++)
        (void)fail_run(&pristine, n, true);
    device_destroy(&pristine);
}

static void any_get_may_fail_with_blocks_of_1024_bytes(void **state)
{
    (void)state;
    fail_everywhere("-t ext2 -b 1024 -N 64", MIB);
}

static void any_get_may_fail_with_blocks_of_4096_bytes(void **state)
{
    (void)state;
    fail_everywhere("-t ext2 -b 4096 -N 64", 2 * MIB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_get_may_fail_with_blocks_of_1024_bytes),
        cmocka_unit_test(any_get_may_fail_with_blocks_of_4096_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
