// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Truncate against write-out and reading, in both orders, with another file that gets the freed
 * blocks at once. What is in flight is held in the store or in the pager's port until the test lets
 * it go.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ext2/file-pager.h"
#include "librt/thread.h"
#include "server.h"

#define SIZE     ((vm_size_t)64 * 1024)
#define BRIEFLY  20u /* ms, in which a truncate that does not wait would return */
#define NWRITERS 3u

static uint8_t bytes[2 * 64 * 1024];
static uint8_t zeros[2 * 64 * 1024];

/* A truncate in a thread of its own. */
static struct {
    pthread_t thread;
    struct node *node;
    uint64_t size;
    bool done; /* atomically */
} truncation;

static void *truncation_run(void *unused)
{
    (void)unused;
    client_truncate(truncation.node, truncation.size);
    __atomic_store_n(&truncation.done, true, __ATOMIC_RELEASE);
    return NULL;
}

static uint64_t size_of(struct node *node)
{
    struct node_hold hold;
    uint64_t size;

    node_alloc_lock(node, TRACE_READ, &hold);
    size = node->size;
    node_alloc_unlock(node, &hold);
    return size;
}

/* Begin, and go on until no page behind SIZE can be written any more. */
static void truncation_begin(struct node *node, uint64_t size)
{
    truncation.node = node;
    truncation.size = size;
    check_ok(pthread_create(&truncation.thread, NULL, truncation_run, NULL));
    while (size_of(node) != size)
        rt_sleep(1);
}

static void truncation_check_waits(void)
{
    rt_sleep(BRIEFLY);
    check(!__atomic_load_n(&truncation.done, __ATOMIC_ACQUIRE));
}

static void truncation_end(void)
{
    check_ok(pthread_join(truncation.thread, NULL));
}

static struct node *file_create(const char *name, vm_size_t size, unsigned int seed)
{
    struct node *node = client_open(name);

    client_fill(bytes, 0, size, seed);
    client_write(node, 0, bytes, size);
    return node;
}

/* NAME has SIZE bytes that SEED gives. */
static void check_stored(const char *name, vm_size_t size, unsigned int seed)
{
    client_fill(bytes, 0, size, seed);
    check(content_equals(name, bytes, size));
}

static void hold_blocks(struct node *node, uint32_t first, uint32_t count, enum memstore_how how)
{
    for (uint32_t i = first; i < first + count; i++)
        memstore_hold(server_sector(node, i), server_sectors_per_block(), how);
}

/* Blocks of a file, and what the disk has there. */
struct snapshot {
    uint32_t blocks[SIZE / 1024];
    uint32_t nblocks;
    uint8_t *disk;
};

static void snapshot_take(struct snapshot *snapshot, struct node *node)
{
    snapshot->nblocks = (uint32_t)(SIZE / server.block_size);
    for (uint32_t i = 0; i < snapshot->nblocks; i++)
        snapshot->blocks[i] = server_block(node, i);
    snapshot->disk = malloc(server.disk_size);
    check(snapshot->disk != NULL);
    memcpy(snapshot->disk, server.disk, server.disk_size);
}

/* The blocks from FIRST on have not been written since. */
static void snapshot_check(const struct snapshot *snapshot, uint32_t first)
{
    for (uint32_t i = first; i < snapshot->nblocks; i++) {
        uint64_t at = (uint64_t)snapshot->blocks[i] * server.block_size;

        check(memcmp(snapshot->disk + at, server.disk + at, server.block_size) == 0);
    }
}

static void snapshot_drop(struct snapshot *snapshot)
{
    free(snapshot->disk);
}

/* Whether NODE's first NBLOCKS blocks have one of SNAPSHOT's from FIRST on. */
static bool snapshot_shares(const struct snapshot *snapshot, uint32_t first, struct node *node,
                            uint32_t nblocks)
{
    for (uint32_t i = 0; i < nblocks; i++)
        for (uint32_t j = first; j < snapshot->nblocks; j++)
            if (server_block(node, i) == snapshot->blocks[j])
                return true;
    return false;
}

