// SPDX-License-Identifier: GPL-2.0-or-later
/* What is written reaches the disk, where the block map says, in runs. */
#include <string.h>

#include "server.h"

#define BLOCKS_MAX    1024u
#define MESSAGE_PAGES 32u

/* A file called "file" that was written with seed 1, and where it is. */
static struct {
    struct node *node;
    vm_size_t size;
    uint8_t bytes[BLOCKS_MAX * 1024];
    uint32_t blocks[BLOCKS_MAX];
    uint32_t nblocks;
} file;

static void file_create(vm_size_t size)
{
    file.node = client_open("file");
    file.size = size;
    client_fill(file.bytes, 0, size, 1);
    client_write(file.node, 0, file.bytes, size);
}

/* Sync and look at the disk. */
static void file_store(void)
{
    memstore_forget();
    client_sync(file.node);
    check(content_equals("file", file.bytes, file.size));
    file.nblocks = (uint32_t)((file.size + server.block_size - 1) / server.block_size);
    content_blocks("file", file.blocks, file.nblocks);
}

static bool file_has(uint64_t sector)
{
    for (uint32_t i = 0; i < file.nblocks; i++)
        if (sector / server_sectors_per_block() == file.blocks[i])
            return true;
    return false;
}

/* How many writes there were of the file's data, and that of no sector there was more than one. */
static size_t file_nwrites(void)
{
    const struct memstore_write *writes;
    size_t count = memstore_writes(&writes);
    size_t nwrites = 0;

    for (size_t i = 0; i < count; i++)
        nwrites += file_has(writes[i].sector);
    for (uint32_t i = 0; i < file.nblocks; i++)
        for (uint32_t j = 0; j < server_sectors_per_block(); j++)
            check_equal(memstore_nwrites((uint64_t)file.blocks[i] * server_sectors_per_block() + j),
                        1);
    return nwrites;
}

/* In how many stretches the file's blocks lie, when it is cut every CUT blocks as well. */
static size_t file_nruns(uint32_t cut)
{
    size_t nruns = 0;

    for (uint32_t i = 0; i < file.nblocks; i++)
        nruns += i % cut == 0 || file.blocks[i] != file.blocks[i - 1] + 1;
    return nruns;
}

static uint32_t blocks_per_page(void)
{
    return PAGE / server.block_size;
}

SERVER_TEST(a_written_and_synced_file_is_on_the_disk, ALL_BLOCK_SIZES)
{
    static uint8_t data[500 * 1024 + 123];
    struct node *node = client_open("file");

    client_fill(data, 0, sizeof(data), 1);
    for (size_t at = 0; at < sizeof(data); at += 7777)
        client_write(node, at, data + at, sizeof(data) - at < 7777 ? sizeof(data) - at : 7777);
    client_sync(node);
    check(content_equals("file", data, sizeof(data)));
    client_evict(node, 0, sizeof(data) / PAGE + 1);
    client_expect(node, 0, data, sizeof(data));
    node_deref(node);
}

SERVER_TEST(a_file_overwritten_in_place_is_on_the_disk, ALL_BLOCK_SIZES)
{
    file_create(300 * KIB);
    file_store();
    client_evict(file.node, 0, 75);
    client_fill(file.bytes + 1000, 1000, 100 * KIB, 2);
    client_write(file.node, 1000, file.bytes + 1000, 100 * KIB);
    file_store();
    node_deref(file.node);
}

SERVER_TEST(a_run_ends_where_the_next_block_does_not_follow, ALL_BLOCK_SIZES)
{
    server_fragment(60, 2);
    file_create(100 * block_size);
    file_store();
    check(file_nruns(UINT32_MAX) >= 50);
    check_equal(file_nwrites(), file_nruns(MESSAGE_PAGES * blocks_per_page()));
    node_deref(file.node);
}

SERVER_TEST(a_run_that_ends_inside_a_page_is_continued_and_nothing_is_written_twice, 1024, 2048)
{
    server_fragment(60, 3);
    file_create(150 * block_size + 100);
    file_store();
    check_equal(file_nwrites(), file_nruns(MESSAGE_PAGES * blocks_per_page()));
    node_deref(file.node);
}

