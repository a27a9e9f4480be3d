// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define DEVICE_HELD_MAX 8u /* what struct ext2_ops promises */

static void device_require(bool condition, const char *rule)
{
    if (condition)
        return;
    fprintf(stderr, "libext2 broke a rule: %s\n", rule);
    abort();
}

static struct device_held **device_find(struct device *device, uint64_t offset)
{
    struct device_held **link = &device->held;
    while (*link != NULL && (*link)->offset != offset)
        link = &(*link)->next;
    return link;
}

static error_t device_hold(struct device *device, uint64_t offset, uint32_t length,
                           enum ext2_how how, void **data)
{
    struct device_held *held = *device_find(device, offset);
    if (held == NULL) {
        held = calloc(1, sizeof *held);
        held->offset = offset;
        held->length = length;
        held->data = aligned_alloc(1024, length);
        memcpy(held->data, device->bytes + offset, length);
        held->next = device->held;
        device->held = held;
    }
    device_require(held->length == length, "one place is got in two lengths");
    held->nusers++;
    if (how == EXT2_NEW)
        memset(held->data, 0xa5, length);
    *data = held->data;
    return 0;
}

static error_t device_get(void *hook, uint64_t offset, uint32_t length, enum ext2_how how,
                          void **data)
{
    struct device *device = hook;
    device_require(length > 0 && offset / 4096 == (offset + length - 1) / 4096, "one page a get");
    device_require(offset % length == 0, "alignment");
    device_require(offset + length <= device->size, "a get beyond the device");
    device->ngets++;
    if (device->fail_at != 0 && (device->ngets == device->fail_at ||
                                 (device->fail_for_good && device->ngets > device->fail_at)))
        return EIO;
    device_require(++device->nheld <= DEVICE_HELD_MAX, "too many blocks are held");
    if (device->nheld > device->nheld_max)
        device->nheld_max = device->nheld;
    if (!device->direct)
        return device_hold(device, offset, length, how, data);
    *data = device->bytes + offset;
    return 0;
}

static void device_put(void *hook, uint64_t offset, uint32_t length, void *data, bool dirty)
{
    struct device *device = hook;
    device_require(device->nheld-- > 0, "a put without a get");
    device->ndirty += dirty ? 1 : 0;
    if (device->direct)
        return;
    struct device_held **link = device_find(device, offset);
    struct device_held *held = *link;
    device_require(held != NULL && held->data == data && held->length == length,
                   "put what was got");
    if (dirty)
        memcpy(device->bytes + offset, data, length);
    if (--held->nusers > 0)
        return;
    device_require(memcmp(device->bytes + offset, data, length) == 0, "a change that is not dirty");
    *link = held->next;
    free(held->data);
    free(held);
}

static void device_forget(void *hook, uint64_t offset, uint32_t length)
{
    struct device *device = hook;
    device_require(device->locked, "forget needs the lock");
    device_require(offset + length <= device->size, "a forget beyond the device");
    if (!device->direct)
        device_require(*device_find(device, offset) == NULL, "a held block is forgotten");
    device->nforgotten++;
}

static void device_lock(void *hook)
{
    struct device *device = hook;
    device_require(!device->locked, "the lock is taken twice");
    device->locked = true;
}

static void device_unlock(void *hook)
{
    struct device *device = hook;
    device_require(device->locked, "the lock was not taken");
    device->locked = false;
}

static uint32_t device_now(void *hook)
{
    const struct device *device = hook;
    return device->now;
}

static void device_report(void *hook, const char *sentence)
{
    struct device *device = hook;
    device->nreports++;
    snprintf(device->report, sizeof device->report, "%s", sentence);
    if (device->verbose)
        fprintf(stderr, "# libext2: %s\n", sentence);
}

const struct ext2_ops device_ops = {
    .get = device_get,
    .put = device_put,
    .forget = device_forget,
    .lock = device_lock,
    .unlock = device_unlock,
    .now = device_now,
    .report = device_report,
};

void device_init(struct device *device, uint64_t size)
{
    *device = (struct device){.size = size, .now = 1700000000};
    device->bytes = aligned_alloc(4096, (size + 4095) & ~(uint64_t)4095);
    memset(device->bytes, 0, size);
}

void device_destroy(struct device *device)
{
    free(device->bytes);
    device->bytes = NULL;
}

void device_check_idle(const struct device *device)
{
    device_require(device->nheld == 0 && device->held == NULL, "something is still held");
    device_require(!device->locked, "the lock is still taken");
}
