// SPDX-License-Identifier: GPL-2.0-or-later
#include "memstore.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mock/rt.h"

#define MEMSTORE_LOG   65536u /* writes that are remembered */
#define MEMSTORE_CALLS 16u    /* writes at once */

static struct {
    struct store *store;
    uint8_t *bytes;
    uint64_t nsectors;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    uint8_t *bad;       /* for each sector, what fails */
    uint8_t *hold;      /* for each sector, what waits */
    unsigned int nheld; /* calls that wait */
    uint64_t nsteps;    /* memstore_step */
    struct memstore_write running[MEMSTORE_CALLS];
    struct memstore_write log[MEMSTORE_LOG];
    size_t nlog;
} memstore = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Whether MARKS has HOW for one of these sectors. => locked. */
static bool memstore_marked(const uint8_t *marks, uint64_t sector, uint64_t nsectors,
                            enum memstore_how how)
{
    for (uint64_t i = sector; i < sector + nsectors; i++)
        if (marks[i] & how)
            return true;
    return false;
}

/* Wait while these sectors are held, and say whether they are sound. => locked. */
static error_t memstore_pass(uint64_t sector, uint64_t nsectors, enum memstore_how how)
{
    uint64_t nsteps = memstore.nsteps;

    memstore.nheld++;
    pthread_cond_broadcast(&memstore.changed);
    while (memstore.nsteps == nsteps && memstore_marked(memstore.hold, sector, nsectors, how))
        pthread_cond_wait(&memstore.changed, &memstore.lock);
    memstore.nheld--;
    return memstore_marked(memstore.bad, sector, nsectors, how) ? EIO : 0;
}

static error_t memstore_read(void *hook, uint64_t sector, vm_size_t bytes, vm_address_t *data)
{
    error_t error;

    (void)hook;
    pthread_mutex_lock(&memstore.lock);
    error = memstore_pass(sector, bytes / STORE_SECTOR_BYTES, MEMSTORE_READ);
    if (error == 0) {
        mock_check(vm_allocate(mach_task_self(), data, bytes, TRUE) == KERN_SUCCESS);
        memcpy((void *)*data, memstore.bytes + sector * STORE_SECTOR_BYTES, bytes);
    }
    pthread_mutex_unlock(&memstore.lock);
    return error;
}

/* A write begins; it must not touch what another one does. => locked. */
static struct memstore_write *memstore_begin(const struct memstore_write *write)
{
    struct memstore_write *slot = NULL;

    for (unsigned int i = 0; i < MEMSTORE_CALLS; i++) {
        struct memstore_write *running = &memstore.running[i];

        mock_check(running->sector >= write->sector + write->nsectors ||
                   write->sector >= running->sector + running->nsectors);
        if (running->nsectors == 0)
            slot = running;
    }
    mock_check(slot != NULL);
    *slot = *write;
    return slot;
}

static void memstore_note(const struct memstore_write *write, vm_address_t data)
{
    memcpy(memstore.bytes + write->sector * STORE_SECTOR_BYTES, (const void *)data,
           write->nsectors * STORE_SECTOR_BYTES);
    mock_check(memstore.nlog < MEMSTORE_LOG);
    memstore.log[memstore.nlog++] = *write;
}

static error_t memstore_write(void *hook, uint64_t sector, vm_address_t data, vm_size_t bytes,
                              vm_size_t *written)
{
    struct memstore_write write = {.sector = sector, .nsectors = bytes / STORE_SECTOR_BYTES};
    struct memstore_write *slot;
    error_t error;

    (void)hook;
    pthread_mutex_lock(&memstore.lock);
    slot = memstore_begin(&write);
    error = memstore_pass(sector, write.nsectors, MEMSTORE_WRITE);
    *slot = (struct memstore_write){.nsectors = 0};
    if (error == 0) {
        memstore_note(&write, data);
        *written = bytes;
    }
    pthread_mutex_unlock(&memstore.lock);
    return error;
}

static const struct store_ops memstore_ops = {
    .read = memstore_read,
    .write = memstore_write,
};

struct store *memstore_create(uint8_t *bytes, uint64_t size)
{
    struct store_geometry geometry = {.nsectors = size / STORE_SECTOR_BYTES,
                                      .block_bytes = STORE_SECTOR_BYTES};

    memstore.bytes = bytes;
    memstore.nsectors = geometry.nsectors;
    memstore.bad = calloc(memstore.nsectors, 1);
    memstore.hold = calloc(memstore.nsectors, 1);
    mock_check(memstore.bad != NULL && memstore.hold != NULL);
    mock_check(store_create(MEMSTORE_NAME, &memstore_ops, NULL, &geometry, &memstore.store) == 0);
    return memstore.store;
}

void memstore_report(const char *server)
{
    store_report(memstore.store, server, 0);
}

static void memstore_mark(uint8_t *marks, uint64_t sector, uint64_t nsectors, enum memstore_how how)
{
    pthread_mutex_lock(&memstore.lock);
    for (uint64_t i = sector; i < sector + nsectors; i++)
        marks[i] |= (uint8_t)how;
    pthread_mutex_unlock(&memstore.lock);
}

void memstore_hold(uint64_t sector, uint64_t nsectors, enum memstore_how how)
{
    memstore_mark(memstore.hold, sector, nsectors, how);
}

void memstore_await_held(unsigned int count)
{
    pthread_mutex_lock(&memstore.lock);
    while (memstore.nheld < count)
        pthread_cond_wait(&memstore.changed, &memstore.lock);
    pthread_mutex_unlock(&memstore.lock);
}

void memstore_step(void)
{
    pthread_mutex_lock(&memstore.lock);
    memstore.nsteps++;
    pthread_cond_broadcast(&memstore.changed);
    pthread_mutex_unlock(&memstore.lock);
}

void memstore_release(void)
{
    pthread_mutex_lock(&memstore.lock);
    memset(memstore.hold, 0, memstore.nsectors);
    pthread_cond_broadcast(&memstore.changed);
    pthread_mutex_unlock(&memstore.lock);
}

void memstore_spoil(uint64_t sector, uint64_t nsectors, enum memstore_how how)
{
    memstore_mark(memstore.bad, sector, nsectors, how);
}

void memstore_repair(uint64_t sector, uint64_t nsectors, enum memstore_how how)
{
    pthread_mutex_lock(&memstore.lock);
    for (uint64_t i = sector; i < sector + nsectors; i++)
        memstore.bad[i] &= (uint8_t)~how;
    pthread_mutex_unlock(&memstore.lock);
}

void memstore_look(uint64_t offset, void *to, size_t bytes)
{
    pthread_mutex_lock(&memstore.lock);
    memcpy(to, memstore.bytes + offset, bytes);
    pthread_mutex_unlock(&memstore.lock);
}

size_t memstore_writes(const struct memstore_write **writes)
{
    size_t count;

    pthread_mutex_lock(&memstore.lock);
    *writes = memstore.log;
    count = memstore.nlog;
    pthread_mutex_unlock(&memstore.lock);
    return count;
}

void memstore_forget(void)
{
    pthread_mutex_lock(&memstore.lock);
    memstore.nlog = 0;
    pthread_mutex_unlock(&memstore.lock);
}

unsigned int memstore_nwrites(uint64_t sector)
{
    unsigned int count = 0;

    pthread_mutex_lock(&memstore.lock);
    for (size_t i = 0; i < memstore.nlog; i++)
        count += sector - memstore.log[i].sector < memstore.log[i].nsectors;
    pthread_mutex_unlock(&memstore.lock);
    return count;
}
