// SPDX-License-Identifier: GPL-2.0-or-later
#include "pager/object.h"

#include <stdbool.h>
#include <stdlib.h>

#include "librt/sync.h"
#include "pager/fault.h"

/* Writes of one object that may be under way at a time. */
#define OBJECT_WRITERS 2u

struct object {
    struct user_pager_info {
        uint64_t first_sector;
        vm_size_t size;
        /* One byte a page: whether the store has it. Set by who writes the page, before it can be
           asked for again. */
        bool *written;
    } info;
    struct pager *pager;
    mach_port_t port;
    unsigned int number;
    struct object *next; /* of all; they live as long as the server */
};

static struct {
    struct store *store;
    struct port_bucket *pagers;
    struct rt_mutex lock; /* guards what follows */
    uint64_t next_sector;
    unsigned int count;
    struct object *first;
} objects;

error_t objects_setup(struct store *store, unsigned int nworkers)
{
    struct pager_requests *requests;
    error_t error = ports_create_bucket(&objects.pagers);

    if (error != 0)
        return error;
    objects.store = store;
    rt_mutex_init(&objects.lock, "objects");
    return pager_start_workers_named(objects.pagers, "pager", nworkers, &requests);
}

/* Set aside a number and the sectors of an object of SIZE bytes. */
static error_t objects_reserve(vm_size_t size, uint64_t *first_sector, unsigned int *number)
{
    uint64_t nsectors = size / STORE_SECTOR_BYTES;
    error_t error = 0;

    rt_mutex_lock(&objects.lock);
    if (nsectors > store_size(objects.store) - objects.next_sector)
        error = ENOSPC;
    else {
        *number = ++objects.count;
        *first_sector = objects.next_sector;
        objects.next_sector += nsectors;
    }
    rt_mutex_unlock(&objects.lock);
    return error;
}

static error_t object_init(struct object *object, struct port_bucket *bucket, vm_size_t size)
{
    error_t error = objects_reserve(size, &object->info.first_sector, &object->number);

    if (error != 0)
        return error;
    object->info.size = size;
    object->info.written = calloc(size / vm_page_size, sizeof(*object->info.written));
    if (object->info.written == NULL)
        return ENOMEM;
    object->pager =
        pager_create(&object->info, objects.pagers, FALSE, MEMORY_OBJECT_COPY_NONE, FALSE);
    if (object->pager == NULL)
        goto error_written;
    pager_set_object(object->pager, object->number);
    pager_set_writers(object->pager, OBJECT_WRITERS);
    pager_set_borrowing(object->pager, true);
    if (ports_create_port(bucket, object, &object->port) != 0)
        goto error_pager;
    return 0;

error_pager:
    pager_shutdown(object->pager);
error_written:
    free(object->info.written);
    return ENOMEM;
}

error_t object_create(struct port_bucket *bucket, vm_size_t size, struct object **object)
{
    struct object *created = calloc(1, sizeof(*created));
    error_t error;

    if (created == NULL)
        return ENOMEM;
    error = object_init(created, bucket, size);
    if (error != 0) {
        free(created);
        return error;
    }
    rt_mutex_lock(&objects.lock);
    created->next = objects.first;
    objects.first = created;
    rt_mutex_unlock(&objects.lock);
    *object = created;
    return 0;
}

void objects_write_behind(void)
{
    struct object *object;

    rt_mutex_lock(&objects.lock);
    object = objects.first;
    rt_mutex_unlock(&objects.lock);
    for (; object != NULL; object = object->next)
        pager_write_behind(object->pager);
}

mach_port_t object_port(const struct object *object)
{
    return object->port;
}

unsigned int object_number(const struct object *object)
{
    return object->number;
}

struct pager *object_pager(const struct object *object)
{
    return object->pager;
}

static uint64_t object_sector(const struct user_pager_info *upi, vm_offset_t offset)
{
    return upi->first_sector + offset / STORE_SECTOR_BYTES;
}

error_t pager_read_page(struct user_pager_info *upi, vm_offset_t page, vm_address_t *buf,
                        int *write_lock)
{
    *write_lock = 0;
    *buf = 0;
    fault_in_read();
    if (!upi->written[page / vm_page_size])
        return 0;
    return store_read(objects.store, RT_CLASS_FILE, object_sector(upi, page), vm_page_size, buf);
}

error_t pager_write_pages(struct user_pager_info *upi, vm_offset_t offset, vm_address_t data,
                          vm_size_t length, vm_size_t *written)
{
    error_t error;

    fault_in_write(((struct object *)upi)->pager); /* info is its first member */
    error = store_write(objects.store, RT_CLASS_FILE, object_sector(upi, offset), data, length,
                        written);

    *written -= *written % vm_page_size;
    for (vm_size_t done = 0; done < *written; done += vm_page_size)
        upi->written[(offset + done) / vm_page_size] = true;
    return error;
}

error_t pager_write_page(struct user_pager_info *upi, vm_offset_t page, vm_address_t buf)
{
    vm_size_t written;

    return pager_write_pages(upi, page, buf, vm_page_size, &written);
}

error_t pager_unlock_page(struct user_pager_info *upi, vm_offset_t address)
{
    (void)upi;
    (void)address;
    return 0; /* no page is supplied with a write lock */
}

error_t pager_report_extent(struct user_pager_info *upi, vm_address_t *offset, vm_size_t *size)
{
    *offset = 0;
    *size = upi->size;
    return 0;
}

void pager_notify_evict(struct user_pager_info *upi, vm_offset_t page)
{
    (void)upi;
    (void)page; /* pagers here do not ask for it */
}

void pager_clear_user_data(struct user_pager_info *upi)
{
    (void)upi; /* objects live as long as the server */
}
