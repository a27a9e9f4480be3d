// SPDX-License-Identifier: GPL-2.0-or-later
/* Syncs that move pages out of memory and back instead of having them copied. */
#include <unistd.h>

#include "fixture.h"

#define NPAGES  ((size_t)96)
#define BRIEFLY 20000 /* us, in which what has to wait would have happened */

static pthread_t syncer;
static error_t sync_error;

static void *syncer_main(void *arg)
{
    (void)arg;
    sync_error = pager_sync(f.upi->pager, 1);
    return NULL;
}

/* Pages that the store has nothing of, and a sync of them whose write is held. */
static void start_sync(void)
{
    start_with(NPAGES, false);
    pager_set_borrowing(f.upi->pager, true);
    backend_policy("merge");
    pager_policy_set_merge_max(PAGER_MERGE_DEFAULT);
    mock_fill(f.object, 0, NPAGES, 1);
    backend_set(f.upi, hold_writes, true);
    mock_check(pthread_create(&syncer, NULL, syncer_main, NULL) == 0);
    backend_await(f.upi, nwaiting_writes, 1);
    mock_receiver_wait(f.bucket);
}

static error_t finish_sync(void)
{
    backend_set(f.upi, hold_writes, false);
    pthread_join(syncer, NULL);
    return sync_error;
}

static void check_resident(size_t first, size_t npages, bool resident)
{
    for (size_t i = first; i < first + npages; i++)
        assert_int_equal(mock_resident(f.object, i), resident);
}

static void new_pages_are_moved_out_and_back(void **state)
{
    size_t before = mock_nsupplied();
    uint64_t value;

    (void)state;
    start_sync();
    check_resident(0, NPAGES, false);
    assert_int_equal(mock_memory(), NPAGES * PAGE);
    assert_int_equal(finish_sync(), 0);
    check_disk(0, NPAGES, 1);
    check_resident(0, NPAGES, true);
    assert_int_equal(mock_nsupplied(), before + NPAGES);
    for (size_t i = 0; i < NPAGES; i++) {
        assert_false(mock_dirty(f.object, i) || mock_precious(f.object, i));
        assert_int_equal(mock_read(f.object, i, &value), KERN_SUCCESS);
        assert_int_equal(value, 1 + i);
    }
    assert_int_equal(f.upi->nreads, 0);
    end();
}

/* Sync all pages once more, changed, when memory is so short that they are moved. */
static void sync_again(void)
{
    for (size_t i = 0; i < NPAGES; i++)
        assert_int_equal(mock_write(f.object, i, 1 + i), KERN_SUCCESS);
    mock_set_free(1000);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    mock_set_free(MOCK_FREE);
}

static void more_than_a_piece_comes_back_in_two_messages(void **state)
{
    size_t before;

    (void)state;
    start_sync();
    before = mock_nsupplies();
    assert_int_equal(finish_sync(), 0);
    assert_int_equal(mock_nsupplies(), before + 2);
    end();
}

/* An object that is being terminated, perhaps, is not sent more than its port holds. */
static void without_confirmation_no_more_than_four_messages_are_sent(void **state)
{
    size_t before;

    (void)state;
    mock_set_confirming(false);
    start_sync();
    before = mock_nsupplies();
    assert_int_equal(finish_sync(), 0);
    sync_again();
    assert_int_equal(mock_nsupplies(), before + 4);
    check_resident(0, NPAGES, true);
    sync_again();
    assert_int_equal(mock_nsupplies(), before + 4);
    check_resident(0, NPAGES, false);
    check_disk(0, NPAGES, 1);
    mock_set_confirming(true);
    end();
}

/* The store has them now, so that some may be clean: the kernel would drop those. */
static void pages_that_the_store_has_are_copied(void **state)
{
    (void)state;
    start_sync();
    assert_int_equal(finish_sync(), 0);
    assert_int_equal(mock_write(f.object, 7, 100), KERN_SUCCESS);
    backend_set(f.upi, hold_writes, true);
    mock_check(pthread_create(&syncer, NULL, syncer_main, NULL) == 0);
    backend_await(f.upi, nwaiting_writes, 1);
    check_resident(0, NPAGES, true);
    assert_int_equal(finish_sync(), 0);
    assert_int_equal(backend_value(f.upi, 7), 100);
    end();
}

static void when_memory_is_short_all_pages_are_moved(void **state)
{
    (void)state;
    start_sync();
    assert_int_equal(finish_sync(), 0);
    assert_int_equal(mock_write(f.object, 7, 100), KERN_SUCCESS);
    mock_set_free(1000);
    backend_set(f.upi, hold_writes, true);
    mock_check(pthread_create(&syncer, NULL, syncer_main, NULL) == 0);
    backend_await(f.upi, nwaiting_writes, 1);
    check_resident(0, NPAGES, false);
    assert_int_equal(finish_sync(), 0);
    mock_set_free(MOCK_FREE);
    assert_int_equal(backend_value(f.upi, 7), 100);
    check_resident(7, 1, true);
    end();
}

