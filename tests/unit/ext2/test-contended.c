// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Clients that want the allocation lock of a file while it is being written out: the flush does not
 * keep it from them, what they waited is counted, and the policy `adaptive` makes room for them.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ext2/file-pager.h"
#include "libpager/policy.h"
#include "librt/thread.h"
#include "server.h"

#define PAGES 768u                   /* of a file */
#define FAR   767u                   /* a page of it that is written first, and alone */
#define MOST  ((vm_size_t)512 << 10) /* MERGE_MAX */

static struct node *node;
static pthread_t syncer;
static uint8_t bytes[PAGES * 4096];

static void *sync_run(void *unused)
{
    (void)unused;
    client_sync(node);
    return NULL;
}

static void hold_all(void)
{
    for (uint32_t i = 0; i < sizeof(bytes) / server.block_size; i++)
        memstore_hold(server_sector(node, i), server_sectors_per_block(), MEMSTORE_WRITE);
}

/* A file whose sync is under way: the disk is busy with a page of it, and all the others are
   queued. Each write of it waits from now on. */
static void start(const char *policy)
{
    size_t nlocks;

    server_policy(policy);
    pager_policy_set_merge_max(MOST);
    node = client_open("file");
    client_fill(bytes, 0, sizeof(bytes), 1);
    client_write(node, 0, bytes, sizeof(bytes));
    pager_set_writers(node->pager, 1); /* so that writes come one after the other */
    hold_all();
    client_evict(node, FAR, 1);
    memstore_await_held(1);
    memstore_forget();
    nlocks = mock_nlocks();
    check_ok(pthread_create(&syncer, NULL, sync_run, NULL));
    while (mock_nlocks() == nlocks)
        rt_sleep(1);
    mock_receiver_wait(mock_bucket(server_object(node)));
}

/* Let the write that is held end, and have the next one be held. */
static void step(void)
{
    const struct memstore_write *writes;
    size_t nwrites = memstore_writes(&writes);

    memstore_await_held(1);
    memstore_step();
    while (memstore_writes(&writes) == nwrites)
        rt_sleep(1);
}

static vm_size_t last_length(void)
{
    const struct memstore_write *writes;
    size_t nwrites = memstore_writes(&writes);

    return (vm_size_t)writes[nwrites - 1].nsectors * STORE_SECTOR_BYTES;
}

static void end(void)
{
    memstore_release();
    check_ok(pthread_join(syncer, NULL));
    check(content_equals("file", bytes, sizeof(bytes)));
    node_deref(node);
}

static void *waiter_run(void *unused)
{
    struct node_hold hold;

    (void)unused;
    node_alloc_lock(node, TRACE_WRITE, &hold);
    node_alloc_unlock(node, &hold);
    return NULL;
}

/* Whether the pager has ended its write, and looked whether somebody waits. */
static bool write_is_over(void)
{
    bool over;

    rt_mutex_lock(&node->blocks_lock);
    over = node->ios == NULL;
    rt_mutex_unlock(&node->blocks_lock);
    return over;
}

/* The same as step, while one thread has the allocation lock and another waits for it. The lock is
   taken when the pager, which needs it to begin a write, has begun. */
static void step_contended(void)
{
    struct node_hold hold;
    pthread_t waiter;

    memstore_await_held(1);
    node_alloc_lock(node, TRACE_WRITE, &hold);
    check_ok(pthread_create(&waiter, NULL, waiter_run, NULL));
    while (__atomic_load_n(&node->nwaiting, __ATOMIC_RELAXED) == 0)
        rt_sleep(1);
    step();
    while (!write_is_over())
        rt_sleep(1);
    node_alloc_unlock(node, &hold);
    check_ok(pthread_join(waiter, NULL));
}

SERVER_TEST(adaptive_halves_its_writes_while_somebody_waits_for_the_lock, 4096)
{
    start("adaptive");
    step(); /* the lone page */
    step();
    check_equal(last_length(), MOST);
    step_contended();
    check_equal(last_length(), MOST);
    step_contended();
    check_equal(last_length(), MOST / 2);
    step_contended();
    check_equal(last_length(), MOST / 4);
    step();
    check_equal(last_length(), MOST / 8);
    step();
    check_equal(last_length(), MOST / 8); /* what is left of a run of MOST; 96 KiB could be */
    for (vm_size_t length = 128; length <= 192; length += 32) {
        step();
        check_equal(last_length(), length << 10);
    }
    end();
}

SERVER_TEST(merge_does_not_change_its_writes_when_somebody_waits, 4096)
{
    start("merge");
    step();
    step_contended();
    step_contended();
    step();
    check_equal(last_length(), MOST);
    end();
}

SERVER_TEST(a_file_grows_while_it_is_written_out, ALL_BLOCK_SIZES)
{
    static const uint8_t more[100] = {1};

    start("run128");
    client_write(node, sizeof(bytes), more, sizeof(more));
    client_truncate(node,
                    sizeof(bytes)); /* waits for what was returned, and for nothing behind it */
    end();
}

/* How many waits there were. */
static unsigned int count_waits(void)
{
    char line[64];
    unsigned int count = 0;

    mock_said_clear();
    nodes_report("t");
    for (;; count++) {
        snprintf(line, sizeof(line), "wait server=t what=alloc_lock count=%u ", count);
        if (mock_said(line) > 0)
            return count;
        check(count < 1000);
    }
}

SERVER_TEST(waits_are_counted_while_the_file_is_synced_and_not_else, 4096)
{
    struct node_hold hold;
    unsigned int before;

    start("run128");
    before = count_waits();
    waiter_run(NULL);
    check_equal(count_waits(), before + 1);
    node_alloc_lock_to_write(node, TRACE_READ, &hold); /* the flush itself */
    node_alloc_unlock(node, &hold);
    check_equal(count_waits(), before + 1);
    end();
    before = count_waits();
    waiter_run(NULL);
    check_equal(count_waits(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adaptive_halves_its_writes_while_somebody_waits_for_the_lock),
        cmocka_unit_test(merge_does_not_change_its_writes_when_somebody_waits),
        cmocka_unit_test(a_file_grows_while_it_is_written_out),
        cmocka_unit_test(waits_are_counted_while_the_file_is_synced_and_not_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
