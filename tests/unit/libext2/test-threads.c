// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads on one file system, each with files of its own, and with one directory and one file that
 * they share. Built with the thread sanitizer: it knows whether the rules for locks in ext2.h are
 * enough.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

#define THREADS_COUNT  4u
#define THREADS_ROUNDS 60u

struct threads {
    uint8_t *bytes;
    struct ext2_fs *fs;
    struct ext2_inode *root;
    struct ext2_inode *shared;
    pthread_mutex_t lock;
    pthread_rwlock_t shared_lock; /* the map lock of SHARED */
};

struct worker {
    struct threads *threads;
    unsigned int number;
    pthread_t thread;
};

static error_t threads_get(void *hook, uint64_t offset, uint32_t length, enum ext2_how how,
                           void **data)
{
    struct threads *threads = hook;
    (void)length;
    (void)how;
    *data = threads->bytes + offset;
    return 0;
}

static void threads_put(void *hook, uint64_t offset, uint32_t length, void *data, bool dirty)
{
    (void)hook;
    (void)offset;
    (void)length;
    (void)data;
    (void)dirty;
}

static void threads_lock(void *hook)
{
    struct threads *threads = hook;
    pthread_mutex_lock(&threads->lock);
}

static void threads_unlock(void *hook)
{
    struct threads *threads = hook;
    pthread_mutex_unlock(&threads->lock);
}

static const struct ext2_ops threads_ops = {
    .get = threads_get, .put = threads_put, .lock = threads_lock, .unlock = threads_unlock};

static void worker_require(error_t error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    abort();
}

/* A file of this thread's, from its beginning to its end. */
static void worker_file(const struct worker *worker, unsigned int round)
{
    struct ext2_inode *root = worker->threads->root;
    struct ext2_inode *inode;
    struct ext2_run run;
    char name[32];
    char other[32];
    snprintf(name, sizeof name, "file-%u-%u", worker->number, round);
    snprintf(other, sizeof other, "moved-%u-%u", worker->number, round);
    worker_require(ext2_create(root, name, 0100644, 0, 0, &inode), "create");
    for (uint32_t at = 0; at < 300; at += run.count)
        worker_require(ext2_block_allocate(inode, at, 16, &run), "allocate");
    worker_require(ext2_inode_resize(inode, 300 * 1024), "grow");
    worker_require(ext2_block_map(inode, 0, 300, &run), "map");
    worker_require(ext2_inode_resize(inode, 20 * 1024), "shrink");
    worker_require(ext2_inode_touch(inode, EXT2_TOUCH_MTIME), "touch");
    worker_require(ext2_rename(root, name, root, other), "rename");
    ext2_inode_put(inode);
    worker_require(ext2_lookup(root, other, &inode), "lookup");
    worker_require(ext2_unlink(root, other), "unlink");
    ext2_inode_put(inode);
}

/* The file of all: mapped by many, grown by one at a time, its attributes changed at any time. */
static void worker_shared(const struct worker *worker, unsigned int round)
{
    struct threads *threads = worker->threads;
    struct ext2_run run;
    struct ext2_stat stat;
    pthread_rwlock_rdlock(&threads->shared_lock);
    worker_require(ext2_block_map(threads->shared, 0, 1000, &run), "map");
    pthread_rwlock_unlock(&threads->shared_lock);
    worker_require(ext2_inode_chmod(threads->shared, (uint16_t)round), "chmod");
    worker_require(ext2_inode_chown(threads->shared, round, round), "chown");
    ext2_inode_stat(threads->shared, &stat);
    if (round % 8 != worker->number)
        return;
    pthread_rwlock_wrlock(&threads->shared_lock);
    worker_require(ext2_block_allocate(threads->shared, round * 5, 3, &run), "allocate");
    worker_require(ext2_inode_resize(threads->shared, (round * 5 + UINT64_C(3)) * 1024), "resize");
    pthread_rwlock_unlock(&threads->shared_lock);
}

static void *worker_run(void *hook)
{
    struct worker *worker = hook;
    struct ext2_statfs statfs;
    for (unsigned int round = 0; round < THREADS_ROUNDS; round++) {
        worker_file(worker, round);
        worker_shared(worker, round);
        ext2_statfs(worker->threads->fs, &statfs);
        worker_require(ext2_sync(worker->threads->fs), "sync");
    }
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
    struct threads threads = {.lock = PTHREAD_MUTEX_INITIALIZER,
                              .shared_lock = PTHREAD_RWLOCK_INITIALIZER};
    struct worker workers[THREADS_COUNT];
    struct device device;
    (void)state;
    image_make(&device, "-t ext2 -b 1024", 16 * MIB);
    threads.bytes = device.bytes;
    assert_ok(ext2_mount(&threads_ops, &threads, device.size, false, &threads.fs));
    assert_ok(ext2_inode_get(threads.fs, EXT2_ROOT_INO, &threads.root));
    assert_ok(ext2_create(threads.root, "shared", 0100644, 0, 0, &threads.shared));
    for (unsigned int i = 0; i < THREADS_COUNT; i++) {
        workers[i] = (struct worker){.threads = &threads, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]), 0);
    }
    for (unsigned int i = 0; i < THREADS_COUNT; i++)
        pthread_join(workers[i].thread, NULL);
    ext2_inode_put(threads.shared);
    ext2_inode_put(threads.root);
    assert_ok(ext2_sync(threads.fs));
    assert_ok(ext2_unmount(threads.fs));
    assert_true(image_is_clean(&device));
    device_destroy(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
