// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What somebody else does to a file just when a thread has released its allocation lock. Each test
 * does one thing with a file again and again: at the first, the second, the third and so on release
 * of the lock that happens meanwhile, in whatever thread, another thread truncates the file, gives
 * the freed blocks to another file, extends it again, or stores into it. The thread that has
 * released the lock waits for that, as long as it makes sense: what it knew under the lock is
 * history then.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ext2/file-pager.h"
#include "librt/thread.h"
#include "server.h"

#define SIZE     ((vm_size_t)64 * 1024)
#define CUT      (5 * PAGE + 1500) /* where files are truncated */
#define BRIEFLY  8u                /* ms that the intruder gets; then it goes on alone */
#define NWINDOWS 200u              /* no action releases the lock as often */

#define INTRUDER_NEVER (-1000000) /* releases of the lock that it would come after */

static uint8_t bytes[64 * 1024];
static char *mapping;

static struct {
    void (*act)(struct node *node, struct node *other);
    struct node *node;
    struct node *other;
    pthread_t thread;
    int nleft; /* releases until it comes, none when it has; atomic */
    bool done; /* atomic */
} intruder;

static void *intruder_run(void *unused)
{
    (void)unused;
    intruder.act(intruder.node, intruder.other);
    __atomic_store_n(&intruder.done, true, __ATOMIC_RELEASE);
    return NULL;
}

/* A lock was released. The intruder may need a lock that this thread has still; so it is not waited
   for for ever. */
static void intruder_hook(const char *name)
{
    if (strcmp(name, "alloc_lock") != 0 ||
        __atomic_sub_fetch(&intruder.nleft, 1, __ATOMIC_RELAXED) != 0)
        return;
    check_ok(pthread_create(&intruder.thread, NULL, intruder_run, NULL));
    for (unsigned int i = 0; i < BRIEFLY && !__atomic_load_n(&intruder.done, __ATOMIC_ACQUIRE); i++)
        rt_sleep(1);
}

/* Do ACTION, and ACT at the release number WINDOW of the lock. False: there were not so many. */
static bool intrude(unsigned int window, void (*action)(struct node *node))
{
    __atomic_store_n(&intruder.done, false, __ATOMIC_RELAXED);
    __atomic_store_n(&intruder.nleft, (int)window + 1, __ATOMIC_RELAXED);
    mock_on_unlock(intruder_hook);
    action(intruder.node);
    server_settle(intruder.node);
    mock_on_unlock(NULL);
    if (__atomic_exchange_n(&intruder.nleft, INTRUDER_NEVER, __ATOMIC_RELAXED) > 0)
        return false;
    while (!__atomic_load_n(&intruder.done, __ATOMIC_ACQUIRE))
        rt_sleep(1);
    check_ok(pthread_join(intruder.thread, NULL));
    return true;
}

/* --- What is done ------------------------------------------------------------------------------
 */

static void action_sync(struct node *node)
{
    (void)node_sync_data(node, true); /* what is cut off is no error */
}

static void action_evict(struct node *node)
{
    client_evict(node, 0, SIZE / PAGE);
}

/* Every page is read, as far as the file reaches just then. */
static void action_read(struct node *node)
{
    uint8_t byte;
    size_t done;

    (void)node;
    for (vm_size_t at = 0; at < SIZE; at += PAGE)
        (void)rt_guard_copy(&byte, mapping + at, 1, &done);
}

/* Every page is written to: holes get blocks. */
static void action_store(struct node *node)
{
    uint8_t byte = 0x77;
    size_t done;

    (void)node;
    for (vm_size_t at = 0; at < SIZE; at += PAGE)
        (void)rt_guard_copy(mapping + at + 7, &byte, 1, &done);
}

static void action_write(struct node *node)
{
    static const uint8_t data[3000];

    client_write(node, CUT + PAGE, data, sizeof(data));
}

static void action_cut(struct node *node)
{
    client_truncate(node, CUT);
}

/* --- What comes between ------------------------------------------------------------------------
 */

/* The blocks that become free go to another file at once, for there are no others. */
static void intruder_cut(struct node *node, struct node *other)
{
    client_truncate(node, CUT);
    client_write_fill(other, 0, SIZE - 8 * PAGE, 2);
}

static void intruder_cut_and_extend(struct node *node, struct node *other)
{
    intruder_cut(node, other);
    client_truncate(node, SIZE);
}

/* A client stores into the page that the end is in, or will be. */
static void intruder_store(struct node *node, struct node *other)
{
    uint8_t byte = 0x55;
    size_t done;

    (void)node;
    (void)other;
    check_ok(rt_guard_copy(mapping + CUT / PAGE * PAGE, &byte, 1, &done));
}

/* --- The tests ---------------------------------------------------------------------------------
 */

/* The other file, which has SIZE bytes that seed 2 gives, or none yet, is as it was. */
static void check_other(struct node *other)
{
    client_fill(bytes, 0, SIZE, 2);
    if (other->size > 0)
        client_expect(other, 0, bytes, SIZE - 8 * PAGE);
    client_sync(other);
    if (other->size > 0)
        check(content_equals("other", bytes, SIZE - 8 * PAGE));
}

/* Behind SIZE there is nothing: not in memory, and not on the disk when it grows. */
static void check_zeros_behind(struct node *node, uint64_t size)
{
    client_truncate(node, size);
    client_truncate(node, 2 * SIZE);
    client_expect(node, size, NULL, (vm_size_t)(2 * SIZE - size));
    client_sync(node);
    client_evict(node, 0, 2 * SIZE / PAGE);
    client_expect(node, size, NULL, (vm_size_t)(2 * SIZE - size));
}

