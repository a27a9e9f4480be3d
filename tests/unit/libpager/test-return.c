// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel gives back: how it is written, what is refused, where errors go. */
#include <sched.h>
#include <string.h>

#include "fixture.h"

static void message_of_256_pages_becomes_two_writes_of_128(void **state)
{
    (void)state;
    start(256);
    mock_set_batch(f.object, 256);
    mock_fill(f.object, 0, 256, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(f.upi->nbulk, 2);
    assert_int_equal(f.upi->bulk_largest, 128 * PAGE);
    check_disk(0, 256, 7);
    end();
}

static void odd_number_of_pages_leaves_a_single_page_to_chunk2(void **state)
{
    (void)state;
    start(5);
    backend_policy("chunk2");
    mock_fill(f.object, 0, 5, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(f.upi->nbulk, 3);
    check_disk(0, 5, 7);
    end();
}

static void bulk_write_that_stops_early_is_called_again_for_the_rest(void **state)
{
    (void)state;
    start(MESSAGE_PAGES);
    backend_set(f.upi, bulk_most, 5 * PAGE);
    mock_fill(f.object, 0, MESSAGE_PAGES, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(f.upi->nbulk, 7);
    assert_int_equal(f.upi->nsingle, 0);
    check_disk(0, MESSAGE_PAGES, 7);
    end();
}

static void server_without_bulk_writes_gets_single_pages(void **state)
{
    (void)state;
    start(MESSAGE_PAGES);
    backend_set(f.upi, no_bulk, true);
    mock_fill(f.object, 0, MESSAGE_PAGES, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(f.upi->nsingle, MESSAGE_PAGES);
    assert_int_equal(mock_said("pager_write_pages"), 0);
    check_disk(0, MESSAGE_PAGES, 7);
    end();
}

static void bulk_write_without_progress_ends_and_is_complained_about(void **state)
{
    (void)state;
    start(MESSAGE_PAGES);
    backend_set(f.upi, zero_progress, true);
    mock_fill(f.object, 0, MESSAGE_PAGES, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(f.upi->nsingle, MESSAGE_PAGES);
    assert_int_equal(mock_said("pager_write_pages claims"), 1);
    check_disk(0, MESSAGE_PAGES, 7);
    end();
}

static void write_error_reaches_each_sync_until_the_page_was_written(void **state)
{
    (void)state;
    start(8);
    backend_set_bad(f.upi, 3, ENOSPC);
    mock_fill(f.object, 0, 8, 7);
    assert_true(mock_pageout(f.object, 3));
    mock_receiver_wait(f.bucket);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), ENOSPC);
    assert_int_equal(pager_sync(f.upi->pager, 1), ENOSPC);
    assert_int_equal(pager_sync_some(f.upi->pager, 4 * PAGE, 4 * PAGE, 1), 0);
    assert_int_equal(backend_value(f.upi, 3), 0);
    backend_set_bad(f.upi, 3, 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 3), 10);
    assert_int_equal(pager_get_error(f.upi->pager, 3 * PAGE), 0);
    end();
}

/* Whether or not the kernel takes its copy for clean. */
static void page_that_could_not_be_written_is_kept_and_tried_again(void **state)
{
    (void)state;
    start(MESSAGE_PAGES);
    backend_set_bad(f.upi, 0, EIO);
    backend_set_bad(f.upi, 17, EIO);
    backend_set_bad(f.upi, 18, EIO);
    backend_set_bad(f.upi, MESSAGE_PAGES - 1, EIO);
    mock_fill(f.object, 0, MESSAGE_PAGES, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    assert_int_equal(mock_memory(), 4 * PAGE);
    assert_true(mock_pageout(f.object, 17)); /* clean: without a word */
    backend_set_bad(f.upi, 17, 0);
    backend_set_bad(f.upi, 18, 0);
    assert_int_equal(pager_sync_some(f.upi->pager, 16 * PAGE, 2 * PAGE, 1), 0);
    assert_int_equal(backend_value(f.upi, 17), 24);
    assert_int_equal(backend_value(f.upi, 18), 0);
    assert_int_equal(pager_return(f.upi->pager, 1), EIO);
    assert_int_equal(backend_value(f.upi, 18), 25);
    assert_int_equal(mock_memory(), 2 * PAGE);
    end();
}

static void page_that_could_not_be_written_is_not_kept_beside_newer_data(void **state)
{
    (void)state;
    start(4);
    backend_set_bad(f.upi, 1, EIO);
    mock_fill(f.object, 1, 1, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    assert_int_equal(mock_write(f.object, 1, 8), KERN_SUCCESS);
    assert_true(mock_pageout(f.object, 1)); /* fails, too */
    backend_await(f.upi, nfailed, 2);
    backend_set_bad(f.upi, 1, 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO); /* so it was, before */
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 1), 8);
    assert_int_equal(backend_get(f.upi, nwrites), 3 + 2); /* two failed twice: whole, then alone */
    end();
}

static void page_that_could_not_be_written_is_forgotten_when_it_is_flushed(void **state)
{
    (void)state;
    start(4);
    backend_set_bad(f.upi, 1, EIO);
    mock_fill(f.object, 1, 1, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    assert_int_equal(pager_flush(f.upi->pager, 1), 0);
    backend_set_bad(f.upi, 1, 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 1), 0);
    end();
}

static void pages_beyond_what_can_be_kept_are_reported_but_lost(void **state)
{
    size_t nwritten = 0;

    (void)state;
    start(2 * PAGER_KEPT);
    for (size_t i = 0; i < 2 * PAGER_KEPT; i++)
        backend_set_bad(f.upi, i, EIO);
    mock_fill(f.object, 0, 2 * PAGER_KEPT, 1);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    assert_int_equal(mock_memory(), PAGER_KEPT * PAGE);
    for (size_t i = 0; i < 2 * PAGER_KEPT; i++)
        backend_set_bad(f.upi, i, 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    for (size_t i = 0; i < 2 * PAGER_KEPT; i++)
        nwritten += backend_value(f.upi, i) == i + 1;
    assert_int_equal(nwritten, PAGER_KEPT);
    assert_int_equal(pager_flush(f.upi->pager, 1), 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    end();
}

static void first_of_several_write_errors_is_the_one_reported(void **state)
{
    (void)state;
    start(8);
    backend_set_bad(f.upi, 2, ENOSPC);
    backend_set_bad(f.upi, 5, EIO);
    mock_fill(f.object, 0, 8, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), ENOSPC);
    assert_int_equal(pager_get_error(f.upi->pager, 2 * PAGE), ENOSPC);
    assert_int_equal(pager_get_error(f.upi->pager, 5 * PAGE), EIO);
    end();
}

static void first_of_several_write_errors_before_a_sync_is_the_one_reported(void **state)
{
    (void)state;
    start(8);
    backend_set_bad(f.upi, 2, ENOSPC);
    backend_set_bad(f.upi, 5, EIO);
    mock_fill(f.object, 0, 8, 7);
    assert_true(mock_pageout(f.object, 2));
    assert_true(mock_pageout(f.object, 5));
    backend_await(f.upi, nfailed, 2);
    assert_int_equal(pager_sync(f.upi->pager, 1), ENOSPC);
    backend_set_bad(f.upi, 2, 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    end();
}

static void failed_run_costs_the_bad_page_alone(void **state)
{
    (void)state;
    start(MESSAGE_PAGES);
    backend_set_bad(f.upi, 17, EIO);
    mock_fill(f.object, 0, MESSAGE_PAGES, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    assert_int_equal(f.upi->nbulk, 1);
    assert_int_equal(f.upi->nsingle, MESSAGE_PAGES - 17);
    check_disk(0, 17, 7);
    check_disk(18, MESSAGE_PAGES - 18, 7 + 18);
    assert_int_equal(backend_value(f.upi, 17), 0);
    for (size_t i = 0; i < MESSAGE_PAGES; i++)
        assert_int_equal(pager_get_error(f.upi->pager, i * PAGE + 9), i == 17 ? EIO : 0);
    end();
}

static void page_is_without_error_again_when_it_has_been_written(void **state)
{
    uint64_t value;

    (void)state;
    start(4);
    backend_set_bad(f.upi, 1, EIO);
    mock_fill(f.object, 0, 4, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    backend_set_bad(f.upi, 1, 0);
    assert_int_equal(mock_write(f.object, 1, 99), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(pager_get_error(f.upi->pager, PAGE), 0);
    assert_int_equal(backend_value(f.upi, 1), 99);
    assert_true(mock_pageout(f.object, 1));
    backend_set(f.upi, read_error, EIO);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_MEMORY_ERROR);
    backend_set(f.upi, read_error, 0);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_SUCCESS);
    assert_int_equal(value, 99);
    end();
}

static void page_that_was_lost_is_an_error_to_read_until_it_is_flushed(void **state)
{
    uint64_t value = 1;

    (void)state;
    start(4);
    backend_set_bad(f.upi, 1, EIO);
    mock_fill(f.object, 1, 1, 7);
    mock_pageout(f.object, 1);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_MEMORY_ERROR);
    assert_int_equal(backend_get(f.upi, nreads), 0);
    assert_int_equal(pager_flush_some(f.upi->pager, PAGE, PAGE, 1), 0);
    assert_int_equal(pager_get_error(f.upi->pager, PAGE), 0);
    backend_set(f.upi, read_error, EIO);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_MEMORY_ERROR);
    backend_set(f.upi, read_error, 0);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_SUCCESS);
    assert_int_equal(value, 0);
    end();
}

static void return_that_is_not_whole_pages_is_refused_in_one_line(void **state)
{
    (void)state;
    start(8);
    mock_send_return(f.object, 0, PAGE + 8, 7, TRUE, FALSE);
    mock_send_return(f.object, 12, PAGE, 7, TRUE, FALSE);
    mock_receiver_wait(f.bucket);
    assert_int_equal(mock_said("refused: not whole pages"), 2);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(f.upi->nbulk + f.upi->nsingle, 0);
    end();
}

static void return_without_data_is_refused_in_one_line(void **state)
{
    (void)state;
    start(8);
    mock_send_return(f.object, PAGE, 0, 7, TRUE, FALSE);
    mock_receiver_wait(f.bucket);
    assert_int_equal(mock_said("refused: no data"), 1);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    end();
}

static void return_outside_the_object_is_refused_in_one_line(void **state)
{
    (void)state;
    start(8);
    mock_send_return(f.object, 8 * PAGE, PAGE, 7, TRUE, FALSE);
    mock_send_return(f.object, ~(vm_offset_t)0 / PAGE * PAGE, 2 * PAGE, 7, TRUE, FALSE);
    mock_receiver_wait(f.bucket);
    assert_int_equal(mock_said("refused: outside the object"), 2);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(f.upi->nbulk + f.upi->nsingle, 0);
    end();
}

static void message_of_300_pages_is_written_whole_but_for_the_bad_one(void **state)
{
    (void)state;
    for (size_t i = 0; pager_policy_at(i) != NULL; i++) {
        start(300);
        pager_policy_set(pager_policy_at(i));
        pager_policy_set_merge_max(PAGER_MERGE_DEFAULT);
        backend_set_bad(f.upi, 200, EIO);
        mock_send_return(f.object, 0, 300 * PAGE, 7, TRUE, FALSE);
        mock_receiver_wait(f.bucket);
        assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
        for (size_t page = 0; page < 300; page++) {
            assert_int_equal(backend_value(f.upi, page), page == 200 ? 0 : 7 + page);
            assert_int_equal(pager_get_error(f.upi->pager, page * PAGE), page == 200 ? EIO : 0);
        }
        backend_set_bad(f.upi, 200, 0);
        assert_int_equal(pager_sync(f.upi->pager, 1), 0);
        assert_int_equal(backend_value(f.upi, 200), 207);
        assert_int_equal(pager_get_error(f.upi->pager, 200 * PAGE), 0);
        end();
    }
}

static void return_across_the_objects_end_is_written_up_to_it(void **state)
{
    (void)state;
    start(8);
    mock_send_return(f.object, 6 * PAGE, 4 * PAGE, 7, TRUE, FALSE);
    mock_receiver_wait(f.bucket);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(mock_said("clipped"), 1);
    assert_int_equal(f.upi->nbulk, 1);
    check_disk(6, 2, 7);
    end();
}

static void last_page_that_is_partly_inside_is_written_whole(void **state)
{
    (void)state;
    start(8);
    backend_set(f.upi, size, 7 * PAGE + 1);
    mock_fill(f.object, 6, 2, 7);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(mock_said("clipped") + mock_said("refused"), 0);
    check_disk(6, 2, 7);
    end();
}

static void return_from_another_kernel_is_refused_in_one_line(void **state)
{
    struct mock_object *other;

    (void)state;
    start(8);
    mock_receiver_wait(f.bucket);
    other = mock_map(pager_get_port(f.upi->pager), 8);
    mock_send_return(other, 0, PAGE, 7, TRUE, FALSE);
    mock_receiver_wait(f.bucket);
    assert_true(mock_destroyed(other));
    assert_int_equal(mock_said("memory_object_init refused"), 1);
    assert_int_equal(mock_said("refused: not from the kernel"), 1);
    assert_int_equal(mock_write(f.object, 0, 5), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 0), 5);
    mock_unmap(other);
    end();
}

static void precious_page_that_comes_back_clean_is_written_all_the_same(void **state)
{
    vm_address_t buf;

    (void)state;
    start(8);
    assert_int_equal(mock_write(f.object, 0, 1), KERN_SUCCESS);
    vm_allocate(mach_task_self(), &buf, PAGE, TRUE);
    *(uint64_t *)buf = 0;
    assert_int_equal(pager_offer_page(f.upi->pager, 1, 0, 2 * PAGE, buf), 0);
    vm_deallocate(mach_task_self(), buf, PAGE);
    assert_true(mock_precious(f.object, 2));
    assert_false(mock_dirty(f.object, 2));
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_true(f.upi->has[2]);
    end();
}

static void precious_page_that_the_store_has_is_not_written_again(void **state)
{
    uint64_t value;

    (void)state;
    start_with(8, true);
    backend_set(f.upi, has[2], true);
    assert_int_equal(mock_read(f.object, 2, &value), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(f.upi->nbulk, 0);
    assert_int_equal(mock_write(f.object, 2, 9), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(f.upi->nbulk, 1);
    assert_int_equal(backend_value(f.upi, 2), 9);
    end();
}

static void precious_page_of_which_the_store_has_older_data_is_written(void **state)
{
    vm_address_t buf;
    uint64_t value;

    (void)state;
    start(8);
    backend_set(f.upi, has[2], true);
    assert_int_equal(mock_read(f.object, 2, &value), KERN_SUCCESS);
    assert_int_equal(pager_flush(f.upi->pager, 1), 0);
    vm_allocate(mach_task_self(), &buf, PAGE, TRUE);
    memset((void *)buf, 0x11, PAGE);
    assert_int_equal(pager_offer_page(f.upi->pager, 1, 0, 2 * PAGE, buf), 0);
    vm_deallocate(mach_task_self(), buf, PAGE);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 2), 0x1111111111111111);
    end();
}

static void precious_page_evicted_behind_a_failed_write_is_tried_again(void **state)
{
    (void)state;
    start_with(8, true);
    backend_set(f.upi, has[2], true);
    assert_int_equal(mock_write(f.object, 2, 9), KERN_SUCCESS);
    backend_set_bad(f.upi, 2, EIO);
    backend_set(f.upi, hold_writes, true);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    backend_await(f.upi, nwaiting_writes, 1);
    mock_receiver_wait(f.bucket);
    assert_true(mock_pageout(f.object, 2));
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO);
    assert_int_equal(f.upi->nfailed, 2);
    end();
}

