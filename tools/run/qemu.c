// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watching is a loop that wakes up every QEMU_STEP_MS at the latest, and at once when QEMU ends or
 * a signal comes. It reads what the console has said since and asks four questions in turn: has
 * QEMU ended, were we asked to end, has the kernel said its last words, is the time up. Then there
 * is a little more of it, for the guest to say why (time-up.h). When the guest is quiet, a fifth
 * one: whether QEMU has stopped it for want of room on the host.
 *
 * A kernel that panics or fails an assertion keeps the processor spinning. QEMU is then ended, but
 * only after QEMU_GRACE_MS, so that the console's further lines, a backtrace for instance, arrive.
 *
 * With a debugger nothing is too late, and a kernel's last words may be what is looked into. A
 * machine that was started for a debugger ends with it. One that a debugger has joined (debug.h)
 * gets the time back, and goes on when that leaves; unless it leaves it standing still.
 */
#include "qemu.h"

#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "ctf.h"
#include "debug.h"
#include "machine.h"
#include "process.h"
#include "tail.h"
#include "time-up.h"

#define QEMU_STEP_MS  20u
#define QEMU_GRACE_MS 500u
#define QEMU_QUIET_MS 5000u

struct qemu {
    const struct qemu_watch *watch;
    struct qemu_ending *ending;
    struct process process;
    struct process debugger;
    const char *folder;
    struct tail tail;
    uint64_t start_ms;
    uint64_t death_ms; /* when the last words were seen, or 0 */
    uint64_t bytes;    /* of console output, when last looked at */
    uint64_t bytes_ms; /* when that number last changed */
    uint64_t asked_ms; /* when QEMU was last asked what it waits for */
    bool left;         /* the debugger that it was started for has ended */
    bool joined;       /* a debugger was there, when last looked */
    uint64_t look_ms;  /* and when that was */
    uint64_t held_ms;  /* how long one has been there */
};

static uint64_t qemu_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool qemu_end_set(struct qemu *qemu, enum qemu_end end, int value)
{
    qemu->ending->end = end;
    qemu->ending->value = value;
    return true;
}

static bool qemu_server_is_up(const struct qemu_watch *watch)
{
    const struct console_server *server = console_server_lookup(watch->console, watch->awaited);

    return server != NULL && server->started;
}

static void qemu_kernel_note(struct qemu *qemu, uint64_t elapsed)
{
    const struct qemu_watch *watch = qemu->watch;

    qemu->ending->kernel_ms = elapsed;
    if (watch->debugger != NULL) /* the terminal is its */
        return;
    fprintf(watch->progress, "  %s is up after %.1f s\n", watch->console->kernel,
            (double)elapsed / 1000);
    fflush(watch->progress);
}

/* Notes when the kernel and the awaited server first spoke. */
static void qemu_times_note(struct qemu *qemu)
{
    const struct qemu_watch *watch = qemu->watch;
    struct qemu_ending *ending = qemu->ending;
    uint64_t elapsed = qemu_clock_ms() - qemu->start_ms;

    if (ending->kernel_ms == 0 && watch->console->kernel[0] != '\0')
        qemu_kernel_note(qemu, elapsed);
    if (ending->server_ms == 0 && qemu_server_is_up(watch))
        ending->server_ms = elapsed;
}

/* Whether the kernel has said its last words and had its grace. They may lack their line break. */
static bool qemu_is_dead(struct qemu *qemu, uint64_t now)
{
    struct console *console = qemu->watch->console;

    if (qemu->bytes != qemu->tail.bytes) {
        qemu->bytes = qemu->tail.bytes;
        qemu->bytes_ms = now;
    } else if (qemu->tail.used != 0 && now - qemu->bytes_ms >= QEMU_GRACE_MS) {
        qemu->tail.line[qemu->tail.used] = '\0';
        console_feed_death(console, qemu->tail.line);
    }
    if (console->death[0] == '\0')
        return false;
    if (qemu->death_ms == 0)
        qemu->death_ms = now;
    return now - qemu->death_ms >= QEMU_GRACE_MS;
}

/* Whether nothing is said any more because QEMU waits for room on the host. To ask often would be a
   load for the machine that is measured. */
static bool qemu_is_out_of_room(struct qemu *qemu, uint64_t now)
{
    uint64_t since = qemu->asked_ms > qemu->bytes_ms ? qemu->asked_ms : qemu->bytes_ms;

    if (now - since < QEMU_QUIET_MS)
        return false;
    qemu->asked_ms = now;
    return debug_is_out_of_room(qemu->folder);
}

/* Notes whether a debugger has joined. Returns whether one has left the machine standing still. */
static bool qemu_joined_note(struct qemu *qemu, uint64_t now)
{
    bool joined = debug_is_joined(qemu->folder);
    bool left = qemu->joined && !joined;

    if (qemu->joined)
        qemu->held_ms += now - qemu->look_ms;
    qemu->joined = joined;
    qemu->look_ms = now;
    return left && debug_is_paused(qemu->folder);
}

static bool qemu_limits_check(struct qemu *qemu)
{
    const struct qemu_watch *watch = qemu->watch;
    uint64_t now = qemu_clock_ms();
    uint64_t elapsed;

    if (qemu_joined_note(qemu, now))
        return qemu_end_set(qemu, QEMU_LEFT_PAUSED, 0);
    if (qemu->joined)
        return false;
    elapsed = now - qemu->start_ms - qemu->held_ms;
    if (qemu_is_dead(qemu, now))
        return qemu_end_set(qemu, QEMU_DIED, 0);
    if (qemu_is_out_of_room(qemu, now))
        return qemu_end_set(qemu, QEMU_NO_ROOM, 0);
    if (elapsed >= watch->timeout_ms &&
        (watch->time_up == NULL || time_up_step(watch->time_up, now, qemu->bytes_ms)))
        return qemu_end_set(qemu, QEMU_TIMED_OUT, (int)(watch->timeout_ms / 1000));
    if (watch->silence_ms != 0 && qemu->tail.bytes == 0 && elapsed >= watch->silence_ms)
        return qemu_end_set(qemu, QEMU_SILENT, (int)(watch->silence_ms / 1000));
    return false;
}

