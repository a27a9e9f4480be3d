// SPDX-License-Identifier: GPL-2.0-or-later
/* The DISK pager: metadata that cannot be read or written, that shares pages with files' data, and
   that becomes a file's data. */
#include <pthread.h>
#include <string.h>

#include "ext2/disk.h"
#include "librt/thread.h"
#include "server.h"

#define SUPER_STATE (1024 + 58) /* s_state, and its bit for a clean unmount */
#define SUPER_VALID 1
#define BRIEFLY     20u /* ms, in which what does not wait would be over */

static uint8_t bytes[128 * 1024];

/* A synced file of NBLOCKS blocks, more than 12, with seed 1. Returns its indirect block. */
static uint32_t file_create(struct node **node, uint32_t nblocks)
{
    *node = client_open("file");
    client_fill(bytes, 0, nblocks * server.block_size, 1);
    client_write(*node, 0, bytes, nblocks * server.block_size);
    client_sync(*node);
    check(content_indirect("file") != 0);
    return content_indirect("file");
}

/* The kernel's object of the disk. */
static struct mock_object *disk_object(void)
{
    struct mock_object *object;
    void *super;

    check_ok(disk_ops.get(NULL, 1024, 1024, EXT2_READ, &super));
    object = mock_object_at((vm_address_t)super);
    disk_ops.put(NULL, 1024, 1024, super, false);
    return object;
}

static size_t page_of(uint32_t block)
{
    return (size_t)block * server.block_size / PAGE;
}

static void evict_block(uint32_t block)
{
    struct mock_object *object = disk_object();

    mock_pageout(object, page_of(block));
    mock_receiver_wait(mock_bucket(object));
}

static void block_do(void (*what)(uint64_t, uint64_t, enum memstore_how), uint32_t block,
                     enum memstore_how how)
{
    what((uint64_t)block * server_sectors_per_block(), server_sectors_per_block(), how);
}

static unsigned int block_nwrites(uint32_t block)
{
    return memstore_nwrites((uint64_t)block * server_sectors_per_block());
}

/* What happens in a thread of its own. */
static struct {
    pthread_t thread;
    void (*act)(struct node *node);
    struct node *node;
    bool done; /* atomically */
} other;