SERVER_TEST(a_run_ends_with_the_message, ALL_BLOCK_SIZES)
{
    const struct memstore_write *writes;

    file_create(MESSAGE_PAGES * 4 * PAGE);
    file_store();
    check(file_nruns(UINT32_MAX) <= 3); /* an indirect block may be in between */
    check_equal(file_nwrites(), file_nruns(MESSAGE_PAGES * blocks_per_page()));
    memstore_writes(&writes);
    check(writes[0].nsectors <= MESSAGE_PAGES * PAGE / STORE_SECTOR_BYTES);
    node_deref(file.node);
}

SERVER_TEST(a_run_ends_at_the_policys_cap, ALL_BLOCK_SIZES)
{
    file_create(200 * PAGE);
    mock_set_batch(server_object(file.node), 256);
    file_store();
    check_equal(file_nwrites(), file_nruns(128 * blocks_per_page()));
    node_deref(file.node);
}

SERVER_TEST(the_policy_chunk2_writes_two_pages_at_most, ALL_BLOCK_SIZES)
{
    server_policy("chunk2");
    file_create(100 * PAGE);
    file_store();
    check_equal(file_nwrites(), file_nruns(2 * blocks_per_page()));
    node_deref(file.node);
}

SERVER_TEST(the_policy_page_writes_whole_pages_where_blocks_follow, ALL_BLOCK_SIZES)
{
    server_policy("page");
    file_create(50 * PAGE);
    file_store();
    check_equal(file_nwrites(), file_nruns(blocks_per_page()));
    node_deref(file.node);
}

SERVER_TEST(nothing_is_written_behind_the_last_block, ALL_BLOCK_SIZES)
{
    const struct memstore_write *writes;
    size_t count;
    size_t nsectors = 0;

    file_create(2 * PAGE + 100);
    file_store();
    check_equal(file_nwrites(), file_nruns(UINT32_MAX));
    count = memstore_writes(&writes);
    for (size_t i = 0; i < count; i++)
        nsectors += file_has(writes[i].sector) ? writes[i].nsectors : 0;
    check_equal(nsectors, file.nblocks * server_sectors_per_block());
    node_deref(file.node);
}

SERVER_TEST(a_return_that_reaches_beyond_the_file_is_clipped, ALL_BLOCK_SIZES)
{
    const struct memstore_write *writes;
    size_t count;

    file_create(PAGE + 100);
    file_store();
    memstore_forget();
    mock_send_return(server_object(file.node), 0, 8 * PAGE, 1, TRUE, TRUE);
    server_settle(file.node);
    client_sync(file.node);
    count = memstore_writes(&writes);
    check(count > 0);
    for (size_t i = 0; i < count; i++)
        for (uint64_t j = 0; j < writes[i].nsectors; j++)
            check(file_has(writes[i].sector + j));
    node_deref(file.node);
}

SERVER_TEST(what_a_client_writes_behind_the_end_is_zeros_on_the_disk, ALL_BLOCK_SIZES)
{
    static const char junk[3 * 1024] = "junk";
    const uint8_t *last;
    char *mapping;

    file_create(PAGE + 500);
    mapping = client_map(file.node);
    client_store(mapping + PAGE + 500, junk, sizeof(junk));
    file_store();
    last = server.disk + (uint64_t)file.blocks[file.nblocks - 1] * block_size;
    for (uint32_t i = 500; i < block_size; i++)
        check_equal(last[i], 0);
    client_unmap(mapping);
    node_deref(file.node);
}

SERVER_TEST(what_a_client_writes_into_its_mapping_is_on_the_disk, ALL_BLOCK_SIZES)
{
    char *mapping;

    file_create(100 * KIB + 1);
    client_sync(file.node);
    mapping = client_map(file.node);
    client_fill(file.bytes + 10000, 10000, 50000, 3);
    client_store(mapping + 10000, file.bytes + 10000, 50000);
    client_expect(file.node, 0, file.bytes, file.size);
    file_store();
    client_unmap(mapping);
    node_deref(file.node);
}

