// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two threads watch over the run. The watchdog looks once a second how far each task has got
 * (librt/state.h). When none has got any further for as long as the configuration says, or when the
 * runner says that time is up, it has the reporter say what the tasks are doing, and the run ends
 * with status 10. Should the reporter come to wait for what hangs itself, the watchdog ends the
 * run.
 *
 * Seconds are counted by the kernel's clock: a machine that stood still does not look like a hang.
 *
 * The runner speaks through the first serial port's scratch register: QEMU keeps the byte that its
 * monitor is asked to write there, and nothing else uses it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "librt/config.h"
#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/memory.h"
#include "librt/sync.h"
#include "librt/thread.h"
#include "startup/hang.h"
#include "startup/peek.h"
#include "startup/startup.h"

#define WATCHDOG_TICK_MS    1000u
#define WATCHDOG_REPORT_MAX 20u   /* ticks that a report may take */
#define WATCHDOG_SCRATCH    0x3ff /* COM1's scratch register */
#define WATCHDOG_TIME_IS_UP 0xa5  /* what the runner writes there (docs/protocol.md, section 5) */

static struct {
    uint64_t limit;       /* ticks without progress; 0: any number */
    struct rt_mutex lock; /* guards what follows */
    struct rt_cond changed;
    bool reports;
    bool time_is_up;
} watchdog;

static uint32_t watchdog_progress_of(const struct startup_task *task)
{
    struct rt_state state = {0};
    struct peek_image image;

    if (!task->started || peek_image_head(&image, task->task, task->name) != KERN_SUCCESS)
        return 0;
    peek_read(task->task, (vm_address_t)image.head.state, &state, sizeof(state));
    return state.progress;
}

/* A number that changes when any task gets further. */
static uint32_t watchdog_progress(void)
{
    const struct startup_task *task;
    uint32_t progress = 0;

    for (size_t i = 0; (task = startup_task_get(i)) != NULL; i++)
        progress += watchdog_progress_of(task);
    return progress;
}

static bool watchdog_time_is_up(void)
{
    return rt_arch_in8(WATCHDOG_SCRATCH) == WATCHDOG_TIME_IS_UP;
}

/* --- The reporter ---------------------------------------------------------------------------- */

static _Noreturn void watchdog_end(const char *kind, const char *sentence)
{
    char reason[HANG_SENTENCE_MAX + 64];

    if (watchdog.time_is_up)
        snprintf(reason, sizeof(reason), "no end in time: %s", sentence);
    else
        snprintf(reason, sizeof(reason), "nothing got done for %" PRIu64 " s: %s", watchdog.limit,
                 sentence);
    rt_emit("hang kind=%s told=%d sentence=\"%s\"", kind, watchdog.time_is_up, sentence);
    startup_end(10, reason);
}

static void watchdog_report(void)
{
    static struct snapshot snapshot;
    char sentence[HANG_SENTENCE_MAX];
    enum hang_kind kind;

    if (watchdog.time_is_up)
        rt_log("hang: the runner says that time is up");
    else
        rt_log("hang: nothing has got done for %" PRIu64 " s", watchdog.limit);
    snapshot_take(&snapshot);
    kind = hang_report(&snapshot, sentence);
    watchdog_end(hang_kind_name(kind), sentence);
}

static void watchdog_reporter(void *arg)
{
    (void)arg;
    rt_mutex_lock(&watchdog.lock);
    while (!watchdog.reports)
        rt_cond_wait(&watchdog.changed, &watchdog.lock);
    rt_mutex_unlock(&watchdog.lock);
    watchdog_report();
}

/* --- The watchdog ---------------------------------------------------------------------------- */

static _Noreturn void watchdog_bark(bool time_is_up)
{
    rt_mutex_lock(&watchdog.lock);
    watchdog.reports = true;
    watchdog.time_is_up = time_is_up;
    rt_cond_signal(&watchdog.changed);
    rt_mutex_unlock(&watchdog.lock);
    for (unsigned int i = 0; i < WATCHDOG_REPORT_MAX; i++)
        rt_sleep(WATCHDOG_TICK_MS);
    watchdog_end("no_progress", "the report itself came to wait for something");
}

static void watchdog_watch(void *arg)
{
    uint32_t before = watchdog_progress();
    uint64_t nticks = 0;

    (void)arg;
    for (;;) {
        uint32_t progress;

        rt_sleep(WATCHDOG_TICK_MS);
        progress = watchdog_progress();
        nticks = progress == before ? nticks + 1 : 0;
        before = progress;
        if (watchdog.limit != 0 && nticks >= watchdog.limit)
            watchdog_bark(false);
        if (watchdog_time_is_up())
            watchdog_bark(true);
    }
}

void startup_watchdog_setup(void)
{
    watchdog.limit = rt_config_u64("watchdog");
    rt_mutex_init(&watchdog.lock, "watchdog");
    rt_cond_init(&watchdog.changed, "watchdog_barks");
    startup_give_ports(WATCHDOG_SCRATCH, WATCHDOG_SCRATCH);
    if (rt_thread_create(NULL, "reporter", watchdog_reporter, NULL) != 0 ||
        rt_thread_create(NULL, "watchdog", watchdog_watch, NULL) != 0)
        rt_panic("no memory to watch over the run");
    rt_memory_wire(startup_privileges.host);
}
