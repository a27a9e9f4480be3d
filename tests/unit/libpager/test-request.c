// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel asks for: pages and leave to write, beside what is being written. */
#include <sched.h>

#include "fixture.h"
#include "librt/thread.h"

#define BRIEFLY 20u /* ms, in which a flush that does not wait would return */

/* A client that reads or writes a page in a thread of its own. */
struct client {
    pthread_t thread;
    struct mock_object *object;
    size_t page;
    uint64_t value;
    bool write;
    kern_return_t result;
};

static void *client_main(void *arg)
{
    struct client *client = arg;

    client->result = client->write ? mock_write(client->object, client->page, client->value)
                                   : mock_read(client->object, client->page, &client->value);
    return NULL;
}

static void client_start(struct client *client, size_t page)
{
    *client = (struct client){.object = f.object, .page = page};
    mock_check(pthread_create(&client->thread, NULL, client_main, client) == 0);
}

/* Wait until the pager has CLIENT's request. */
static void request_await(const struct client *client)
{
    mock_await_wanted(client->object, client->page);
    mock_receiver_wait(f.bucket);
}

static void client_join(struct client *client)
{
    pthread_join(client->thread, NULL);
}

static void check_read(size_t page, uint64_t expected)
{
    uint64_t value = ~(uint64_t)0;

    assert_int_equal(mock_read(f.object, page, &value), KERN_SUCCESS);
    assert_int_equal(value, expected);
}

static void page_without_data_is_zero(void **state)
{
    (void)state;
    start(4);
    check_read(2, 0);
    assert_int_equal(f.upi->nreads, 1);
    end();
}

static void page_comes_back_from_the_store_after_eviction(void **state)
{
    (void)state;
    start(4);
    assert_int_equal(mock_write(f.object, 2, 77), KERN_SUCCESS);
    assert_int_equal(pager_return(f.upi->pager, 1), 0);
    assert_false(mock_resident(f.object, 2));
    check_read(2, 77);
    assert_int_equal(f.upi->nreads, 2);
    end();
}

static void read_error_is_a_fault_of_the_client_until_it_passes(void **state)
{
    uint64_t value;

    (void)state;
    start(4);
    backend_set(f.upi, read_error, EIO);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_MEMORY_ERROR);
    assert_int_equal(pager_get_error(f.upi->pager, PAGE), EIO);
    backend_set(f.upi, read_error, 0);
    check_read(1, 0);
    assert_int_equal(pager_get_error(f.upi->pager, PAGE), 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0); /* a read's error is not a write's */
    end();
}

static void page_beyond_the_objects_end_is_a_fault_of_the_client(void **state)
{
    uint64_t value;

    (void)state;
    start(4);
    backend_set(f.upi, size, 2 * PAGE);
    assert_int_equal(mock_read(f.object, 2, &value), KERN_MEMORY_ERROR);
    assert_int_equal(f.upi->nreads, 0);
    check_read(1, 0);
    end();
}

static void malformed_requests_are_refused_in_one_line_each(void **state)
{
    (void)state;
    start(4);
    mock_send_request(f.object, 8, PAGE);
    mock_send_request(f.object, 0, 2 * PAGE);
    mock_send_request(f.object, 0, 0);
    mock_send_unlock(f.object, PAGE, 1);
    mock_receiver_wait(f.bucket);
    assert_int_equal(mock_said("request for"), 4);
    assert_int_equal(f.upi->nreads + f.upi->nunlocks, 0);
    check_read(0, 0);
    end();
}

static void request_does_not_wait_behind_a_long_flush(void **state)
{
    (void)state;
    start(1024);
    backend_set(f.upi, hold_writes, true);
    mock_fill(f.object, 0, 1000, 1);
    assert_int_equal(pager_sync(f.upi->pager, 0), 0);
    backend_await(f.upi, nwaiting_writes, 1);
    check_read(1010, 0);
    assert_int_equal(backend_get(f.upi, nwaiting_writes), 1);
    backend_set(f.upi, hold_writes, false);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    end();
}

