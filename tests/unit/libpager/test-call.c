// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls that are about pagers and levels as such. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "mock/task.h"

static void attributes_are_told_to_the_kernel_that_has_the_object(void **state)
{
    (void)state;
    start(4);
    mock_receiver_wait(f.bucket);
    assert_int_equal(mock_may_cache(f.object), TRUE);
    pager_change_attributes(f.upi->pager, FALSE, MEMORY_OBJECT_COPY_DELAY, 1);
    assert_int_equal(mock_may_cache(f.object), FALSE);
    assert_int_equal(mock_copy_strategy(f.object), MEMORY_OBJECT_COPY_DELAY);
    pager_change_attributes(f.upi->pager, TRUE, MEMORY_OBJECT_COPY_NONE, 0);
    assert_int_equal(mock_may_cache(f.object), TRUE);
    end();
}

static void attributes_are_told_to_the_next_kernel(void **state)
{
    (void)state;
    f.bucket = backend_bucket(NWORKERS);
    f.upi = backend_create(f.bucket, 4, false);
    pager_change_attributes(f.upi->pager, FALSE, MEMORY_OBJECT_COPY_DELAY, 1); /* nobody to ask */
    f.object = mock_map(pager_get_port(f.upi->pager), 4);
    mock_receiver_wait(f.bucket);
    assert_int_equal(mock_may_cache(f.object), FALSE);
    assert_int_equal(mock_copy_strategy(f.object), MEMORY_OBJECT_COPY_DELAY);
    end();
}

struct changer {
    pthread_t thread;
    bool done; /* atomically */
};

static void *changer_main(void *arg)
{
    struct changer *changer = arg;

    pager_change_attributes(f.upi->pager, FALSE, MEMORY_OBJECT_COPY_DELAY, 1);
    __atomic_store_n(&changer->done, true, __ATOMIC_RELEASE);
    return NULL;
}

static void change_of_attributes_ends_with_the_object(void **state)
{
    struct changer changer = {.done = false};

    (void)state;
    start(4);
    mock_receiver_wait(f.bucket);
    mock_receiver_hold(f.bucket, true);
    mock_check(pthread_create(&changer.thread, NULL, changer_main, &changer) == 0);
    while (mock_may_cache(f.object))
        sched_yield();
    assert_false(__atomic_load_n(&changer.done, __ATOMIC_ACQUIRE));
    mock_unmap(f.object);
    f.object = NULL;
    mock_receiver_hold(f.bucket, false);
    pthread_join(changer.thread, NULL);
    end();
}

static void inhibited_workers_finish_what_they_do_and_begin_nothing(void **state)
{
    struct pager_requests *level;
    uint64_t value;

    (void)state;
    start(8);
    level = pager_level_lookup(f.bucket);
    assert_int_equal(mock_write(f.object, 0, 1), KERN_SUCCESS);
    assert_int_equal(pager_inhibit_workers(level), 0);
    assert_int_equal(pager_inhibit_workers(level), 0);
    mock_fill(f.object, 1, 1, 7);
    assert_true(mock_pageout(f.object, 1));
    mock_touch(f.object, 2);
    mock_receiver_wait(f.bucket);
    pager_resume_workers(level);
    sched_yield();
    assert_int_equal(backend_get(f.upi, nwrites), 0);
    assert_int_equal(backend_get(f.upi, nreads), 1);
    pager_resume_workers(level);
    backend_await(f.upi, nwrites, 1);
    assert_int_equal(mock_read(f.object, 2, &value), KERN_SUCCESS);
    end();
}

static void pager_can_be_created_with_memory_for_its_server(void **state)
{
    struct user_pager_info *upi;
    struct pager *pager;

    (void)state;
    pager =
        pager_create_alloc(sizeof(*upi), backend_bucket(2), TRUE, MEMORY_OBJECT_COPY_NONE, FALSE);
    assert_non_null(pager);
    upi = pager_get_upi(pager);
    assert_int_equal(upi->npages, 0);
    pthread_mutex_init(&upi->lock, NULL);
    pthread_cond_init(&upi->changed, NULL);
    pager_shutdown(pager); /* the address sanitizer would tell of what is left */
}

