// SPDX-License-Identifier: GPL-2.0-or-later
/* pager_sync and its kin, alone and together, and how objects begin and end. */
#include <sched.h>
#include <unistd.h>

#include "fixture.h"

#define WINDOW_PAGES ((size_t)1024) /* 4 MiB */
#define BRIEFLY      20000          /* us, in which a sync that does not wait would return */

/* A pager_sync in a thread of its own. */
struct syncer {
    pthread_t thread;
    struct pager *pager;
    vm_address_t start;
    vm_size_t length;
    int wait;
    error_t error;
    bool done; /* atomically */
};

static void *syncer_main(void *arg)
{
    struct syncer *syncer = arg;

    syncer->error = pager_sync_some(syncer->pager, syncer->start, syncer->length, syncer->wait);
    __atomic_store_n(&syncer->done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void syncer_start_as(struct syncer *syncer, size_t page, size_t npages, int wait)
{
    *syncer = (struct syncer){
        .pager = f.upi->pager, .start = page * PAGE, .length = npages * PAGE, .wait = wait};
    mock_check(pthread_create(&syncer->thread, NULL, syncer_main, syncer) == 0);
}

static void syncer_start(struct syncer *syncer, size_t page, size_t npages)
{
    syncer_start_as(syncer, page, npages, 1);
}

static bool syncer_done(const struct syncer *syncer)
{
    return __atomic_load_n(&syncer->done, __ATOMIC_ACQUIRE);
}

static error_t syncer_join(struct syncer *syncer)
{
    pthread_join(syncer->thread, NULL);
    return syncer->error;
}

/* Wait until the kernel has done COUNT lock requests since BEFORE, and the pager knows. */
static void await_locks(size_t before, size_t count)
{
    while (mock_nlocks() < before + count)
        sched_yield();
    mock_receiver_wait(f.bucket);
}

static void sync_walks_a_large_object_with_two_windows_at_a_time(void **state)
{
    size_t before = mock_nlocks();
    size_t npages = 4 * WINDOW_PAGES - 7;
    struct syncer syncer;

    (void)state;
    start(npages);
    mock_fill(f.object, 0, npages, 1);
    backend_set(f.upi, hold_writes, true);
    syncer_start(&syncer, 0, npages);
    await_locks(before, 2);
    backend_await(f.upi, nwaiting_writes, 1);
    usleep(BRIEFLY);
    assert_int_equal(pager_level_lookup(f.bucket)->data_return[RT_CLASS_FILE].count, 64);
    assert_int_equal(mock_memory(), 2 * WINDOW_PAGES * PAGE);
    assert_int_equal(mock_nlocks(), before + 2);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(syncer_join(&syncer), 0);
    assert_int_equal(mock_nlocks(), before + 4);
    check_disk(0, npages, 1);
    end();
}

static void sync_without_waiting_leaves_the_last_window_to_itself(void **state)
{
    (void)state;
    start(WINDOW_PAGES + 1);
    mock_fill(f.object, WINDOW_PAGES, 1, 9);
    backend_set(f.upi, hold_writes, true);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    assert_int_equal(backend_value(f.upi, WINDOW_PAGES), 0);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, WINDOW_PAGES), 9);
    end();
}

static void sync_without_waiting_has_all_windows_but_the_last_written(void **state)
{
    size_t before = mock_nlocks();
    struct syncer syncer;

    (void)state;
    start(2 * WINDOW_PAGES);
    mock_fill(f.object, 0, 2 * WINDOW_PAGES, 1);
    backend_set(f.upi, hold_writes, true);
    syncer_start_as(&syncer, 0, 2 * WINDOW_PAGES, 0);
    await_locks(before, 2);
    usleep(BRIEFLY);
    assert_false(syncer_done(&syncer));
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(syncer_join(&syncer), 0);
    check_disk(0, WINDOW_PAGES, 1);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    end();
}