static void request_does_not_wait_when_every_writer_is_busy(void **state)
{
    struct user_pager_info *others[NWORKERS];
    struct mock_object *objects[NWORKERS];

    (void)state;
    start(4);
    for (size_t i = 0; i < NWORKERS; i++) {
        others[i] = backend_create(f.bucket, 4, false);
        objects[i] = mock_map(pager_get_port(others[i]->pager), 4);
        backend_set(others[i], hold_writes, true);
        mock_fill(objects[i], 0, 1, 1);
        assert_true(mock_pageout(objects[i], 0));
    }
    for (size_t i = 0; i < NWORKERS - 1; i++)
        backend_await(others[i], nwaiting_writes, 1);
    check_read(1, 0);
    assert_int_equal(backend_get(others[NWORKERS - 1], nwaiting_writes), 0);
    for (size_t i = 0; i < NWORKERS; i++)
        backend_set(others[i], hold_writes, false);
    for (size_t i = 0; i < NWORKERS; i++)
        mock_unmap(objects[i]);
    mock_unmap(f.object);
    f.object = NULL;
    mock_receiver_wait(f.bucket);
    for (size_t i = 0; i < NWORKERS; i++)
        backend_await(others[i], has[0], true);
    for (size_t i = 1; i < NWORKERS; i++)
        pager_shutdown(others[i]->pager);
    for (size_t i = 1; i < NWORKERS; i++)
        backend_await(others[i], cleared, true);
    pager_shutdown(f.upi->pager);
    backend_await(f.upi, cleared, true);
    for (size_t i = 0; i < NWORKERS; i++)
        backend_destroy(others[i], NULL);
    end();
}

static void write_out_does_not_wait_when_every_reader_is_busy(void **state)
{
    struct client clients[8];

    (void)state;
    start(64);
    backend_set(f.upi, hold_reads, true);
    for (size_t i = 0; i < 8; i++) {
        client_start(&clients[i], i);
        if (i < NWORKERS - 1)
            backend_await(f.upi, nwaiting_reads, i + 1);
    }
    mock_fill(f.object, 32, 32, 5);
    assert_int_equal(pager_sync_some(f.upi->pager, 32 * PAGE, 32 * PAGE, 1), 0);
    check_disk(32, 32, 5);
    assert_int_equal(backend_get(f.upi, nwaiting_reads), NWORKERS - 1);
    backend_set(f.upi, hold_reads, false);
    for (size_t i = 0; i < 8; i++)
        client_join(&clients[i]);
    end();
}

static void page_being_written_is_answered_from_the_returned_data(void **state)
{
    struct client client;

    (void)state;
    start(4);
    mock_fill(f.object, 0, 4, 10);
    backend_set(f.upi, hold_writes, true);
    assert_true(mock_pageout(f.object, 2));
    backend_await(f.upi, nwaiting_writes, 1);
    client_start(&client, 2);
    request_await(&client);
    assert_false(mock_resident(f.object, 2));
    backend_set(f.upi, hold_writes, false);
    client_join(&client);
    assert_int_equal(client.result, KERN_SUCCESS);
    assert_int_equal(client.value, 12);
    assert_int_equal(f.upi->nreads, 0);
    end();
}

static void page_in_the_middle_of_a_message_is_answered_from_it(void **state)
{
    struct client client;

    (void)state;
    start(MESSAGE_PAGES);
    mock_fill(f.object, 0, MESSAGE_PAGES, 10);
    backend_set(f.upi, hold_writes, true);
    assert_int_equal(pager_return(f.upi->pager, 0), 0);
    backend_await(f.upi, nwaiting_writes, 1);
    client_start(&client, 20);
    request_await(&client);
    backend_set(f.upi, hold_writes, false);
    client_join(&client);
    assert_int_equal(client.value, 30);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    end();
}