SERVER_TEST(a_client_may_write_from_its_mapping_of_the_same_file, ALL_BLOCK_SIZES)
{
    char *mapping;

    file_create(64 * KIB);
    mapping = client_map(file.node);
    client_write(file.node, 64 * KIB, mapping + 100, 32 * KIB);
    client_expect(file.node, 64 * KIB, file.bytes + 100, 32 * KIB);
    client_unmap(mapping);
    node_deref(file.node);
}

SERVER_TEST(a_client_that_lies_about_its_memory_gets_what_was_there_written, ALL_BLOCK_SIZES)
{
    vm_size_t length = 3 * PAGE;

    file.node = client_open("file");
    check_equal(file_write(file.node, 0, mock_bad_memory(3 * PAGE), &length), EIO);
    check_equal(length, 0);
    client_sync(file.node);
    client_expect(file.node, 0, NULL, file.node->size);
    node_deref(file.node);
}

SERVER_TEST(a_sync_of_an_unchanged_file_writes_none_of_its_data, ALL_BLOCK_SIZES)
{
    file_create(64 * KIB);
    file_store();
    memstore_forget();
    client_sync(file.node);
    for (uint32_t i = 0; i < file.nblocks; i++)
        check_equal(memstore_nwrites((uint64_t)file.blocks[i] * server_sectors_per_block()), 0);
    node_deref(file.node);
}

SERVER_TEST(a_deleted_files_data_lives_until_its_last_mapping_ends, ALL_BLOCK_SIZES)
{
    uint32_t nfree = server_nblocks_free();
    uint8_t byte = 0;
    size_t done;
    char *mapping;

    file_create(64 * KIB);
    mapping = client_map(file.node);
    check_ok(path_unlink(server.root->inode, "file"));
    node_deref(file.node);
    check(server_nblocks_free() < nfree);
    check_ok(rt_guard_copy(&byte, mapping + 5000, 1, &done));
    check_equal(byte, file.bytes[5000]);
    client_unmap(mapping);
    server_await_free(nfree);
}

SERVER_TEST(writing_to_a_full_disk_writes_what_fits, ALL_BLOCK_SIZES)
{
    vm_size_t length = 200 * block_size;
    error_t error;

    server_fragment(10, 2);
    file.node = client_open("file");
    client_fill(file.bytes, 0, length, 1);
    check_ok(file_write(file.node, 0, file.bytes, &length));
    check(length > 0 && length < 40 * block_size);
    file.size = length;
    length = block_size;
    error = file_write(file.node, file.size, file.bytes, &length);
    check_equal(error, ENOSPC);
    check_equal(length, 0);
    file_store();
    node_deref(file.node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_written_and_synced_file_is_on_the_disk),
        cmocka_unit_test(a_file_overwritten_in_place_is_on_the_disk),
        cmocka_unit_test(a_run_ends_where_the_next_block_does_not_follow),
        cmocka_unit_test(a_run_that_ends_inside_a_page_is_continued_and_nothing_is_written_twice),
        cmocka_unit_test(a_run_ends_with_the_message),
        cmocka_unit_test(a_run_ends_at_the_policys_cap),
        cmocka_unit_test(the_policy_chunk2_writes_two_pages_at_most),
        cmocka_unit_test(the_policy_page_writes_whole_pages_where_blocks_follow),
        cmocka_unit_test(nothing_is_written_behind_the_last_block),
        cmocka_unit_test(a_return_that_reaches_beyond_the_file_is_clipped),
        cmocka_unit_test(what_a_client_writes_behind_the_end_is_zeros_on_the_disk),
        cmocka_unit_test(what_a_client_writes_into_its_mapping_is_on_the_disk),
        cmocka_unit_test(a_client_may_write_from_its_mapping_of_the_same_file),
        cmocka_unit_test(a_client_that_lies_about_its_memory_gets_what_was_there_written),
        cmocka_unit_test(a_sync_of_an_unchanged_file_writes_none_of_its_data),
        cmocka_unit_test(a_deleted_files_data_lives_until_its_last_mapping_ends),
        cmocka_unit_test(writing_to_a_full_disk_writes_what_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
