// SPDX-License-Identifier: GPL-2.0-or-later
#include "backend.h"

#include <stdlib.h>
#include <string.h>

#include "libpager/policy.h"
#include "mock/rt.h"

#define WORDS (PAGE / sizeof(uint64_t))

struct port_bucket *backend_bucket(unsigned int nworkers)
{
    struct port_bucket *bucket;
    struct pager_requests *requests;

    mock_check(ports_create_bucket(&bucket) == 0);
    mock_check(pager_start_workers_named(bucket, "test", nworkers, &requests) == 0);
    return bucket;
}

struct user_pager_info *backend_create(struct port_bucket *bucket, size_t npages, bool notify)
{
    struct user_pager_info *upi = calloc(1, sizeof(*upi));

    mock_check(upi != NULL);
    upi->bucket = bucket;
    upi->npages = npages;
    upi->size = npages * PAGE;
    upi->disk = calloc(npages, PAGE);
    upi->has = calloc(npages, sizeof(*upi->has));
    upi->bad = calloc(npages, sizeof(*upi->bad));
    upi->busy = calloc(npages, sizeof(*upi->busy));
    upi->nwriters = 1;
    mock_check(upi->disk != NULL && upi->has != NULL && upi->bad != NULL && upi->busy != NULL);
    pthread_mutex_init(&upi->lock, NULL);
    pthread_cond_init(&upi->changed, NULL);
    upi->pager = pager_create(upi, bucket, TRUE, MEMORY_OBJECT_COPY_NONE, notify);
    mock_check(upi->pager != NULL);
    return upi;
}

void backend_destroy(struct user_pager_info *upi, struct mock_object *object)
{
    if (object != NULL)
        mock_unmap(object);
    mock_receiver_wait(upi->bucket);
    if (upi->pager != NULL)
        pager_shutdown(upi->pager);
    backend_await(upi, cleared, true);
    mock_check(mock_memory() == 0);
    mock_check(mock_rights() == 0);
    pthread_mutex_destroy(&upi->lock);
    pthread_cond_destroy(&upi->changed);
    free(upi->disk);
    free(upi->has);
    free(upi->bad);
    free(upi->busy);
    free(upi);
}

uint64_t backend_value(struct user_pager_info *upi, size_t page)
{
    uint64_t *words = upi->disk + page * WORDS;
    uint64_t value;

    pthread_mutex_lock(&upi->lock);
    value = words[0];
    mock_check(memcmp(words, words + 1, PAGE - sizeof(*words)) == 0);
    pthread_mutex_unlock(&upi->lock);
    return value;
}

void backend_set_value(struct user_pager_info *upi, size_t page, uint64_t value)
{
    pthread_mutex_lock(&upi->lock);
    for (size_t i = 0; i < WORDS; i++)
        upi->disk[page * WORDS + i] = value;
    upi->has[page] = true;
    pthread_mutex_unlock(&upi->lock);
}

void backend_set_bad(struct user_pager_info *upi, size_t page, error_t error)
{
    pthread_mutex_lock(&upi->lock);
    upi->bad[page] = error;
    pthread_mutex_unlock(&upi->lock);
}

void backend_step_writes(struct user_pager_info *upi, size_t count)
{
    size_t before = backend_get(upi, nwrites);

    backend_set(upi, nsteps, count);
    backend_await(upi, nwrites, before + count);
}

void backend_set_writers(struct user_pager_info *upi, unsigned int nwriters)
{
    pager_set_writers(upi->pager, nwriters);
    backend_set(upi, nwriters, nwriters);
}

void backend_policy(const char *name)
{
    const struct pager_policy *policy = pager_policy_lookup(name);

    mock_check(policy != NULL);
    pager_policy_set(policy);
}

void backend_resize(struct user_pager_info *upi, size_t npages)
{
    size_t before;

    pthread_mutex_lock(&upi->lock);
    before = (upi->size + PAGE - 1) / PAGE;
    upi->size = npages * PAGE;
    pthread_mutex_unlock(&upi->lock);
    if (npages >= before)
        return;
    pager_flush_some(upi->pager, npages * PAGE, (before - npages) * PAGE, 1);
    pthread_mutex_lock(&upi->lock);
    for (size_t i = npages; i < before; i++) {
        memset(upi->disk + i * WORDS, 0, PAGE);
        upi->has[i] = false;
    }
    pthread_mutex_unlock(&upi->lock);
}

/* Write COUNT pages up to the first that is bad; those behind the end are dropped. => locked. */
static size_t backend_store(struct user_pager_info *upi, size_t page, const void *data,
                            size_t count)
{
    size_t done;

    mock_check(page + count <= upi->npages);
    for (done = 0; done < count && upi->bad[page + done] == 0; done++) {
        if ((page + done) * PAGE >= upi->size)
            continue;
        memcpy(upi->disk + (page + done) * WORDS, (const char *)data + done * PAGE, PAGE);
        upi->has[page + done] = true;
    }
    return done;
}

/* Do with the object below what writing, or reading, COUNT pages of UPI brings with it. */
static void backend_touch_below(struct user_pager_info *upi, size_t page, size_t count, bool write)
{
    uint64_t value;

    if (write)
        __atomic_add_fetch(&upi->npages_written, count, __ATOMIC_RELAXED);
    for (; upi->below != NULL && count > 0; page++, count--) {
        mock_check(mock_read(upi->below, page, &value) == KERN_SUCCESS);
        if (write)
            mock_check(mock_write(upi->below, page, value + 1) == KERN_SUCCESS);
    }
}