static void page_with_two_returns_on_their_way_gets_the_newer(void **state)
{
    struct client client;

    (void)state;
    start(4);
    mock_touch(f.object, 0);
    backend_set(f.upi, hold_writes, true);
    mock_send_return(f.object, 0, 3 * PAGE, 100, TRUE, TRUE);
    backend_await(f.upi, nwaiting_writes, 1);
    mock_send_return(f.object, PAGE, 2 * PAGE, 200, TRUE, FALSE);
    client_start(&client, 2);
    request_await(&client);
    backend_set(f.upi, hold_writes, false);
    client_join(&client);
    assert_int_equal(client.value, 201);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 0), 100);
    check_disk(1, 2, 200);
    end();
}

static void page_that_could_not_be_written_is_kept_if_it_is_wanted(void **state)
{
    struct client client;

    (void)state;
    start(4);
    mock_fill(f.object, 1, 1, 42);
    backend_set_bad(f.upi, 1, EIO);
    backend_set(f.upi, hold_writes, true);
    assert_true(mock_pageout(f.object, 1));
    backend_await(f.upi, nwaiting_writes, 1);
    client_start(&client, 1);
    request_await(&client);
    backend_set(f.upi, hold_writes, false);
    client_join(&client);
    assert_int_equal(client.result, KERN_SUCCESS);
    assert_int_equal(client.value, 42);
    assert_true(mock_precious(f.object, 1));
    backend_set_bad(f.upi, 1, 0);
    assert_int_equal(pager_sync(f.upi->pager, 1), EIO); /* that of the first attempt */
    assert_int_equal(backend_value(f.upi, 1), 42);
    assert_int_equal(pager_get_error(f.upi->pager, PAGE), 0);
    end();
}

static void page_whose_eviction_was_notified_is_read_anew(void **state)
{
    struct client client;

    (void)state;
    start_with(4, true);
    assert_int_equal(mock_write(f.object, 1, 42), KERN_SUCCESS);
    backend_set(f.upi, hold_evicts, true);
    assert_true(mock_pageout(f.object, 1));
    backend_await(f.upi, nevicted, 1);
    client_start(&client, 1);
    request_await(&client);
    backend_set_value(f.upi, 1, 43); /* the server uses the page for something else */
    backend_set(f.upi, hold_evicts, false);
    client_join(&client);
    assert_int_equal(client.value, 43);
    end();
}

static void read_that_a_return_has_overtaken_starts_over(void **state)
{
    (void)state;
    start(4);
    backend_set(f.upi, has[1], true);
    backend_set(f.upi, hold_reads, true);
    mock_touch(f.object, 1);
    backend_await(f.upi, nwaiting_reads, 1);
    mock_send_return(f.object, PAGE, PAGE, 55, TRUE, FALSE);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_reads, false);
    check_read(1, 55);
    end();
}

static void two_clients_that_want_the_same_page_get_it_from_one_read(void **state)
{
    struct client clients[2];

    (void)state;
    start(4);
    backend_set_value(f.upi, 1, 55);
    backend_set(f.upi, hold_reads, true);
    for (size_t i = 0; i < 2; i++)
        client_start(&clients[i], 1);
    backend_await(f.upi, nwaiting_reads, 1);
    backend_set(f.upi, hold_reads, false);
    for (size_t i = 0; i < 2; i++) {
        client_join(&clients[i]);
        assert_int_equal(clients[i].result, KERN_SUCCESS);
        assert_int_equal(clients[i].value, 55);
    }
    assert_int_equal(f.upi->nreads, 1);
    end();
}

