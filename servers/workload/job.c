// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "librt/clock.h"
#include "librt/config.h"
#include "librt/log.h"
#include "librt/rt.h"

#include "pager_server_user.h"

struct job_object {
    mach_port_t port;
    vm_address_t address;
};

void job_init(struct job *job)
{
    uint8_t *base = malloc(PATTERN_BASE_BYTES);

    if (base == NULL)
        rt_panic("no memory for the pattern");
    job->size = rt_config_u64("size");
    job->block = rt_config_u64("bs");
    job->end_fsync = rt_config_is("end_fsync", "1");
    job->verify = rt_config_is("verify", "1");
    pattern_init(&job->pattern, rt_config_u64("seed"), base);
}

/* Write the sentence of a failed CALL to REASON. Returns the status: 2 for a job that does not fit,
   else 99. */
static int job_fail(char *reason, const char *call, error_t error)
{
    snprintf(reason, JOB_REASON_MAX, "%s: %s", call, strerror(error));
    return error == ENOSPC ? 2 : 99;
}

static error_t job_map(const struct job *job, struct job_object *object)
{
    mach_port_t memory_object;
    kern_return_t kr = object_map(object->port, &memory_object);

    if (kr != KERN_SUCCESS)
        return kr;
    object->address = 0;
    kr = vm_map(mach_task_self(), &object->address, job->size, 0, TRUE, memory_object, 0, FALSE,
                VM_PROT_READ | VM_PROT_WRITE, VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_NONE);
    return error_from_mach(kr);
}

static void job_fill(const struct job *job, const struct job_object *object)
{
    for (vm_size_t offset = 0; offset < job->size; offset += job->block)
        pattern_fill(&job->pattern, offset, (void *)(object->address + offset), job->block);
}

/* Fill and write out, by the clock. */
static int job_write(const struct job *job, const struct job_object *object,
                     struct job_times *times, char *reason)
{
    error_t error = 0;

    rt_log("fills %lu bytes, %lu at a time", (unsigned long)job->size, (unsigned long)job->block);
    times->start_ns = rt_clock_ns();
    job_fill(job, object);
    times->filled_ns = rt_clock_ns();
    times->synced_ns = times->filled_ns;
    if (job->end_fsync) {
        error = object_sync(object->port);
        times->synced_ns = rt_clock_ns();
    }
    return error == 0 ? 0 : job_fail(reason, "object_sync", error);
}

static int job_verify(const struct job *job, const struct job_object *object, char *reason)
{
    error_t error = object_return(object->port);
    size_t equal;

    if (error != 0)
        return job_fail(reason, "object_return", error);
    equal = pattern_compare(&job->pattern, 0, (const void *)object->address, job->size);
    if (equal == job->size) {
        rt_emit("check name=read_back result=ok");
        return 0;
    }
    rt_emit("check name=read_back result=\"byte %lu differs from what was written\"",
            (unsigned long)equal);
    snprintf(reason, JOB_REASON_MAX, "what was read back differs at byte %lu",
             (unsigned long)equal);
    return 99;
}

int job_run(struct job *job, struct job_times *times, char *reason)
{
    mach_port_t pager = rt_service_lookup("pager");
    struct job_object object;
    int status;
    error_t error = object_create(pager, job->size, &object.port);

    if (error != 0)
        return job_fail(reason, "object_create", error);
    error = job_map(job, &object);
    if (error != 0)
        return job_fail(reason, "object_map", error);
    status = job_write(job, &object, times, reason);
    if (status == 0 && job->verify)
        status = job_verify(job, &object, reason);
    return status;
}
