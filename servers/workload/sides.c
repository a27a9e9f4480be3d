// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/sides.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "librt/clock.h"
#include "librt/config.h"
#include "librt/guard.h"
#include "librt/latency.h"
#include "librt/log.h"
#include "librt/rt.h"
#include "librt/state.h"
#include "librt/sync.h"
#include "librt/thread.h"
#include "librt/x86/arch.h"

#define SIDES_MAX  4u   /* tools/run/job.h */
#define SIDES_BYTE 0x5a /* what they write: no sector of a job is all of it */

struct side {
    const char *name;
    error_t (*act)(struct side *side);
    bool rpc;
    vm_size_t block;
    vm_size_t size;
    uint64_t loops; /* 0: until the end */
    struct target target;
    vm_address_t address; /* of the mapping, for rw=write with mmap */
    vm_address_t buffer;  /* of block bytes */
    vm_size_t at;         /* where rw=write goes on */
    struct rt_latency times;
    uint64_t nfaults; /* stores that met no file */
    error_t error;    /* that ended it */
};

static struct {
    struct side all[SIDES_MAX];
    uint32_t count;
    bool stop; /* atomically */
    struct rt_mutex lock;
    struct rt_cond ended;
    uint32_t nrunning;
} sides;

static error_t side_timed(struct side *side, uint64_t start, error_t error)
{
    rt_latency_add(&side->times, rt_arch_cycles() - start);
    rt_progress();
    return error;
}

/* Make the file longer by a block, and cut that off again. */
static error_t side_resize(struct side *side)
{
    const struct target_ops *ops = side->target.ops;
    uint64_t start = rt_arch_cycles();
    error_t error;

    if (side->rpc)
        error = ops->write(&side->target, side->size, (const void *)side->buffer, side->block);
    else
        error = ops->set_size(&side->target, side->size + side->block);
    side_timed(side, start, error);
    if (error != 0)
        return error;
    start = rt_arch_cycles();
    return side_timed(side, start, ops->set_size(&side->target, side->size));
}

static error_t side_sync(struct side *side)
{
    uint64_t start = rt_arch_cycles();

    return side_timed(side, start, side->target.ops->sync(&side->target));
}

/* Where there is no file just then, a store into the mapping is a fault, and no error. */
static error_t side_store(struct side *side)
{
    size_t done;
    error_t error =
        rt_guard_copy((void *)(side->address + side->at), (void *)side->buffer, side->block, &done);

    side->nfaults += error != 0;
    return 0;
}

static error_t side_write(struct side *side)
{
    uint64_t start = rt_arch_cycles();
    error_t error;

    if (side->rpc)
        error = side->target.ops->write(&side->target, side->at, (const void *)side->buffer,
                                        side->block);
    else
        error = side_store(side);
    side->at = (side->at + side->block) % side->size;
    return side_timed(side, start, error);
}

static const struct {
    const char *rw;
    error_t (*act)(struct side *side);
} side_acts[] = {{"resize", side_resize}, {"sync", side_sync}, {"write", side_write}};

static bool side_goes_on(const struct side *side, uint64_t ndone)
{
    if (side->error != 0)
        return false;
    return side->loops != 0 ? ndone < side->loops : !__atomic_load_n(&sides.stop, __ATOMIC_ACQUIRE);
}

static void side_main(void *arg)
{
    struct side *side = arg;

    for (uint64_t i = 0; side_goes_on(side, i); i++)
        side->error = side->act(side);
    rt_mutex_lock(&sides.lock);
    if (--sides.nrunning == 0)
        rt_cond_broadcast(&sides.ended);
    rt_mutex_unlock(&sides.lock);
}

/* --- Beginning ------------------------------------------------------------------------------- */

/* The value of KEY of side job NUMBER. */
static const char *side_config(uint32_t number, const char *key)
{
    char name[32];

    snprintf(name, sizeof(name), "side%lu.%s", (unsigned long)number, key);
    return rt_config_string(name);
}

static uint64_t side_config_u64(uint32_t number, const char *key)
{
    char name[32];

    snprintf(name, sizeof(name), "side%lu.%s", (unsigned long)number, key);
    return rt_config_u64(name);
}