/* All free blocks are NODE's that is being truncated: another file gets them. */
static void leave_no_space(void)
{
    server_fragment(0, 1);
}

static void grow(struct node *node, vm_size_t length)
{
    vm_size_t got = length;

    check_ok(file_grow(node, 0, &got));
    check_equal(got, length);
}

/* All pages of a file, whose last ones another file may get. */
struct returned {
    struct node *node;
    struct node *other;
    struct snapshot snapshot;
    uint32_t nfree;
};

static void returned_begin(struct returned *returned)
{
    returned->node = file_create("file", SIZE, 1);
    returned->other = client_open("other");
    leave_no_space();
    snapshot_take(&returned->snapshot, returned->node);
    returned->nfree = server_nblocks_free();
}

/* With returns of pages behind KEPT on their way, truncate to that, and give the blocks away. */
static void returned_cut(struct returned *returned, vm_size_t kept)
{
    uint32_t first = (uint32_t)(kept / server.block_size);

    truncation_begin(returned->node, kept);
    while (server_nblocks_free() < returned->nfree + (SIZE - kept) / server.block_size)
        rt_sleep(1);
    grow(returned->other, SIZE - 2 * kept);
    check(snapshot_shares(&returned->snapshot, first, returned->other, 4));
}

/* The returns have been let go: they were not written. */
static void returned_end(struct returned *returned, vm_size_t kept)
{
    truncation_end();
    snapshot_check(&returned->snapshot, (uint32_t)(kept / server.block_size));
    client_fill(bytes, 0, SIZE - 2 * kept, 2);
    client_write(returned->other, 0, bytes, SIZE - 2 * kept);
    client_sync(returned->node);
    client_sync(returned->other);
    check_stored("file", kept, 1);
    check_stored("other", SIZE - 2 * kept, 2);
    snapshot_drop(&returned->snapshot);
    node_deref(returned->node);
    node_deref(returned->other);
}

SERVER_TEST(what_was_returned_before_a_truncate_and_not_received_is_dropped, ALL_BLOCK_SIZES)
{
    struct port_bucket *bucket;
    struct returned returned;

    returned_begin(&returned);
    bucket = mock_bucket(server_object(returned.node));
    mock_receiver_hold(bucket, true);
    client_evict(returned.node, 0, SIZE / PAGE);
    returned_cut(&returned, 2 * PAGE);
    mock_receiver_hold(bucket, false);
    returned_end(&returned, 2 * PAGE);
}

SERVER_TEST(what_was_returned_before_a_truncate_and_is_queued_is_dropped, ALL_BLOCK_SIZES)
{
    struct returned returned;

    returned_begin(&returned);
    hold_blocks(returned.node, 0, 1, MEMSTORE_WRITE);
    client_evict(returned.node, 0, 1);
    memstore_await_held(1);
    client_evict(returned.node, 4, SIZE / PAGE - 4); /* behind the write that is held */
    mock_receiver_wait(mock_bucket(server_object(returned.node)));
    returned_cut(&returned, 2 * PAGE);
    memstore_release();
    returned_end(&returned, 2 * PAGE);
}

/* With I/O behind SIZE in flight and held, truncate to SIZE. What was in flight is gone then, and
   comes back neither to memory nor to the disk. */
static void check_truncate_waits(struct node *node, uint64_t size)
{
    struct node *other = client_open("other");
    struct snapshot snapshot;
    uint32_t nfree;

    snapshot_take(&snapshot, node);
    nfree = server_nblocks_free();
    memstore_await_held(1);
    truncation_begin(node, size);
    truncation_check_waits();
    check_equal(server_nblocks_free(), nfree);
    grow(other, 4 * PAGE);
    check(!snapshot_shares(&snapshot, 0, other, 4 * PAGE / server.block_size));
    memstore_release();
    truncation_end();

    client_fill(bytes, 0, SIZE, 2);
    client_write(other, 0, bytes, SIZE); /* gets what was freed */
    client_sync(other);
    client_sync(node);
    check_stored("file", size, 1);
    check_stored("other", SIZE, 2);
    client_truncate(other, 0);
    client_truncate(node, SIZE);
    client_expect(node, size, NULL, (vm_size_t)(SIZE - size));
    snapshot_drop(&snapshot);
    node_deref(other);
}