static void sync_without_waiting_does_not_take_errors_away(void **state)
{
    (void)state;
    start(4);
    backend_set_bad(f.upi, 1, EIO);
    mock_fill(f.object, 0, 4, 1);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    end();
}

static void sync_of_a_range_leaves_the_rest_dirty(void **state)
{
    (void)state;
    start(16);
    mock_fill(f.object, 0, 16, 1);
    assert_int_equal(pager_sync_some(f.upi->pager, 4 * PAGE + 5, 2 * PAGE, 1), 0);
    check_disk(4, 3, 5); /* whole pages that the range touches */
    assert_int_equal(backend_value(f.upi, 3), 0);
    assert_int_equal(backend_value(f.upi, 7), 0);
    assert_true(mock_dirty(f.object, 3));
    assert_true(mock_dirty(f.object, 7));
    assert_true(mock_resident(f.object, 4));
    end();
}

static void sync_waits_for_what_was_returned_before_it(void **state)
{
    size_t before = mock_nlocks();
    struct syncer syncer;

    (void)state;
    start(16);
    mock_fill(f.object, 3, 1, 7);
    backend_set(f.upi, hold_writes, true);
    assert_true(mock_pageout(f.object, 3));
    backend_await(f.upi, nwaiting_writes, 1);
    syncer_start(&syncer, 0, 16);
    await_locks(before, 1);
    usleep(BRIEFLY);
    assert_false(syncer_done(&syncer));
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(syncer_join(&syncer), 0);
    assert_int_equal(backend_value(f.upi, 3), 7);
    end();
}

static void sync_of_a_range_does_not_wait_for_what_is_written_outside_it(void **state)
{
    struct syncer syncer;
    size_t before;

    (void)state;
    start(16);
    backend_set(f.upi, hold_writes, true);
    mock_send_return(f.object, 8 * PAGE, 4 * PAGE, 1, TRUE, FALSE);
    mock_send_return(f.object, 12 * PAGE, PAGE, 5, TRUE, FALSE);
    backend_await(f.upi, nwaiting_writes, 1);
    assert_int_equal(pager_sync_some(f.upi->pager, 0, 8 * PAGE, 1), 0);
    assert_int_equal(pager_flush_some(f.upi->pager, 13 * PAGE, 3 * PAGE, 1), 0);
    before = mock_nlocks();
    syncer_start(&syncer, 11, 1); /* a page that is being written is in it */
    await_locks(before, 1);
    usleep(BRIEFLY);
    assert_false(syncer_done(&syncer));
    backend_step_writes(f.upi, 1);
    assert_int_equal(syncer_join(&syncer), 0);
    check_disk(8, 4, 1);
    assert_int_equal(backend_value(f.upi, 12), 0); /* not yet */
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 12), 5);
    end();
}

static void syncs_of_overlapping_ranges_wait_for_what_the_other_has_taken(void **state)
{
    struct syncer first;
    struct syncer second;

    (void)state;
    start(16);
    mock_fill(f.object, 3, 1, 7);
    mock_hold_batches(true);
    syncer_start(&first, 0, 16);
    mock_await_held(1);
    syncer_start(&second, 2, 2); /* it would find the page clean */
    usleep(BRIEFLY);
    assert_false(syncer_done(&first));
    assert_false(syncer_done(&second));
    assert_int_equal(backend_value(f.upi, 3), 0);
    mock_hold_batches(false);
    assert_int_equal(syncer_join(&second), 0);
    assert_int_equal(backend_value(f.upi, 3), 7);
    assert_int_equal(syncer_join(&first), 0);
    end();
}

static void syncs_of_separate_ranges_do_not_wait_for_each_other(void **state)
{
    size_t before = mock_nlocks();
    struct syncer first;

    (void)state;
    start(16);
    mock_fill(f.object, 3, 1, 7);
    mock_hold_batches(true);
    syncer_start(&first, 0, 8);
    mock_await_held(1);
    assert_int_equal(pager_sync_some(f.upi->pager, 8 * PAGE, 8 * PAGE, 1), 0);
    assert_int_equal(mock_nlocks(), before + 1);
    mock_hold_batches(false);
    assert_int_equal(syncer_join(&first), 0);
    end();
}

