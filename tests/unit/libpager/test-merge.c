// SPDX-License-Identifier: GPL-2.0-or-later
/* `merge` and `adaptive`: what becomes one write, and that what is newer wins. */
#include "fixture.h"

#define FAR ((size_t)2000) /* a page far from all others */

/* Have a write under way, and held, so that all that is returned from now on is queued. */
static void start_busy(size_t npages)
{
    start(npages);
    backend_policy("merge");
    pager_policy_set_merge_max(PAGER_MERGE_DEFAULT);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, true);
    mock_send_return(f.object, FAR * PAGE, PAGE, 1, TRUE, FALSE);
    backend_await(f.upi, nwaiting_writes, 1);
}

static void queue(size_t page, size_t npages, uint64_t value)
{
    mock_send_return(f.object, page * PAGE, npages * PAGE, value, TRUE, FALSE);
}

/* Let the disk go on until all is written. Returns how many bulk writes there were, but for the one
   that was under way. */
static size_t finish(void)
{
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    return f.upi->nbulk - 1;
}

static void queued_messages_that_follow_each_other_are_one_write(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    for (size_t i = 0; i < 8; i++)
        queue(32 * i, 32, 1 + 32 * i);
    assert_int_equal(finish(), 1);
    assert_int_equal(f.upi->bulk_largest, 256 * PAGE);
    check_disk(0, 256, 1);
    end();
}

static void messages_that_lie_side_by_side_in_memory_stay_there(void **state)
{
    size_t before;

    (void)state;
    start_busy(FAR + 1);
    before = mock_nmoves();
    mock_memory_adjacent(256);
    for (size_t i = 0; i < 8; i++)
        queue(32 * i, 32, 1 + 32 * i);
    mock_memory_adjacent(0);
    assert_int_equal(finish(), 1);
    assert_int_equal(mock_nmoves(), before);
    check_disk(0, 256, 1);
    end();
}

/* Of the pages 0 to 39 two stretches lie side by side, which another message is between. */
static void stretches_that_lie_side_by_side_are_moved_at_once(void **state)
{
    size_t before;

    (void)state;
    start_busy(FAR + 1);
    before = mock_nmoves();
    mock_memory_adjacent(44);
    queue(20, 8, 21);
    queue(28, 12, 29);
    queue(100, 4, 101);
    queue(0, 4, 1);
    queue(4, 8, 5);
    queue(12, 8, 13);
    mock_memory_adjacent(0);
    assert_int_equal(finish(), 2);
    assert_int_equal(mock_nmoves(), before + 2);
    check_disk(0, 40, 1);
    check_disk(100, 4, 101);
    end();
}

static void order_of_receipt_does_not_matter(void **state)
{
    static const size_t order[] = {5, 2, 7, 0, 3, 1, 6, 4};

    (void)state;
    start_busy(FAR + 1);
    for (size_t i = 0; i < 8; i++)
        queue(order[i], 1, 1 + order[i]);
    assert_int_equal(finish(), 1);
    check_disk(0, 8, 1);
    end();
}

static void no_write_is_larger_than_the_largest(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    pager_policy_set_merge_max(64 * PAGE);
    for (size_t i = 0; i < 9; i++)
        queue(32 * i, 32, 1 + 32 * i);
    assert_int_equal(finish(), 5);
    assert_int_equal(f.upi->bulk_largest, 64 * PAGE);
    check_disk(0, 288, 1);
    end();
}

static void message_that_is_larger_than_the_largest_write_is_cut(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    pager_policy_set_merge_max(5 * PAGE);
    queue(3, 32, 4);
    assert_int_equal(finish(), 7);
    assert_int_equal(f.upi->bulk_largest, 5 * PAGE);
    check_disk(3, 32, 4);
    end();
}

static void hole_ends_a_write(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    queue(0, 4, 1);
    queue(5, 4, 6);
    assert_int_equal(finish(), 2);
    check_disk(0, 4, 1);
    check_disk(5, 4, 6);
    assert_int_equal(backend_value(f.upi, 4), 0);
    end();
}

static void newer_data_of_overlapping_messages_is_written(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    queue(10, 4, 100);
    queue(12, 4, 200);
    queue(8, 3, 300);
    assert_int_equal(finish(), 1);
    check_disk(8, 3, 300);
    assert_int_equal(backend_value(f.upi, 11), 101);
    check_disk(12, 4, 200);
    end();
}

static void messages_that_overlap_stay_together_beyond_the_largest_write(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    pager_policy_set_merge_max(8 * PAGE);
    queue(0, 8, 1000);
    queue(6, 8, 2000); /* would have to wait, and is newer than the next */
    queue(12, 8, 3000);
    queue(5, 1, 4000);
    assert_int_equal(finish(), 3);
    check_disk(0, 5, 1000);
    assert_int_equal(backend_value(f.upi, 5), 4000);
    check_disk(6, 6, 2000);
    check_disk(12, 8, 3000);
    end();
}