SERVER_TEST(a_truncate_waits_for_a_write_behind_the_new_size, ALL_BLOCK_SIZES)
{
    struct node *node = file_create("file", SIZE, 1);

    hold_blocks(node, (uint32_t)(8 * PAGE / block_size), 1, MEMSTORE_WRITE);
    client_evict(node, 8, 1);
    check_truncate_waits(node, 3 * PAGE);
    node_deref(node);
}

SERVER_TEST(a_truncate_waits_for_a_long_write_that_it_cuts_through, ALL_BLOCK_SIZES)
{
    struct node *node = file_create("file", SIZE, 1);
    uint64_t size = 9 * PAGE + 1500;

    hold_blocks(node, 0, 1, MEMSTORE_WRITE);
    check_ok(pager_sync(node->pager, 0));
    check_truncate_waits(node, size);
    node_deref(node);
}

static void *reader_run(void *node)
{
    vm_size_t length = PAGE;
    vm_address_t data;

    check_ok(file_read(node, 8 * PAGE, &data, &length));
    vm_deallocate(mach_task_self(), data, PAGE);
    return NULL;
}

static void *mapped_reader_run(void *address)
{
    uint8_t byte;
    size_t done;

    /* the file may be cut off before it is answered */
    (void)rt_guard_copy(&byte, address, 1, &done);
    return NULL;
}

SERVER_TEST(a_truncate_waits_for_a_read_behind_the_new_size, ALL_BLOCK_SIZES)
{
    struct node *node = file_create("file", SIZE, 1);
    char *mapping = client_map(node);
    pthread_t reader;

    client_sync(node);
    client_evict(node, 8, 1);
    hold_blocks(node, (uint32_t)(8 * PAGE / block_size), 1, MEMSTORE_READ);
    check_ok(pthread_create(&reader, NULL, mapped_reader_run, mapping + 8 * PAGE));
    check_truncate_waits(node, 3 * PAGE);
    check_ok(pthread_join(reader, NULL));
    client_unmap(mapping);
    node_deref(node);
}

SERVER_TEST(a_truncate_waits_for_a_client_that_reads, 4096)
{
    struct node *node = file_create("file", SIZE, 1);
    pthread_t reader, truncater;

    client_sync(node);
    client_evict(node, 8, 1);
    hold_blocks(node, 8, 1, MEMSTORE_READ);
    check_ok(pthread_create(&reader, NULL, reader_run, node));
    memstore_await_held(1);
    truncation.node = node;
    truncation.size = 3 * PAGE;
    check_ok(pthread_create(&truncater, NULL, truncation_run, NULL));
    truncation_check_waits();
    check_equal(size_of(node), SIZE);
    memstore_release();
    check_ok(pthread_join(reader, NULL));
    check_ok(pthread_join(truncater, NULL));
    check_equal(size_of(node), 3 * PAGE);
    node_deref(node);
}

SERVER_TEST(a_page_that_a_client_waits_for_while_it_is_cut_off_shows_zeros, ALL_BLOCK_SIZES)
{
    struct node *node = file_create("file", SIZE, 1);
    char *mapping = client_map(node);
    pthread_t reader;
    size_t done;

    hold_blocks(node, 0, 1, MEMSTORE_WRITE);
    client_evict(node, 0, 1);
    memstore_await_held(1);
    client_evict(node, 8, 1); /* behind the write that is held */
    check_ok(pthread_create(&reader, NULL, mapped_reader_run, mapping + 8 * PAGE));
    mock_await_wanted(server_object(node), 8);
    mock_receiver_wait(mock_bucket(server_object(node)));
    truncation_begin(node, 3 * PAGE);
    memstore_release();
    truncation_end();
    check_ok(pthread_join(reader, NULL));
    client_truncate(node, SIZE);
    check_ok(rt_guard_copy(bytes, mapping + 8 * PAGE, PAGE, &done));
    check(memcmp(bytes, zeros, PAGE) == 0);
    client_unmap(mapping);
    node_deref(node);
}

