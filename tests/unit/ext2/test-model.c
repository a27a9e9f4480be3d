// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files in random order, held against a model; in the end e2fsck and libext2fs look at the disk.
 *
 * MACHBED_SEED chooses the order (`make test`: 1; else another in every run; printed),
 * MACHBED_STEPS how long it goes on. The first test is one thread and repeats exactly up to the
 * pagers' own threads; in the second each file has a thread, while another evicts and syncs.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ext2/disk.h"
#include "libpager/policy.h"
#include "mock/random.h"
#include "server.h"

#define NFILES 4u
#define SIZE_MAX_BYTES                                                                             \
    ((size_t)320 * 1024) /* two levels of indirect blocks, when they are small                     \
                          */
#define STEP_MAX ((size_t)40 * 1024)

struct file {
    char name[16];
    struct node *node;
    char *mapping; /* or null */
    uint8_t *bytes;
    size_t size;
    uint64_t random;
    unsigned int seed;
};

static uint64_t seed;
static uint64_t nsteps;
static struct file files[NFILES];
static uint64_t nrunning; /* atomically */

/* A place in a file of SIZE bytes: often at a block's or a page's edge. */
static size_t random_place(uint64_t *random, size_t size)
{
    size_t place = random_below(random, size);

    switch (random_below(random, 4)) {
    case 0:
        return place / PAGE * PAGE;
    case 1:
        return place / server.block_size * server.block_size;
    default:
        return place;
    }
}

static size_t random_length(uint64_t *random, size_t most)
{
    size_t length = 1 + random_below(random, random_below(random, 2) == 0 ? 2 * PAGE : STEP_MAX);

    return length < most ? length : most;
}

static void file_open(struct file *file)
{
    file->node = client_open(file->name);
}

static void file_close(struct file *file)
{
    if (file->mapping != NULL)
        client_unmap(file->mapping);
    file->mapping = NULL;
    node_deref(file->node);
}

static void file_step_write(struct file *file)
{
    size_t offset = random_place(&file->random, SIZE_MAX_BYTES);
    size_t length = random_length(&file->random, SIZE_MAX_BYTES - offset);

    client_fill(file->bytes + offset, offset, length, ++file->seed);
    client_write(file->node, offset, file->bytes + offset, length);
    if (offset + length > file->size)
        file->size = offset + length;
}

static void file_step_append(struct file *file)
{
    size_t length = random_length(&file->random, SIZE_MAX_BYTES - file->size);

    if (length == 0)
        return;
    client_fill(file->bytes + file->size, file->size, length, ++file->seed);
    client_write(file->node, file->size, file->bytes + file->size, length);
    file->size += length;
}

static void file_step_truncate(struct file *file)
{
    size_t size = random_place(&file->random, SIZE_MAX_BYTES);

    client_truncate(file->node, size);
    if (size < file->size)
        memset(file->bytes + size, 0, file->size - size);
    file->size = size;
}

/* Cut off a little, or add a little. */
static void file_step_adjust(struct file *file)
{
    size_t change = random_below(&file->random, 6000);
    size_t size = file->size > change ? file->size - change : 0;

    if (random_below(&file->random, 2) == 0 && file->size + change <= SIZE_MAX_BYTES)
        size = file->size + change;
    client_truncate(file->node, size);
    if (size < file->size)
        memset(file->bytes + size, 0, file->size - size);
    file->size = size;
}

static void file_step_store(struct file *file)
{
    size_t offset, length;

    if (file->size == 0)
        return;
    if (file->mapping == NULL)
        file->mapping = client_map(file->node);
    offset = random_place(&file->random, file->size);
    length = random_length(&file->random, file->size - offset);
    client_fill(file->bytes + offset, offset, length, ++file->seed);
    client_store(file->mapping + offset, file->bytes + offset, length);
}

/* A client writes where the file has no bytes, but its last page has: nobody is to see that. */
static void file_step_store_behind(struct file *file)
{
    static const uint8_t junk[4096] = {0xee, 0xee, 0xee};
    size_t left = PAGE - file->size % PAGE;

    if (file->mapping != NULL && left < PAGE)
        client_store(file->mapping + file->size, junk, left);
}

static void file_step_read(struct file *file)
{
    size_t offset, length;

    if (file->size == 0)
        return;
    offset = random_place(&file->random, file->size);
    length = random_length(&file->random, file->size - offset);
    client_expect(file->node, offset, file->bytes + offset, length);
}

static void file_step_load(struct file *file)
{
    static __thread uint8_t got[STEP_MAX];
    size_t offset, length, done;

    if (file->size == 0 || file->mapping == NULL)
        return;
    offset = random_place(&file->random, file->size);
    length = random_length(&file->random, file->size - offset);
    check_ok(rt_guard_copy(got, file->mapping + offset, length, &done));
    check(memcmp(got, file->bytes + offset, length) == 0);
}

static void file_step_sync(struct file *file)
{
    check_ok(file_sync(file->node, random_below(&file->random, 3) != 0));
}

