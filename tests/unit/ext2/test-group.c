// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several who want the metadata on the disk at once. What they change is their file's mode, which
 * is in the inode table and nowhere else.
 *
 * MACHBED_SEED chooses the order of the last tests (`make test`: 1; else another in every run;
 * printed).
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ext2/disk.h"
#include "librt/thread.h"
#include "mock/random.h"
#include "server.h"

#define NCLIENTS  6u
#define NSYNCS    300u /* of each client, in random order */
#define NFILES    250u /* enough for several pages of the inode table */
#define BRIEFLY   20u  /* ms, in which what does not wait would be over */
#define MODE_BITS 07777u

/* Where things are in the file system: super block, first group's descriptor, inode. */
#define SUPER_INODE_SIZE (1024 + 88)
#define DESC_INODE_TABLE 8
#define INODE_MODE       0

struct client {
    pthread_t thread;
    struct node *node;
    uint64_t random;
    error_t error; /* of its last sync */
    bool done;     /* atomically */
};

static struct client clients[NCLIENTS];

/* --- The inode table ------------------------------------------------------------------------- */

static uint64_t inode_place(uint32_t ino)
{
    uint64_t descs = server.block_size == 1024 ? 2048 : server.block_size;
    uint32_t table;
    uint16_t size;

    memstore_look(SUPER_INODE_SIZE, &size, sizeof(size));
    memstore_look(descs + DESC_INODE_TABLE, &table, sizeof(table));
    return (uint64_t)table * server.block_size + (uint64_t)(ino - 1) * size;
}

/* NODE's mode on the disk. */
static unsigned int mode_on_disk(const struct node *node)
{
    uint16_t mode;

    memstore_look(inode_place(node->ino) + INODE_MODE, &mode, sizeof(mode));
    return mode & MODE_BITS;
}

static uint64_t inode_sector(const struct node *node)
{
    return inode_place(node->ino) / STORE_SECTOR_BYTES;
}

/* Whether client I's inode is in the page that the first client's is in. */
static bool same_page(unsigned int i)
{
    return inode_place(clients[i].node->ino) / PAGE == inode_place(clients[0].node->ino) / PAGE;
}

/* The sectors of the page that NODE's inode is in. */
static void inode_page_do(void (*what)(uint64_t, uint64_t, enum memstore_how),
                          const struct node *node)
{
    uint64_t page = inode_place(node->ino) / PAGE * PAGE;

    what(page / STORE_SECTOR_BYTES, PAGE / STORE_SECTOR_BYTES, MEMSTORE_WRITE);
}

/* --- Clients --------------------------------------------------------------------------------- */

static void clients_open(void)
{
    for (unsigned int i = 0; i < NCLIENTS; i++) {
        char name[16];

        snprintf(name, sizeof(name), "client-%u", i);
        clients[i].node = client_open(name);
        clients[i].done = false;
    }
    check_ok(ext2_sync(server.fs));
    check_ok(disk_sync());
    memstore_forget();
}

static void clients_close(void)
{
    for (unsigned int i = 0; i < NCLIENTS; i++)
        node_deref(clients[i].node);
}

static void client_change(struct client *client, unsigned int mode)
{
    check_ok(ext2_inode_chmod(client->node->inode, (uint16_t)mode));
}