SERVER_TEST(a_truncate_does_not_wait_for_a_write_before_the_new_size, ALL_BLOCK_SIZES)
{
    struct node *node = file_create("file", SIZE, 1);

    client_sync(node);
    client_fill(bytes, 0, PAGE, 1);
    client_write(node, 0, bytes, PAGE);
    hold_blocks(node, 0, 1, MEMSTORE_WRITE);
    client_evict(node, 0, 1);
    memstore_await_held(1);
    truncation_begin(node, 8 * PAGE);
    while (server_block(node, (uint32_t)(8 * PAGE / block_size)) != 0)
        rt_sleep(1); /* freed, though the flush that follows waits for all returns */
    memstore_release();
    truncation_end();
    client_sync(node);
    check_stored("file", 8 * PAGE, 1);
    node_deref(node);
}

/* The file has the first DOWN bytes of seed 1 and is zeros up to UP, in memory and on the disk. */
static void check_zeros_behind(struct node *node, uint64_t down, uint64_t up)
{
    client_fill(bytes, 0, down, 1);
    memset(bytes + down, 0, up - down);
    client_expect(node, 0, bytes, up);
    client_sync(node);
    check(content_equals("file", bytes, up));
    client_evict(node, 0, up / PAGE + 1);
    client_expect(node, 0, bytes, up);
}

static void check_down_and_up(uint64_t down, uint64_t up, bool evict, bool store)
{
    struct node *node = file_create("file", SIZE, 1);

    if (store)
        client_sync(node);
    if (evict)
        client_evict(node, 0, SIZE / PAGE);
    client_truncate(node, down);
    client_truncate(node, up);
    check_zeros_behind(node, down, up);
    client_truncate(node, 0);
    node_deref(node);
}

SERVER_TEST(a_file_truncated_down_and_up_again_shows_zeros, ALL_BLOCK_SIZES)
{
    static const uint64_t downs[] = {1, 1024, 1500, 3072, 4095, 4097, 5120, 8192, 40961, 65535};

    for (size_t i = 0; i < sizeof(downs) / sizeof(downs[0]); i++)
        for (unsigned int how = 0; how < 4; how++)
            check_down_and_up(downs[i], how & 1 ? SIZE : downs[i] + 700, how & 1, how & 2);
}

SERVER_TEST(a_file_truncated_in_a_hole_shows_zeros, ALL_BLOCK_SIZES)
{
    struct node *node = client_open("file");
    static const uint8_t mark[1024] = {1, 2, 3};

    for (uint64_t down = 4 * PAGE + 1; down <= 5 * PAGE - sizeof(mark); down += 1023) {
        client_write(node, 5 * PAGE - sizeof(mark), mark, sizeof(mark));
        client_truncate(node, down);
        client_truncate(node, 6 * PAGE);
        check_zeros_behind(node, 0, 6 * PAGE);
        client_truncate(node, 0);
    }
    node_deref(node);
}

SERVER_TEST(a_client_maps_zeros_where_a_file_was_truncated_down_and_up, ALL_BLOCK_SIZES)
{
    struct node *node = file_create("file", SIZE, 1);
    char *mapping = client_map(node);
    size_t done;

    client_truncate(node, 5000);
    client_truncate(node, SIZE);
    for (size_t at = 0; at < SIZE; at += PAGE)
        check_ok(rt_guard_copy(bytes + at, mapping + at, PAGE, &done));
    check(memcmp(bytes + 5000, zeros, SIZE - 5000) == 0);
    client_fill(bytes, 0, SIZE, 1);
    client_store(mapping, bytes, SIZE);
    client_sync(node);
    check_stored("file", SIZE, 1);
    client_unmap(mapping);
    node_deref(node);
}

