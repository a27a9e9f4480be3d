// SPDX-License-Identifier: GPL-2.0-or-later
/* Holes, and blocks that are a file's but were not written yet: both are zeros. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ext2/file-pager.h"
#include "librt/thread.h"
#include "server.h"

#define BRIEFLY 20u /* ms */

#define FAR ((uint64_t)600 * 1024) /* where a file with a hole goes on */

static uint8_t zeros[1024 * 1024];

/* A file with 100 bytes at its start and 100 at FAR. */
static struct node *sparse_create(uint8_t *expected)
{
    struct node *node = client_open("sparse");

    client_fill(expected, 0, 100, 1);
    client_fill(expected + FAR, FAR, 100, 1);
    client_write(node, 0, expected, 100);
    client_write(node, FAR, expected + FAR, 100);
    return node;
}

static void check_hole(const char *name, uint32_t first, uint32_t end)
{
    uint32_t *blocks = calloc(end, sizeof(*blocks));

    check(blocks != NULL);
    content_blocks(name, blocks, end);
    for (uint32_t i = first; i < end; i++)
        check_equal(blocks[i], 0);
    free(blocks);
}

SERVER_TEST(a_hole_reads_as_zeros_and_stays_a_hole, ALL_BLOCK_SIZES)
{
    uint8_t *expected = calloc(1, FAR + 100);
    struct node *node = sparse_create(expected);

    client_expect(node, 0, expected, FAR + 100);
    client_sync(node);
    client_evict(node, 0, FAR / PAGE + 1);
    client_expect(node, 0, expected, FAR + 100);
    client_sync(node);
    check(content_equals("sparse", expected, FAR + 100));
    /* the rest of the page that the end was in may have blocks */
    check_hole("sparse", PAGE / block_size, (uint32_t)(FAR / block_size));
    node_deref(node);
    free(expected);
}

SERVER_TEST(a_client_that_writes_into_a_hole_gives_it_blocks, ALL_BLOCK_SIZES)
{
    uint8_t *expected = calloc(1, FAR + 100);
    struct node *node = sparse_create(expected);
    char *mapping = client_map(node);

    client_fill(expected + 200000, 200000, 3000, 2);
    client_store(mapping + 200000, expected + 200000, 3000);
    client_sync(node);
    check(content_equals("sparse", expected, FAR + 100));
    client_evict(node, 0, FAR / PAGE + 1);
    client_expect(node, 0, expected, FAR + 100);
    client_unmap(mapping);
    node_deref(node);
    free(expected);
}

SERVER_TEST(a_client_that_writes_into_a_hole_it_has_read_gives_it_blocks, ALL_BLOCK_SIZES)
{
    uint8_t *expected = calloc(1, FAR + 100);
    struct node *node = sparse_create(expected);
    char *mapping = client_map(node);

    client_expect(node, 0, expected, FAR + 100);
    client_fill(expected + 4096, 4096, 20000, 2);
    client_store(mapping + 4096, expected + 4096, 20000);
    client_sync(node);
    check(content_equals("sparse", expected, FAR + 100));
    client_unmap(mapping);
    node_deref(node);
    free(expected);
}

SERVER_TEST(a_client_may_write_where_a_file_has_grown_over_a_gap, ALL_BLOCK_SIZES)
{
    static uint8_t expected[3 * 4096];
    struct node *node = client_open("file");
    char *mapping = client_map(node);

    client_fill(expected, 0, 1000, 1);
    client_write(node, 0, expected, 1000);
    client_fill(expected + 3 * PAGE - 10, 3 * PAGE - 10, 10, 1);
    client_write(node, 3 * PAGE - 10, expected + 3 * PAGE - 10, 10);
    client_fill(expected + 2500, 2500, 500, 2);
    client_store(mapping + 2500, expected + 2500, 500); /* in the page that was there before */
    client_sync(node);
    check(content_equals("file", expected, sizeof(expected)));
    client_unmap(mapping);
    node_deref(node);
}

SERVER_TEST(a_client_may_write_where_a_file_was_made_larger, ALL_BLOCK_SIZES)
{
    static uint8_t expected[5000];
    struct node *node = client_open("file");
    char *mapping = client_map(node);

    client_fill(expected, 0, 1000, 1);
    client_write(node, 0, expected, 1000);
    client_truncate(node, 5000);
    client_fill(expected + 2500, 2500, 2500, 2);
    client_store(mapping + 2500, expected + 2500, 2500);
    client_sync(node);
    check(content_equals("file", expected, sizeof(expected)));
    client_unmap(mapping);
    node_deref(node);
}

