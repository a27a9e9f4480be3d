// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/plain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libstore/store.h"
#include "librt/clock.h"
#include "librt/config.h"
#include "librt/log.h"
#include "librt/rt.h"

#define PLAIN_PARTITION 3
#define PLAIN_BYTES     ((vm_size_t)1 << 20)
#define PLAIN_ONE       ((vm_size_t)128 << 10) /* what the kernel returns in one message */
#define PLAIN_TRIES     32u

static error_t plain_open(struct store **store)
{
    static char device[32];

    snprintf(device, sizeof(device), "%ss%d", rt_config_string("disk"), PLAIN_PARTITION);
    return store_open(device, store);
}

static error_t plain_write(struct store *store, vm_size_t size, vm_address_t data)
{
    error_t error = 0;

    for (vm_size_t done = 0; done < size && error == 0; done += PLAIN_BYTES) {
        vm_size_t length = size - done < PLAIN_BYTES ? size - done : PLAIN_BYTES;
        vm_size_t written;

        error =
            store_write(store, RT_CLASS_FILE, done / STORE_SECTOR_BYTES, data, length, &written);
    }
    return error;
}

/* How long the fastest of PLAIN_TRIES writes of PLAIN_ONE bytes takes. */
static error_t plain_time_one(struct store *store, vm_address_t data, uint64_t *best_ns)
{
    error_t error = 0;

    *best_ns = UINT64_MAX;
    for (unsigned int i = 0; i < PLAIN_TRIES && error == 0; i++) {
        uint64_t start = rt_clock_ns();
        vm_size_t written;
        uint64_t ns;

        error = store_write(store, RT_CLASS_FILE, 0, data, PLAIN_ONE, &written);
        ns = rt_clock_ns() - start;
        if (ns < *best_ns)
            *best_ns = ns;
    }
    return error;
}

static error_t plain_measure(struct store *store, const struct job *job)
{
    vm_address_t data;
    uint64_t start, us, one_ns;
    error_t error;

    if (vm_allocate(mach_task_self(), &data, PLAIN_BYTES, TRUE) != KERN_SUCCESS)
        return ENOMEM;
    pattern_fill(&job->pattern, 0, (void *)data, PLAIN_BYTES);
    start = rt_clock_ns();
    error = plain_write(store, job->size, data);
    us = (rt_clock_ns() - start) / 1000;
    if (error == 0)
        error = plain_time_one(store, data, &one_ns);
    if (error == 0)
        rt_emit("plain bytes=%lu us=%" PRIu64 " one_ns=%" PRIu64, (unsigned long)job->size, us,
                one_ns);
    store_report(store, rt_image.name, 0);
    vm_deallocate(mach_task_self(), data, PLAIN_BYTES);
    return error;
}

int plain_run(const struct job *job, char *reason)
{
    struct store *store;
    error_t error = plain_open(&store);

    if (error == 0 && store_size(store) < job->size / STORE_SECTOR_BYTES) {
        snprintf(reason, JOB_REASON_MAX, "plain: partition %d is too small", PLAIN_PARTITION);
        return 2;
    }
    if (error == 0)
        error = plain_measure(store, job);
    if (error == 0)
        return 0;
    snprintf(reason, JOB_REASON_MAX, "the plain loop of device_writes: %s", strerror(error));
    return 99;
}