static void page_changed_again_while_its_copy_is_held_keeps_the_newer_data(void **state)
{
    struct syncer first;
    struct syncer second;

    (void)state;
    start(16);
    mock_fill(f.object, 3, 1, 7);
    mock_hold_batches(true);
    syncer_start(&first, 0, 16);
    mock_await_held(1);
    assert_int_equal(mock_write(f.object, 3, 8), KERN_SUCCESS);
    syncer_start(&second, 0, 16);
    usleep(BRIEFLY);
    mock_hold_batches(false);
    assert_int_equal(syncer_join(&first), 0);
    assert_int_equal(syncer_join(&second), 0);
    assert_int_equal(backend_value(f.upi, 3), 8);
    end();
}

static void page_evicted_while_its_copy_is_held_is_not_read_from_the_store(void **state)
{
    struct syncer first;
    uint64_t value;

    (void)state;
    start(16);
    assert_int_equal(mock_write(f.object, 3, 7), KERN_SUCCESS);
    mock_hold_batches(true);
    syncer_start(&first, 0, 16);
    mock_await_held(1);
    assert_true(mock_pageout(f.object, 3)); /* clean: without a word */
    mock_touch(f.object, 3);
    mock_receiver_wait(f.bucket);
    usleep(BRIEFLY);
    assert_false(mock_resident(f.object, 3));
    mock_hold_batches(false);
    assert_int_equal(mock_read(f.object, 3, &value), KERN_SUCCESS);
    assert_int_equal(value, 7);
    assert_int_equal(syncer_join(&first), 0);
    end();
}

static void page_that_the_kernel_does_not_have_is_read_while_copies_are_held(void **state)
{
    struct syncer first;
    uint64_t value;

    (void)state;
    start(16);
    assert_int_equal(mock_write(f.object, 6, 60), KERN_SUCCESS);
    assert_int_equal(pager_return(f.upi->pager, 1), 0);
    mock_fill(f.object, 3, 1, 7);
    mock_hold_batches(true);
    syncer_start(&first, 0, 16);
    mock_await_held(1);
    assert_int_equal(mock_read(f.object, 5, &value), KERN_SUCCESS); /* never had it */
    assert_int_equal(mock_read(f.object, 6, &value), KERN_SUCCESS); /* gave it back before */
    assert_int_equal(value, 60);
    assert_false(syncer_done(&first));
    mock_hold_batches(false);
    assert_int_equal(syncer_join(&first), 0);
    end();
}

static void page_changed_and_evicted_while_its_copy_is_held_keeps_the_newer_data(void **state)
{
    struct syncer first;
    uint64_t value;

    (void)state;
    start(16);
    mock_fill(f.object, 2, 3, 7);
    mock_hold_batches(true);
    syncer_start(&first, 0, 16);
    mock_await_held(1);
    assert_int_equal(mock_write(f.object, 3, 99), KERN_SUCCESS);
    assert_true(mock_pageout(f.object, 3));
    mock_touch(f.object, 3);
    mock_receiver_wait(f.bucket);
    mock_hold_batches(false);
    assert_int_equal(syncer_join(&first), 0);
    assert_int_equal(mock_read(f.object, 3, &value), KERN_SUCCESS);
    assert_int_equal(value, 99);
    assert_int_equal(backend_value(f.upi, 2), 7);
    assert_int_equal(backend_value(f.upi, 3), 99);
    assert_int_equal(backend_value(f.upi, 4), 9);
    end();
}

