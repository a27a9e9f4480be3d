// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "librt/clock.h"
#include "librt/config.h"
#include "librt/guard.h"
#include "librt/log.h"
#include "librt/rt.h"
#include "librt/state.h"
#include "workload/ops.h"
#include "workload/plain.h"
#include "libtrace/trace.h"

static void job_init_pattern(struct job *job)
{
    uint8_t *base = malloc(PATTERN_BASE_BYTES);

    if (base == NULL)
        rt_panic("no memory for the pattern");
    pattern_init(&job->pattern, rt_config_u64("seed"), base);
}

void job_init(struct job *job)
{
    memset(job, 0, sizeof(*job));
    job->size = (vm_size_t)rt_config_u64("size");
    job->block = (vm_size_t)rt_config_u64("bs");
    job->reads = rt_config_is("rw", "read");
    job->operations = rt_config_is("rw", "operations");
    job->rpc = rt_config_is("ioengine", "rpc");
    job->end_fsync = rt_config_is("end_fsync", "1");
    job->verify = rt_config_is("verify", "1");
    job->plain = rt_config_is("plain", "1");
    job->open.path = rt_config_find("filename");
    job->open.size = job->size;
    job->open.create = !job->reads && !rt_config_is("overwrite", "1");
    job->target.ops = target_lookup(rt_config_string("fs"));
    job_init_pattern(job);
    if (vm_allocate(mach_task_self(), &job->buffer, job->block, TRUE) != KERN_SUCCESS)
        rt_panic("no memory for a block of %lu bytes", (unsigned long)job->block);
}

/* Write the sentence of a failed CALL to REASON. Returns the status: 2 for an object that the pager
   server has no room for, else 99. */
static int job_fail(const struct job *job, char *reason, const char *call, error_t error)
{
    snprintf(reason, JOB_REASON_MAX, "%s: %s", call, strerror(error));
    return error == ENOSPC && job->target.ops->write == NULL ? 2 : 99;
}

static error_t job_map(struct job *job)
{
    mach_port_t memory_object;
    error_t error = 0;

    if (!job->reads && job->open.create)
        error = job->target.ops->set_size(&job->target, job->size);
    if (error == 0)
        error = job->target.ops->map(&job->target, &memory_object);
    if (error != 0)
        return error;
    return error_from_mach(vm_map(mach_task_self(), &job->address, job->size, 0, TRUE,
                                  memory_object, 0, FALSE, VM_PROT_READ | VM_PROT_WRITE,
                                  VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_NONE));
}

static void job_trace(uint64_t start, enum trace_what what, vm_size_t offset, vm_size_t length,
                      error_t error)
{
    rt_progress();
    if (start != 0)
        trace_end(&(struct trace_event){.kind = TRACE_OP,
                                        .start = start,
                                        .what = what,
                                        .offset = offset,
                                        .length = length,
                                        .result = (uint8_t)error});
}

/* A mapping is written to by a guarded copy: a page that its pager cannot supply, or a file system
   that is full, is an error of the job and not its end. */
static error_t job_write_block(struct job *job, vm_size_t offset)
{
    void *block = (void *)job->buffer;
    uint64_t start = trace_begin(TRACE_OP);
    size_t done;
    error_t error;

    pattern_fill(&job->pattern, offset, block, job->block);
    if (job->rpc)
        error = job->target.ops->write(&job->target, offset, block, job->block);
    else
        error = rt_guard_copy((void *)(job->address + offset), block, job->block, &done);
    job_trace(start, TRACE_WRITE, offset, job->block, error);
    return error;
}

/* *EQUAL becomes how many bytes of the block at OFFSET are right, from its start. */
static error_t job_read_block(struct job *job, vm_size_t offset, size_t *equal)
{
    vm_address_t data = job->buffer;
    uint64_t start = trace_begin(TRACE_OP);
    size_t done;
    error_t error;

    if (job->rpc)
        error = job->target.ops->read(&job->target, offset, job->block, &data);
    else
        error = rt_guard_copy((void *)data, (void *)(job->address + offset), job->block, &done);
    if (error == 0)
        *equal = pattern_compare(&job->pattern, offset, (const void *)data, job->block);
    job_trace(start, TRACE_READ, offset, job->block, error);
    if (error != 0)
        return error;
    if (job->rpc)
        vm_deallocate(mach_task_self(), data, job->block);
    return 0;
}

static int job_report_difference(uint64_t at, char *reason)
{
    rt_emit("check name=read_back result=\"byte %" PRIu64 " differs from what was written\"", at);
    snprintf(reason, JOB_REASON_MAX, "what was read differs at byte %" PRIu64, at);
    return 99;
}

static int job_compare(struct job *job, char *reason)
{
    for (vm_size_t offset = 0; offset < job->size; offset += job->block) {
        size_t equal;
        error_t error = job_read_block(job, offset, &equal);

        if (error != 0)
            return job_fail(job, reason, "read", error);
        if (equal != job->block)
            return job_report_difference(offset + equal, reason);
    }
    rt_emit("check name=read_back result=ok");
    return 0;
}

static int job_fill(struct job *job, char *reason)
{
    error_t error = 0;

    for (vm_size_t offset = 0; offset < job->size && error == 0; offset += job->block)
        error = job_write_block(job, offset);
    return error == 0 ? 0 : job_fail(job, reason, "write", error);
}

static int job_sync(struct job *job, char *reason)
{
    uint64_t start = trace_begin(TRACE_OP);
    error_t error = job->target.ops->sync(&job->target);

    job_trace(start, TRACE_SYNC, 0, job->size, error);
    return error == 0 ? 0 : job_fail(job, reason, "sync", error);
}

/* What the clock sees. */
static int job_timed(struct job *job, struct job_times *times, char *reason)
{
    int status;

    rt_log("%s %lu bytes, %lu at a time", job->reads ? "reads" : "writes", (unsigned long)job->size,
           (unsigned long)job->block);
    times->start_ns = rt_clock_ns();
    status = job->reads ? job_compare(job, reason) : job_fill(job, reason);
    times->filled_ns = rt_clock_ns();
    times->synced_ns = times->filled_ns;
    if (status == 0 && job->end_fsync && !job->reads) {
        status = job_sync(job, reason);
        times->synced_ns = rt_clock_ns();
    }
    return status;
}

static int job_verify(struct job *job, char *reason)
{
    error_t error = 0;

    if (job->target.ops->forget != NULL)
        error = job->target.ops->forget(&job->target);
    return error == 0 ? job_compare(job, reason) : job_fail(job, reason, "forget", error);
}

int job_run(struct job *job, struct job_times *times, char *reason)
{
    mach_port_t server = rt_service_lookup(job->target.ops->server);
    error_t error;
    int status;

    if (job->operations && ops_run(server, reason, JOB_REASON_MAX) != 0)
        return 99;
    error = job->target.ops->open(&job->target, server, &job->open);
    if (error != 0)
        return job_fail(job, reason, "open", error);
    error = job->rpc ? 0 : job_map(job);
    if (error != 0)
        return job_fail(job, reason, "map", error);
    status = job_timed(job, times, reason);
    if (status == 0 && job->verify && !job->reads)
        status = job_verify(job, reason);
    if (status == 0 && job->plain)
        status = plain_run(job, reason);
    return status;
}