static void eviction_is_notified_after_the_page_was_written(void **state)
{
    (void)state;
    start_with(8, true);
    assert_int_equal(mock_write(f.object, 2, 9), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_get(f.upi, nevicted), 0);
    assert_int_equal(mock_write(f.object, 2, 10), KERN_SUCCESS);
    backend_set(f.upi, hold_writes, true);
    assert_true(mock_pageout(f.object, 2));
    backend_await(f.upi, nwaiting_writes, 1);
    assert_int_equal(backend_get(f.upi, nevicted), 0);
    backend_set(f.upi, hold_writes, false);
    backend_await(f.upi, nevicted, 1);
    assert_int_equal(backend_value(f.upi, 2), 10);
    end();
}

static void page_that_is_wanted_again_is_not_notified_as_evicted(void **state)
{
    uint64_t value;

    (void)state;
    start_with(8, true);
    assert_int_equal(mock_write(f.object, 2, 9), KERN_SUCCESS);
    assert_int_equal(mock_write(f.object, 3, 10), KERN_SUCCESS);
    backend_set(f.upi, hold_writes, true);
    mock_pageout(f.object, 2);
    mock_pageout(f.object, 3);
    mock_touch(f.object, 2);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(mock_read(f.object, 2, &value), KERN_SUCCESS);
    assert_int_equal(value, 9);
    backend_await(f.upi, nevicted, 1);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_get(f.upi, nevicted), 1);
    end();
}