static void notified_eviction_while_a_copy_is_held_keeps_the_newer_data(void **state)
{
    struct syncer first;

    (void)state;
    start_with(16, true);
    assert_int_equal(mock_write(f.object, 3, 7), KERN_SUCCESS);
    mock_hold_batches(true);
    syncer_start(&first, 0, 16);
    mock_await_held(1);
    assert_int_equal(mock_write(f.object, 3, 99), KERN_SUCCESS);
    assert_true(mock_pageout(f.object, 3));
    backend_await(f.upi, nevicted, 1);
    assert_int_equal(backend_value(f.upi, 3), 99);
    mock_hold_batches(false);
    assert_int_equal(syncer_join(&first), 0);
    assert_int_equal(backend_value(f.upi, 3), 99);
    end();
}

static void precious_page_evicted_while_its_copy_is_held_is_written(void **state)
{
    struct syncer first;

    (void)state;
    start_with(16, true);
    backend_set(f.upi, has[3], true);
    assert_int_equal(mock_write(f.object, 3, 99), KERN_SUCCESS);
    mock_hold_batches(true);
    syncer_start(&first, 0, 16);
    mock_await_held(1);
    assert_true(mock_precious(f.object, 3) && !mock_dirty(f.object, 3));
    assert_true(mock_pageout(f.object, 3));
    mock_receiver_wait(f.bucket);
    mock_hold_batches(false);
    assert_int_equal(syncer_join(&first), 0);
    assert_int_equal(backend_value(f.upi, 3), 99);
    end();
}

static void overlapping_syncs_write_no_page_twice(void **state)
{
    struct syncer syncers[4];

    (void)state;
    start(256);
    mock_set_jitter(true);
    mock_fill(f.object, 0, 256, 1);
    for (size_t i = 0; i < 4; i++)
        syncer_start(&syncers[i], 16 * i, 256 - 32 * i);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(syncer_join(&syncers[i]), 0);
    mock_set_jitter(false);
    check_disk(0, 256, 1);
    assert_int_equal(pager_level_lookup(f.bucket)->data_return[RT_CLASS_FILE].bytes, 256 * PAGE);
    end();
}

/* A later return may be written before an earlier one, with its neighbour. */
static void sync_counts_only_what_was_returned_before_its_end(void **state)
{
    size_t before = mock_nlocks();
    struct syncer syncer;

    (void)state;
    start(16);
    backend_policy("merge");
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, true);
    mock_send_return(f.object, 15 * PAGE, PAGE, 1, TRUE, FALSE);
    backend_await(f.upi, nwaiting_writes, 1);
    mock_send_return(f.object, 0, PAGE, 2, TRUE, FALSE);
    mock_send_return(f.object, 8 * PAGE, PAGE, 3, TRUE, FALSE);
    syncer_start(&syncer, 0, 16);
    await_locks(before, 1);
    mock_send_return(f.object, PAGE, PAGE, 4, TRUE, FALSE);
    mock_receiver_wait(f.bucket);
    backend_step_writes(f.upi, 2);
    assert_int_equal(backend_value(f.upi, 1), 4);
    usleep(BRIEFLY);
    assert_false(syncer_done(&syncer));
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(syncer_join(&syncer), 0);
    assert_int_equal(backend_value(f.upi, 8), 3);
    end();
}