/* Bytes of the object at OFFSET: page I holds I + 1 in each word. */
static void expect_bytes(const unsigned char *bytes, vm_offset_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint64_t word = (offset + i) / PAGE + 1;

        assert_int_equal(bytes[i], (unsigned char)(word >> 8 * ((offset + i) % 8)));
    }
}

static mach_port_t object_right(void)
{
    mach_port_t port = pager_get_port(f.upi->pager);

    mock_check(mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND) ==
               KERN_SUCCESS);
    return port;
}

static void start_copying(size_t npages)
{
    start(npages);
    mock_unmap(f.object);
    f.object = NULL;
    mock_receiver_wait(f.bucket);
    for (size_t i = 0; i < npages; i++)
        backend_set_value(f.upi, i, i + 1);
}

static void bytes_are_copied_out_of_an_object(void **state)
{
    static const vm_offset_t offsets[] = {0, 1, PAGE - 1, 3 * PAGE + 17};
    size_t size = 700 * PAGE; /* several windows */
    unsigned char *bytes = malloc(size);
    size_t done;

    (void)state;
    start_copying(704);
    object_right();
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        done = size - i;
        assert_int_equal(
            pager_memcpy(f.upi->pager, f.upi->pager->port, offsets[i], bytes, &done, VM_PROT_READ),
            0);
        assert_int_equal(done, size - i);
        expect_bytes(bytes, offsets[i], done);
    }
    mach_port_deallocate(mach_task_self(), f.upi->pager->port);
    free(bytes);
    end();
}

static void bytes_are_copied_into_an_object(void **state)
{
    unsigned char bytes[2 * PAGE];
    size_t done = sizeof(bytes);
    uint64_t words[PAGE / 8];

    (void)state;
    start_copying(8);
    object_right();
    memset(bytes, 0x5a, sizeof(bytes));
    assert_int_equal(pager_memcpy(f.upi->pager, f.upi->pager->port, 2 * PAGE + PAGE / 2, bytes,
                                  &done, VM_PROT_READ | VM_PROT_WRITE),
                     0);
    assert_int_equal(done, sizeof(bytes));
    assert_int_equal(pager_sync(f.upi->pager, 1), 0); /* nobody maps it any more: it is written */
    for (size_t i = 0; i < 3; i++) {
        memcpy(words, f.upi->disk + (2 + i) * (PAGE / 8), PAGE);
        assert_int_equal(words[0], i == 0 ? 3 : 0x5a5a5a5a5a5a5a5a);
        assert_int_equal(words[PAGE / 8 - 1], i == 2 ? 5 : 0x5a5a5a5a5a5a5a5a);
    }
    mach_port_deallocate(mach_task_self(), f.upi->pager->port);
    end();
}

static void copy_says_how_far_it_got_when_memory_fails(void **state)
{
    unsigned char bytes[4 * PAGE];
    size_t done = sizeof(bytes);

    (void)state;
    start_copying(8);
    object_right();
    backend_set(f.upi, read_error, EIO);
    assert_int_equal(pager_memcpy(f.upi->pager, f.upi->pager->port, 5, bytes, &done, VM_PROT_READ),
                     EIO);
    assert_int_equal(done, 0);
    assert_int_equal(pager_get_error(f.upi->pager, 5), EIO);
    backend_set(f.upi, read_error, 0);
    done = 2 * PAGE;
    assert_int_equal(pager_memcpy(f.upi->pager, f.upi->pager->port, 0, mock_bad_memory(2 * PAGE),
                                  &done, VM_PROT_READ),
                     EIO);
    assert_int_equal(done, 0);
    mach_port_deallocate(mach_task_self(), f.upi->pager->port);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_are_told_to_the_kernel_that_has_the_object),
        cmocka_unit_test(attributes_are_told_to_the_next_kernel),
        cmocka_unit_test(change_of_attributes_ends_with_the_object),
        cmocka_unit_test(inhibited_workers_finish_what_they_do_and_begin_nothing),
        cmocka_unit_test(pager_can_be_created_with_memory_for_its_server),
        cmocka_unit_test(bytes_are_copied_out_of_an_object),
        cmocka_unit_test(bytes_are_copied_into_an_object),
        cmocka_unit_test(copy_says_how_far_it_got_when_memory_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