static void two_objects_are_written_at_the_same_time(void **state)
{
    struct user_pager_info *other;
    struct mock_object *object;

    (void)state;
    start(8);
    other = backend_create(f.bucket, 8, false);
    object = mock_map(pager_get_port(other->pager), 8);
    backend_set(f.upi, hold_writes, true);
    backend_set(other, hold_writes, true);
    mock_fill(f.object, 0, 8, 1);
    mock_fill(object, 0, 8, 1);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    assert_int_equal(pager_sync(other->pager, 0), 0);
    backend_await(f.upi, nwaiting_writes, 1);
    backend_await(other, nwaiting_writes, 1);
    backend_set(f.upi, hold_writes, false);
    backend_set(other, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(pager_sync(other->pager, 1), 0);
    mock_unmap(object);
    object = NULL;
    mock_unmap(f.object);
    f.object = NULL;
    mock_receiver_wait(f.bucket);
    backend_destroy(other, object);
    end();
}

static void more_messages_than_nodes_wait_in_the_port_and_are_all_written(void **state)
{
    size_t nmessages = 3 * PAGER_NODES;

    (void)state;
    start(2 * nmessages);
    backend_set(f.upi, hold_writes, true);
    for (size_t i = 0; i < nmessages; i++)
        mock_fill(f.object, 2 * i, 1, i + 1);
    for (size_t i = 0; i < nmessages; i++)
        assert_true(mock_pageout(f.object, 2 * i));
    backend_await(f.upi, nwaiting_writes, 1);
    while (mock_queued(f.bucket) > 2 * PAGER_NODES - 1)
        sched_yield();
    assert_int_equal(mock_queued(f.bucket), 2 * PAGER_NODES - 1); /* one waits for its node */
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    for (size_t i = 0; i < nmessages; i++)
        assert_int_equal(backend_value(f.upi, 2 * i), i + 1);
    end();
}

static void counters_are_printed_for_both_classes(void **state)
{
    (void)state;
    start(8);
    pager_set_class(f.upi->pager, RT_CLASS_META);
    assert_int_equal(mock_write(f.object, 0, 1), KERN_SUCCESS);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    pager_counters_emit("test");
    assert_int_equal(mock_said("server=test layer=data_request class=file count="), 1);
    assert_int_equal(mock_said("server=test layer=data_return class=file count="), 1);
    assert_int_equal(mock_said("layer=data_request class=meta count=1 bytes=4096 max=4096 "
                               "hist=4096:1"),
                     1);
    assert_int_equal(mock_said("layer=data_return class=meta count=1 bytes=4096 max=4096 "
                               "hist=4096:1"),
                     1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_of_256_pages_becomes_two_writes_of_128),
        cmocka_unit_test(odd_number_of_pages_leaves_a_single_page_to_chunk2),
        cmocka_unit_test(bulk_write_that_stops_early_is_called_again_for_the_rest),
        cmocka_unit_test(server_without_bulk_writes_gets_single_pages),
        cmocka_unit_test(bulk_write_without_progress_ends_and_is_complained_about),
        cmocka_unit_test(write_error_reaches_each_sync_until_the_page_was_written),
        cmocka_unit_test(page_that_could_not_be_written_is_kept_and_tried_again),
        cmocka_unit_test(page_that_could_not_be_written_is_not_kept_beside_newer_data),
        cmocka_unit_test(page_that_could_not_be_written_is_forgotten_when_it_is_flushed),
        cmocka_unit_test(pages_beyond_what_can_be_kept_are_reported_but_lost),
        cmocka_unit_test(first_of_several_write_errors_is_the_one_reported),
        cmocka_unit_test(first_of_several_write_errors_before_a_sync_is_the_one_reported),
        cmocka_unit_test(failed_run_costs_the_bad_page_alone),
        cmocka_unit_test(page_is_without_error_again_when_it_has_been_written),
        cmocka_unit_test(page_that_was_lost_is_an_error_to_read_until_it_is_flushed),
        cmocka_unit_test(return_that_is_not_whole_pages_is_refused_in_one_line),
        cmocka_unit_test(return_without_data_is_refused_in_one_line),
        cmocka_unit_test(return_outside_the_object_is_refused_in_one_line),
        cmocka_unit_test(message_of_300_pages_is_written_whole_but_for_the_bad_one),
        cmocka_unit_test(return_across_the_objects_end_is_written_up_to_it),
        cmocka_unit_test(last_page_that_is_partly_inside_is_written_whole),
        cmocka_unit_test(return_from_another_kernel_is_refused_in_one_line),
        cmocka_unit_test(precious_page_that_comes_back_clean_is_written_all_the_same),
        cmocka_unit_test(precious_page_that_the_store_has_is_not_written_again),
        cmocka_unit_test(precious_page_of_which_the_store_has_older_data_is_written),
        cmocka_unit_test(precious_page_evicted_behind_a_failed_write_is_tried_again),
        cmocka_unit_test(eviction_is_notified_after_the_page_was_written),
        cmocka_unit_test(page_that_is_wanted_again_is_not_notified_as_evicted),
        cmocka_unit_test(two_objects_are_written_at_the_same_time),
        cmocka_unit_test(more_messages_than_nodes_wait_in_the_port_and_are_all_written),
        cmocka_unit_test(counters_are_printed_for_both_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
