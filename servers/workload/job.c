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
#include "librt/thread.h"
#include "workload/clients.h"
#include "workload/ops.h"
#include "workload/plain.h"
#include "workload/sides.h"
#include "libtrace/trace.h"

#define JOB_PATH_MAX  1024 /* bytes, as the file interfaces of servers/defs take it */
#define JOB_WORDS_MAX 96

static void job_init_pattern(struct job *job)
{
    uint8_t *base = malloc(PATTERN_BASE_BYTES);

    if (base == NULL)
        rt_panic("no memory for the pattern");
    pattern_init(&job->pattern, rt_config_u64("seed"), base);
}

static void job_init_files(struct job *job)
{
    job->files = calloc(job->nfiles, sizeof(*job->files));
    if (job->files == NULL)
        rt_panic("no memory for %lu files", (unsigned long)job->nfiles);
    for (uint32_t i = 0; i < job->nfiles; i++) {
        struct job_file *file = &job->files[i];

        file->number = i;
        file->target.ops = job->ops;
        file->size = (vm_size_t)pattern_part(job->size, job->nfiles, i, &file->start);
    }
}

void job_init(struct job *job)
{
    memset(job, 0, sizeof(*job));
    job->size = (vm_size_t)rt_config_u64("size");
    job->block = (vm_size_t)rt_config_u64("bs");
    job->reads = rt_config_is("rw", "read");
    job->operations = rt_config_is("rw", "operations");
    job->rpc = rt_config_is("ioengine", "rpc");
    job->create = !job->reads && !rt_config_is("overwrite", "1");
    job->end_fsync = rt_config_is("end_fsync", "1");
    job->unmap = rt_config_is("unmap", "1");
    job->fsync_on_close = rt_config_is("fsync_on_close", "1");
    job->linger = (unsigned int)rt_config_u64("linger");
    job->verify = rt_config_is("verify", "1");
    job->plain_before = rt_config_is("plain", "before");
    job->plain_after = rt_config_is("plain", "after");
    job->path = rt_config_find("filename");
    job->nclients = (uint32_t)rt_config_u64("numjobs");
    job->nfiles = (uint32_t)rt_config_u64("nrfiles");
    job->ops = target_lookup(rt_config_string("fs"));
    job_init_pattern(job);
    job_init_files(job);
    clients_setup(job);
}

/* The name of FILE. Returns TEXT. */
static const char *job_file_path(const struct job *job, const struct job_file *file,
                                 char text[JOB_PATH_MAX])
{
    if (job->nfiles == 1)
        snprintf(text, JOB_PATH_MAX, "%s", job->path);
    else
        snprintf(text, JOB_PATH_MAX, "%s.%lu", job->path, (unsigned long)file->number);
    return text;
}

/* Which of several files a sentence is about, " of NAME", or nothing if there is but one. Returns
   TEXT. */
static const char *job_file_words(const struct job *job, const struct job_file *file,
                                  char text[JOB_WORDS_MAX])
{
    text[0] = '\0';
    if (job->nfiles > 1)
        snprintf(text, JOB_WORDS_MAX, " of %.64s.%lu", job->path, (unsigned long)file->number);
    return text;
}

/* Write the sentence of a failed CALL. Returns the status: 2 for an object that the pager server
   has no room for, else 99. */
static int client_fail(struct client *client, const struct job_file *file, const char *call,
                       error_t error)
{
    const struct job *job = client->job;
    char words[JOB_WORDS_MAX];

    snprintf(client->reason, JOB_REASON_MAX, "%s%s: %s", call, job_file_words(job, file, words),
             error_text(error));
    return error == ENOSPC && job->ops->write == NULL ? 2 : 99;
}

