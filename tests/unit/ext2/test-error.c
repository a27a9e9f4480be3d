// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks of files' data that cannot be read or written. */
#include <stdio.h>
#include <string.h>

#include "server.h"

#define SIZE ((vm_size_t)64 * 1024)

static uint8_t bytes[64 * 1024];

static struct node *file_create(void)
{
    struct node *node = client_open("file");

    client_fill(bytes, 0, SIZE, 1);
    client_write(node, 0, bytes, SIZE);
    return node;
}

/* The first sector of a page. */
static uint64_t page_sector(struct node *node, vm_size_t page)
{
    return server_sector(node, (uint32_t)(page * PAGE / server.block_size));
}

/* Make the page's first block fail, or work again. */
static void spoil_page(struct node *node, vm_size_t page, enum memstore_how how)
{
    memstore_spoil(page_sector(node, page), 1, how);
}

static void repair_page(struct node *node, vm_size_t page, enum memstore_how how)
{
    memstore_repair(page_sector(node, page), 1, how);
}

/* How many of the file's bytes the disk does not have. */
static size_t count_missing(struct node *node)
{
    size_t count = 0;

    for (size_t i = 0; i < SIZE; i++) {
        uint64_t block = server_block(node, (uint32_t)(i / server.block_size));

        count += server.disk[block * server.block_size + i % server.block_size] != bytes[i];
    }
    return count;
}

SERVER_TEST(a_write_error_reaches_each_sync_until_the_page_can_be_written, ALL_BLOCK_SIZES)
{
    struct node *node = file_create();

    client_sync(node);
    client_fill(bytes, 0, SIZE, 2);
    client_write(node, 0, bytes, SIZE);
    spoil_page(node, 5, MEMSTORE_WRITE);
    check_equal(file_sync(node, true), EIO);
    check_equal(file_sync(node, true), EIO);
    check(count_missing(node) <= PAGE);
    client_expect(node, 0, bytes, SIZE); /* memory has it still */

    repair_page(node, 5, MEMSTORE_WRITE);
    client_sync(node);
    check(content_equals("file", bytes, SIZE));
    node_deref(node);
}

SERVER_TEST(a_write_error_without_a_sync_reaches_the_next_one, ALL_BLOCK_SIZES)
{
    struct node *node = file_create();
    vm_size_t length = SIZE;
    vm_address_t data;

    spoil_page(node, 5, MEMSTORE_WRITE);
    client_evict(node, 5, 1);
    mock_receiver_wait(mock_bucket(server_object(node)));
    client_expect(node, 0, bytes, 5 * PAGE);
    if (file_read(node, 0, &data, &length) == 0) { /* the data is lost, or memory has it again */
        check(memcmp((void *)data, bytes, SIZE) == 0);
        vm_deallocate(mach_task_self(), data, SIZE);
    }
    check_equal(file_sync(node, false), 0);
    check_equal(file_sync(node, true), EIO);
    repair_page(node, 5, MEMSTORE_WRITE);
    client_truncate(node, 0);
    node_deref(node);
}

SERVER_TEST(a_write_error_survives_a_truncate, ALL_BLOCK_SIZES)
{
    struct node *node = file_create();

    client_sync(node);
    client_write(node, PAGE, bytes, PAGE);
    spoil_page(node, 1, MEMSTORE_WRITE);
    client_evict(node, 1, 1);
    mock_receiver_wait(mock_bucket(server_object(node)));
    client_truncate(node, 3 * PAGE + 100);
    check_equal(file_sync(node, true), EIO);
    client_truncate(node, SIZE);
    client_expect(node, 3 * PAGE + 100, NULL, SIZE - 3 * PAGE - 100);
    repair_page(node, 1, MEMSTORE_WRITE);
    check_equal(file_sync(node, true), 0);
    client_truncate(node, 0);
    node_deref(node);
}

/* What the store says about NPAGES pages of NODE from PAGE on: KEYWORD, and so many TIMES. */
static void check_store_says(const char *keyword, struct node *node, vm_size_t page,
                             vm_size_t npages, unsigned int times)
{
    char line[128];

    snprintf(line, sizeof(line), "%s server=t device=%s sector=%llu sectors=%u times=%u", keyword,
             MEMSTORE_NAME, (unsigned long long)page_sector(node, page),
             (unsigned int)(npages * PAGE / STORE_SECTOR_BYTES), times);
    check_equal(mock_said(line), 1);
}

/* With few files that nobody uses (ext2-tests.mk says how many) the oldest is given up. */
SERVER_TEST(a_write_error_of_a_file_that_is_given_up_reaches_the_next_sync_of_all, ALL_BLOCK_SIZES)
{
    struct node *node = file_create();
    char name[16];

    spoil_page(node, 5, MEMSTORE_WRITE);
    node_deref(node);
    for (unsigned int i = 0; i <= NODES_IDLE_MAX; i++) {
        snprintf(name, sizeof(name), "other%u", i);
        node_deref(client_open(name));
    }
    check_equal(mock_said("data is lost: error 5"), 1);
    check_equal(nodes_sync(true), EIO);
    check_equal(nodes_sync(true), 0);
}

SERVER_TEST(what_could_not_be_written_is_neither_counted_nor_claimed, 4096)
{
    struct node *node = file_create();
    char line[128];

    client_sync(node);
    client_write(node, 0, bytes, SIZE);
    spoil_page(node, 5, MEMSTORE_WRITE);
    check_equal(file_sync(node, true), EIO);
    memstore_report("t");
    check_store_says("claim", node, 0, 5, 2);
    check_store_says("claim", node, 5, 1, 1);
    check_store_says("claim", node, 6, 10, 2);
    check_store_says("failed", node, 0, 5, 1); /* together, before they were written alone */
    check_store_says("failed", node, 5, 1, 2);
    check_store_says("failed", node, 6, 10, 1);
    snprintf(line, sizeof(line), "layer=store_write class=file count=16 bytes=%zu",
             2 * (size_t)SIZE - PAGE);
    check_equal(mock_said(line), 1);
    repair_page(node, 5, MEMSTORE_WRITE);
    node_deref(node);
}