static void error_during_overlapping_syncs_reaches_each_of_them(void **state)
{
    size_t before = mock_nlocks();
    struct syncer first;
    struct syncer second;

    (void)state;
    start(16);
    backend_set_bad(f.upi, 3, EIO);
    mock_fill(f.object, 0, 16, 7);
    backend_set(f.upi, hold_writes, true);
    syncer_start(&first, 0, 16);
    backend_await(f.upi, nwaiting_writes, 1);
    syncer_start(&second, 0, 16);
    await_locks(before, 2);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(syncer_join(&first), EIO);
    assert_int_equal(syncer_join(&second), EIO);
    backend_set_bad(f.upi, 3, 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    end();
}

static void flush_drops_what_was_not_written(void **state)
{
    uint64_t value;

    (void)state;
    start(4);
    assert_int_equal(mock_write(f.object, 1, 5), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(mock_write(f.object, 1, 6), KERN_SUCCESS);
    assert_int_equal(pager_flush(f.upi->pager, 1), 0);
    assert_false(mock_resident(f.object, 1));
    assert_int_equal(mock_read(f.object, 1, &value), KERN_SUCCESS);
    assert_int_equal(value, 5);
    end();
}

static void return_writes_what_it_drops(void **state)
{
    (void)state;
    start(40);
    mock_fill(f.object, 0, 40, 5);
    assert_int_equal(pager_return_some(f.upi->pager, 0, 39 * PAGE, 1), 0);
    check_disk(0, 39, 5);
    assert_false(mock_resident(f.object, 38));
    assert_true(mock_dirty(f.object, 39));
    end();
}

static void sync_of_an_object_that_nobody_has_mapped_returns(void **state)
{
    (void)state;
    start(4);
    mock_fill(f.object, 1, 1, 5);
    mock_unmap(f.object);
    f.object = NULL;
    mock_receiver_wait(f.bucket);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    assert_int_equal(pager_flush(f.upi->pager, 0), 0);
    assert_int_equal(backend_value(f.upi, 1), 5);
    end();
}

static void object_that_ends_while_it_is_synced_is_written_first(void **state)
{
    struct syncer syncer;

    (void)state;
    start(64);
    mock_fill(f.object, 0, 64, 5);
    backend_set(f.upi, hold_writes, true);
    syncer_start(&syncer, 0, 32);
    backend_await(f.upi, nwaiting_writes, 1);
    mock_unmap(f.object); /* returns 32 to 63, page by page */
    f.object = NULL;
    mock_receiver_wait(f.bucket);
    assert_false(syncer_done(&syncer));
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(syncer_join(&syncer), 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    check_disk(0, 64, 5);
    end();
}

static void lock_request_that_dies_with_its_object_does_not_hang_the_sync(void **state)
{
    size_t before = mock_nlocks();
    struct syncer syncer;

    (void)state;
    start(16);
    mock_fill(f.object, 3, 1, 7);
    mock_receiver_wait(f.bucket);
    mock_receiver_hold(f.bucket, true);
    mock_unmap(f.object); /* the pager does not know yet */
    f.object = NULL;
    syncer_start(&syncer, 0, 16);
    while (mock_nlocks() == before)
        sched_yield();
    assert_false(syncer_done(&syncer));
    mock_receiver_hold(f.bucket, false);
    assert_int_equal(syncer_join(&syncer), 0);
    assert_int_equal(backend_value(f.upi, 3), 7);
    end();
}

static void object_mapped_again_gets_what_was_still_being_written(void **state)
{
    uint64_t value;

    (void)state;
    start(4);
    mock_fill(f.object, 1, 1, 5);
    backend_set(f.upi, hold_writes, true);
    mock_unmap(f.object);
    backend_await(f.upi, nwaiting_writes, 1);
    f.object = mock_map(pager_get_port(f.upi->pager), 4);
    mock_touch(f.object, 1);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_SUCCESS);
    assert_int_equal(value, 5);
    assert_int_equal(f.upi->nreads, 0);
    end();
}

static void answer_that_comes_too_late_does_not_reach_the_next_mapping(void **state)
{
    uint64_t value;

    (void)state;
    start(4);
    backend_set(f.upi, has[1], true);
    backend_set(f.upi, hold_reads, true);
    mock_touch(f.object, 1);
    backend_await(f.upi, nwaiting_reads, 1);
    mock_unmap(f.object);
    mock_receiver_wait(f.bucket);
    f.object = mock_map(pager_get_port(f.upi->pager), 4);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_reads, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_SUCCESS);
    end();
}

static void second_kernel_is_refused_and_the_first_goes_on(void **state)
{
    struct mock_object *other;
    uint64_t value;

    (void)state;
    start(4);
    mock_receiver_wait(f.bucket);
    other = mock_map(pager_get_port(f.upi->pager), 4);
    mock_receiver_wait(f.bucket);
    assert_int_equal(mock_said("memory_object_init refused"), 1);
    assert_int_equal(mock_read(other, 0, &value), KERN_MEMORY_ERROR);
    mock_unmap(other);
    assert_int_equal(mock_write(f.object, 0, 3), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 0), 3);
    end();
}

