// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libpager in random order, held against a model.
 *
 * MACHBED_SEED chooses the order (`make test`: 1; else another in every run; printed),
 * MACHBED_STEPS how long it goes on. The first test is one thread and repeats exactly up to the
 * pager's own threads; in the second, of a twentieth of the steps for each client, clients, syncs
 * and evictions run at once.
 */
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "mock/random.h"

#define NPAGES   ((size_t)160)
#define NOBJECTS 2u
#define NCLIENTS 3u
#define NSYNCERS 2u
#define STEPS    ((uint64_t)100000)

static uint64_t seed;
static uint64_t nsteps;

static void random_policy(uint64_t *random)
{
    size_t npolicies = 1;

    while (pager_policy_at(npolicies) != NULL)
        npolicies++;
    pager_policy_set(pager_policy_at(random_below(random, npolicies)));
    pager_policy_set_merge_max((1 + random_below(random, 60)) * PAGE);
}

/* Have PAGER take its pages for ones that the store has nothing of: a sync may borrow them. */
static void forget_stored(struct pager *pager)
{
    rt_mutex_lock(&pager->level->lock);
    for (size_t i = 0; i < pager->npages; i++)
        pager->pages[i].flags &= (uint16_t)~PAGER_PAGE_STORED;
    rt_mutex_unlock(&pager->level->lock);
}

/* Whether a page's last write failed: its error may also be a read's. */
static bool is_stale(struct pager *pager, size_t page)
{
    bool stale;

    rt_mutex_lock(&pager->level->lock);
    stale = pager_stale_error(pager, page * PAGE, (page + 1) * PAGE) != 0;
    rt_mutex_unlock(&pager->level->lock);
    return stale;
}

/* Whether an error of a page is known: of that page, for those that the kernel has never asked for
   inside the object share one. */
static bool has_error(struct pager *pager, size_t page)
{
    const struct pager_page *entry;
    bool has;

    rt_mutex_lock(&pager->level->lock);
    entry = pager_page_lookup(pager, page * PAGE);
    has = entry != NULL && entry->error != 0;
    rt_mutex_unlock(&pager->level->lock);
    return has;
}

/*
 * One thread. A page whose write may have failed is suspect: it may give an error when it is read,
 * but never old data; unless its eviction was notified, which forgets the error. So does a page
 * that was asked for when it was outside the object, once.
 */

static struct {
    uint64_t random;
    bool notify;
    size_t npages;           /* of the object, for now */
    uint64_t newest[NPAGES]; /* what the client wrote last */
    bool suspect[NPAGES];
    bool bad[NPAGES];
    uint64_t next_value;
    size_t nreported; /* failures that were reported */
} model;

static size_t model_page(void)
{
    return random_below(&model.random, model.npages);
}

static void model_write_page(size_t page)
{
    bool failed = mock_failed(f.object, page);
    uint64_t value = ++model.next_value;

    if (mock_write(f.object, page, value) == KERN_SUCCESS)
        model.newest[page] = value;
    else
        mock_check(model.suspect[page] || failed);
}

static void model_write(void)
{
    model_write_page(model_page());
}

static void model_write_run(void)
{
    size_t page = model_page();
    size_t end = page + 1 + random_below(&model.random, 80);

    for (; page < end && page < model.npages; page++)
        model_write_page(page);
}

static void model_read_page(size_t page)
{
    bool failed = mock_failed(f.object, page);
    uint64_t value;

    if (mock_read(f.object, page, &value) != KERN_SUCCESS)
        mock_check(model.suspect[page] || failed);
    else if (model.notify && model.suspect[page])
        model.newest[page] = value;
    else if (value != model.newest[page])
        mock_fail("page %zu reads %" PRIu64 " and not %" PRIu64, page, value, model.newest[page]);
}

static void model_read(void)
{
    model_read_page(model_page());
}

static void model_pageout(void)
{
    for (size_t i = random_below(&model.random, 20); i > 0; i--)
        mock_pageout(f.object, model_page());
}

/* After a sync that wrote everything the disk is the model; also where pages could not be written
   before, for they were kept, but for those whose eviction was notified. */
static void model_check_disk(void)
{
    for (size_t i = 0; i < model.npages; i++) {
        if (!model.bad[i] && !model.notify)
            model.suspect[i] = false;
        if (!model.suspect[i] && backend_value(f.upi, i) != model.newest[i])
            mock_fail("page %zu is %" PRIu64 " on the disk and not %" PRIu64, i,
                      backend_value(f.upi, i), model.newest[i]);
    }
}

/* A sync's ERROR says whether writes failed since the last one that reported any, or pages of its
   range are still not written. */
static void model_check_error(error_t error, size_t page, size_t npages)
{
    size_t nfailed = backend_get(f.upi, nfailed);
    bool expected = nfailed > model.nreported;

    for (size_t i = page; i < page + npages; i++)
        expected |= is_stale(f.upi->pager, i);
    if (error != (expected ? EIO : 0))
        mock_fail("sync says %d, and %zu writes failed", error, nfailed - model.nreported);
    model.nreported = nfailed;
}