/* A client that faulted goes, and the next mapping wants the same page before it was read. */
static void same_page_is_read_for_two_mappings_at_once(void **state)
{
    (void)state;
    start(4);
    backend_set_value(f.upi, 1, 55);
    backend_set(f.upi, hold_reads, true);
    mock_touch(f.object, 1);
    backend_await(f.upi, nwaiting_reads, 1);
    mock_unmap(f.object);
    f.object = mock_map(pager_get_port(f.upi->pager), 4);
    mock_touch(f.object, 1);
    backend_await(f.upi, nwaiting_reads, 2);
    backend_set(f.upi, hold_reads, false);
    check_read(1, 55);
    end();
}

static void requests_for_the_same_page_that_come_twice_are_both_served(void **state)
{
    (void)state;
    start(4);
    backend_set_value(f.upi, 1, 55);
    backend_set(f.upi, hold_reads, true);
    mock_touch(f.object, 1);
    backend_await(f.upi, nwaiting_reads, 1);
    mock_send_request(f.object, PAGE, PAGE);
    backend_await(f.upi, nwaiting_reads, 2);
    backend_set(f.upi, hold_reads, false);
    check_read(1, 55);
    mock_receiver_wait(f.bucket);
    end(); /* the data of the second answer, which no kernel wanted, is not left behind */
}

static void client_that_goes_while_its_page_is_read_leaves_nothing_behind(void **state)
{
    (void)state;
    start(4);
    backend_set_value(f.upi, 1, 55);
    backend_set(f.upi, hold_reads, true);
    mock_touch(f.object, 1);
    /* Or one worker takes both, and reads one after the other. */
    backend_await(f.upi, nwaiting_reads, 1);
    mock_touch(f.object, 2);
    backend_await(f.upi, nwaiting_reads, 2);
    mock_unmap(f.object);
    mock_receiver_wait(f.bucket);
    backend_set(f.upi, hold_reads, false);
    backend_destroy(f.upi, NULL); /* requires that no memory and no rights are left */
}

static void write_locked_page_is_unlocked_by_the_server(void **state)
{
    (void)state;
    start(4);
    backend_set(f.upi, has[1], true);
    backend_set(f.upi, write_lock, true);
    check_read(1, 0);
    assert_int_equal(f.upi->nunlocks, 0);
    assert_int_equal(mock_write(f.object, 1, 5), KERN_SUCCESS);
    assert_int_equal(f.upi->nunlocks, 1);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    assert_int_equal(backend_value(f.upi, 1), 5);
    end();
}

static void page_that_may_not_be_unlocked_faults_writers_and_not_readers(void **state)
{
    (void)state;
    start(4);
    backend_set(f.upi, has[1], true);
    backend_set(f.upi, write_lock, true);
    backend_set(f.upi, unlock_error, ENOSPC);
    check_read(1, 0);
    assert_int_equal(mock_write(f.object, 1, 5), KERN_MEMORY_ERROR);
    assert_int_equal(pager_get_error(f.upi->pager, PAGE), ENOSPC);
    check_read(1, 0);
    backend_set(f.upi, unlock_error, 0);
    assert_true(mock_pageout(f.object, 1)); /* so that it is asked for, for writing */
    assert_int_equal(mock_write(f.object, 1, 5), KERN_SUCCESS);
    end();
}

static void page_that_may_not_be_unlocked_says_so_to_the_next_writer_not_to_a_reader(void **state)
{
    (void)state;
    start(4);
    backend_set(f.upi, has[1], true);
    backend_set(f.upi, unlock_error, ENOSPC);
    check_read(1, 0);
    mock_send_unlock(f.object, PAGE, PAGE);
    while (pager_get_error(f.upi->pager, PAGE) == 0)
        sched_yield();
    mock_await_absent(f.object, 1);
    check_read(1, 0);
    assert_int_equal(pager_get_error(f.upi->pager, PAGE), ENOSPC);
    assert_true(mock_pageout(f.object, 1));
    assert_int_equal(mock_write(f.object, 1, 5), KERN_MEMORY_ERROR);
    assert_int_equal(mock_write(f.object, 1, 5), KERN_SUCCESS);
    end();
}