static void oldest_message_is_written_first(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    queue(500, 1, 501);
    queue(100, 1, 101);
    queue(501, 1, 502);
    mock_receiver_wait(f.bucket);
    backend_step_writes(f.upi, 1); /* the one that was under way */
    backend_step_writes(f.upi, 1);
    check_disk(500, 2, 501);
    assert_int_equal(backend_value(f.upi, 100), 0);
    assert_int_equal(finish(), 2);
    check_disk(100, 1, 101);
    end();
}

static void clean_pages_are_neither_written_nor_joined(void **state)
{
    uint64_t value;

    (void)state;
    start_busy(FAR + 1);
    backend_set_value(f.upi, 4, 5);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(mock_read(f.object, 4, &value), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    backend_set(f.upi, hold_writes, true);
    mock_send_return(f.object, FAR * PAGE, PAGE, 1, TRUE, FALSE);
    backend_await(f.upi, nwaiting_writes, 1);
    queue(0, 4, 1);
    mock_send_return(f.object, 4 * PAGE, PAGE, 99, FALSE, FALSE);
    queue(5, 4, 6);
    assert_int_equal(finish(), 3); /* FAR again, and two */
    check_disk(0, 9, 1);
    end();
}

static void lone_message_is_written_at_once(void **state)
{
    (void)state;
    start(4);
    backend_policy("merge");
    mock_fill(f.object, 1, 1, 7);
    assert_true(mock_pageout(f.object, 1));
    backend_await(f.upi, nbulk, 1);
    assert_int_equal(backend_value(f.upi, 1), 7);
    end();
}

static void what_comes_during_a_write_joins_what_was_left(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    queue(100, 1, 101);
    queue(0, 1, 1);
    mock_receiver_wait(f.bucket);
    backend_step_writes(f.upi, 1); /* now the worker has both, and writes the first */
    queue(1, 1, 2);
    assert_int_equal(finish(), 2);
    check_disk(0, 2, 1);
    end();
}

static void bad_page_in_the_middle_costs_itself_alone(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    backend_set_bad(f.upi, 40, EIO);
    for (size_t i = 0; i < 4; i++)
        queue(32 * i, 32, 1 + 32 * i);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    check_disk(0, 40, 1);
    check_disk(41, 87, 42);
    for (size_t i = 0; i < 128; i++)
        assert_int_equal(pager_get_error(f.upi->pager, i * PAGE), i == 40 ? EIO : 0);
    end();
}

static void request_for_a_page_of_a_run_gets_its_newest_data(void **state)
{
    uint64_t value;

    (void)state;
    start_busy(FAR + 1);
    queue(0, 4, 10);
    queue(2, 4, 20);
    mock_touch(f.object, 2);
    mock_touch(f.object, 1);
    assert_int_equal(finish(), 1);
    assert_int_equal(mock_read(f.object, 2, &value), KERN_SUCCESS);
    assert_int_equal(value, 20);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_SUCCESS);
    assert_int_equal(value, 11);
    assert_int_equal(f.upi->nreads, 0);
    end();
}

static void without_room_messages_are_written_one_by_one_and_in_order(void **state)
{
    (void)state;
    start_busy(FAR + 1);
    mock_set_no_room(true);
    queue(0, 4, 10);
    queue(2, 4, 20);
    queue(4, 4, 30);
    assert_int_equal(finish(), 3);
    mock_set_no_room(false);
    check_disk(0, 2, 10);
    check_disk(2, 2, 20);
    check_disk(4, 4, 30);
    end();
}

static void default_job_is_128_writes_of_1_mib(void **state)
{
    const size_t npages = 32768;

    (void)state;
    start(npages);
    backend_policy("merge");
    pager_policy_set_merge_max(PAGER_MERGE_DEFAULT);
    mock_receiver_wait(f.bucket);
    mock_receiver_hold(f.bucket, true);
    for (size_t i = 0; i < npages; i += MESSAGE_PAGES)
        queue(i, MESSAGE_PAGES, 1 + i);
    backend_set(f.upi, hold_writes, true);
    mock_receiver_hold(f.bucket, false);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_in_range(f.upi->nbulk, 128, 129); /* the first began when it had heard of 1 MiB */
    assert_int_equal(f.upi->bulk_largest, PAGER_MERGE_DEFAULT);
    check_disk(0, npages, 1);
    end();
}

/* Write 16 MiB; a waiter is there for each of the first NWAITED writes. Returns how long the last
   of these was, or the first when there were none. */
static vm_size_t write_contended(size_t nwaited)
{
    vm_size_t length = 0;

    start_busy(4096 + FAR);
    backend_policy("adaptive");
    mock_send_return(f.object, 4095 * PAGE, PAGE, 1, TRUE, FALSE); /* a new list: a new policy */
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    backend_set(f.upi, hold_writes, true);
    queue(FAR, 1, 1);
    backend_await(f.upi, nwaiting_writes, 1);
    for (size_t i = 0; i < 1024; i += 32)
        queue(i, 32, 1 + i);
    mock_receiver_wait(f.bucket);
    for (size_t i = 0; i <= nwaited; i++) {
        backend_await(f.upi, nwaiting_writes, 1);
        if (i < nwaited)
            pager_policy_contended(f.upi->pager);
        backend_step_writes(f.upi, 1);
        length = backend_get(f.upi, bulk_last);
    }
    return length;
}

