// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "exercise.h"
#include "file.h"

#define EXERCISE_DEPTH  12u
#define EXERCISE_INODES 3000u
#define EXERCISE_RUNS   20000u
#define EXERCISE_NAMES  64u /* of a directory that are kept at a time */

struct exercise {
    struct ext2_fs *fs;
    struct exercise_counts counts;
};

struct exercise_names {
    char names[EXERCISE_NAMES][EXT2_NAME_MAX + 1];
    unsigned int count;
    uint64_t cookie;
};

static bool exercise_note(void *hook, const struct ext2_entry *entry)
{
    struct exercise_names *names = hook;
    memcpy(names->names[names->count], entry->name, entry->length);
    names->names[names->count++][entry->length] = '\0';
    names->cookie = entry->cookie;
    return names->count < EXERCISE_NAMES;
}

static bool exercise_is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* --- Looking --- */

static void exercise_read_map(struct exercise *exercise, struct ext2_inode *inode)
{
    struct ext2_run run;
    uint32_t at = 0;
    while (at != UINT32_MAX && exercise->counts.nruns++ < EXERCISE_RUNS &&
           ext2_block_map(inode, at, UINT32_MAX, &run) == 0)
        at += run.count;
}

static void exercise_walk(struct exercise *exercise, struct ext2_inode *dir, unsigned int depth);

static void exercise_look(struct exercise *exercise, struct ext2_inode *inode, unsigned int depth)
{
    struct ext2_stat stat;
    char target[100];
    size_t done;
    ext2_inode_stat(inode, &stat);
    exercise->counts.ninodes++;
    exercise_read_map(exercise, inode);
    (void)ext2_readlink(inode, target, sizeof target, &done);
    if (S_ISDIR(stat.mode) && depth < EXERCISE_DEPTH)
        exercise_walk(exercise, inode, depth + 1);
}

static void exercise_walk(struct exercise *exercise, struct ext2_inode *dir, unsigned int depth)
{
    struct ext2_inode *inode;
    struct exercise_names names = {.cookie = 0};
    do {
        names.count = 0;
        (void)ext2_dir_iterate(dir, names.cookie, exercise_note, &names);
        for (unsigned int i = 0; i < names.count; i++) {
            if (exercise_is_dots(names.names[i]) || exercise->counts.ninodes > EXERCISE_INODES ||
                ext2_lookup(dir, names.names[i], &inode) != 0)
                continue;
            exercise_look(exercise, inode, depth);
            ext2_inode_put(inode);
        }
    } while (names.count == EXERCISE_NAMES);
}

/* --- Changing --- */

static void exercise_put(error_t error, struct ext2_inode **inode)
{
    if (error == 0)
        ext2_inode_put(*inode);
}

static void exercise_change_file(struct exercise *exercise, struct ext2_inode *inode)
{
    struct ext2_run run;
    struct ext2_stat stat;
    ext2_inode_stat(inode, &stat);
    uint32_t blocks = (uint32_t)(stat.size / ext2_block_size(exercise->fs));
    (void)ext2_block_allocate(inode, blocks, 5, &run);
    (void)ext2_inode_resize(inode, stat.size + 3000);
    (void)ext2_block_allocate(inode, 0, 100, &run);
    (void)ext2_inode_resize(inode, stat.size / 2);
    (void)ext2_inode_touch(inode, EXT2_TOUCH_MTIME);
}

static void exercise_change_dir(struct ext2_inode *dir)
{
    struct ext2_inode *inode;
    exercise_put(ext2_create(dir, "exercise-file", 0100644, 0, 0, &inode), &inode);
    exercise_put(ext2_mkdir(dir, "exercise-dir", 0755, 0, 0, &inode), &inode);
    exercise_put(ext2_symlink(dir, "exercise-link", "target", 0, 0, &inode), &inode);
    (void)ext2_rename(dir, "exercise-file", dir, "exercise-name");
}

/* Change what is in DIR, and move or remove it. */
static void exercise_ravage(struct exercise *exercise, struct ext2_inode *dir, unsigned int depth)
{
    struct ext2_inode *inode;
    struct ext2_stat stat;
    struct exercise_names names = {.cookie = 0};
    (void)ext2_dir_iterate(dir, 0, exercise_note, &names);
    exercise_change_dir(dir);
    for (unsigned int i = 0; i < names.count; i++) {
        if (exercise_is_dots(names.names[i]) || ext2_lookup(dir, names.names[i], &inode) != 0)
            continue;
        ext2_inode_stat(inode, &stat);
        exercise_change_file(exercise, inode);
        if (S_ISDIR(stat.mode) && depth < EXERCISE_DEPTH && exercise->counts.ninodes > 0) {
            exercise->counts.ninodes--; /* a damaged tree may be endless */
            exercise_ravage(exercise, inode, depth + 1);
        }
        (void)ext2_link(dir, "exercise-hard", inode);
        (void)ext2_rename(dir, names.names[i], dir, "exercise-moved");
        (void)ext2_unlink(dir, "exercise-moved");
        (void)ext2_unlink(dir, "exercise-hard");
        (void)ext2_rmdir(dir, "exercise-moved");
        ext2_inode_put(inode);
    }
}

