// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The client: does what the job says (docs/jobs.md) and reports how long it took.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "librt/clock.h"
#include "librt/config.h"
#include "librt/guard.h"
#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/rt.h"
#include "libtrace/trace.h"
#include "workload/job.h"

#include "startup_user.h"

/* A job with fault=hang never ends: the thread waits for what nobody sends. */
static void workload_hang(void)
{
    mach_msg_header_t message;

    rt_log("hangs on purpose");
    mach_msg(&message, MACH_RCV_MSG, 0, sizeof(message), mach_reply_port(), MACH_MSG_TIMEOUT_NONE,
             MACH_PORT_NULL);
}

__attribute__((noinline)) static void workload_fault_crash(void)
{
    rt_arch_crash();
}

static void workload_fault(const char *fault)
{
    if (strcmp(fault, "crash") == 0)
        workload_fault_crash();
    else if (strcmp(fault, "hang") == 0)
        workload_hang();
}

static void workload_emit(const struct job_times *times, const struct job *job)
{
    rt_emit("job name=%s fill_us=%" PRIu64 " sync_us=%" PRIu64 " runtime_us=%" PRIu64
            " bytes=%" PRIu64,
            rt_config_string("job"), (times->filled_ns - times->start_ns) / 1000,
            (times->synced_ns - times->sync_ns) / 1000, (times->synced_ns - times->start_ns) / 1000,
            (uint64_t)job->size);
}

static void workload_finish(int status, const char *reason)
{
    kern_return_t kr = startup_finish(rt_startup_port(), status, reason);

    if (kr != KERN_SUCCESS)
        rt_panic("startup_finish: error %#x", kr);
}

static void workload_run(void)
{
    struct job_times times = {.filled = false};
    struct job job;
    char reason[JOB_REASON_MAX] = "the job is done";
    int status;

    job_init(&job);
    status = job_run(&job, &times, reason);
    if (rt_config_is("fault", "cut")) /* the power goes */
        rt_end(RT_END_FAILED);
    if (times.filled)
        workload_emit(&times, &job);
    trace_report();
    workload_finish(status, reason);
}

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    rt_server_init();
    rt_guard_setup();
    trace_setup();
    workload_fault(rt_config_string("fault"));
    workload_run();
    return 0;
}