static void model_sync(void)
{
    model_check_error(pager_sync(f.upi->pager, 1), 0, model.npages);
    model_check_disk();
}

static void model_sync_some(void)
{
    size_t page = model_page();
    size_t npages = 1 + random_below(&model.random, model.npages - page);

    if (random_below(&model.random, 2) == 0) {
        mock_check(pager_sync_some(f.upi->pager, page * PAGE, npages * PAGE, 0) == 0);
        return;
    }
    /* or it would be open which failures, of writes outside the range, it has heard of */
    mock_pagers_wait(f.bucket);
    model_check_error(pager_sync_some(f.upi->pager, page * PAGE, npages * PAGE, 1), page, npages);
}

/* A request that a page given back has overtaken is answered all the same, and the answer may come
   when the page has been returned. */
static void model_return(void)
{
    mock_pagers_wait(f.bucket);
    model_check_error(pager_return(f.upi->pager, 1), 0, model.npages);
    model_check_disk();
    for (size_t i = 0; i < NPAGES; i++)
        mock_check(!mock_resident(f.object, i));
}

/* What is flushed is what the disk has, whatever was on its way there. */
static void model_flush(void)
{
    size_t page = model_page();

    mock_pagers_wait(f.bucket);
    model_check_error(pager_flush_some(f.upi->pager, page * PAGE, PAGE, 1), 0, 0);
    mock_pagers_wait(f.bucket);
    model.newest[page] = backend_value(f.upi, page);
    model.suspect[page] = model.bad[page];
    mock_check(!has_error(f.upi->pager, page));
    model_read_page(page);
}

/* What lay behind the end is gone, also when the object grows over it again. */
static void model_resize(void)
{
    size_t npages = 1 + random_below(&model.random, NPAGES);
    uint64_t value;

    mock_pagers_wait(f.bucket); /* as above */
    backend_resize(f.upi, npages);
    for (size_t i = npages; i < model.npages; i++) {
        model.newest[i] = 0;
        model.suspect[i] = model.bad[i];
        mock_check(!mock_resident(f.object, i));
    }
    if (npages < NPAGES)
        mock_check(mock_read(f.object, npages, &value) == KERN_MEMORY_ERROR);
    if (npages < model.npages)
        model.nreported = backend_get(f.upi, nfailed); /* the flush has been told */
    model.npages = npages;
}

static void model_forget(void)
{
    forget_stored(f.upi->pager);
}

static void model_remap(void)
{
    mock_unmap(f.object);
    f.object = mock_map(pager_get_port(f.upi->pager), NPAGES);
    mock_set_batch(f.object, random_below(&model.random, 2) == 0 ? MOCK_BATCH : 100);
}

/* The last client goes while pages that it has touched are on their way. */
static void model_die(void)
{
    for (size_t i = random_below(&model.random, 4); i > 0; i--)
        mock_touch(f.object, model_page());
    model_remap();
}

/* A page begins to fail, or no longer does. */
static void model_fail(void)
{
    size_t page = random_below(&model.random, 8) * 20;

    if (page >= model.npages)
        return;
    mock_pagers_wait(f.bucket);
    model.bad[page] = !model.bad[page];
    model.suspect[page] = true;
    backend_set_bad(f.upi, page, model.bad[page] ? EIO : 0);
}

/* A client asks for a page outside the object, and has not run yet when other things are done. */
static void model_touch(void)
{
    if (model.npages < NPAGES)
        mock_touch(f.object, model.npages + random_below(&model.random, NPAGES - model.npages));
    mock_pagers_wait(f.bucket);
}

static void model_behave(void)
{
    mock_pagers_wait(f.bucket);
    backend_set(f.upi, no_bulk, random_below(&model.random, 4) == 0);
    backend_set(f.upi, bulk_most, random_below(&model.random, 4) * 7 * PAGE);
    backend_set_writers(f.upi, 1 + (unsigned int)random_below(&model.random, 3));
    pager_set_borrowing(f.upi->pager, random_below(&model.random, 4) != 0);
    random_policy(&model.random);
}

static void model_step(void)
{
    static void (*const steps[])(void) = {
        model_write,     model_write,   model_write_run, model_write_run, model_read,
        model_read,      model_pageout, model_pageout,   model_pageout,   model_sync_some,
        model_sync_some, model_sync,    model_return,    model_flush,     model_remap,
        model_fail,      model_behave,  model_resize,    model_die,       model_forget,
        model_touch,
    };

    steps[random_below(&model.random, sizeof(steps) / sizeof(steps[0]))]();
}

static void random_steps_agree_with_a_model(void **state)
{
    (void)state;
    memset(&model, 0, sizeof(model));
    model.random = random_next(&seed);
    model.notify = random_below(&seed, 2) == 0;
    model.npages = NPAGES;
    start_with(NPAGES, model.notify);
    for (uint64_t i = 0; i < nsteps; i++)
        model_step();
    model_sync();
    end();
}

/*
 * Many threads. Each client writes pages of its own, so it knows what it must read; a sync knows
 * what had been written to its range before it began.
 */