SERVER_TEST(a_client_without_disk_space_for_a_hole_gets_a_fault_and_others_go_on, ALL_BLOCK_SIZES)
{
    uint8_t *expected = calloc(1, FAR + 100);
    struct node *node = sparse_create(expected);
    char *mapping = client_map(node);
    size_t done;

    server_fragment(0, 1);
    while (server_nblocks_free() > 0 && rt_guard_copy(mapping + 200000, zeros, 1, &done) == 0)
        mapping += PAGE;
    check_equal(rt_guard_copy(mapping + 200000, "x", 1, &done), EIO);
    client_expect(node, FAR, expected + FAR, 100);
    client_fill(expected, 0, 100, 2);
    client_write(node, 0, expected, 100);
    client_sync(node);
    check(content_equals("sparse", expected, FAR + 100));
    node_deref(node);
}

SERVER_TEST(a_fresh_block_never_shows_what_the_disk_had_there, ALL_BLOCK_SIZES)
{
    struct node *node = client_open("file");
    uint8_t byte = 1;

    client_write(node, 3 * PAGE - 1, &byte, 1);
    client_write(node, 1100, &byte, 1);
    client_evict(node, 0, 3);
    client_expect(node, 0, NULL, 1100);
    client_expect(node, 1101, NULL, 3 * PAGE - 1 - 1101);
    client_sync(node);
    client_evict(node, 0, 3);
    client_expect(node, 1101, NULL, 3 * PAGE - 1 - 1101);
    node_deref(node);
}

/* The file has SIZE zeros, also when its memory has gone, and after the sync on the disk. */
static void check_settled(struct node *node, vm_size_t size)
{
    client_expect(node, 0, NULL, size);
    client_sync(node);
    check(content_equals("file", zeros, size));
    for (uint32_t i = 0; i < size / server.block_size; i++)
        if (server_block(node, i) != 0)
            check_equal(server.disk[(uint64_t)server_block(node, i) * server.block_size], 0);
}

SERVER_TEST(a_client_that_dies_between_unlock_and_write_leaves_zeros, ALL_BLOCK_SIZES)
{
    struct node *node = client_open("file");
    char *mapping = client_map(node);
    uint8_t byte;
    size_t done;

    client_truncate(node, 100 * PAGE);
    for (size_t page = 10; page < 40; page++) {
        check_ok(rt_guard_copy(&byte, mapping + page * PAGE, 1, &done));
        mock_send_unlock(mock_object_at((vm_address_t)mapping), page * PAGE, PAGE);
    }
    mock_receiver_wait(mock_bucket(mock_object_at((vm_address_t)mapping)));
    while (server_block(node, 40 * PAGE / block_size - 1) == 0)
        rt_sleep(1);
    client_unmap(mapping);
    check_settled(node, 100 * PAGE);
    node_deref(node);
}

SERVER_TEST(a_writer_whose_memory_goes_in_the_middle_leaves_zeros, ALL_BLOCK_SIZES)
{
    struct node *node = client_open("file");
    struct node *other = client_open("other");
    vm_size_t length = 10 * PAGE;
    char *mapping = client_map(other);

    client_write(other, 0, zeros, PAGE + 10); /* what lies two pages on cannot be read */
    check_ok(file_write(node, 0, mapping, &length));
    check_equal(length, 2 * PAGE);
    check_settled(node, node->size);
    client_unmap(mapping);
    node_deref(node);
    node_deref(other);
}

static void *settle_run(void *node)
{
    check_ok(file_settle(node));
    return NULL;
}

SERVER_TEST(zeros_do_not_overtake_data_that_is_being_written, ALL_BLOCK_SIZES)
{
    static uint8_t expected[8 * 4096];
    struct node *node = client_open("file");
    pthread_t settler;

    client_fill(expected, 0, sizeof(expected), 1);
    client_write(node, 0, expected, sizeof(expected));
    check_ok(pager_sync_some(node->pager, PAGE, 7 * PAGE, 1));
    memstore_hold(server_sector(node, 0), 1, MEMSTORE_WRITE);
    client_evict(node, 0, 1);
    memstore_await_held(1);
    check_ok(pthread_create(&settler, NULL, settle_run, node));
    rt_sleep(BRIEFLY); /* in which zeros would be written if it did not wait */
    memstore_release();
    check_ok(pthread_join(settler, NULL));
    client_sync(node);
    check(content_equals("file", expected, sizeof(expected)));
    for (uint32_t i = 0; i < sizeof(expected) / block_size; i++)
        check_equal(memstore_nwrites(server_sector(node, i)), 1);
    node_deref(node);
}