static void *client_run_sync(void *arg)
{
    struct client *client = arg;

    client->error = disk_sync();
    __atomic_store_n(&client->done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void client_begin(struct client *client)
{
    check_ok(pthread_create(&client->thread, NULL, client_run_sync, client));
}

static bool client_is_done(struct client *client)
{
    return __atomic_load_n(&client->done, __ATOMIC_ACQUIRE);
}

static void client_end(struct client *client)
{
    check_ok(pthread_join(client->thread, NULL));
    check(client_is_done(client));
}

/* Client 0 syncs, and its write waits. */
static void first_begin(void)
{
    inode_page_do(memstore_hold, clients[0].node);
    client_begin(&clients[0]);
    memstore_await_held(1);
}

/* The others change their files and sync. */
static void others_begin(unsigned int mode)
{
    for (unsigned int i = 1; i < NCLIENTS; i++) {
        client_change(&clients[i], mode);
        client_begin(&clients[i]);
    }
    rt_sleep(BRIEFLY);
    for (unsigned int i = 0; i < NCLIENTS; i++)
        check(!client_is_done(&clients[i]));
}

static void all_end(void)
{
    memstore_release();
    for (unsigned int i = 0; i < NCLIENTS; i++)
        client_end(&clients[i]);
}

SERVER_TEST(calls_that_come_while_a_sync_is_at_work_share_the_next_one, ALL_BLOCK_SIZES)
{
    clients_open();
    client_change(&clients[0], 0751);
    first_begin();
    others_begin(0711);
    all_end();
    check_equal(mode_on_disk(clients[0].node), 0751);
    for (unsigned int i = 0; i < NCLIENTS; i++) {
        check_ok(clients[i].error);
        check_equal(memstore_nwrites(inode_sector(clients[i].node)), same_page(i) ? 2 : 1);
    }
    for (unsigned int i = 1; i < NCLIENTS; i++)
        check_equal(mode_on_disk(clients[i].node), 0711);
    clients_close();
}

SERVER_TEST(a_call_waits_for_an_earlier_sync_that_has_taken_its_page, ALL_BLOCK_SIZES)
{
    clients_open();
    client_change(&clients[0], 0751);
    client_change(&clients[1], 0711);
    first_begin();
    client_begin(&clients[1]); /* finds nothing that is dirty */
    rt_sleep(BRIEFLY);
    check(!client_is_done(&clients[1]));
    check(mode_on_disk(clients[1].node) != 0711);
    memstore_release();
    client_end(&clients[1]);
    check_equal(mode_on_disk(clients[1].node), 0711);
    client_end(&clients[0]);
    check_equal(memstore_nwrites(inode_sector(clients[1].node)), 1);
    clients_close();
}

SERVER_TEST(a_failed_write_is_an_error_of_all_who_share_it, ALL_BLOCK_SIZES)
{
    clients_open();
    client_change(&clients[0], 0751);
    first_begin();
    others_begin(0711);
    inode_page_do(memstore_spoil, clients[0].node);
    all_end();
    for (unsigned int i = 0; i < NCLIENTS; i++)
        check_equal(clients[i].error, EIO);
    check_equal(disk_sync(), EIO); /* it is tried again, and fails again */
    inode_page_do(memstore_repair, clients[0].node);
    check_ok(disk_sync());
    for (unsigned int i = 1; i < NCLIENTS; i++)
        check_equal(mode_on_disk(clients[i].node), 0711);
    clients_close();
    check_ok(server_unmount()); /* but marked as damaged, so that somebody checks it */
}

SERVER_TEST(who_waits_for_the_next_sync_is_told_that_an_earlier_one_lost_its_page, ALL_BLOCK_SIZES)
{
    clients_open();
    client_change(&clients[0], 0751);
    client_change(&clients[1], 0711);
    inode_page_do(memstore_spoil, clients[0].node);
    first_begin();
    client_begin(&clients[1]);
    rt_sleep(BRIEFLY);
    memstore_release();
    client_end(&clients[0]);
    client_end(&clients[1]);
    check_equal(clients[0].error, EIO);
    check_equal(clients[1].error, EIO);
    inode_page_do(memstore_repair, clients[0].node);
    check_ok(disk_sync());
    check_equal(mode_on_disk(clients[0].node), 0751);
    check_equal(mode_on_disk(clients[1].node), 0711);
    clients_close();
    check_ok(server_unmount());
}

SERVER_TEST(write_behind_leaves_a_running_sync_alone, ALL_BLOCK_SIZES)
{
    clients_open();
    client_change(&clients[0], 0751);
    first_begin();
    client_change(&clients[1], 0711);
    check(!disk_write_behind());
    memstore_release();
    client_end(&clients[0]);
    check(disk_write_behind());
    check_equal(mode_on_disk(clients[1].node), 0711);
    check_equal(memstore_nwrites(inode_sector(clients[0].node)), 2);
    check(disk_write_behind());
    check_equal(memstore_nwrites(inode_sector(clients[0].node)), 2);
    clients_close();
}

SERVER_TEST(an_error_of_write_behind_is_left_for_the_next_sync, ALL_BLOCK_SIZES)
{
    clients_open();
    client_change(&clients[0], 0751);
    inode_page_do(memstore_spoil, clients[0].node);
    check(disk_write_behind());
    inode_page_do(memstore_repair, clients[0].node);
    check(disk_write_behind());
    check_equal(mode_on_disk(clients[0].node), 0751);
    check_equal(disk_sync(), EIO);
    check_ok(disk_sync());
    clients_close();
    check_ok(server_unmount());
}

/* --- Few writes ------------------------------------------------------------------------------ */

/* Change the inodes of NFILES files, which lie side by side, sync, and return how many pages of
   the table that were, each of which was written once; *NWRITES is how many writes that took. */
static uint64_t table_sync(const char *policy, size_t *nwrites)
{
    struct node *nodes[NFILES];
    const struct memstore_write *writes;
    uint64_t nsectors = 0;

    for (unsigned int i = 0; i < NFILES; i++) {
        char name[16];

        snprintf(name, sizeof(name), "file-%u", i);
        nodes[i] = client_open(name);
    }
    check_ok(ext2_sync(server.fs));
    check_ok(disk_sync());
    memstore_forget();
    server_policy(policy);
    for (unsigned int i = 0; i < NFILES; i++)
        check_ok(ext2_inode_chmod(nodes[i]->inode, 0600));
    check_ok(disk_sync());
    *nwrites = memstore_writes(&writes);
    for (size_t i = 0; i < *nwrites; i++)
        nsectors += writes[i].nsectors;
    for (unsigned int i = 0; i < NFILES; i++) {
        check_equal(mode_on_disk(nodes[i]), 0600);
        check_equal(memstore_nwrites(inode_sector(nodes[i])), 1);
        node_deref(nodes[i]);
    }
    return (nsectors * STORE_SECTOR_BYTES + PAGE - 1) / PAGE;
}

/* With blocks of 1,024 bytes the table has one in between that nobody has ever touched. */
SERVER_TEST(neighbouring_pages_are_one_write_of_merge_and_of_run128, 2048, 4096)
{
    size_t nwrites;

    check(table_sync("merge", &nwrites) > 7);
    check_equal(nwrites, 1);
    check(table_sync("run128", &nwrites) > 7);
    check_equal(nwrites, 1);
}

SERVER_TEST(neighbouring_pages_are_a_write_each_of_page, 4096)
{
    size_t nwrites;
    uint64_t npages = table_sync("page", &nwrites);

    check(npages > 7);
    check_equal(nwrites, npages);
}

/* --- In random order ------------------------------------------------------------------------- */

static uint64_t seed;
static uint64_t nrunning; /* atomically */
static bool failing;      /* writes may fail */

/* What a client does: whenever its sync returns 0, what it has changed is on the disk. */
static void *client_run(void *arg)
{
    struct client *client = arg;

    for (unsigned int i = 0; i < NSYNCS; i++) {
        unsigned int mode = random_below(&client->random, MODE_BITS + 1);

        client_change(client, mode);
        if (random_below(&client->random, 8) == 0)
            sched_yield();
        client->error = disk_sync();
        if (client->error == 0)
            check_equal(mode_on_disk(client->node), mode);
        else
            check(failing && client->error == EIO);
    }
    __atomic_sub_fetch(&nrunning, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Meanwhile the kernel pages the inode table out, */
static void meanwhile_pageout(uint64_t *random)
{
    void *super;
    struct mock_object *object;

    check_ok(disk_ops.get(NULL, 1024, 1024, EXT2_READ, &super));
    object = mock_object_at((vm_address_t)super);
    disk_ops.put(NULL, 1024, 1024, super, false);
    mock_pageout(object, inode_place(clients[0].node->ino) / PAGE + random_below(random, 3));
}

/* or writing it fails now and then. */
static void meanwhile_fail(uint64_t *random)
{
    inode_page_do(random_below(random, 3) == 0 ? memstore_spoil : memstore_repair, clients[0].node);
}

/* How many writes of the inode table there were; more than one a sync is too many. */
static unsigned int clients_run(void (*meanwhile)(uint64_t *random))
{
    uint64_t random = seed;

    clients_open();
    mock_set_jitter(true);
    nrunning = NCLIENTS;
    for (unsigned int i = 0; i < NCLIENTS; i++) {
        clients[i].random = seed + i + 1;
        check_ok(pthread_create(&clients[i].thread, NULL, client_run, &clients[i]));
    }
    while (__atomic_load_n(&nrunning, __ATOMIC_ACQUIRE) > 0) {
        meanwhile(&random);
        if (random_below(&random, 4) == 0)
            (void)disk_write_behind();
        rt_sleep(random_below(&random, 2));
    }
    for (unsigned int i = 0; i < NCLIENTS; i++)
        check_ok(pthread_join(clients[i].thread, NULL));
    mock_set_jitter(false);
    return memstore_nwrites(inode_sector(clients[0].node));
}

SERVER_TEST(what_was_changed_before_a_sync_is_on_the_disk_behind_it, ALL_BLOCK_SIZES)
{
    failing = false;
    clients_run(meanwhile_pageout);
    clients_close();
}

SERVER_TEST(a_sync_on_a_failing_disk_returns_0_only_when_all_was_written, ALL_BLOCK_SIZES)
{
    failing = true;
    clients_run(meanwhile_fail);
    inode_page_do(memstore_repair, clients[0].node);
    (void)disk_sync();
    check_ok(disk_sync());
    clients_close();
    check_ok(server_unmount());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_come_while_a_sync_is_at_work_share_the_next_one),
        cmocka_unit_test(a_call_waits_for_an_earlier_sync_that_has_taken_its_page),
        cmocka_unit_test(a_failed_write_is_an_error_of_all_who_share_it),
        cmocka_unit_test(who_waits_for_the_next_sync_is_told_that_an_earlier_one_lost_its_page),
        cmocka_unit_test(write_behind_leaves_a_running_sync_alone),
        cmocka_unit_test(an_error_of_write_behind_is_left_for_the_next_sync),
        cmocka_unit_test(neighbouring_pages_are_one_write_of_merge_and_of_run128),
        cmocka_unit_test(neighbouring_pages_are_a_write_each_of_page),
        cmocka_unit_test(what_was_changed_before_a_sync_is_on_the_disk_behind_it),
        cmocka_unit_test(a_sync_on_a_failing_disk_returns_0_only_when_all_was_written),
    };

    seed = environment_number("MACHBED_SEED", (uint64_t)time(NULL) * 1000003 + 1);
    print_message("# MACHBED_SEED=%" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
