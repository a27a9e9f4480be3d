// SPDX-License-Identifier: GPL-2.0-or-later
/* Several writes of one pager at a time. */
#include <unistd.h>

#include "fixture.h"

#define FAR     ((size_t)2000) /* a page far from all others */
#define LARGEST ((size_t)64)   /* pages */
#define BRIEFLY 20000          /* us, in which another write would have begun */

/* Have a write under way and held, NWRITERS being allowed. */
static void start_busy(unsigned int nwriters)
{
    start(FAR + 1);
    backend_policy("merge");
    pager_policy_set_merge_max(LARGEST * PAGE);
    backend_set_writers(f.upi, nwriters);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, true);
    mock_send_return(f.object, FAR * PAGE, PAGE, 1, TRUE, FALSE);
    backend_await(f.upi, nwaiting_writes, 1);
}

static void queue(size_t page, size_t npages, uint64_t value)
{
    for (size_t done = 0; done < npages; done += MESSAGE_PAGES)
        mock_send_return(f.object, (page + done) * PAGE, MESSAGE_PAGES * PAGE, value + done, TRUE,
                         FALSE);
}

static void finish(void)
{
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
}

/* No more than COUNT writes are under way. */
static void check_waiting(size_t count)
{
    mock_receiver_wait(f.bucket);
    usleep(BRIEFLY);
    assert_int_equal(backend_get(f.upi, nwaiting_writes), count);
}

static void another_write_begins_when_as_much_as_the_largest_is_queued(void **state)
{
    (void)state;
    start_busy(2);
    queue(0, 3 * LARGEST, 1);
    backend_await(f.upi, nwaiting_writes, 2);
    check_waiting(2);
    finish();
    assert_int_equal(f.upi->nbulk, 4);
    check_disk(0, 3 * LARGEST, 1);
    end();
}

static void with_less_queued_the_next_write_waits_and_grows(void **state)
{
    (void)state;
    start_busy(2);
    queue(0, LARGEST / 2, 1);
    check_waiting(1);
    queue(LARGEST / 2, LARGEST / 2, 1 + LARGEST / 2);
    finish();
    assert_int_equal(f.upi->nbulk, 2);
    assert_int_equal(f.upi->bulk_largest, LARGEST * PAGE);
    check_disk(0, LARGEST, 1);
    end();
}

static void one_write_at_a_time_unless_more_are_allowed(void **state)
{
    (void)state;
    start_busy(1);
    queue(0, 4 * LARGEST, 1);
    check_waiting(1);
    finish();
    check_disk(0, 4 * LARGEST, 1);
    end();
}

/* The backend fails when two writes of a page are under way. */
static void write_that_overlaps_one_under_way_waits_for_it(void **state)
{
    (void)state;
    start_busy(3);
    queue(0, LARGEST, 1);
    backend_await(f.upi, nwaiting_writes, 2);
    queue(LARGEST / 2, LARGEST, 1000);
    check_waiting(2);
    backend_step_writes(f.upi, 2);
    finish();
    check_disk(0, LARGEST / 2, 1);
    check_disk(LARGEST / 2, LARGEST, 1000);
    end();
}

static void request_for_a_page_of_either_write_waits_for_that_write(void **state)
{
    uint64_t value;

    (void)state;
    start_busy(2);
    queue(0, LARGEST, 1);
    backend_await(f.upi, nwaiting_writes, 2);
    mock_touch(f.object, 5);
    finish();
    assert_int_equal(mock_read(f.object, 5, &value), KERN_SUCCESS);
    assert_int_equal(value, 6);
    assert_int_equal(f.upi->nreads, 0);
    end();
}

static void sync_waits_for_all_writes(void **state)
{
    (void)state;
    start_busy(2);
    backend_set_bad(f.upi, 3, EIO);
    queue(0, LARGEST, 1);
    backend_await(f.upi, nwaiting_writes, 2);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    check_disk(0, 3, 1);
    check_disk(4, LARGEST - 4, 5);
    end();
}

static void shutdown_waits_for_all_writes(void **state)
{
    (void)state;
    start_busy(2);
    queue(0, 2 * LARGEST, 1);
    backend_await(f.upi, nwaiting_writes, 2);
    mock_receiver_wait(f.bucket);
    mock_unmap(f.object);
    mock_receiver_wait(f.bucket);
    pager_shutdown(f.upi->pager);
    assert_false(backend_get(f.upi, cleared));
    backend_set(f.upi, hold_writes, false);
    backend_await(f.upi, cleared, true);
    check_disk(0, 2 * LARGEST, 1);
    backend_destroy(f.upi, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_write_begins_when_as_much_as_the_largest_is_queued),
        cmocka_unit_test(with_less_queued_the_next_write_waits_and_grows),
        cmocka_unit_test(one_write_at_a_time_unless_more_are_allowed),
        cmocka_unit_test(write_that_overlaps_one_under_way_waits_for_it),
        cmocka_unit_test(request_for_a_page_of_either_write_waits_for_that_write),
        cmocka_unit_test(sync_waits_for_all_writes),
        cmocka_unit_test(shutdown_waits_for_all_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