SERVER_TEST(data_does_not_overtake_zeros_and_the_file_can_grow_while_they_are_written,
            ALL_BLOCK_SIZES)
{
    static uint8_t expected[8 * 4096];
    struct node *node = client_open("file");
    vm_size_t length = 4 * PAGE;
    pthread_t settler;

    check_equal(file_write(node, 0, mock_bad_memory(length), &length), EIO);
    memstore_hold(server_sector(node, 0), 1, MEMSTORE_WRITE);
    check_ok(pthread_create(&settler, NULL, settle_run, node));
    memstore_await_held(1);
    client_fill(expected, 0, sizeof(expected), 1);
    client_write(node, 0, expected, sizeof(expected)); /* takes the allocation lock */
    client_evict(node, 0, 1);
    mock_receiver_wait(mock_bucket(server_object(node)));
    rt_sleep(BRIEFLY); /* in which it would be written if it did not wait: memstore would tell */
    memstore_release();
    check_ok(pthread_join(settler, NULL));
    client_sync(node);
    check(content_equals("file", expected, sizeof(expected)));
    node_deref(node);
}

SERVER_TEST(what_a_client_wrote_behind_the_end_does_not_show_when_the_file_grows, ALL_BLOCK_SIZES)
{
    static uint8_t expected[4 * 4096];
    struct node *node = client_open("file");
    char *mapping = client_map(node);

    client_fill(expected, 0, 1000, 1);
    client_write(node, 0, expected, 1000);
    client_store(mapping + 1000, "junk", 4);
    client_store(mapping + 3000, "junk", 4);
    client_truncate(node, 2000);
    client_store(mapping + 2500, "junk", 4);
    client_fill(expected + sizeof(expected) - 100, sizeof(expected) - 100, 100, 1);
    client_write(node, sizeof(expected) - 100, expected + sizeof(expected) - 100, 100);
    client_expect(node, 0, expected, sizeof(expected));
    client_sync(node);
    check(content_equals("file", expected, sizeof(expected)));
    client_unmap(mapping);
    node_deref(node);
}

/* As when the page that a client has asked to unlock was truncated away and came back meanwhile. */
SERVER_TEST(data_that_comes_back_for_a_hole_is_written, ALL_BLOCK_SIZES)
{
    static uint8_t expected[16 * 4096];
    struct node *node = client_open("file");

    client_truncate(node, sizeof(expected));
    client_expect(node, 0, NULL, sizeof(expected));
    mock_send_return(server_object(node), 4 * PAGE, 3 * PAGE, 0x0101010101010101, TRUE, FALSE);
    mock_receiver_wait(mock_bucket(server_object(node)));
    client_sync(node);
    for (size_t i = 0; i < 3 * PAGE; i++) /* the value, and one more for each page */
        expected[4 * PAGE + i] = (uint8_t)(1 + (i % 8 == 0 ? i / PAGE : 0));
    check(content_equals("file", expected, sizeof(expected)));
    node_deref(node);
}

SERVER_TEST(data_that_comes_back_for_a_hole_of_a_full_disk_is_an_error, ALL_BLOCK_SIZES)
{
    struct node *node = client_open("file");

    client_truncate(node, 16 * PAGE);
    client_expect(node, 0, NULL, 16 * PAGE);
    server_fragment(0, 1);
    check_equal(server_nblocks_free(), 0);
    mock_send_return(server_object(node), 4 * PAGE, 3 * PAGE, 1, TRUE, FALSE);
    mock_receiver_wait(mock_bucket(server_object(node)));
    check_equal(file_sync(node, true), ENOSPC);
    client_truncate(node, 0);
    node_deref(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hole_reads_as_zeros_and_stays_a_hole),
        cmocka_unit_test(a_client_that_writes_into_a_hole_gives_it_blocks),
        cmocka_unit_test(a_client_that_writes_into_a_hole_it_has_read_gives_it_blocks),
        cmocka_unit_test(a_client_may_write_where_a_file_has_grown_over_a_gap),
        cmocka_unit_test(a_client_may_write_where_a_file_was_made_larger),
        cmocka_unit_test(a_client_without_disk_space_for_a_hole_gets_a_fault_and_others_go_on),
        cmocka_unit_test(what_a_client_wrote_behind_the_end_does_not_show_when_the_file_grows),
        cmocka_unit_test(data_that_comes_back_for_a_hole_is_written),
        cmocka_unit_test(data_that_comes_back_for_a_hole_of_a_full_disk_is_an_error),
        cmocka_unit_test(a_fresh_block_never_shows_what_the_disk_had_there),
        cmocka_unit_test(a_client_that_dies_between_unlock_and_write_leaves_zeros),
        cmocka_unit_test(a_writer_whose_memory_goes_in_the_middle_leaves_zeros),
        cmocka_unit_test(zeros_do_not_overtake_data_that_is_being_written),
        cmocka_unit_test(data_does_not_overtake_zeros_and_the_file_can_grow_while_they_are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
