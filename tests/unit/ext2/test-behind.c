// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write-behind of files: what it writes, and what it leaves to others who are at it. Everywhere
 * each page is counted that reaches the disk.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "ext2/disk.h"
#include "librt/thread.h"
#include "mock/random.h"
#include "server.h"

#define NPAGES   8u
#define NCLIENTS 4u
#define NSTEPS   40u    /* of each client: pages that it appends */
#define PATIENCE 60000u /* ms for what takes one */

static uint8_t bytes[NPAGES * PAGE];
static uint64_t nrunning; /* atomically */

/* A file of NPAGES pages with seed 1, only in memory. */
static struct node *file_written(void)
{
    struct node *node = client_open("file");

    client_fill(bytes, 0, sizeof(bytes), 1);
    client_write(node, 0, bytes, sizeof(bytes));
    memstore_forget();
    return node;
}

/* How often page PAGE_NUMBER of NODE was written. */
static unsigned int page_nwrites(struct node *node, unsigned int page_number)
{
    return memstore_nwrites(
        server_sector(node, (uint32_t)(page_number * PAGE / server.block_size)));
}

static void page_do(void (*what)(uint64_t, uint64_t, enum memstore_how), struct node *node,
                    unsigned int page_number)
{
    for (uint32_t i = 0; i < PAGE / server.block_size; i++)
        what(server_sector(node, (uint32_t)(page_number * PAGE / server.block_size) + i),
             server_sectors_per_block(), MEMSTORE_WRITE);
}

static bool file_is_written(struct node *node)
{
    for (unsigned int page = 0; page < NPAGES; page++)
        if (page_nwrites(node, page) == 0)
            return false;
    return true;
}

/* Wait until all pages of NODE were written, each once, with so many further ROUNDS at most. */
static void await_written_once(struct node *node, unsigned int rounds)
{
    for (unsigned int i = 0; i < PATIENCE && !file_is_written(node); i++) {
        rt_sleep(1);
        if (i < rounds)
            nodes_write_behind();
    }
    for (unsigned int page = 0; page < NPAGES; page++)
        check_equal(page_nwrites(node, page), 1);
}

static void *run_sync(void *node)
{
    check_ok(file_sync(node, true));
    return NULL;
}

SERVER_TEST(what_nobody_syncs_is_written_behind, ALL_BLOCK_SIZES)
{
    struct node *node = file_written();

    nodes_write_behind();
    await_written_once(node, 0);
    check(content_equals("file", bytes, sizeof(bytes))); /* so its metadata is there as well */
    client_sync(node);
    await_written_once(node, 0);
    node_deref(node);
}

SERVER_TEST(a_file_that_nobody_has_changed_is_not_asked_for, ALL_BLOCK_SIZES)
{
    struct node *node = file_written();
    size_t nlocks;

    nodes_write_behind();
    await_written_once(node, 0);
    server_settle(node); /* or it is left alone because it is busy */
    nlocks = mock_nlocks();
    nodes_write_behind();
    check_equal(mock_nlocks(), nlocks);
    client_write(node, PAGE, "x", 1);
    nodes_write_behind();
    check(mock_nlocks() > nlocks);
    node_deref(node);
}

SERVER_TEST(a_mapping_of_a_client_is_always_asked_for, ALL_BLOCK_SIZES)
{
    struct node *node = file_written();
    char *mapping = client_map(node);

    client_sync(node);
    client_store(mapping, "y", 1);
    memstore_forget();
    nodes_write_behind();
    for (unsigned int i = 0; i < PATIENCE && page_nwrites(node, 0) == 0; i++)
        rt_sleep(1);
    check_equal(page_nwrites(node, 0), 1);
    check_equal(page_nwrites(node, 1), 0);
    bytes[0] = 'y';
    check(content_equals("file", bytes, sizeof(bytes)));
    client_unmap(mapping);
    node_deref(node);
}

SERVER_TEST(a_file_that_is_being_synced_is_left_alone, ALL_BLOCK_SIZES)
{
    struct node *node = file_written();
    pthread_t sync;
    size_t nlocks;

    client_sync(node);
    client_write(node, 0, bytes, sizeof(bytes)); /* the kernel copies what the store has */
    memstore_forget();
    page_do(memstore_hold, node, 0);
    check_ok(pthread_create(&sync, NULL, run_sync, node));
    memstore_await_held(1);
    client_write(node, PAGE, bytes + PAGE, PAGE); /* changed again */
    nlocks = mock_nlocks();
    check(!pager_write_behind(node->pager));
    check_equal(mock_nlocks(), nlocks);
    nodes_write_behind();
    memstore_release();
    check_ok(pthread_join(sync, NULL));
    check_equal(page_nwrites(node, 1), 1);
    for (unsigned int i = 0; i < PATIENCE && page_nwrites(node, 1) == 1; i++) {
        nodes_write_behind(); /* it was not forgotten */
        rt_sleep(1);
    }
    for (unsigned int page = 0; page < NPAGES; page++)
        check_equal(page_nwrites(node, page), page == 1 ? 2 : 1);
    node_deref(node);
}