/* Copies could not be had: the kernel would wait for free pages in the middle of its request. */
static void when_memory_is_short_a_sync_waits_for_answers_on_their_way(void **state)
{
    size_t before;

    (void)state;
    start_sync();
    assert_int_equal(finish_sync(), 0);
    assert_int_equal(mock_write(f.object, 7, 100), KERN_SUCCESS);
    assert_true(mock_pageout(f.object, 3));
    mock_hold_supplies(true);
    mock_touch(f.object, 3);
    mock_await_supply();
    mock_set_free(1000);
    before = mock_nlocks();
    backend_set(f.upi, hold_writes, true);
    mock_check(pthread_create(&syncer, NULL, syncer_main, NULL) == 0);
    usleep(BRIEFLY);
    assert_int_equal(mock_nlocks(), before);
    mock_hold_supplies(false);
    backend_await(f.upi, nwaiting_writes, 1);
    check_resident(0, NPAGES, false);
    assert_int_equal(finish_sync(), 0);
    mock_set_free(MOCK_FREE);
    end();
}

static void pagers_copy_unless_told_to_borrow_or_when_they_want_notices(void **state)
{
    (void)state;
    for (int notify = 0; notify < 2; notify++) {
        start_with(NPAGES, notify);
        pager_set_borrowing(f.upi->pager, notify);
        mock_fill(f.object, 0, NPAGES, 1);
        backend_set(f.upi, hold_writes, true);
        mock_check(pthread_create(&syncer, NULL, syncer_main, NULL) == 0);
        backend_await(f.upi, nwaiting_writes, 1);
        check_resident(0, NPAGES, true);
        assert_int_equal(finish_sync(), 0);
        assert_int_equal(f.upi->nevicted, 0);
        end();
    }
}

static void who_touches_a_borrowed_page_waits_until_it_is_back(void **state)
{
    uint64_t value;

    (void)state;
    start_sync();
    mock_touch(f.object, 40);
    mock_receiver_wait(f.bucket);
    usleep(BRIEFLY);
    check_resident(40, 1, false);
    assert_int_equal(finish_sync(), 0);
    assert_int_equal(mock_read(f.object, 40, &value), KERN_SUCCESS);
    assert_int_equal(value, 41);
    assert_int_equal(f.upi->nreads, 0);
    end();
}

static void pages_that_are_flushed_meanwhile_do_not_come_back(void **state)
{
    (void)state;
    start_sync();
    assert_int_equal(pager_flush_some(f.upi->pager, 40 * PAGE, PAGE, 0), 0);
    assert_int_equal(finish_sync(), 0);
    check_resident(40, 1, false);
    check_disk(0, NPAGES, 1);
    end();
}

static void pages_that_are_returned_meanwhile_do_not_come_back(void **state)
{
    (void)state;
    start_sync();
    assert_int_equal(pager_return_some(f.upi->pager, 0, NPAGES * PAGE, 0), 0);
    assert_int_equal(finish_sync(), 0);
    check_resident(0, NPAGES, false);
    end();
}

static void page_that_cannot_be_written_is_kept_and_tried_again(void **state)
{
    uint64_t value;

    (void)state;
    start_sync();
    backend_set_bad(f.upi, 40, EIO);
    assert_int_equal(finish_sync(), EIO);
    assert_int_equal(pager_get_error(f.upi->pager, 40 * PAGE), EIO);
    backend_set_bad(f.upi, 40, 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    check_disk(0, NPAGES, 1);
    assert_int_equal(mock_read(f.object, 40, &value), KERN_SUCCESS);
    assert_int_equal(value, 41);
    end();
}

/* What the client writes when the page is back is newer than what the sync has written. */
static void page_that_is_back_can_be_changed_and_synced_again(void **state)
{
    (void)state;
    start_sync();
    assert_int_equal(finish_sync(), 0);
    assert_int_equal(mock_write(f.object, 40, 1000), KERN_SUCCESS);
    assert_true(mock_pageout(f.object, 40));
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 40), 1000);
    end();
}

static void object_that_ends_meanwhile_is_written_all_the_same(void **state)
{
    (void)state;
    start_sync();
    mock_unmap(f.object);
    mock_receiver_wait(f.bucket);
    assert_int_equal(finish_sync(), 0);
    check_disk(0, NPAGES, 1);
    backend_destroy(f.upi, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_pages_are_moved_out_and_back),
        cmocka_unit_test(more_than_a_piece_comes_back_in_two_messages),
        cmocka_unit_test(without_confirmation_no_more_than_four_messages_are_sent),
        cmocka_unit_test(pages_that_the_store_has_are_copied),
        cmocka_unit_test(when_memory_is_short_all_pages_are_moved),
        cmocka_unit_test(when_memory_is_short_a_sync_waits_for_answers_on_their_way),
        cmocka_unit_test(pagers_copy_unless_told_to_borrow_or_when_they_want_notices),
        cmocka_unit_test(who_touches_a_borrowed_page_waits_until_it_is_back),
        cmocka_unit_test(pages_that_are_flushed_meanwhile_do_not_come_back),
        cmocka_unit_test(pages_that_are_returned_meanwhile_do_not_come_back),
        cmocka_unit_test(page_that_cannot_be_written_is_kept_and_tried_again),
        cmocka_unit_test(page_that_is_back_can_be_changed_and_synced_again),
        cmocka_unit_test(object_that_ends_meanwhile_is_written_all_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