/* A write begins: there are not too many, and no other writes one of these pages. => locked; waits
   while writes are held. */
static void backend_write_begin(struct user_pager_info *upi, size_t page, size_t count)
{
    mock_check(upi->nwriting < upi->nwriters && !upi->cleared);
    upi->nwriting++;
    for (size_t i = page; i < page + count; i++) {
        mock_check(!upi->busy[i]);
        upi->busy[i] = true;
    }
    upi->nwaiting_writes++;
    pthread_cond_broadcast(&upi->changed);
    while (upi->hold_writes && upi->nsteps == 0)
        pthread_cond_wait(&upi->changed, &upi->lock);
    if (upi->nsteps > 0)
        upi->nsteps--;
    upi->nwaiting_writes--;
}

static void backend_write_end(struct user_pager_info *upi, size_t page, size_t count)
{
    upi->nwriting--;
    memset(upi->busy + page, 0, count * sizeof(*upi->busy));
    upi->nwrites++;
    pthread_cond_broadcast(&upi->changed);
    pthread_mutex_unlock(&upi->lock);
}

error_t pager_write_pages(struct user_pager_info *upi, vm_offset_t offset, vm_address_t data,
                          vm_size_t length, vm_size_t *written)
{
    error_t error = 0;
    size_t first = offset / PAGE;
    size_t npages = length / PAGE;
    size_t count = npages;
    size_t done;

    mock_check(offset % PAGE == 0 && length % PAGE == 0 && length > 0);
    backend_touch_below(upi, offset / PAGE, count, true);
    pthread_mutex_lock(&upi->lock);
    backend_write_begin(upi, first, npages);
    if (upi->no_bulk || upi->zero_progress) {
        *written = upi->no_bulk ? PAGE : 0; /* what is said with EOPNOTSUPP means nothing */
        error = upi->no_bulk ? EOPNOTSUPP : 0;
        backend_write_end(upi, first, npages);
        return error;
    }
    if (upi->bulk_most != 0 && count > upi->bulk_most / PAGE)
        count = upi->bulk_most / PAGE;
    done = backend_store(upi, offset / PAGE, (void *)data, count);
    if (done < count)
        error = upi->bad[offset / PAGE + done];
    *written = done * PAGE;
    upi->bulk_last = *written;
    if (*written > upi->bulk_largest)
        upi->bulk_largest = *written;
    upi->nbulk++;
    backend_write_end(upi, first, npages);
    return error;
}

error_t pager_write_page(struct user_pager_info *upi, vm_offset_t page, vm_address_t buf)
{
    error_t error = 0;

    mock_check(page % PAGE == 0);
    backend_touch_below(upi, page / PAGE, 1, true);
    pthread_mutex_lock(&upi->lock);
    backend_write_begin(upi, page / PAGE, 1);
    upi->nsingle++;
    if (backend_store(upi, page / PAGE, (void *)buf, 1) == 0) {
        error = upi->bad[page / PAGE];
        upi->nfailed++;
    }
    backend_write_end(upi, page / PAGE, 1);
    return error;
}

error_t pager_read_page(struct user_pager_info *upi, vm_offset_t page, vm_address_t *buf,
                        int *write_lock)
{
    error_t error;

    mock_check(page % PAGE == 0 && page / PAGE < upi->npages);
    backend_touch_below(upi, page / PAGE, 1, false);
    pthread_mutex_lock(&upi->lock);
    mock_check(!upi->cleared);
    upi->nreads++;
    upi->nwaiting_reads++;
    if (upi->has[page / PAGE] && upi->read_error == 0) {
        vm_allocate(mach_task_self(), buf, PAGE, TRUE);
        memcpy((void *)*buf, upi->disk + page / PAGE * WORDS, PAGE);
    } else {
        *buf = 0;
    }
    pthread_cond_broadcast(&upi->changed);
    while (upi->hold_reads)
        pthread_cond_wait(&upi->changed, &upi->lock);
    upi->nwaiting_reads--;
    *write_lock = upi->write_lock;
    error = upi->read_error;
    pthread_mutex_unlock(&upi->lock);
    return error;
}

error_t pager_unlock_page(struct user_pager_info *upi, vm_offset_t address)
{
    error_t error;

    mock_check(address % PAGE == 0 && address / PAGE < upi->npages);
    pthread_mutex_lock(&upi->lock);
    upi->nunlocks++;
    pthread_cond_broadcast(&upi->changed);
    error = upi->unlock_error;
    pthread_mutex_unlock(&upi->lock);
    return error;
}

error_t pager_report_extent(struct user_pager_info *upi, vm_address_t *offset, vm_size_t *size)
{
    *offset = 0;
    *size = backend_get(upi, size);
    return 0;
}

void pager_clear_user_data(struct user_pager_info *upi)
{
    pthread_mutex_lock(&upi->lock);
    mock_check(!upi->cleared && upi->nwriting == 0);
    upi->cleared = true;
    upi->pager = NULL;
    pthread_cond_broadcast(&upi->changed);
    pthread_mutex_unlock(&upi->lock);
}

void pager_notify_evict(struct user_pager_info *upi, vm_offset_t page)
{
    mock_check(page % PAGE == 0 && page / PAGE < upi->npages);
    pthread_mutex_lock(&upi->lock);
    upi->nevicted++;
    pthread_cond_broadcast(&upi->changed);
    while (upi->hold_evicts)
        pthread_cond_wait(&upi->changed, &upi->lock);
    pthread_mutex_unlock(&upi->lock);
}