static struct {
    struct user_pager_info *upi[NOBJECTS];
    struct mock_object *object[NOBJECTS];
    uint64_t written[NOBJECTS][NPAGES]; /* atomically */
    bool stop;                          /* atomically */
    uint64_t random[NCLIENTS + NSYNCERS + 1];
} many;

static bool many_stopped(void)
{
    return __atomic_load_n(&many.stop, __ATOMIC_ACQUIRE);
}

static void *many_client(void *arg)
{
    uint64_t *random = arg;
    size_t number = (size_t)(random - many.random);

    for (uint64_t i = 0; i < nsteps / 20; i++) {
        size_t object = random_below(random, NOBJECTS);
        size_t page = random_below(random, NPAGES / NCLIENTS) * NCLIENTS + number;
        uint64_t *written = &many.written[object][page];
        uint64_t value;

        mock_check(mock_read(many.object[object], page, &value) == KERN_SUCCESS);
        if (value != *written)
            mock_fail("page %zu reads %" PRIu64 " and not %" PRIu64, page, value, *written);
        mock_check(mock_write(many.object[object], page, value + 1) == KERN_SUCCESS);
        __atomic_store_n(written, value + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void many_sync(size_t object, size_t page, size_t npages)
{
    uint64_t before[NPAGES];

    for (size_t i = page; i < page + npages; i++)
        before[i] = __atomic_load_n(&many.written[object][i], __ATOMIC_ACQUIRE);
    mock_check(pager_sync_some(many.upi[object]->pager, page * PAGE, npages * PAGE, 1) == 0);
    for (size_t i = page; i < page + npages; i++)
        if (backend_value(many.upi[object], i) < before[i])
            mock_fail("page %zu is %" PRIu64 " on the disk after a sync, and was %" PRIu64
                      " before it",
                      i, backend_value(many.upi[object], i), before[i]);
}

static void *many_syncer(void *arg)
{
    uint64_t *random = arg;

    while (!many_stopped()) {
        size_t page = random_below(random, NPAGES);

        forget_stored(many.upi[0]->pager);
        many_sync(random_below(random, NOBJECTS), page, 1 + random_below(random, NPAGES - page));
    }
    return NULL;
}

static void *many_evictor(void *arg)
{
    uint64_t *random = arg;

    while (!many_stopped()) {
        size_t object = random_below(random, NOBJECTS);

        for (size_t i = random_below(random, 30); i > 0; i--)
            mock_pageout(many.object[object], random_below(random, NPAGES));
        if (random_below(random, 10) == 0)
            mock_check(pager_return(many.upi[object]->pager, (int)random_below(random, 2)) == 0);
        random_policy(random);
        sched_yield();
    }
    return NULL;
}

static void many_start(void)
{
    f.bucket = backend_bucket(NWORKERS);
    memset(&many, 0, sizeof(many));
    for (size_t i = 0; i < NOBJECTS; i++) {
        many.upi[i] = backend_create(f.bucket, NPAGES, i == 1);
        many.object[i] = mock_map(pager_get_port(many.upi[i]->pager), NPAGES);
        backend_set_writers(many.upi[i], 3 - (unsigned int)i);
        pager_set_borrowing(many.upi[i]->pager, true); /* of the first: the other wants notices */
    }
    for (size_t i = 0; i < NCLIENTS + NSYNCERS + 1; i++)
        many.random[i] = random_next(&seed);
    mock_set_jitter(true);
}

static void many_end(void)
{
    mock_set_jitter(false);
    for (size_t i = 0; i < NOBJECTS; i++) {
        many_sync(i, 0, NPAGES);
        mock_unmap(many.object[i]);
    }
    mock_receiver_wait(f.bucket);
    pager_shutdown(many.upi[1]->pager);
    backend_await(many.upi[1], cleared, true);
    backend_destroy(many.upi[0], NULL);
    backend_destroy(many.upi[1], NULL);
}

static void clients_syncs_and_evictions_at_once_lose_nothing(void **state)
{
    static void *(*const others[])(void *) = {many_syncer, many_syncer, many_evictor};
    pthread_t threads[NCLIENTS + NSYNCERS + 1];

    (void)state;
    many_start();
    for (size_t i = 0; i < NCLIENTS + NSYNCERS + 1; i++)
        mock_check(pthread_create(&threads[i], NULL,
                                  i < NCLIENTS ? many_client : others[i - NCLIENTS],
                                  &many.random[i]) == 0);
    for (size_t i = 0; i < NCLIENTS; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&many.stop, true, __ATOMIC_RELEASE);
    for (size_t i = NCLIENTS; i < NCLIENTS + NSYNCERS + 1; i++)
        pthread_join(threads[i], NULL);
    many_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_agree_with_a_model),
        cmocka_unit_test(clients_syncs_and_evictions_at_once_lose_nothing),
    };

    seed = environment_number("MACHBED_SEED", (uint64_t)time(NULL));
    nsteps = environment_number("MACHBED_STEPS", STEPS);
    print_message("# MACHBED_SEED=%" PRIu64 " MACHBED_STEPS=%" PRIu64 "\n", seed, nsteps);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