static void client_trace(uint64_t start, enum trace_what what, vm_size_t offset, vm_size_t length,
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

/* --- Opening --------------------------------------------------------------------------------- */

static error_t job_file_map(const struct job *job, struct job_file *file)
{
    mach_port_t memory_object;
    error_t error = 0;

    if (job->create)
        error = job->ops->set_size(&file->target, file->size);
    if (error == 0)
        error = job->ops->map(&file->target, &memory_object);
    if (error != 0)
        return error;
    return error_from_mach(vm_map(mach_task_self(), &file->address, file->size, 0, TRUE,
                                  memory_object, 0, FALSE, VM_PROT_READ | VM_PROT_WRITE,
                                  VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_NONE));
}

static int client_open(struct client *client, struct job_file *file)
{
    const struct job *job = client->job;
    char path[JOB_PATH_MAX];
    const struct target_open how = {
        .path = job_file_path(job, file, path), .size = file->size, .create = job->create};
    error_t error = job->ops->open(&file->target, job->server, &how);

    if (error != 0)
        return client_fail(client, file, "open", error);
    error = job->rpc ? 0 : job_file_map(job, file);
    return error == 0 ? 0 : client_fail(client, file, "map", error);
}

/* --- Writing and reading --------------------------------------------------------------------- */

/* The bytes of the block of FILE that begins at OFFSET: the last may be shorter. */
static vm_size_t client_block(const struct client *client, const struct job_file *file,
                              vm_size_t offset)
{
    vm_size_t rest = file->size - offset;

    return rest < client->job->block ? rest : client->job->block;
}

/* A mapping is written to by a guarded copy: a page that its pager cannot supply, or a file system
   that is full, is an error of the job and not its end. */
static error_t client_write_block(struct client *client, struct job_file *file, vm_size_t offset)
{
    const struct job *job = client->job;
    vm_size_t length = client_block(client, file, offset);
    void *block = (void *)client->buffer;
    uint64_t start;
    size_t done;
    error_t error;

    pattern_fill(&job->pattern, file->start + offset, block, length);
    start = trace_begin(TRACE_OP);
    if (job->rpc)
        error = job->ops->write(&file->target, offset, block, length);
    else
        error = rt_guard_copy((void *)(file->address + offset), block, length, &done);
    client_trace(start, TRACE_WRITE, offset, length, error);
    return error;
}

/* *EQUAL becomes how many bytes of the block at OFFSET, LENGTH of them, are right, from its start.
 */
static error_t client_read_block(struct client *client, struct job_file *file, vm_size_t offset,
                                 vm_size_t length, size_t *equal)
{
    const struct job *job = client->job;
    vm_address_t data = client->buffer;
    uint64_t start = trace_begin(TRACE_OP);
    size_t done;
    error_t error;

    if (job->rpc)
        error = job->ops->read(&file->target, offset, length, &data);
    else
        error = rt_guard_copy((void *)data, (void *)(file->address + offset), length, &done);
    client_trace(start, TRACE_READ, offset, length, error);
    if (error != 0)
        return error;
    *equal = pattern_compare(&job->pattern, file->start + offset, (const void *)data, length);
    if (job->rpc)
        vm_deallocate(mach_task_self(), data, length);
    return 0;
}

/* Byte AT of FILE is wrong. The check is reported once. */
static int client_report_difference(struct client *client, const struct job_file *file, uint64_t at)
{
    static bool reported;
    char words[JOB_WORDS_MAX];

    job_file_words(client->job, file, words);
    if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
        rt_emit("check name=read_back result=\"byte %" PRIu64 "%s differs from what was written\"",
                at, words);
    snprintf(client->reason, JOB_REASON_MAX, "what was read differs at byte %" PRIu64 "%s", at,
             words);
    return 99;
}

static int client_compare(struct client *client, struct job_file *file)
{
    vm_size_t length;

    for (vm_size_t offset = 0; offset < file->size && !clients_failed(); offset += length) {
        size_t equal;
        error_t error;

        length = client_block(client, file, offset);
        error = client_read_block(client, file, offset, length, &equal);
        if (error != 0)
            return client_fail(client, file, "read", error);
        if (equal != length)
            return client_report_difference(client, file, offset + equal);
    }
    return 0;
}

/* The check is reported once. */
static void client_report_sync(error_t error)
{
    static bool reported;

    if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
        rt_emit("check name=sync result=\"%s\"", error_text(error));
}

static int client_sync(struct client *client, struct job_file *file)
{
    uint64_t start = trace_begin(TRACE_OP);
    error_t error;

    if (client->job->unmap)
        vm_deallocate(mach_task_self(), file->address, file->size);
    error = client->job->ops->sync(&file->target);
    client_trace(start, TRACE_SYNC, 0, file->size, error);
    if (error != 0)
        client_report_sync(error);
    return error == 0 ? 0 : client_fail(client, file, "sync", error);
}

static int client_fill(struct client *client, struct job_file *file)
{
    const struct job *job = client->job;
    error_t error = 0;

    for (vm_size_t offset = 0; offset < file->size && error == 0 && !clients_failed();
         offset += job->block)
        error = client_write_block(client, file, offset);
    if (error != 0)
        return client_fail(client, file, "write", error);
    return job->fsync_on_close ? client_sync(client, file) : 0;
}

static int client_forget(struct client *client, struct job_file *file)
{
    error_t error = client->job->ops->forget(&file->target);

    return error == 0 ? 0 : client_fail(client, file, "forget", error);
}

/* --- The whole ------------------------------------------------------------------------------- */

static int job_compare(char *reason)
{
    int status = clients_do(client_compare, reason);

    if (status == 0)
        rt_emit("check name=read_back result=ok");
    return status;
}

/* Let time pass, which is no hang. */
static void job_linger(const struct job *job)
{
    for (unsigned int i = 0; i < job->linger; i++) {
        rt_sleep(1000);
        rt_progress();
    }
}

/* Have what was written be written out, while the side jobs do theirs. */
static int job_sync(const struct job *job, struct job_times *times, char *reason)
{
    char side_reason[JOB_REASON_MAX] = "";
    int status = 0;
    int side_status;

    sides_begin();
    if (job->end_fsync) {
        status = clients_do(client_sync, reason);
        times->synced_ns = rt_clock_ns();
    }
    side_status = sides_end(side_reason);
    if (status == 0 && side_status != 0)
        snprintf(reason, JOB_REASON_MAX, "%s", side_reason);
    return status != 0 ? status : side_status;
}

/* What the clock sees, and between filling and syncing what it does not. */
static int job_timed(const struct job *job, struct job_times *times, char *reason)
{
    int status;

    rt_log("%s %lu bytes, %lu at a time", job->reads ? "reads" : "writes", (unsigned long)job->size,
           (unsigned long)job->block);
    times->start_ns = rt_clock_ns();
    status = job->reads ? job_compare(reason) : clients_do(client_fill, reason);
    times->filled_ns = rt_clock_ns();
    times->filled = status == 0;
    if (status == 0)
        job_linger(job);
    if (status == 0 && job->plain_before)
        status = plain_run(job, reason);
    times->sync_ns = rt_clock_ns();
    times->synced_ns = times->sync_ns;
    return status == 0 && !job->reads ? job_sync(job, times, reason) : status;
}

static int job_verify(const struct job *job, char *reason)
{
    int status = job->ops->forget == NULL ? 0 : clients_do(client_forget, reason);

    return status == 0 ? job_compare(reason) : status;
}

int job_run(struct job *job, struct job_times *times, char *reason)
{
    int status;

    job->server = rt_service_lookup(job->ops->server);
    if (job->operations && ops_run(job->server, reason, JOB_REASON_MAX) != 0)
        return 99;
    status = clients_do(client_open, reason);
    if (status == 0)
        status = sides_open(job, reason);
    if (status == 0)
        status = job_timed(job, times, reason);
    if (status == 0 && job->verify && !job->reads)
        status = job_verify(job, reason);
    if (status == 0 && job->plain_after)
        status = plain_run(job, reason);
    return status;
}