static void shutdown_writes_what_it_has_received_and_drops_the_rest(void **state)
{
    (void)state;
    start(64);
    mock_fill(f.object, 0, 64, 5);
    backend_set(f.upi, hold_writes, true);
    for (size_t i = 0; i < 32; i++)
        assert_true(mock_pageout(f.object, i));
    backend_await(f.upi, nwaiting_writes, 1);
    mock_receiver_wait(f.bucket);
    mock_receiver_hold(f.bucket, true);
    for (size_t i = 32; i < 48; i++)
        assert_true(mock_pageout(f.object, i));
    pager_shutdown(f.upi->pager);
    assert_true(mock_destroyed(f.object));
    assert_false(backend_get(f.upi, cleared));
    mock_receiver_hold(f.bucket, false);
    backend_set(f.upi, hold_writes, false);
    backend_await(f.upi, cleared, true);
    check_disk(0, 32, 5);
    assert_int_equal(backend_value(f.upi, 32), 0);
    end();
}

static void shutdown_ends_a_sync_that_nobody_waits_for(void **state)
{
    (void)state;
    start(4);
    mock_fill(f.object, 0, 4, 5);
    mock_receiver_wait(f.bucket);
    mock_receiver_hold(f.bucket, true);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    pager_shutdown(f.upi->pager);
    assert_true(backend_get(f.upi, cleared));
    mock_receiver_hold(f.bucket, false);
    assert_int_equal(backend_value(f.upi, 0), 0);
    end();
}

static void shutdown_with_a_read_under_way_does_not_answer_it(void **state)
{
    uint64_t value;

    (void)state;
    start(4);
    backend_set(f.upi, has[1], true);
    backend_set(f.upi, hold_reads, true);
    mock_touch(f.object, 1);
    backend_await(f.upi, nwaiting_reads, 1);
    pager_shutdown(f.upi->pager);
    assert_false(backend_get(f.upi, cleared));
    backend_set(f.upi, hold_reads, false);
    backend_await(f.upi, cleared, true);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_MEMORY_ERROR);
    end();
}

static void shutdown_answers_requests_that_wait_for_a_write(void **state)
{
    (void)state;
    start(4);
    mock_fill(f.object, 1, 1, 5);
    backend_set(f.upi, hold_writes, true);
    mock_pageout(f.object, 1);
    mock_touch(f.object, 1);
    mock_receiver_wait(f.bucket);
    pager_shutdown(f.upi->pager);
    backend_set(f.upi, hold_writes, false);
    backend_await(f.upi, cleared, true);
    assert_int_equal(backend_value(f.upi, 1), 5);
    end();
}

static void pager_that_was_never_mapped_is_shut_down_at_once(void **state)
{
    struct user_pager_info *upi = backend_create(backend_bucket(2), 4, false);

    (void)state;
    assert_ptr_equal(pager_get_upi(upi->pager), upi);
    pager_shutdown(upi->pager);
    assert_true(backend_get(upi, cleared));
    backend_destroy(upi, NULL);
}

/* A page that got an error; the client that asked for it has not run yet. The mock kernel would
   stop on it as GNU Mach does. */
static void page_fail(size_t page)
{
    backend_set(f.upi, read_error, EIO);
    mock_touch(f.object, page);
    mock_await_failed(f.object, page);
    backend_set(f.upi, read_error, 0);
}

static void sync_and_flush_leave_out_a_page_that_failed(void **state)
{
    size_t before;

    (void)state;
    start(4);
    mock_fill(f.object, 0, 1, 10);
    mock_fill(f.object, 2, 2, 12);
    page_fail(1);
    before = mock_nlocks();
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(mock_nlocks(), before + 2);
    check_disk(0, 1, 10);
    check_disk(2, 2, 12);
    assert_int_equal(pager_flush(f.upi->pager, 1), 0);
    assert_false(mock_resident(f.object, 0));
    assert_false(mock_resident(f.object, 3));
    end();
}