static void side_init(struct side *side, uint32_t number)
{
    side->name = side_config(number, "name");
    side->rpc = strcmp(side_config(number, "ioengine"), "rpc") == 0;
    side->block = (vm_size_t)side_config_u64(number, "bs");
    side->size = (vm_size_t)side_config_u64(number, "size");
    side->loops = side_config_u64(number, "loops");
    for (size_t i = 0; i < sizeof(side_acts) / sizeof(side_acts[0]); i++)
        if (strcmp(side_config(number, "rw"), side_acts[i].rw) == 0)
            side->act = side_acts[i].act;
    rt_assert(side->act != NULL);
    if (vm_allocate(mach_task_self(), &side->buffer, side->block, TRUE) != KERN_SUCCESS)
        rt_panic("no memory for a block of %lu bytes", (unsigned long)side->block);
    memset((void *)side->buffer, SIDES_BYTE, side->block);
}

/* A file of its own is there as far as it will be stored into. */
static error_t side_map(struct side *side, bool own)
{
    mach_port_t memory_object;
    error_t error = own ? side->target.ops->set_size(&side->target, side->size) : 0;

    if (error == 0)
        error = side->target.ops->map(&side->target, &memory_object);
    if (error != 0)
        return error;
    return error_from_mach(vm_map(mach_task_self(), &side->address, side->size, 0, TRUE,
                                  memory_object, 0, FALSE, VM_PROT_READ | VM_PROT_WRITE,
                                  VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_NONE));
}

static error_t side_open(struct side *side, const struct job *job, const char *path)
{
    const struct target_open how = {.path = path, .create = true, .shared = true};
    error_t error;

    side->target.ops = job->ops;
    error = job->ops->open(&side->target, job->server, &how);
    if (error != 0 || side->act != side_write || side->rpc)
        return error;
    return side_map(side, strcmp(path, job->path) != 0);
}

static int side_fail(const struct side *side, error_t error, char *reason)
{
    snprintf(reason, JOB_REASON_MAX, "side job %.64s: %s", side->name, error_text(error));
    return 99;
}

int sides_open(const struct job *job, char *reason)
{
    uint64_t count = rt_config_u64("sides");

    rt_assert(count <= SIDES_MAX);
    rt_mutex_init(&sides.lock, "sides");
    rt_cond_init(&sides.ended, "sides_ended");
    for (; sides.count < count; sides.count++) {
        struct side *side = &sides.all[sides.count];
        error_t error;

        side_init(side, sides.count);
        error = side_open(side, job, side_config(sides.count, "filename"));
        if (error != 0)
            return side_fail(side, error, reason);
    }
    return 0;
}

void sides_begin(void)
{
    sides.nrunning = sides.count;
    for (uint32_t i = 0; i < sides.count; i++)
        if (rt_thread_create(NULL, "side", side_main, &sides.all[i]) != 0)
            rt_panic("no memory for a side job's thread");
}

/* --- End ------------------------------------------------------------------------------------- */

static void side_emit(const struct side *side)
{
    rt_emit("side name=%s count=%" PRIu64 " faults=%" PRIu64 " p99_ns=%" PRIu64 " max_ns=%" PRIu64,
            side->name, rt_latency_count(&side->times), side->nfaults,
            rt_clock_cycles_to_ns(rt_latency_percentile(&side->times, 99)),
            rt_clock_cycles_to_ns(side->times.max));
}

static void sides_wait(void)
{
    __atomic_store_n(&sides.stop, true, __ATOMIC_RELEASE);
    rt_mutex_lock(&sides.lock);
    while (sides.nrunning > 0)
        rt_cond_wait(&sides.ended, &sides.lock);
    rt_mutex_unlock(&sides.lock);
}

int sides_end(char *reason)
{
    int status = 0;

    sides_wait();
    for (uint32_t i = 0; i < sides.count; i++) {
        side_emit(&sides.all[i]);
        if (status == 0 && sides.all[i].error != 0)
            status = side_fail(&sides.all[i], sides.all[i].error, reason);
    }
    return status;
}
