// SPDX-License-Identifier: GPL-2.0-or-later
#include "time-up.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

/* startup looks once a second, of its own; on a machine that is busy with others that is not one of
   ours. A report that has begun may take its time, but not for ever. */
#define TIME_UP_ANSWER_MS 10000u
#define TIME_UP_REPORT_MS 60000u

/* Port and byte by which startup is told (docs/protocol.md, section 5). */
#define TIME_UP_COMMAND "o /b 0x3ff 0xa5"

void time_up_init(struct time_up *time_up, const struct options *options,
                  const struct console *console, const char *folder)
{
    *time_up = (struct time_up){.options = options, .console = console, .folder = folder};
}

/* Run ACT with QEMU's monitor, if that can be had. */
static error_t time_up_with_monitor(struct time_up *time_up,
                                    error_t (*act)(struct time_up *time_up, struct qmp *qmp))
{
    struct qmp *qmp = malloc(sizeof(*qmp));
    error_t error = qmp == NULL ? ENOMEM : qmp_init(qmp, time_up->folder, MACHINE_MONITOR);

    if (error == 0) {
        error = act(time_up, qmp);
        qmp_destroy(qmp);
    }
    free(qmp);
    return error;
}

static error_t time_up_tell(struct time_up *time_up, struct qmp *qmp)
{
    const struct console_server *startup = console_server_lookup(time_up->console, "startup");
    char answer[256];
    error_t error;

    if (startup == NULL || !startup->started)
        return 0;
    error = qmp_monitor(qmp, TIME_UP_COMMAND, answer, sizeof(answer));
    time_up->told = error == 0;
    return error;
}

static error_t time_up_look(struct time_up *time_up, struct qmp *qmp)
{
    char path[PATH_MAX];
    FILE *stream;

    snprintf(path, sizeof(path), "%s/%s", time_up->folder, TIME_UP_FILE);
    stream = fopen(path, "we");
    if (stream == NULL)
        return errno;
    cpu_state_take(&time_up->cpu, qmp, time_up->options, stream);
    return fclose(stream) == 0 ? 0 : errno;
}

/* Whether the guest, which was told, may have more time to answer. */
static bool time_up_waits(const struct time_up *time_up, uint64_t now_ms, uint64_t spoke_ms)
{
    uint64_t since = spoke_ms > time_up->since_ms ? spoke_ms : time_up->since_ms;

    return time_up->told && now_ms - since < TIME_UP_ANSWER_MS &&
           now_ms - time_up->since_ms < TIME_UP_REPORT_MS;
}

bool time_up_step(struct time_up *time_up, uint64_t now_ms, uint64_t spoke_ms)
{
    if (time_up->since_ms == 0) {
        time_up->since_ms = now_ms;
        /* Without a monitor nobody can be asked anything. */
        if (time_up_with_monitor(time_up, time_up_tell) != 0)
            return true;
    }
    if (time_up_waits(time_up, now_ms, spoke_ms))
        return false;
    /* What cannot be had stays away: the run has its sentence without it. */
    (void)time_up_with_monitor(time_up, time_up_look);
    return true;
}
