// SPDX-License-Identifier: GPL-2.0-or-later
#include "libstore/store.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "libstore/claims.h"
#include "librt/log.h"
#include "librt/sync.h"
#include "libtrace/trace.h"

struct store {
    const char *name;
    const struct store_ops *ops;
    void *hook;
    struct store_geometry geometry;
    struct rt_rwlock blocks; /* read: whole-block writes; written: a write of parts of blocks */
    struct rt_mutex lock;    /* guards what follows */
    struct rt_counter reads[RT_CLASS_COUNT];
    struct rt_counter writes[RT_CLASS_COUNT];
    struct claims claims;
    struct claims failures;
    uint64_t rmw_bytes; /* what rounding writes outward to blocks has added */
};

error_t store_create(const char *name, const struct store_ops *ops, void *hook,
                     const struct store_geometry *geometry, struct store **store)
{
    struct store *created = calloc(1, sizeof(*created));

    if (created == NULL)
        return ENOMEM;
    if (claims_init(&created->claims, geometry->nsectors) != 0 ||
        claims_init(&created->failures, geometry->nsectors) != 0)
        goto error_memory;
    created->name = name;
    created->ops = ops;
    created->hook = hook;
    created->geometry = *geometry;
    rt_rwlock_init(&created->blocks, "store_blocks");
    rt_mutex_init(&created->lock, "store");
    *store = created;
    return 0;

error_memory:
    free(created->claims.pieces);
    free(created);
    return ENOMEM;
}

uint64_t store_size(const struct store *store)
{
    return store->geometry.nsectors;
}

static bool store_holds(const struct store *store, uint64_t sector, vm_size_t bytes)
{
    uint64_t nsectors = bytes / STORE_SECTOR_BYTES;

    return bytes > 0 && bytes % STORE_SECTOR_BYTES == 0 && sector <= store->geometry.nsectors &&
           nsectors <= store->geometry.nsectors - sector;
}

/* What a call of the store, or a part of one, is in the trace. */
static void store_trace(uint64_t start, enum trace_kind kind, enum rt_class class, uint64_t sector,
                        vm_size_t bytes, error_t error)
{
    if (start != 0)
        trace_end(&(struct trace_event){.kind = kind,
                                        .start = start,
                                        .cause = trace_cause(),
                                        .class = class,
                                        .sector = sector,
                                        .length = bytes,
                                        .result = (uint8_t)error});
}

/* A write is recorded as it is counted: what was written, and by itself what was not. */
static void store_trace_write(uint64_t start, enum rt_class class, uint64_t sector, vm_size_t bytes,
                              vm_size_t written, error_t error)
{
    if (written > 0)
        store_trace(start, TRACE_STORE_WRITE, class, sector, written, 0);
    if (written < bytes)
        store_trace(start, TRACE_STORE_WRITE, class, sector + written / STORE_SECTOR_BYTES,
                    bytes - written, error);
}

error_t store_read(struct store *store, enum rt_class class, uint64_t sector, vm_size_t bytes,
                   vm_address_t *data)
{
    uint64_t start = trace_begin(TRACE_STORE_READ);
    error_t error;

    if (!store_holds(store, sector, bytes))
        return EINVAL;
    rt_mutex_lock(&store->lock);
    rt_counter_add(&store->reads[class], bytes);
    rt_mutex_unlock(&store->lock);
    error = store->ops->read(store->hook, sector, bytes, data);
    store_trace(start, TRACE_STORE_READ, class, sector, bytes, error);
    return error;
}

/* What rounding BYTES at SECTOR outward to device blocks adds. */
static uint32_t store_rounding(const struct store *store, uint64_t sector, vm_size_t bytes)
{
    uint64_t mask = store->geometry.block_bytes - 1;
    uint64_t start = sector * STORE_SECTOR_BYTES;
    uint64_t end = start + bytes;

    return (uint32_t)((start & mask) + (-end & mask));
}

/* Have room to count a write of BYTES at SECTOR: once it was made it must be. */
static error_t store_count_prepare(struct store *store, uint64_t sector, vm_size_t bytes)
{
    error_t error;

    rt_mutex_lock(&store->lock);
    error = claims_reserve(&store->claims, sector, bytes / STORE_SECTOR_BYTES);
    rt_mutex_unlock(&store->lock);
    return error;
}

/* WRITTEN of BYTES at SECTOR were written; whether the disk has been asked for the rest nobody
   knows. */
