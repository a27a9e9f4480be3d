// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images that others filled: mke2fs copies a folder of this project into one, and libext2 must find
 * in it what is in the folder.
 */
#include "fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FOREIGN_FOLDER "servers"
#define FOREIGN_BYTES  (4u << 20) /* no file of the folder is larger */

static unsigned int foreign_nfiles;

static void foreign_compare_file(struct fixture *fixture, struct ext2_inode *inode,
                                 const char *path)
{
    static uint8_t theirs[FOREIGN_BYTES];
    static uint8_t ours[FOREIGN_BYTES];
    uint64_t done;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(theirs, 1, sizeof theirs, file);
    fclose(file);
    assert_int_equal(fixture_stat(inode).size, size);
    assert_ok(file_read(&fixture->device, inode, 0, ours, sizeof ours, &done));
    assert_int_equal(done, size);
    assert_memory_equal(ours, theirs, size);
    foreign_nfiles++;
}

static bool foreign_count(void *hook, const struct ext2_entry *entry)
{
    unsigned int *count = hook;
    *count += entry->length == 10 && memcmp(entry->name, "lost+found", 10) == 0 ? 0 : 1;
    return true;
}

static void foreign_compare_folder(struct fixture *fixture, struct ext2_inode *dir,
                                   const char *path);

static void foreign_compare_entry(struct fixture *fixture, struct ext2_inode *dir, const char *path,
                                  const char *name)
{
    char below[1024];
    struct stat stat;
    struct ext2_inode *inode;
    snprintf(below, sizeof below, "%s/%s", path, name);
    assert_int_equal(lstat(below, &stat), 0);
    assert_ok(ext2_lookup(dir, name, &inode));
    assert_int_equal(fixture_stat(inode).mode, stat.st_mode);
    if (S_ISDIR(stat.st_mode) && name[0] != '.')
        foreign_compare_folder(fixture, inode, below);
    else if (S_ISREG(stat.st_mode))
        foreign_compare_file(fixture, inode, below);
    ext2_inode_put(inode);
}

static void foreign_compare_folder(struct fixture *fixture, struct ext2_inode *dir,
                                   const char *path)
{
    unsigned int theirs = 0;
    unsigned int ours = 0;
    const struct dirent *entry;
    DIR *folder = opendir(path);
    if (folder == NULL) {
        fail_msg("run this at the top of the project");
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        theirs++;
        if (strcmp(entry->d_name, "..") != 0) /* the root's is the root */
            foreign_compare_entry(fixture, dir, path, entry->d_name);
    }
    closedir(folder);
    assert_ok(ext2_dir_iterate(dir, 0, foreign_count, &ours));
    assert_int_equal(ours, theirs);
}

static void foreign_try(const char *options)
{
    struct fixture fixture;
    char with_folder[200];
    snprintf(with_folder, sizeof with_folder, "%s -d " FOREIGN_FOLDER, options);
    fixture_setup(&fixture, with_folder, 32 * MIB);
    foreign_nfiles = 0;
    foreign_compare_folder(&fixture, fixture.root, FOREIGN_FOLDER);
    assert_true(foreign_nfiles > 20);
    fixture_teardown(&fixture);
}

static void what_mke2fs_has_written_is_read(void **state)
{
    (void)state;
    foreign_try("-t ext2 -b 1024");
    foreign_try("-t ext2 -b 2048 -I 128");
    foreign_try("-t ext2 -b 4096");
    foreign_try("-t ext2 -b 1024 -r 0");
    foreign_try("-t ext2 -b 1024 -O sparse_super2,^resize_inode");
    foreign_try("-t ext3 -b 1024"); /* the journal stays as it is */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_mke2fs_has_written_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