error_t exercise_all(struct device *device, struct exercise_counts *counts)
{
    struct exercise exercise = {.fs = NULL};
    struct ext2_inode *root;
    struct ext2_statfs statfs;
    error_t error = ext2_mount(&device_ops, device, device->size, false, &exercise.fs);
    if (error != 0)
        return error;
    ext2_statfs(exercise.fs, &statfs);
    if (ext2_inode_get(exercise.fs, EXT2_ROOT_INO, &root) == 0) {
        exercise_walk(&exercise, root, 0);
        *counts = exercise.counts;
        exercise_ravage(&exercise, root, 0);
        ext2_inode_put(root);
    }
    (void)ext2_sync(exercise.fs);
    (void)ext2_unmount(exercise.fs);
    device_check_idle(device);
    return 0;
}

/* --- Scripts --- */

#define SCRIPT_INODES 4u
#define SCRIPT_BYTES  4u /* of one operation */

struct script {
    struct exercise exercise;
    struct ext2_inode *inodes[SCRIPT_INODES]; /* the first is the root */
};

static const char *script_name(uint8_t number)
{
    static const char *const names[16] = {
        "a",
        "b",
        "file",
        "dir",
        "link",
        "slow",
        "big",
        "c",
        ".",
        "..",
        "lost+found",
        "",
        "a/b",
        "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"
        "8901234567890123456789012345678901234567890123456789012345678901234567890123456789012345",
        "d",
        "e",
    };
    return names[number % 16];
}

static void script_hold(struct script *script, uint8_t number, struct ext2_inode *inode)
{
    struct ext2_inode **place = &script->inodes[1 + number % (SCRIPT_INODES - 1)];
    ext2_inode_put(*place);
    *place = inode;
}

static void script_make(struct script *script, struct ext2_inode *dir, const uint8_t *bytes)
{
    static const char target[] = "a target that is too long for an inode, so that it needs a block";
    struct ext2_inode *inode = NULL;
    const char *name = script_name(bytes[2]);
    error_t error;
    switch (bytes[3] % 4) {
    case 0:
        error = ext2_mkdir(dir, name, 0755, 0, 0, &inode);
        break;
    case 1:
        error = ext2_symlink(dir, name, bytes[3] & 4 ? target : "target", 0, 0, &inode);
        break;
    default:
        error = ext2_create(dir, name, 0100644, 0, 0, &inode);
    }
    if (error == 0)
        script_hold(script, bytes[3] / 16, inode);
}

static uint32_t script_block(uint8_t number)
{
    static const uint32_t bases[] = {0, 10, 266, 65800};
    return bases[number / 64] + number % 64;
}

static void script_file(struct script *script, struct ext2_inode *inode, const uint8_t *bytes)
{
    struct ext2_run run;
    uint64_t size = (uint64_t)script_block(bytes[2]) * 1024 + bytes[3];
    switch (bytes[0] / 16 % 4) {
    case 0:
        (void)ext2_block_allocate(inode, script_block(bytes[2]), 1 + bytes[3], &run);
        break;
    case 1:
        (void)ext2_inode_resize(inode, size);
        break;
    case 2:
        (void)ext2_block_map(inode, script_block(bytes[2]), 1 + bytes[3], &run);
        break;
    default:
        exercise_read_map(&script->exercise, inode);
    }
}

static void script_step(struct script *script, const uint8_t *bytes)
{
    struct ext2_inode *dir = script->inodes[bytes[1] % SCRIPT_INODES];
    struct ext2_inode *other = script->inodes[bytes[1] / 16 % SCRIPT_INODES];
    struct ext2_inode *inode;
    struct exercise_names names = {.cookie = bytes[2]};
    switch (bytes[0] % 10) {
    case 0:
        script_make(script, dir, bytes);
        break;
    case 1:
        if (ext2_lookup(dir, script_name(bytes[2]), &inode) == 0)
            script_hold(script, bytes[3], inode);
        break;
    case 2:
        (void)ext2_unlink(dir, script_name(bytes[2]));
        break;
    case 3:
        (void)ext2_rmdir(dir, script_name(bytes[2]));
        break;
    case 4:
        (void)ext2_rename(dir, script_name(bytes[2]), other, script_name(bytes[3]));
        break;
    case 5:
        (void)ext2_link(dir, script_name(bytes[2]), other);
        break;
    case 6:
        (void)ext2_dir_iterate(dir, bytes[2], exercise_note, &names);
        break;
    case 7:
        (void)ext2_sync(script->exercise.fs);
        break;
    default:
        script_file(script, dir, bytes);
    }
}

error_t exercise_script(struct device *device, const uint8_t *bytes, size_t length)
{
    struct script script = {.inodes = {NULL}};
    struct ext2_fs *fs;
    error_t error = ext2_mount(&device_ops, device, device->size, false, &fs);
    if (error != 0)
        return error;
    script.exercise.fs = fs;
    if (ext2_inode_get(fs, EXT2_ROOT_INO, &script.inodes[0]) == 0) {
        for (unsigned int i = 1; i < SCRIPT_INODES; i++) {
            script.inodes[i] = script.inodes[0];
            ext2_inode_ref(script.inodes[0]);
        }
        for (; length >= SCRIPT_BYTES; bytes += SCRIPT_BYTES, length -= SCRIPT_BYTES)
            script_step(&script, bytes);
        for (unsigned int i = 0; i < SCRIPT_INODES; i++)
            ext2_inode_put(script.inodes[i]);
    }
    (void)ext2_sync(fs);
    (void)ext2_unmount(fs);
    device_check_idle(device);
    return 0;
}
