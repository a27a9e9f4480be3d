// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two levels at once: to read or write a page of the upper object its server must touch memory of
 * the lower one, as a file server touches its metadata, while both are synced and evicted. It
 * would stop for ever if a thread of the one could come to wait for a thread of the other that
 * waits for it; and where writes are counted in the lower object none must be lost.
 */
#include <inttypes.h>
#include <sched.h>
#include <time.h>

#include "fixture.h"
#include "mock/random.h"

#define NPAGES   ((size_t)96)
#define NCLIENTS 2u

static struct {
    struct user_pager_info *upi[2]; /* 0: the lower one */
    struct mock_object *object[2];
    uint64_t written[NPAGES]; /* by clients, to the upper object */
    bool stop;                /* atomically */
    uint64_t random[NCLIENTS + 2];
} levels;

static uint64_t seed;
static uint64_t nsteps;

static bool stopped(void)
{
    return __atomic_load_n(&levels.stop, __ATOMIC_ACQUIRE);
}

/* Each client has pages of its own. */
static void *client(void *arg)
{
    uint64_t *random = arg;
    size_t number = (size_t)(random - levels.random);

    for (uint64_t i = 0; i < nsteps; i++) {
        size_t page = random_below(random, NPAGES / NCLIENTS) * NCLIENTS + number;
        uint64_t value;

        mock_check(mock_read(levels.object[1], page, &value) == KERN_SUCCESS);
        if (value != levels.written[page])
            mock_fail("page %zu reads %" PRIu64 " and not %" PRIu64, page, value,
                      levels.written[page]);
        mock_check(mock_write(levels.object[1], page, value + 1) == KERN_SUCCESS);
        levels.written[page]++;
    }
    return NULL;
}

static void *syncer(void *arg)
{
    uint64_t *random = arg;

    while (!stopped()) {
        struct pager *pager = levels.upi[random_below(random, 2)]->pager;
        size_t page = random_below(random, NPAGES);

        mock_check(pager_sync_some(pager, page * PAGE, NPAGES / 4 * PAGE,
                                   (int)random_below(random, 2)) == 0);
    }
    return NULL;
}

static void *evictor(void *arg)
{
    uint64_t *random = arg;

    while (!stopped()) {
        for (size_t i = random_below(random, 30); i > 0; i--)
            mock_pageout(levels.object[random_below(random, 2)], random_below(random, NPAGES));
        if (random_below(random, 10) == 0)
            mock_check(pager_return(levels.upi[random_below(random, 2)]->pager, 1) == 0);
        pager_policy_set(pager_policy_at(random_below(random, 5)));
        sched_yield();
    }
    return NULL;
}

static void levels_start(void)
{
    f.bucket = backend_bucket(2); /* as few threads as there can be */
    levels.upi[0] = backend_create(f.bucket, NPAGES, false);
    levels.upi[1] = backend_create(backend_bucket(2), NPAGES, false);
    for (size_t i = 0; i < 2; i++)
        levels.object[i] = mock_map(pager_get_port(levels.upi[i]->pager), NPAGES);
    levels.upi[1]->below = levels.object[0];
    for (size_t i = 0; i < NCLIENTS + 2; i++)
        levels.random[i] = random_next(&seed);
    mock_set_jitter(true);
}

/* What the lower object counts is how often pages of the upper one were written. */
static void levels_check(void)
{
    uint64_t counted = 0;

    mock_set_jitter(false);
    assert_int_equal(pager_sync(levels.upi[1]->pager, 1), 0);
    assert_int_equal(pager_sync(levels.upi[0]->pager, 1), 0);
    for (size_t i = 0; i < NPAGES; i++) {
        assert_int_equal(backend_value(levels.upi[1], i), levels.written[i]);
        counted += backend_value(levels.upi[0], i);
    }
    assert_int_equal(counted, levels.upi[1]->npages_written);
}

static void two_levels_at_once_go_on_and_lose_nothing(void **state)
{
    static void *(*const mains[])(void *) = {client, client, syncer, evictor};
    pthread_t threads[NCLIENTS + 2];

    (void)state;
    levels_start();
    for (size_t i = 0; i < NCLIENTS + 2; i++)
        mock_check(pthread_create(&threads[i], NULL, mains[i], &levels.random[i]) == 0);
    for (size_t i = 0; i < NCLIENTS; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&levels.stop, true, __ATOMIC_RELEASE);
    for (size_t i = NCLIENTS; i < NCLIENTS + 2; i++)
        pthread_join(threads[i], NULL);
    levels_check();
    mock_unmap(levels.object[1]);
    mock_receiver_wait(levels.upi[1]->bucket);
    mock_unmap(levels.object[0]);
    mock_receiver_wait(levels.upi[0]->bucket);
    pager_shutdown(levels.upi[0]->pager);
    backend_await(levels.upi[0], cleared, true);
    backend_destroy(levels.upi[1], NULL);
    backend_destroy(levels.upi[0], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_levels_at_once_go_on_and_lose_nothing),
    };

    seed = environment_number("MACHBED_SEED", (uint64_t)time(NULL));
    nsteps = environment_number("MACHBED_STEPS", 3000);
    print_message("# MACHBED_SEED=%" PRIu64 " MACHBED_STEPS=%" PRIu64 "\n", seed, nsteps);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