static void store_count_write(struct store *store, enum rt_class class, uint64_t sector,
                              vm_size_t bytes, vm_size_t written)
{
    uint64_t nsectors = written / STORE_SECTOR_BYTES;
    error_t error = 0;

    rt_mutex_lock(&store->lock);
    if (written > 0) {
        rt_counter_add(&store->writes[class], written);
        store->rmw_bytes += store_rounding(store, sector, written);
        error = claims_add(&store->claims, sector, nsectors);
    }
    if (written < bytes)
        error =
            claims_add(&store->failures, sector + nsectors, bytes / STORE_SECTOR_BYTES - nsectors);
    rt_mutex_unlock(&store->lock);
    if (error != 0)
        rt_log("%s: no memory to note a failed write at sector %" PRIu64, store->name, sector);
}

/* Write, keeping writes of parts of blocks apart from all others. */
static error_t store_write_apart(struct store *store, uint32_t rounding, uint64_t sector,
                                 vm_address_t data, vm_size_t bytes, vm_size_t *written)
{
    error_t error;

    if (rounding != 0)
        rt_rwlock_wrlock(&store->blocks);
    else
        rt_rwlock_rdlock(&store->blocks);
    error = store->ops->write(store->hook, sector, data, bytes, written);
    if (rounding != 0)
        rt_rwlock_wrunlock(&store->blocks);
    else
        rt_rwlock_rdunlock(&store->blocks);
    *written -= *written % STORE_SECTOR_BYTES;
    return error == 0 && *written != bytes ? EIO : error;
}

error_t store_write(struct store *store, enum rt_class class, uint64_t sector, vm_address_t data,
                    vm_size_t bytes, vm_size_t *written)
{
    uint64_t start = trace_begin(TRACE_STORE_WRITE);
    uint32_t rounding;
    error_t error;

    *written = 0;
    if (!store_holds(store, sector, bytes))
        return EINVAL;
    rounding = store_rounding(store, sector, bytes);
    error = store_count_prepare(store, sector, bytes);
    if (error != 0)
        return error;
    error = store_write_apart(store, rounding, sector, data, bytes, written);
    store_count_write(store, class, sector, bytes, *written);
    store_trace_write(start, class, sector, bytes, *written, error);
    return error;
}

struct store_reporter {
    const char *keyword;
    const char *server;
    const char *device;
};

static void store_report_claim(void *hook, uint64_t sector, uint64_t nsectors, unsigned int times)
{
    const struct store_reporter *reporter = hook;

    rt_emit("%s server=%s device=%s sector=%" PRIu64 " sectors=%" PRIu64 " times=%u",
            reporter->keyword, reporter->server, reporter->device, sector, nsectors, times);
}

void store_report(struct store *store, const char *server, uint64_t copied_bytes)
{
    struct store_reporter claims = {"claim", server, store->name};
    struct store_reporter failures = {"failed", server, store->name};

    rt_mutex_lock(&store->lock);
    for (enum rt_class class = 0; class < RT_CLASS_COUNT; class ++) {
        rt_counter_emit(&store->writes[class], server, "store_write", class);
        rt_counter_emit(&store->reads[class], server, "store_read", class);
    }
    rt_emit("store server=%s device=%s block=%" PRIu32 " rmw_bytes=%" PRIu64
            " copied_bytes=%" PRIu64,
            server, store->name, store->geometry.block_bytes, store->rmw_bytes, copied_bytes);
    claims_walk(&store->claims, store_report_claim, &claims);
    claims_walk(&store->failures, store_report_claim, &failures);
    rt_mutex_unlock(&store->lock);
}

/* A store that forgets writes. */

struct store_forgetful {
    struct store *inner;
    unsigned int nth;
    unsigned int nwrites; /* atomic */
};

static error_t store_forgetful_read(void *hook, uint64_t sector, vm_size_t bytes,
                                    vm_address_t *data)
{
    struct store *inner = ((struct store_forgetful *)hook)->inner;

    return inner->ops->read(inner->hook, sector, bytes, data);
}

static error_t store_forgetful_write(void *hook, uint64_t sector, vm_address_t data,
                                     vm_size_t bytes, vm_size_t *written)
{
    struct store_forgetful *forgetful = hook;
    struct store *inner = forgetful->inner;

    if (__atomic_add_fetch(&forgetful->nwrites, 1, __ATOMIC_RELAXED) % forgetful->nth == 0) {
        *written = bytes;
        return 0;
    }
    return inner->ops->write(inner->hook, sector, data, bytes, written);
}

static const struct store_ops store_forgetful_ops = {
    .read = store_forgetful_read,
    .write = store_forgetful_write,
};

error_t store_create_forgetful(struct store *inner, unsigned int nth, struct store **store)
{
    struct store_forgetful *forgetful = malloc(sizeof(*forgetful));
    error_t error;

    if (forgetful == NULL)
        return ENOMEM;
    *forgetful = (struct store_forgetful){.inner = inner, .nth = nth};
    error = store_create(inner->name, &store_forgetful_ops, forgetful, &inner->geometry, store);
    if (error != 0)
        free(forgetful);
    return error;
}