static void unlock_beyond_the_objects_end_becomes_a_fault(void **state)
{
    (void)state;
    start(4);
    backend_set(f.upi, has[3], true);
    backend_set(f.upi, write_lock, true);
    check_read(3, 0);
    backend_set(f.upi, size, 2 * PAGE);
    assert_int_equal(mock_write(f.object, 3, 5), KERN_MEMORY_ERROR);
    end();
}

static void read_that_is_older_than_a_flush_is_done_again(void **state)
{
    struct client client;

    (void)state;
    start(4);
    backend_set_value(f.upi, 1, 7);
    backend_set(f.upi, hold_reads, true);
    client_start(&client, 1);
    backend_await(f.upi, nwaiting_reads, 1);
    backend_set_value(f.upi, 1, 8);
    assert_int_equal(pager_flush_some(f.upi->pager, PAGE, PAGE, 1), 0);
    backend_set(f.upi, hold_reads, false);
    client_join(&client);
    assert_int_equal(client.value, 8);
    end();
}

static void read_that_is_older_than_a_flush_waits_for_the_kernel(void **state)
{
    struct client client;

    (void)state;
    start(4);
    backend_set(f.upi, hold_reads, true);
    client_start(&client, 3);
    backend_await(f.upi, nwaiting_reads, 1);
    backend_set(f.upi, size, 2 * PAGE);
    mock_receiver_hold(f.bucket, true); /* with the kernel's word that it is done */
    assert_int_equal(pager_flush_some(f.upi->pager, 3 * PAGE, PAGE, 0), 0);
    backend_set(f.upi, hold_reads, false);
    rt_sleep(BRIEFLY);
    assert_true(mock_wanted(f.object, 3));
    mock_receiver_hold(f.bucket, false);
    client_join(&client);
    assert_int_equal(client.result, KERN_MEMORY_ERROR);
    assert_int_equal(f.upi->nreads, 1);
    end();
}

static void request_is_not_answered_from_what_was_returned_before_a_flush(void **state)
{
    struct client client;

    (void)state;
    start(4);
    mock_fill(f.object, 2, 1, 12);
    backend_set(f.upi, hold_writes, true);
    assert_true(mock_pageout(f.object, 2));
    backend_await(f.upi, nwaiting_writes, 1);
    client_start(&client, 2);
    request_await(&client);
    assert_int_equal(pager_flush_some(f.upi->pager, 2 * PAGE, PAGE, 0), 0);
    backend_set(f.upi, hold_writes, false);
    client_join(&client);
    assert_int_equal(client.value, 12); /* it had been on its way to the store before */
    assert_int_equal(f.upi->nreads, 1);
    end();
}

static void request_is_not_answered_from_what_was_sent_before_a_flush(void **state)
{
    struct client client;

    (void)state;
    start(4);
    mock_receiver_wait(f.bucket);
    mock_fill(f.object, 2, 1, 12);
    mock_receiver_hold(f.bucket, true);
    assert_true(mock_pageout(f.object, 2));
    client_start(&client, 2);
    mock_await_wanted(client.object, 2);
    assert_int_equal(pager_flush_some(f.upi->pager, 2 * PAGE, PAGE, 0), 0);
    mock_receiver_hold(f.bucket, false);
    client_join(&client);
    assert_int_equal(client.value, 12);
    assert_int_equal(f.upi->nreads, 1);
    end();
}

static void *flush_main(void *arg)
{
    (void)arg;
    mock_check(pager_flush_some(f.upi->pager, PAGE, PAGE, 1) == 0);
    return NULL;
}