SERVER_TEST(a_read_error_is_the_readers_and_the_server_lives, ALL_BLOCK_SIZES)
{
    struct node *node = file_create();
    vm_size_t length = SIZE;
    vm_address_t data;

    client_sync(node);
    client_evict(node, 0, SIZE / PAGE);
    spoil_page(node, 5, MEMSTORE_READ);
    check_equal(file_read(node, 0, &data, &length), EIO);
    client_expect(node, 0, bytes, 5 * PAGE);
    client_expect(node, 6 * PAGE, bytes + 6 * PAGE, SIZE - 6 * PAGE);
    length = 10;
    check_equal(file_write(node, 5 * PAGE, bytes + 5 * PAGE, &length), EIO);
    check_equal(length, 0);
    client_sync(node);
    repair_page(node, 5, MEMSTORE_READ);
    client_expect(node, 0, bytes, SIZE);
    client_sync(node);
    check(content_equals("file", bytes, SIZE));
    node_deref(node);
}

SERVER_TEST(a_write_that_fails_in_the_middle_tells_how_far_it_got, ALL_BLOCK_SIZES)
{
    struct node *node = file_create();
    vm_size_t length = SIZE;

    client_sync(node);
    client_evict(node, 0, SIZE / PAGE);
    spoil_page(node, 5, MEMSTORE_READ);
    client_fill(bytes, 0, SIZE, 2);
    check_ok(file_write(node, 0, bytes, &length));
    check_equal(length, 5 * PAGE);
    client_fill(bytes + 5 * PAGE, 5 * PAGE, SIZE - 5 * PAGE, 1);
    repair_page(node, 5, MEMSTORE_READ);
    client_expect(node, 0, bytes, SIZE);
    node_deref(node);
}

SERVER_TEST(a_mapped_client_gets_a_fault_where_the_disk_cannot_be_read, ALL_BLOCK_SIZES)
{
    struct node *node = file_create();
    char *mapping = client_map(node);
    uint8_t byte;
    size_t done;

    client_sync(node);
    client_evict(node, 0, SIZE / PAGE);
    spoil_page(node, 5, MEMSTORE_READ);
    check_equal(rt_guard_copy(&byte, mapping + 5 * PAGE, 1, &done), EIO);
    check_ok(rt_guard_copy(&byte, mapping + 6 * PAGE, 1, &done));
    check_equal(byte, bytes[6 * PAGE]);
    repair_page(node, 5, MEMSTORE_READ);
    check_ok(rt_guard_copy(&byte, mapping + 5 * PAGE, 1, &done));
    check_equal(byte, bytes[5 * PAGE]);
    client_unmap(mapping);
    node_deref(node);
}

SERVER_TEST(a_truncate_that_must_read_a_bad_page_says_so_and_is_done, ALL_BLOCK_SIZES)
{
    struct node *node = file_create();

    client_sync(node);
    client_evict(node, 0, SIZE / PAGE);
    spoil_page(node, 5, MEMSTORE_READ);
    check_equal(file_truncate(node, 5 * PAGE + 100), EIO);
    check_equal(node->size, 5 * PAGE + 100);
    client_expect(node, 0, bytes, 5 * PAGE);
    repair_page(node, 5, MEMSTORE_READ);
    client_expect(node, 0, bytes, 5 * PAGE + 100);
    node_deref(node);
}

SERVER_TEST(zeros_that_cannot_be_written_are_an_error_of_the_sync, ALL_BLOCK_SIZES)
{
    struct node *node = client_open("file");
    vm_size_t length = 4 * PAGE;

    check_equal(file_write(node, 0, mock_bad_memory(length), &length), EIO);
    spoil_page(node, 1, MEMSTORE_WRITE);
    check_equal(file_sync(node, true), EIO);
    check_equal(file_sync(node, true), EIO); /* the disk shows old contents of others as yet */
    for (uint32_t i = 0; i < 4 * PAGE / block_size; i++)
        check_equal(server.disk[(uint64_t)server_block(node, i) * block_size],
                    i == PAGE / block_size ? SERVER_SOIL : 0);
    client_expect(node, 0, NULL, 4 * PAGE);
    repair_page(node, 1, MEMSTORE_WRITE);
    client_sync(node);
    memset(bytes, 0, SIZE);
    check(content_equals("file", bytes, 4 * PAGE));
    node_deref(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_error_reaches_each_sync_until_the_page_can_be_written),
        cmocka_unit_test(a_write_error_without_a_sync_reaches_the_next_one),
        cmocka_unit_test(a_write_error_survives_a_truncate),
        cmocka_unit_test(a_write_error_of_a_file_that_is_given_up_reaches_the_next_sync_of_all),
        cmocka_unit_test(what_could_not_be_written_is_neither_counted_nor_claimed),
        cmocka_unit_test(a_read_error_is_the_readers_and_the_server_lives),
        cmocka_unit_test(a_write_that_fails_in_the_middle_tells_how_far_it_got),
        cmocka_unit_test(a_mapped_client_gets_a_fault_where_the_disk_cannot_be_read),
        cmocka_unit_test(a_truncate_that_must_read_a_bad_page_says_so_and_is_done),
        cmocka_unit_test(zeros_that_cannot_be_written_are_an_error_of_the_sync),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