static void *other_run(void *unused)
{
    (void)unused;
    other.act(other.node);
    __atomic_store_n(&other.done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void other_begin(void (*act)(struct node *node), struct node *node)
{
    __atomic_store_n(&other.done, false, __ATOMIC_RELAXED);
    other.act = act;
    other.node = node;
    check_ok(pthread_create(&other.thread, NULL, other_run, NULL));
}

static void other_check_waits(void)
{
    rt_sleep(BRIEFLY);
    check(!__atomic_load_n(&other.done, __ATOMIC_ACQUIRE));
}

static void other_end(void)
{
    check_ok(pthread_join(other.thread, NULL));
}

static void act_empty(struct node *node)
{
    client_truncate(node, 0);
}

static void act_sync_disk(struct node *node)
{
    (void)node;
    check_ok(disk_sync());
}

SERVER_TEST(a_metadata_block_that_cannot_be_read_is_an_error_and_is_not_written, ALL_BLOCK_SIZES)
{
    struct node *node;
    uint32_t indirect = file_create(&node, 20);
    vm_size_t length = block_size;
    vm_address_t data;

    client_evict(node, 0, 20 * block_size / PAGE);
    evict_block(indirect);
    block_do(memstore_spoil, indirect, MEMSTORE_READ);
    memstore_forget();
    check_equal(file_read(node, 16 * block_size, &data, &length), EIO);
    check_equal(file_write(node, 20 * block_size, bytes, &length), EIO);
    client_expect(node, 0, bytes, 12 * block_size);
    client_sync(node);
    mock_send_return(disk_object(), page_of(indirect) * PAGE, PAGE, 1, TRUE, TRUE);
    mock_receiver_wait(mock_bucket(disk_object()));
    check_ok(disk_sync());
    client_sync(node);
    check_equal(block_nwrites(indirect), 0);
    block_do(memstore_repair, indirect, MEMSTORE_READ);
    node_deref(node);
}

SERVER_TEST(a_directory_that_cannot_be_read_is_an_error_of_the_lookup, ALL_BLOCK_SIZES)
{
    struct node *node = client_open("file");
    struct node *found;
    uint32_t block;

    client_sync(node);
    content_blocks("/", &block, 1);
    evict_block(block);
    block_do(memstore_spoil, block, MEMSTORE_READ);
    check_equal(path_lookup(server.root, "file", 0, 0, &found), EIO);
    client_write(node, 0, "data", 4);
    client_expect(node, 0, "data", 4);
    block_do(memstore_repair, block, MEMSTORE_READ);
    node_deref(node);
}

SERVER_TEST(metadata_that_could_not_be_read_is_read_again_when_it_was_evicted, ALL_BLOCK_SIZES)
{
    struct node *node;
    uint32_t indirect = file_create(&node, 20);
    vm_size_t length = block_size;
    vm_address_t data;

    client_evict(node, 0, 20 * block_size / PAGE);
    evict_block(indirect);
    block_do(memstore_spoil, indirect, MEMSTORE_READ);
    check_equal(file_read(node, 16 * block_size, &data, &length), EIO);
    block_do(memstore_repair, indirect, MEMSTORE_READ);
    evict_block(indirect);
    client_expect(node, 0, bytes, 20 * block_size);
    client_write_fill(node, 20 * block_size, 5 * block_size, 1);
    client_sync(node);
    client_fill(bytes, 0, 25 * block_size, 1);
    check(content_equals("file", bytes, 25 * block_size));
    node_deref(node);
}

SERVER_TEST(metadata_that_cannot_be_written_is_an_error_of_the_sync_and_no_crash, ALL_BLOCK_SIZES)
{
    struct node *node;
    uint32_t indirect = file_create(&node, 20);
    vm_size_t length = block_size;
    vm_address_t data;

    client_write_fill(node, 20 * block_size, block_size, 1); /* changes it */
    block_do(memstore_spoil, indirect, MEMSTORE_WRITE);
    check_equal(file_sync(node, true), EIO);
    evict_block(indirect);
    client_evict(node, 0, 21 * block_size / PAGE + 1);
    (void)file_read(node, 16 * block_size, &data, &length); /* the server lives */
    client_expect(node, 0, bytes, 12 * block_size);
    block_do(memstore_repair, indirect, MEMSTORE_WRITE);
    client_sync(node); /* was told already */
    node_deref(node);
    (void)server_unmount();
    check_equal(server.disk[SUPER_STATE] & SUPER_VALID, 0); /* so that somebody checks it */
}

SERVER_TEST(new_metadata_that_cannot_be_written_is_not_taken_for_zeros, ALL_BLOCK_SIZES)
{
    struct node *node = client_open("file");
    struct mock_object *object = disk_object();
    vm_size_t length = block_size;
    vm_address_t data;

    client_write_fill(node, 0, 20 * block_size, 1);
    check_ok(node_sync_data(node, true));
    memstore_spoil(0, server.disk_size / STORE_SECTOR_BYTES, MEMSTORE_WRITE);
    check_equal(file_sync(node, true), EIO);
    memstore_repair(0, server.disk_size / STORE_SECTOR_BYTES, MEMSTORE_WRITE);
    client_evict(node, 0, 20 * block_size / PAGE);
    for (size_t page = 0; page < server.disk_size / PAGE; page++)
        mock_pageout(object, page);
    check_equal(file_read(node, 16 * block_size, &data, &length), EIO);
    node_deref(node);
    (void)server_unmount();
}

SERVER_TEST(metadata_that_could_be_written_in_the_end_is_sound, ALL_BLOCK_SIZES)
{
    struct node *node;
    uint32_t indirect = file_create(&node, 20);

    client_write_fill(node, 20 * block_size, block_size, 1);
    block_do(memstore_spoil, indirect, MEMSTORE_WRITE);
    check_equal(file_sync(node, true), EIO);
    block_do(memstore_repair, indirect, MEMSTORE_WRITE);
    client_write_fill(node, 21 * block_size, block_size, 1);
    client_sync(node);
    evict_block(indirect);
    client_evict(node, 0, 22 * block_size / PAGE + 1);
    client_fill(bytes, 0, 22 * block_size, 1);
    client_expect(node, 0, bytes, 22 * block_size);
    check(content_equals("file", bytes, 22 * block_size));
    node_deref(node);
    check_ok(server_unmount());
}

/* Whether one of BLOCKS is in the page of BLOCK. */
static bool page_shared(uint32_t block, const uint32_t *blocks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (page_of(blocks[i]) == page_of(block))
            return true;
    return false;
}

SERVER_TEST(metadata_is_written_without_its_neighbours, 1024, 2048)
{
    struct node *node;
    uint32_t blocks[39];
    uint32_t indirect;

    server_fragment(4, 10); /* so the file's data lies beside its indirect block */
    indirect = file_create(&node, 38);
    content_blocks("file", blocks, 38);
    check(page_shared(indirect, blocks, 38));

    /* the disk's page of the indirect block knows nothing of these */
    client_fill(bytes, 0, 39 * block_size, 2);
    client_write(node, 0, bytes, 38 * block_size);
    client_sync(node);
    check(mock_resident(disk_object(), page_of(indirect)));
    memstore_forget();
    client_write(node, 38 * block_size, bytes + 38 * block_size, block_size);
    client_sync(node);
    check_equal(block_nwrites(indirect), 1);
    for (uint32_t i = 0; (i + 1) * block_size <= 38 * block_size / PAGE * PAGE; i++)
        check_equal(block_nwrites(blocks[i]), 0);
    check(content_equals("file", bytes, 39 * block_size));
    node_deref(node);
}

SERVER_TEST(a_block_is_given_up_only_when_its_write_is_over, ALL_BLOCK_SIZES)
{
    struct node *node;
    struct node *next = client_open("next");
    uint32_t indirect = file_create(&node, 20);
    uint32_t blocks[20];
    bool found = false;
    pthread_t sync;

    server_fragment(0, 1); /* so what is freed is used again */
    check_ok(disk_sync());
    client_truncate(node, 19 * block_size); /* changes the indirect block */
    block_do(memstore_hold, indirect, MEMSTORE_WRITE);
    other_begin(act_sync_disk, NULL);
    memstore_await_held(1);
    sync = other.thread;
    other_begin(act_empty, node);
    other_check_waits();
    memstore_release();
    other_end();
    check_ok(pthread_join(sync, NULL));
    client_fill(bytes, 0, 20 * block_size, 2);
    client_write(next, 0, bytes, 20 * block_size);
    client_sync(next);
    check(content_equals("next", bytes, 20 * block_size));
    content_blocks("next", blocks, 20);
    for (unsigned int i = 0; i < 20; i++)
        found |= blocks[i] == indirect;
    check(found || content_indirect("next") == indirect);
    node_deref(node);
    node_deref(next);
}

SERVER_TEST(a_return_of_a_block_that_was_given_up_meanwhile_is_not_written, ALL_BLOCK_SIZES)
{
    struct node *node, *created;
    struct node *next = client_open("next");
    struct node *last = client_open("last");
    uint32_t indirect = file_create(&node, 20);
    uint32_t blocks[12 + 9]; /* all that is freed, as data */
    uint32_t directory;

    server_fragment(0, 1);
    client_sync(node);
    client_truncate(node, 19 * block_size); /* changes the indirect block */
    created = client_open("created");       /* changes the directory's, which lies before it */
    content_blocks("/", &directory, 1);
    check(page_of(directory) < page_of(indirect));
    block_do(memstore_hold, directory, MEMSTORE_WRITE);
    other_begin(act_sync_disk, NULL);
    memstore_await_held(1);
    mock_receiver_wait(mock_bucket(disk_object()));
    check(!mock_dirty(disk_object(), page_of(indirect))); /* so it is queued */

    client_truncate(node, 0);
    client_fill(bytes, 0, 12 * block_size, 2);
    client_write(next, 0, bytes, 12 * block_size);
    client_write(last, 0, bytes, 9 * block_size);
    check_ok(node_sync_data(next, true));
    check_ok(node_sync_data(last, true));
    memstore_release();
    other_end();
    client_sync(next);
    check(content_equals("next", bytes, 12 * block_size));
    check(content_equals("last", bytes, 9 * block_size));
    content_blocks("next", blocks, 12);
    content_blocks("last", blocks + 12, 9);
    check(page_shared(indirect, blocks, 12 + 9));
    node_deref(node);
    node_deref(last);
    node_deref(created);
    node_deref(next);
}

SERVER_TEST(a_sync_without_changes_writes_nothing, ALL_BLOCK_SIZES)
{
    const struct memstore_write *writes;
    struct node *node;

    file_create(&node, 20);
    client_sync(node);
    memstore_forget();
    client_sync(node);
    check_equal(memstore_writes(&writes), 0);
    node_deref(node);
}

SERVER_TEST(metadata_that_was_evicted_is_what_it_was, ALL_BLOCK_SIZES)
{
    struct mock_object *object = disk_object();
    struct node *node;

    file_create(&node, 25);
    for (unsigned int i = 0; i < 30; i++) {
        client_write_fill(node, i * block_size, 2 * block_size, 1);
        for (size_t page = 0; page < server.disk_size / PAGE; page++)
            mock_pageout(object, page);
    }
    client_sync(node);
    client_fill(bytes, 0, 31 * block_size, 1);
    check(content_equals("file", bytes, 31 * block_size));
    node_deref(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_metadata_block_that_cannot_be_read_is_an_error_and_is_not_written),
        cmocka_unit_test(a_directory_that_cannot_be_read_is_an_error_of_the_lookup),
        cmocka_unit_test(metadata_that_could_not_be_read_is_read_again_when_it_was_evicted),
        cmocka_unit_test(metadata_that_cannot_be_written_is_an_error_of_the_sync_and_no_crash),
        cmocka_unit_test(new_metadata_that_cannot_be_written_is_not_taken_for_zeros),
        cmocka_unit_test(metadata_that_could_be_written_in_the_end_is_sound),
        cmocka_unit_test(metadata_is_written_without_its_neighbours),
        cmocka_unit_test(a_block_is_given_up_only_when_its_write_is_over),
        cmocka_unit_test(a_return_of_a_block_that_was_given_up_meanwhile_is_not_written),
        cmocka_unit_test(a_sync_without_changes_writes_nothing),
        cmocka_unit_test(metadata_that_was_evicted_is_what_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