static bool qemu_ended_set(struct qemu *qemu)
{
    const struct process *process = &qemu->process;

    if (process->signal != 0)
        return qemu_end_set(qemu, QEMU_KILLED, process->signal);
    if (process->code == 0 && qemu->watch->debugger != NULL) /* its command `kill` */
        return qemu_end_set(qemu, QEMU_LEFT, 0);
    return qemu_end_set(qemu, QEMU_EXITED, process->code);
}

/* The debugger has ended. Returns whether the machine is to end with it: it is not when the
   debugger has detached from it. QEMU may be ending by itself, or at the debugger's command. */
static bool qemu_left(struct qemu *qemu)
{
    const struct process *debugger = &qemu->debugger;
    uint64_t now = qemu_clock_ms();

    process_leave_front();
    qemu->left = true;
    qemu->held_ms = now - qemu->start_ms;
    if (debugger->signal != 0 || debugger->code != 0 || debug_is_paused(qemu->folder))
        return qemu_end_set(qemu, QEMU_LEFT, 0);
    return false;
}

/* Waits a little. Returns whether QEMU has ended, or we were asked to end. */
static bool qemu_wait(struct qemu *qemu)
{
    switch (process_wait(&qemu->process, QEMU_STEP_MS)) {
    case PROCESS_ENDED:
        return qemu_ended_set(qemu);
    case PROCESS_INTERRUPTED:
        return qemu_end_set(qemu, QEMU_INTERRUPTED, qemu->process.interrupt);
    case PROCESS_IDLE:
        break;
    }
    return false;
}

/* Returns whether the watch is over. */
static bool qemu_step(struct qemu *qemu)
{
    if (qemu_wait(qemu))
        return true;
    tail_read(&qemu->tail, qemu->watch->console);
    if (qemu->watch->ctf != NULL)
        ctf_take(qemu->watch->ctf);
    qemu_times_note(qemu);
    if (qemu->watch->debugger != NULL && !qemu->left)
        return process_reap(&qemu->debugger) && qemu_left(qemu);
    return qemu_limits_check(qemu);
}

/* The debugger outlives a QEMU that has ended: what is said about the run does not belong into its
   dialogue. */
static void qemu_debugger_wait(struct qemu *qemu)
{
    struct process *debugger = &qemu->debugger;

    while (qemu->ending->end != QEMU_INTERRUPTED &&
           process_wait(debugger, QEMU_STEP_MS) == PROCESS_IDLE) {
    }
    process_end(debugger);
    process_leave_front();
    if (qemu->ending->end == QEMU_LEFT)
        qemu->ending->value = debugger->signal != 0 ? debugger->signal : -debugger->code;
}

/* A debugger is of no use before QEMU's monitor is there, nor if it never comes. */
static int qemu_debug(struct qemu *qemu, struct failure *failure)
{
    char *argv[] = {(char *)qemu->watch->debugger, (char *)qemu->folder, NULL};
    char monitor[PATH_MAX];
    int status;

    snprintf(monitor, sizeof(monitor), "%s/%s", qemu->folder, MACHINE_MONITOR);
    while (access(monitor, F_OK) != 0) {
        if (qemu_wait(qemu))
            return STATUS_SUCCESS;
    }
    status = process_start_front(&qemu->debugger, argv, failure);
    if (status != STATUS_SUCCESS)
        return status;
    while (!qemu_step(qemu)) {
    }
    qemu_debugger_wait(qemu);
    return STATUS_SUCCESS;
}

static int qemu_watch(struct qemu *qemu, struct failure *failure)
{
    if (qemu->watch->debugger != NULL)
        return qemu_debug(qemu, failure);
    while (!qemu_step(qemu)) {
    }
    return STATUS_SUCCESS;
}

static void qemu_time_up_note(struct qemu *qemu)
{
    const struct time_up *time_up = qemu->watch->time_up;

    if (time_up == NULL || time_up->since_ms == 0)
        return;
    qemu->ending->told_s = time_up->told ? (unsigned)(qemu->watch->timeout_ms / 1000) : 0;
    qemu->ending->cpu = time_up->cpu;
}

int qemu_run(struct qemu_ending *ending, const struct qemu_watch *watch, char *const *argv,
             const char *folder, const char *errors, struct failure *failure)
{
    struct qemu qemu = {
        .watch = watch, .ending = ending, .folder = folder, .start_ms = qemu_clock_ms()};
    int status = process_start(&qemu.process, argv, folder, errors, failure);

    if (status != STATUS_SUCCESS)
        return status;
    *ending = (struct qemu_ending){0};
    qemu.asked_ms = qemu.start_ms;
    tail_init(&qemu.tail, watch->serial);
    status = qemu_watch(&qemu, failure);
    process_end(&qemu.process);
    tail_finish(&qemu.tail, watch->console);
    qemu_times_note(&qemu);
    qemu_time_up_note(&qemu);
    ending->end_ms = qemu_clock_ms() - qemu.start_ms;
    tail_destroy(&qemu.tail);
    return status;
}