static void file_step_unmap(struct file *file)
{
    if (file->mapping != NULL)
        client_unmap(file->mapping);
    file->mapping = NULL;
}

static void file_step_reopen(struct file *file)
{
    file_close(file);
    file_open(file);
    check_equal(file->node->size, file->size);
}

/* The file is deleted while it is in use, and another of that name made. */
static void file_step_replace(struct file *file)
{
    if (random_below(&file->random, 4) != 0)
        return;
    check_ok(path_unlink(server.root->inode, file->name));
    client_expect(file->node, 0, file->bytes, file->size < STEP_MAX ? file->size : STEP_MAX);
    file_close(file);
    file_open(file);
    memset(file->bytes, 0, file->size);
    file->size = 0;
}

static void file_step_evict(struct file *file)
{
    if (file->node->window_size > 0)
        client_evict(file->node, random_below(&file->random, SIZE_MAX_BYTES / PAGE),
                     1 + random_below(&file->random, 30));
}

static void file_step(struct file *file)
{
    static void (*const steps[])(struct file *) = {
        file_step_write,    file_step_write,  file_step_append, file_step_append,
        file_step_truncate, file_step_adjust, file_step_adjust, file_step_store,
        file_step_store,    file_step_store,  file_step_read,   file_step_read,
        file_step_load,     file_step_sync,   file_step_unmap,  file_step_evict,
        file_step_replace,  file_step_reopen, file_step_evict,  file_step_store_behind,
    };

    steps[random_below(&file->random, sizeof(steps) / sizeof(steps[0]))](file);
}

static void evict_metadata(uint64_t *random)
{
    void *super;
    struct mock_object *object;

    check_ok(disk_ops.get(NULL, 1024, 1024, EXT2_READ, &super));
    object = mock_object_at((vm_address_t)super);
    disk_ops.put(NULL, 1024, 1024, super, false);
    for (unsigned int i = 0; i < 10; i++)
        mock_pageout(object, random_below(random, server.disk_size / PAGE));
}

static void choose_policy(uint64_t *random)
{
    size_t npolicies = 1;

    while (pager_policy_at(npolicies) != NULL)
        npolicies++;
    pager_policy_set(pager_policy_at(random_below(random, npolicies)));
}

static void files_open(uint32_t block_size)
{
    for (unsigned int i = 0; i < NFILES; i++) {
        struct file *file = &files[i];

        snprintf(file->name, sizeof(file->name), "file%u", i);
        file->random = (seed + i) * 977 + block_size;
        file->bytes = calloc(1, SIZE_MAX_BYTES);
        check(file->bytes != NULL);
        file_open(file);
    }
}

static void files_check(void)
{
    for (unsigned int i = 0; i < NFILES; i++) {
        client_sync(files[i].node);
        check(content_equals(files[i].name, files[i].bytes, files[i].size));
    }
}

static void files_close(void)
{
    files_check();
    for (unsigned int i = 0; i < NFILES; i++) {
        client_expect(files[i].node, 0, files[i].bytes, files[i].size);
        file_close(&files[i]);
        free(files[i].bytes);
    }
}

SERVER_TEST(random_steps_agree_with_a_model, ALL_BLOCK_SIZES)
{
    uint64_t random = seed * 31 + block_size;

    files_open(block_size);
    for (uint64_t i = 0; i < nsteps; i++) {
        file_step(&files[random_below(&random, NFILES)]);
        if (random_below(&random, 10) == 0)
            evict_metadata(&random);
        if (random_below(&random, 50) == 0)
            choose_policy(&random);
        if (random_below(&random, 100) == 0)
            files_check();
    }
    files_close();
}

static void *file_run(void *file)
{
    for (uint64_t i = 0; i < nsteps / NFILES; i++)
        file_step(file);
    __atomic_sub_fetch(&nrunning, 1, __ATOMIC_RELEASE);
    return NULL;
}

SERVER_TEST(files_written_at_once_agree_with_a_model, ALL_BLOCK_SIZES)
{
    uint64_t random = seed * 37 + block_size;
    pthread_t threads[NFILES];

    files_open(block_size);
    mock_set_jitter(true);
    nrunning = NFILES;
    for (unsigned int i = 0; i < NFILES; i++)
        check_ok(pthread_create(&threads[i], NULL, file_run, &files[i]));
    while (__atomic_load_n(&nrunning, __ATOMIC_ACQUIRE) > 0) {
        evict_metadata(&random);
        choose_policy(&random);
        check_ok(random_below(&random, 20) == 0 ? nodes_sync(true) : disk_sync());
        sched_yield();
    }
    for (unsigned int i = 0; i < NFILES; i++)
        check_ok(pthread_join(threads[i], NULL));
    files_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_agree_with_a_model),
        cmocka_unit_test(files_written_at_once_agree_with_a_model),
    };

    seed = environment_number("MACHBED_SEED", (uint64_t)time(NULL));
    nsteps = environment_number("MACHBED_STEPS", 600);
    print_message("# MACHBED_SEED=%" PRIu64 " MACHBED_STEPS=%" PRIu64 "\n", seed, nsteps);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