static void sync_without_waiting_leaves_out_a_page_that_failed(void **state)
{
    (void)state;
    start(4);
    mock_fill(f.object, 0, 1, 10);
    mock_fill(f.object, 2, 2, 12);
    page_fail(1);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    check_disk(0, 1, 10);
    check_disk(2, 2, 12);
    end();
}

static void sync_of_nothing_but_a_page_that_failed_asks_for_nothing(void **state)
{
    size_t before;

    (void)state;
    start(4);
    page_fail(1);
    before = mock_nlocks();
    assert_int_equal(pager_sync_some(f.upi->pager, PAGE, PAGE, 1), 0);
    assert_int_equal(pager_sync_some(f.upi->pager, PAGE, PAGE, 0), 0);
    assert_int_equal(mock_nlocks(), before);
    end();
}

static void page_that_failed_once_and_is_there_now_is_synced(void **state)
{
    uint64_t value;

    (void)state;
    start(4);
    backend_set(f.upi, read_error, EIO);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_MEMORY_ERROR);
    backend_set(f.upi, read_error, 0);
    assert_int_equal(mock_write(f.object, 1, 11), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    check_disk(1, 1, 11);
    end();
}

static void page_that_failed_behind_the_end_is_left_out_when_the_object_has_grown(void **state)
{
    (void)state;
    start(1024);
    backend_set(f.upi, size, 2 * PAGE);
    mock_touch(f.object, 1000);
    mock_await_failed(f.object, 1000);
    backend_set(f.upi, size, 1024 * PAGE);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(mock_write(f.object, 1001, 11), KERN_SUCCESS); /* the map has grown, too */
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    check_disk(1001, 1, 11);
    end();
}

static void page_that_failed_is_not_offered(void **state)
{
    vm_address_t buf;

    (void)state;
    start(4);
    page_fail(1);
    assert_int_equal(vm_allocate(mach_task_self(), &buf, PAGE, TRUE), KERN_SUCCESS);
    assert_int_equal(pager_offer_page(f.upi->pager, 0, 0, PAGE, buf), EBUSY);
    vm_deallocate(mach_task_self(), buf, PAGE);
    end();
}

static void unlock_of_a_page_that_failed_meanwhile_asks_for_nothing(void **state)
{
    size_t before;

    (void)state;
    start(4);
    page_fail(1);
    before = mock_nlocks();
    mock_send_unlock(f.object, PAGE, PAGE);
    backend_await(f.upi, nunlocks, 1);
    assert_int_equal(pager_sync_some(f.upi->pager, PAGE, PAGE, 1), 0);
    assert_int_equal(mock_nlocks(), before);
    end();
}

static void error_waits_for_the_sync_that_is_on_its_way_to_the_page(void **state)
{
    struct syncer syncer;

    (void)state;
    start(8);
    mock_fill(f.object, 0, 2, 10);
    mock_hold_batches(true);
    syncer_start(&syncer, 0, 6);
    mock_await_held(1);
    backend_set(f.upi, read_error, EIO);
    mock_touch(f.object, 4);
    mock_touch(f.object, 7);
    mock_await_failed(f.object, 7); /* outside the range */
    backend_await(f.upi, nreads, 2);
    usleep(BRIEFLY);
    assert_false(mock_failed(f.object, 4));
    mock_hold_batches(false);
    assert_int_equal(syncer_join(&syncer), 0);
    mock_await_failed(f.object, 4);
    check_disk(0, 2, 10);
    end();
}