SERVER_TEST(a_client_that_touches_what_was_truncated_away_gets_a_fault, ALL_BLOCK_SIZES)
{
    struct node *node = file_create("file", SIZE, 1);
    char *mapping = client_map(node);
    size_t done;

    client_truncate(node, PAGE);
    check_equal(rt_guard_copy(bytes, mapping + PAGE, 1, &done), EIO);
    check_equal(rt_guard_copy(mapping + 9 * PAGE, bytes, 1, &done), EIO);
    client_expect(node, 0, (client_fill(bytes, 0, PAGE, 1), bytes), PAGE);
    client_unmap(mapping);
    node_deref(node);
}

/* Clients that store into a mapping while the file is truncated, extended and synced. */

static struct {
    char *mapping;
    bool stop; /* atomically */
} writers;

static void *writer_run(void *number)
{
    static const uint8_t data[3000] = {7, 7, 7};
    uintptr_t at = (uintptr_t)number * 1000;
    size_t done;

    while (!__atomic_load_n(&writers.stop, __ATOMIC_ACQUIRE)) {
        /* a fault when there is no file just then */
        (void)rt_guard_copy(writers.mapping + at, data, sizeof(data), &done);
        at = (at + 7000) % SIZE;
    }
    return NULL;
}

static void writers_run(struct node *node, struct node *other)
{
    for (unsigned int i = 0; i < 60; i++) {
        client_truncate(node, (i * 7919) % SIZE);
        client_truncate(node, SIZE);
        client_write(other, (uint64_t)(i % 16) * PAGE, bytes, PAGE);
        if (i % 4 == 0)
            client_evict(node, 0, SIZE / PAGE);
        if (i % 5 == 0)
            client_sync(other);
        if (i % 7 == 0)
            client_sync(node);
    }
}

SERVER_TEST(truncate_against_mapped_writers_leaves_other_files_alone, ALL_BLOCK_SIZES)
{
    struct node *node = file_create("file", SIZE, 1);
    struct node *other = client_open("other");
    struct node *bystander = file_create("bystander", SIZE, 3);
    pthread_t threads[NWRITERS];

    client_sync(bystander);
    client_fill(bytes, 0, SIZE, 2);
    mock_set_jitter(true);
    writers.mapping = client_map(node);
    for (uintptr_t i = 0; i < NWRITERS; i++)
        check_ok(pthread_create(&threads[i], NULL, writer_run, (void *)i));
    writers_run(node, other);
    __atomic_store_n(&writers.stop, true, __ATOMIC_RELEASE);
    for (unsigned int i = 0; i < NWRITERS; i++)
        check_ok(pthread_join(threads[i], NULL));
    client_sync(node);
    client_sync(other);
    check_stored("bystander", SIZE, 3);
    client_unmap(writers.mapping);
    node_deref(node);
    node_deref(other);
    node_deref(bystander);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_returned_before_a_truncate_and_not_received_is_dropped),
        cmocka_unit_test(what_was_returned_before_a_truncate_and_is_queued_is_dropped),
        cmocka_unit_test(a_truncate_waits_for_a_write_behind_the_new_size),
        cmocka_unit_test(a_truncate_waits_for_a_long_write_that_it_cuts_through),
        cmocka_unit_test(a_truncate_waits_for_a_read_behind_the_new_size),
        cmocka_unit_test(a_truncate_waits_for_a_client_that_reads),
        cmocka_unit_test(a_page_that_a_client_waits_for_while_it_is_cut_off_shows_zeros),
        cmocka_unit_test(a_truncate_does_not_wait_for_a_write_before_the_new_size),
        cmocka_unit_test(a_file_truncated_down_and_up_again_shows_zeros),
        cmocka_unit_test(a_file_truncated_in_a_hole_shows_zeros),
        cmocka_unit_test(a_client_maps_zeros_where_a_file_was_truncated_down_and_up),
        cmocka_unit_test(a_client_that_touches_what_was_truncated_away_gets_a_fault),
        cmocka_unit_test(truncate_against_mapped_writers_leaves_other_files_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