static void flush_drops_a_page_that_is_on_its_way_to_the_kernel(void **state)
{
    struct client client;
    pthread_t flusher;

    (void)state;
    start(4);
    backend_set_value(f.upi, 1, 7);
    mock_hold_supplies(true);
    client_start(&client, 1);
    mock_await_supply();
    backend_set_value(f.upi, 1, 8);
    mock_check(pthread_create(&flusher, NULL, flush_main, NULL) == 0);
    rt_sleep(BRIEFLY);
    mock_hold_supplies(false);
    client_join(&client);
    pthread_join(flusher, NULL);
    check_read(1, 8);
    end();
}

static vm_address_t page_of(uint64_t value)
{
    vm_address_t buf;

    vm_allocate(mach_task_self(), &buf, PAGE, TRUE);
    for (size_t i = 0; i < PAGE / sizeof(value); i++)
        ((uint64_t *)buf)[i] = value;
    return buf;
}

static void offer(int writelock)
{
    vm_address_t buf = page_of(66);

    mock_receiver_wait(f.bucket);
    assert_int_equal(pager_offer_page(f.upi->pager, 0, writelock, PAGE, buf), 0);
    vm_deallocate(mach_task_self(), buf, PAGE);
}

static void offered_page_is_there_without_being_asked_for(void **state)
{
    (void)state;
    start(4);
    offer(0);
    check_read(1, 66);
    assert_int_equal(f.upi->nreads, 0);
    end();
}

/* The kernel might have it, for all that is known, until it was flushed. */
static void offered_page_that_was_cut_off_while_it_was_read_gets_its_error(void **state)
{
    struct client client;

    (void)state;
    start(4);
    offer(0);
    assert_true(mock_pageout(f.object, 1));
    backend_set(f.upi, hold_reads, true);
    client_start(&client, 1);
    backend_await(f.upi, nwaiting_reads, 1);
    backend_set(f.upi, size, PAGE);
    assert_int_equal(pager_flush_some(f.upi->pager, PAGE, PAGE, 1), 0);
    backend_set(f.upi, hold_reads, false);
    client_join(&client);
    assert_int_equal(client.result, KERN_MEMORY_ERROR);
    end();
}

static void error_of_a_page_that_the_kernel_may_have_waits_for_its_flush(void **state)
{
    struct client client;

    (void)state;
    start(4);
    offer(0);
    assert_true(mock_pageout(f.object, 1));
    backend_set(f.upi, size, PAGE);
    client_start(&client, 1);
    request_await(&client);
    rt_sleep(BRIEFLY);
    assert_true(mock_wanted(f.object, 1));
    assert_int_equal(pager_flush_some(f.upi->pager, PAGE, PAGE, 1), 0);
    client_join(&client);
    assert_int_equal(client.result, KERN_MEMORY_ERROR);
    end();
}

static void offered_page_is_not_taken_for_one_of_the_next_kernel(void **state)
{
    uint64_t value;

    (void)state;
    start(4);
    offer(0);
    mock_unmap(f.object);
    mock_receiver_wait(f.bucket);
    f.object = mock_map(pager_get_port(f.upi->pager), 4);
    backend_set(f.upi, size, PAGE);
    assert_int_equal(mock_read(f.object, 1, &value), KERN_MEMORY_ERROR);
    end();
}

static void offers_that_make_no_sense_or_come_at_a_bad_time_are_refused(void **state)
{
    vm_address_t buf = page_of(66);
    struct client client;

    (void)state;
    start(4);
    mock_receiver_wait(f.bucket);
    assert_int_equal(pager_offer_page(f.upi->pager, 0, 0, 4 * PAGE, buf), EINVAL);
    assert_int_equal(pager_offer_page(f.upi->pager, 0, 0, 1, buf), EINVAL);
    backend_set(f.upi, hold_reads, true);
    client_start(&client, 1);
    backend_await(f.upi, nwaiting_reads, 1);
    assert_int_equal(pager_offer_page(f.upi->pager, 0, 0, PAGE, buf), EBUSY);
    backend_set(f.upi, hold_reads, false);
    client_join(&client);
    assert_int_equal(client.value, 0);
    mock_fill(f.object, 2, 1, 8);
    backend_set(f.upi, hold_writes, true);
    mock_pageout(f.object, 2);
    backend_await(f.upi, nwaiting_writes, 1);
    assert_int_equal(pager_offer_page(f.upi->pager, 1, 0, 2 * PAGE, buf), EBUSY);
    backend_set(f.upi, hold_writes, false);
    mock_unmap(f.object);
    f.object = NULL;
    mock_receiver_wait(f.bucket);
    assert_int_equal(pager_offer_page(f.upi->pager, 0, 0, 0, buf), ENXIO);
    vm_deallocate(mach_task_self(), buf, PAGE);
    end();
}