static void adaptive_writes_are_as_long_as_merged_ones_when_nobody_waits(void **state)
{
    (void)state;
    write_contended(0);
    assert_int_equal(finish() - 2, 4); /* 4 MiB, after two lone pages */
    assert_int_equal(f.upi->bulk_largest, PAGER_MERGE_DEFAULT);
    check_disk(0, 1024, 1);
    end();
}

static void adaptive_writes_are_half_as_long_each_time_that_somebody_waits(void **state)
{
    (void)state;
    assert_int_equal(write_contended(1), PAGER_MERGE_DEFAULT / 2);
    finish();
    end();
    assert_int_equal(write_contended(3), PAGER_MERGE_DEFAULT / 8);
    finish();
    check_disk(0, 1024, 1);
    end();
}

static void adaptive_writes_are_never_shorter_than_a_disk_command(void **state)
{
    (void)state;
    assert_int_equal(write_contended(9), 8 * PAGE);
    finish();
    end();
}

static void adaptive_writes_grow_again_when_nobody_waits(void **state)
{
    (void)state;
    assert_int_equal(write_contended(5), 8 * PAGE);
    backend_step_writes(f.upi, 1); /* what is left of the first 1 MiB */
    for (size_t i = 3; i < 6; i++) {
        backend_step_writes(f.upi, 1);
        assert_int_equal(backend_get(f.upi, bulk_last), i * 8 * PAGE);
    }
    finish();
    check_disk(0, 1024, 1);
    end();
}

/* A worker that has more and more to do for one pager must see to the next. */
static void busy_pager_does_not_keep_others_from_being_written(void **state)
{
    struct port_bucket *bucket = backend_bucket(2); /* one of them writes */
    struct user_pager_info *upi[2];
    struct mock_object *object[2];

    (void)state;
    backend_policy("merge");
    for (size_t i = 0; i < 2; i++) {
        upi[i] = backend_create(bucket, 16, false);
        object[i] = mock_map(pager_get_port(upi[i]->pager), 16);
    }
    mock_receiver_wait(bucket);
    backend_set(upi[0], hold_writes, true);
    backend_set(upi[1], hold_writes, true);
    mock_send_return(object[0], 0, PAGE, 1, TRUE, FALSE);
    backend_await(upi[0], nwaiting_writes, 1);
    mock_send_return(object[1], 0, PAGE, 2, TRUE, FALSE);
    mock_send_return(object[0], 2 * PAGE, PAGE, 3, TRUE, FALSE);
    mock_receiver_wait(bucket);
    backend_step_writes(upi[0], 1);
    backend_await(upi[1], nwaiting_writes, 1); /* before the rest of the first one's */
    assert_int_equal(backend_get(upi[0], nwaiting_writes), 0);
    backend_set(upi[1], hold_writes, false);
    backend_set(upi[0], hold_writes, false);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pager_sync(upi[i]->pager, 1), 0);
        mock_unmap(object[i]);
    }
    assert_int_equal(backend_value(upi[0], 2), 3);
    mock_receiver_wait(bucket);
    pager_shutdown(upi[1]->pager);
    backend_await(upi[1], cleared, true);
    backend_destroy(upi[0], NULL);
    backend_destroy(upi[1], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queued_messages_that_follow_each_other_are_one_write),
        cmocka_unit_test(messages_that_lie_side_by_side_in_memory_stay_there),
        cmocka_unit_test(stretches_that_lie_side_by_side_are_moved_at_once),
        cmocka_unit_test(order_of_receipt_does_not_matter),
        cmocka_unit_test(no_write_is_larger_than_the_largest),
        cmocka_unit_test(message_that_is_larger_than_the_largest_write_is_cut),
        cmocka_unit_test(hole_ends_a_write),
        cmocka_unit_test(newer_data_of_overlapping_messages_is_written),
        cmocka_unit_test(messages_that_overlap_stay_together_beyond_the_largest_write),
        cmocka_unit_test(oldest_message_is_written_first),
        cmocka_unit_test(clean_pages_are_neither_written_nor_joined),
        cmocka_unit_test(lone_message_is_written_at_once),
        cmocka_unit_test(what_comes_during_a_write_joins_what_was_left),
        cmocka_unit_test(bad_page_in_the_middle_costs_itself_alone),
        cmocka_unit_test(request_for_a_page_of_a_run_gets_its_newest_data),
        cmocka_unit_test(without_room_messages_are_written_one_by_one_and_in_order),
        cmocka_unit_test(default_job_is_128_writes_of_1_mib),
        cmocka_unit_test(adaptive_writes_are_as_long_as_merged_ones_when_nobody_waits),
        cmocka_unit_test(adaptive_writes_are_half_as_long_each_time_that_somebody_waits),
        cmocka_unit_test(adaptive_writes_are_never_shorter_than_a_disk_command),
        cmocka_unit_test(adaptive_writes_grow_again_when_nobody_waits),
        cmocka_unit_test(busy_pager_does_not_keep_others_from_being_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