static void refusal_waits_for_the_sync_that_is_on_its_way_to_the_page(void **state)
{
    struct syncer syncer;

    (void)state;
    start(1024);
    backend_set(f.upi, size, 2 * PAGE);
    mock_fill(f.object, 0, 2, 10);
    mock_hold_batches(true);
    syncer_start(&syncer, 0, 1024);
    mock_await_held(1);
    mock_touch(f.object, 1000); /* beyond the map of pages */
    mock_receiver_wait(f.bucket);
    usleep(BRIEFLY);
    assert_false(mock_failed(f.object, 1000));
    mock_hold_batches(false);
    assert_int_equal(syncer_join(&syncer), 0);
    mock_await_failed(f.object, 1000);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sync_walks_a_large_object_with_two_windows_at_a_time),
        cmocka_unit_test(sync_without_waiting_leaves_the_last_window_to_itself),
        cmocka_unit_test(sync_without_waiting_has_all_windows_but_the_last_written),
        cmocka_unit_test(sync_without_waiting_does_not_take_errors_away),
        cmocka_unit_test(sync_of_a_range_leaves_the_rest_dirty),
        cmocka_unit_test(sync_waits_for_what_was_returned_before_it),
        cmocka_unit_test(sync_of_a_range_does_not_wait_for_what_is_written_outside_it),
        cmocka_unit_test(syncs_of_overlapping_ranges_wait_for_what_the_other_has_taken),
        cmocka_unit_test(syncs_of_separate_ranges_do_not_wait_for_each_other),
        cmocka_unit_test(page_changed_again_while_its_copy_is_held_keeps_the_newer_data),
        cmocka_unit_test(page_evicted_while_its_copy_is_held_is_not_read_from_the_store),
        cmocka_unit_test(page_that_the_kernel_does_not_have_is_read_while_copies_are_held),
        cmocka_unit_test(page_changed_and_evicted_while_its_copy_is_held_keeps_the_newer_data),
        cmocka_unit_test(notified_eviction_while_a_copy_is_held_keeps_the_newer_data),
        cmocka_unit_test(precious_page_evicted_while_its_copy_is_held_is_written),
        cmocka_unit_test(overlapping_syncs_write_no_page_twice),
        cmocka_unit_test(sync_counts_only_what_was_returned_before_its_end),
        cmocka_unit_test(error_during_overlapping_syncs_reaches_each_of_them),
        cmocka_unit_test(flush_drops_what_was_not_written),
        cmocka_unit_test(return_writes_what_it_drops),
        cmocka_unit_test(sync_of_an_object_that_nobody_has_mapped_returns),
        cmocka_unit_test(object_that_ends_while_it_is_synced_is_written_first),
        cmocka_unit_test(lock_request_that_dies_with_its_object_does_not_hang_the_sync),
        cmocka_unit_test(object_mapped_again_gets_what_was_still_being_written),
        cmocka_unit_test(answer_that_comes_too_late_does_not_reach_the_next_mapping),
        cmocka_unit_test(second_kernel_is_refused_and_the_first_goes_on),
        cmocka_unit_test(shutdown_writes_what_it_has_received_and_drops_the_rest),
        cmocka_unit_test(shutdown_ends_a_sync_that_nobody_waits_for),
        cmocka_unit_test(shutdown_with_a_read_under_way_does_not_answer_it),
        cmocka_unit_test(shutdown_answers_requests_that_wait_for_a_write),
        cmocka_unit_test(pager_that_was_never_mapped_is_shut_down_at_once),
        cmocka_unit_test(sync_and_flush_leave_out_a_page_that_failed),
        cmocka_unit_test(sync_without_waiting_leaves_out_a_page_that_failed),
        cmocka_unit_test(sync_of_nothing_but_a_page_that_failed_asks_for_nothing),
        cmocka_unit_test(page_that_failed_once_and_is_there_now_is_synced),
        cmocka_unit_test(page_that_failed_behind_the_end_is_left_out_when_the_object_has_grown),
        cmocka_unit_test(page_that_failed_is_not_offered),
        cmocka_unit_test(unlock_of_a_page_that_failed_meanwhile_asks_for_nothing),
        cmocka_unit_test(error_waits_for_the_sync_that_is_on_its_way_to_the_page),
        cmocka_unit_test(refusal_waits_for_the_sync_that_is_on_its_way_to_the_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