enum before {
    DIRTY,  /* all pages of the file are in memory, and the disk has none */
    STORED, /* the disk has all, and memory none */
    HOLES,  /* it has its size, and no blocks */
    FRESH,  /* it has its size, and blocks that nobody wrote to */
};

/* Make the file what it is BEFORE; the other one is empty. */
static void prepare(enum before before)
{
    struct node *node = intruder.node;
    vm_size_t length = SIZE;

    client_truncate(intruder.other, 0);
    client_truncate(node, 0);
    client_sync(node);
    if (before == HOLES)
        client_truncate(node, SIZE);
    else if (before == FRESH)
        check_equal(file_write(node, 0, mock_bad_memory(length), &length), EIO);
    else
        client_write_fill(node, 0, SIZE, 1);
    if (before != STORED)
        return;
    client_sync(node);
    client_evict(node, 0, SIZE / PAGE);
    server_settle(node);
}

/* The file, up to where it was cut off, has what it had BEFORE. */
static void check_kept(struct node *node, enum before before)
{
    client_truncate(node, CUT);
    client_sync(node);
    if (before == FRESH)
        memset(bytes, 0, SIZE);
    else
        client_fill(bytes, 0, SIZE, 1);
    client_expect(node, 0, bytes, CUT);
    check(content_equals("file", bytes, CUT));
}

/* Do ACTION to a file that is BEFORE, and ACT in each window of it. */
static void check_windows(void (*action)(struct node *node),
                          void (*act)(struct node *node, struct node *other), enum before before)
{
    unsigned int window = 0;
    bool more = true;

    intruder.act = act;
    for (; more; window++) {
        check(window < NWINDOWS);
        prepare(before);
        more = intrude(window, action);
        check_other(intruder.other);
        if (before != HOLES)
            check_kept(intruder.node, before);
        check_zeros_behind(intruder.node, CUT);
    }
    check(window > 1);
}

static void begin(void)
{
    intruder.node = client_open("file");
    intruder.other = client_open("other");
    mapping = client_map(intruder.node);
    client_write_fill(intruder.node, 0, SIZE, 1);
    client_sync(intruder.node);
    server_fragment(0, 1);
    client_truncate(intruder.node, 0);
}

static void end(void)
{
    client_unmap(mapping);
    node_deref(intruder.node);
    node_deref(intruder.other);
}

SERVER_TEST(truncate_in_each_window_of_a_sync_touches_no_other_file, ALL_BLOCK_SIZES)
{
    begin();
    check_windows(action_sync, intruder_cut, DIRTY);
    check_windows(action_sync, intruder_cut_and_extend, DIRTY);
    end();
}

SERVER_TEST(truncate_in_each_window_of_writing_zeros_touches_no_other_file, ALL_BLOCK_SIZES)
{
    begin();
    check_windows(action_sync, intruder_cut, FRESH);
    check_windows(action_sync, intruder_cut_and_extend, FRESH);
    end();
}

SERVER_TEST(truncate_in_each_window_of_pageout_touches_no_other_file, ALL_BLOCK_SIZES)
{
    begin();
    check_windows(action_evict, intruder_cut, DIRTY);
    check_windows(action_evict, intruder_cut_and_extend, DIRTY);
    end();
}

SERVER_TEST(truncate_in_each_window_of_a_mapped_reader_touches_no_other_file, ALL_BLOCK_SIZES)
{
    begin();
    check_windows(action_read, intruder_cut, STORED);
    check_windows(action_read, intruder_cut_and_extend, STORED);
    end();
}

SERVER_TEST(truncate_in_each_window_of_a_mapped_writer_touches_no_other_file, ALL_BLOCK_SIZES)
{
    begin();
    check_windows(action_store, intruder_cut, HOLES);
    check_windows(action_store, intruder_cut_and_extend, HOLES);
    end();
}

SERVER_TEST(truncate_in_each_window_of_a_write_touches_no_other_file, ALL_BLOCK_SIZES)
{
    begin();
    check_windows(action_write, intruder_cut, HOLES);
    check_windows(action_write, intruder_cut_and_extend, HOLES);
    end();
}

SERVER_TEST(what_is_stored_in_each_window_of_a_truncate_is_kept, ALL_BLOCK_SIZES)
{
    unsigned int window = 0;
    uint8_t byte = 0x55;
    bool more = true;

    begin();
    intruder.act = intruder_store;
    for (; more; window++) {
        prepare(HOLES);
        more = intrude(window, action_cut);
        if (more)
            client_expect(intruder.node, CUT / PAGE * PAGE, &byte, 1);
        check_zeros_behind(intruder.node, CUT);
    }
    check(window > 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncate_in_each_window_of_a_sync_touches_no_other_file),
        cmocka_unit_test(truncate_in_each_window_of_writing_zeros_touches_no_other_file),
        cmocka_unit_test(truncate_in_each_window_of_pageout_touches_no_other_file),
        cmocka_unit_test(truncate_in_each_window_of_a_mapped_reader_touches_no_other_file),
        cmocka_unit_test(truncate_in_each_window_of_a_mapped_writer_touches_no_other_file),
        cmocka_unit_test(truncate_in_each_window_of_a_write_touches_no_other_file),
        cmocka_unit_test(what_is_stored_in_each_window_of_a_truncate_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