SERVER_TEST(a_page_that_is_written_behind_can_be_written_to, ALL_BLOCK_SIZES)
{
    struct node *node = file_written();

    page_do(memstore_hold, node, 0);
    nodes_write_behind();
    memstore_await_held(1);
    client_fill(bytes, 0, PAGE, 2);
    client_write(node, 0, bytes, PAGE);
    memstore_release();
    client_sync(node);
    check_equal(page_nwrites(node, 0), 2);
    check_equal(page_nwrites(node, 1), 1);
    check(content_equals("file", bytes, sizeof(bytes)));
    node_deref(node);
}

SERVER_TEST(a_file_that_is_being_paged_out_is_left_alone, ALL_BLOCK_SIZES)
{
    struct node *node = file_written();
    size_t nlocks;

    page_do(memstore_hold, node, 3);
    mock_pageout(server_object(node), 3);
    memstore_await_held(1);
    nlocks = mock_nlocks();
    check(!pager_write_behind(node->pager));
    check_equal(mock_nlocks(), nlocks);
    memstore_release();
    await_written_once(node, PATIENCE); /* the first may still find it busy */
    node_deref(node);
}

SERVER_TEST(two_syncs_of_one_file_write_no_page_twice, ALL_BLOCK_SIZES)
{
    struct node *node = file_written();
    pthread_t syncs[NCLIENTS];

    page_do(memstore_hold, node, 0);
    for (unsigned int i = 0; i < NCLIENTS; i++)
        check_ok(pthread_create(&syncs[i], NULL, run_sync, node));
    memstore_await_held(1);
    memstore_release();
    for (unsigned int i = 0; i < NCLIENTS; i++)
        check_ok(pthread_join(syncs[i], NULL));
    await_written_once(node, 0);
    node_deref(node);
}

SERVER_TEST(an_error_of_write_behind_is_the_next_syncs, ALL_BLOCK_SIZES)
{
    struct node *node = file_written();

    page_do(memstore_spoil, node, 2);
    nodes_write_behind();
    for (unsigned int i = 0; i < PATIENCE && pager_get_error(node->pager, 2 * PAGE) == 0; i++)
        rt_sleep(1);
    check_equal(file_sync(node, true), EIO);
    page_do(memstore_repair, node, 2);
    client_sync(node);
    check(content_equals("file", bytes, sizeof(bytes)));
    node_deref(node);
}

/* --- All at once ----------------------------------------------------------------------------- */

struct client {
    pthread_t thread;
    struct node *node;
    uint64_t random;
};

/* Append page by page, and sync now and then. */
static void *client_run(void *arg)
{
    struct client *client = arg;

    for (unsigned int i = 0; i < NSTEPS; i++) {
        client_write_fill(client->node, i * PAGE, PAGE, 1);
        if (random_below(&client->random, 4) == 0)
            client_sync(client->node);
    }
    __atomic_sub_fetch(&nrunning, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* The mock kernel copies a page at once that is aligned, as those of client_write_fill are: each
   page is dirty once. */
SERVER_TEST(pages_of_files_that_are_synced_and_written_behind_are_written_once, ALL_BLOCK_SIZES)
{
    struct client clients[NCLIENTS];

    nrunning = NCLIENTS;
    mock_set_jitter(true);
    for (unsigned int i = 0; i < NCLIENTS; i++) {
        char name[16];

        snprintf(name, sizeof(name), "client-%u", i);
        clients[i].node = client_open(name);
        clients[i].random = i + 1;
        check_ok(pthread_create(&clients[i].thread, NULL, client_run, &clients[i]));
    }
    while (__atomic_load_n(&nrunning, __ATOMIC_ACQUIRE) > 0)
        nodes_write_behind();
    mock_set_jitter(false);
    for (unsigned int i = 0; i < NCLIENTS; i++) {
        check_ok(pthread_join(clients[i].thread, NULL));
        client_sync(clients[i].node);
        for (unsigned int page = 0; page < NSTEPS; page++)
            check_equal(page_nwrites(clients[i].node, page), 1);
        node_deref(clients[i].node);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_syncs_is_written_behind),
        cmocka_unit_test(a_file_that_nobody_has_changed_is_not_asked_for),
        cmocka_unit_test(a_mapping_of_a_client_is_always_asked_for),
        cmocka_unit_test(a_file_that_is_being_synced_is_left_alone),
        cmocka_unit_test(a_page_that_is_written_behind_can_be_written_to),
        cmocka_unit_test(a_file_that_is_being_paged_out_is_left_alone),
        cmocka_unit_test(two_syncs_of_one_file_write_no_page_twice),
        cmocka_unit_test(an_error_of_write_behind_is_the_next_syncs),
        cmocka_unit_test(pages_of_files_that_are_synced_and_written_behind_are_written_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