static void page_offered_with_a_write_lock_must_be_unlocked(void **state)
{
    (void)state;
    start(4);
    offer(1);
    assert_int_equal(mock_write(f.object, 1, 5), KERN_SUCCESS);
    assert_int_equal(f.upi->nunlocks, 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_without_data_is_zero),
        cmocka_unit_test(page_comes_back_from_the_store_after_eviction),
        cmocka_unit_test(read_error_is_a_fault_of_the_client_until_it_passes),
        cmocka_unit_test(page_beyond_the_objects_end_is_a_fault_of_the_client),
        cmocka_unit_test(malformed_requests_are_refused_in_one_line_each),
        cmocka_unit_test(request_does_not_wait_behind_a_long_flush),
        cmocka_unit_test(request_does_not_wait_when_every_writer_is_busy),
        cmocka_unit_test(write_out_does_not_wait_when_every_reader_is_busy),
        cmocka_unit_test(page_being_written_is_answered_from_the_returned_data),
        cmocka_unit_test(page_in_the_middle_of_a_message_is_answered_from_it),
        cmocka_unit_test(page_with_two_returns_on_their_way_gets_the_newer),
        cmocka_unit_test(page_that_could_not_be_written_is_kept_if_it_is_wanted),
        cmocka_unit_test(page_whose_eviction_was_notified_is_read_anew),
        cmocka_unit_test(read_that_a_return_has_overtaken_starts_over),
        cmocka_unit_test(two_clients_that_want_the_same_page_get_it_from_one_read),
        cmocka_unit_test(same_page_is_read_for_two_mappings_at_once),
        cmocka_unit_test(requests_for_the_same_page_that_come_twice_are_both_served),
        cmocka_unit_test(client_that_goes_while_its_page_is_read_leaves_nothing_behind),
        cmocka_unit_test(write_locked_page_is_unlocked_by_the_server),
        cmocka_unit_test(page_that_may_not_be_unlocked_faults_writers_and_not_readers),
        cmocka_unit_test(page_that_may_not_be_unlocked_says_so_to_the_next_writer_not_to_a_reader),
        cmocka_unit_test(unlock_beyond_the_objects_end_becomes_a_fault),
        cmocka_unit_test(read_that_is_older_than_a_flush_is_done_again),
        cmocka_unit_test(read_that_is_older_than_a_flush_waits_for_the_kernel),
        cmocka_unit_test(request_is_not_answered_from_what_was_returned_before_a_flush),
        cmocka_unit_test(request_is_not_answered_from_what_was_sent_before_a_flush),
        cmocka_unit_test(flush_drops_a_page_that_is_on_its_way_to_the_kernel),
        cmocka_unit_test(offered_page_is_there_without_being_asked_for),
        cmocka_unit_test(offered_page_that_was_cut_off_while_it_was_read_gets_its_error),
        cmocka_unit_test(error_of_a_page_that_the_kernel_may_have_waits_for_its_flush),
        cmocka_unit_test(offered_page_is_not_taken_for_one_of_the_next_kernel),
        cmocka_unit_test(offers_that_make_no_sense_or_come_at_a_bad_time_are_refused),
        cmocka_unit_test(page_offered_with_a_write_lock_must_be_unlocked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
