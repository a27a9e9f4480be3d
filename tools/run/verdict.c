// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The causes are asked for from the root up. A crash line comes before the time limit, for the
 * crash may be why nothing happened any more; a panic comes before all that QEMU can say. A boot
 * that ended well must also have said all that it owes: a run cannot pass by silence.
 */
#include "verdict.h"

#include <inttypes.h>
#include <string.h>

#include "size.h"

#define VERDICT_SECTOR_BYTES 512u /* of a claim */
#define VERDICT_EXIT_ERROR   1    /* how QEMU ends when it does not like its command line */

/* isa-debug-exit makes VALUE * 2 + 1 of what is written to its port (docs/protocol.md, 4). */
static const struct {
    int exit;
    int status;
} verdict_exits[] = {
    {0x10 * 2 + 1, STATUS_SUCCESS}, {0x11 * 2 + 1, STATUS_SKIPPED},   {0x12 * 2 + 1, STATUS_NO_END},
    {0x13 * 2 + 1, STATUS_FAILED},  {0x14 * 2 + 1, STATUS_BAD_INPUT},
};

/* Returns whether a guest's status stands behind QEMU's exit value. */
static bool verdict_exit_lookup(int exit, int *status)
{
    for (size_t i = 0; i < sizeof(verdict_exits) / sizeof(verdict_exits[0]); i++) {
        if (verdict_exits[i].exit == exit) {
            *status = verdict_exits[i].status;
            return true;
        }
    }
    return false;
}

/* A system whose time is up says why, if it can. One whose tasks run has not stopped: it may be too
   slow to say it in time. */
static void verdict_timed_out(const struct qemu_ending *ending, struct failure *failure)
{
    const char *cpu = ending->cpu.sentence;

    if (cpu[0] == '\0')
        failure_set(failure, STATUS_NO_END, "no end within %d seconds", ending->value);
    else if (ending->told_s == 0)
        failure_set(failure, STATUS_NO_END, "no end within %d seconds, startup never came up; %s",
                    ending->value, cpu);
    else if (ending->cpu.for_task)
        failure_set(failure, STATUS_NO_END,
                    "no end within %d seconds, and asked why, no answer in time; %s", ending->value,
                    cpu);
    else
        failure_set(failure, STATUS_KERNEL_DIED,
                    "the kernel stopped: no end within %d seconds, no answer when asked for one, "
                    "and %s",
                    ending->value, cpu);
}

/* VALUE is the signal that killed the debugger, or minus what it exited with. */
static void verdict_left(int value, struct failure *failure)
{
    if (value == -STATUS_BAD_INPUT)
        failure_set(failure, STATUS_BAD_INPUT, "the debugger did not begin, and has said why");
    else if (value > 0)
        failure_set(failure, STATUS_SKIPPED, "the debugger was killed by signal %d (%s)", value,
                    strsignal(value));
    else
        failure_set(failure, STATUS_SKIPPED, "the debugger was left before the job was done");
}

static void verdict_unended(const struct verdict_case *verdict, struct failure *failure)
{
    int value = verdict->ending->value;

    switch (verdict->ending->end) {
    case QEMU_TIMED_OUT:
        verdict_timed_out(verdict->ending, failure);
        break;
    case QEMU_SILENT:
        failure_set(
            failure, STATUS_BAD_INPUT,
            "KVM gives no sign of life: nothing on the console in %d seconds; use ACCEL=tcg",
            value);
        break;
    case QEMU_KILLED:
        failure_set(failure, STATUS_KERNEL_DIED, "QEMU was killed by signal %d (%s)", value,
                    strsignal(value));
        break;
    case QEMU_LEFT:
        verdict_left(value, failure);
        break;
    case QEMU_NO_ROOM:
        failure_set(failure, STATUS_BAD_INPUT,
                    "the host has no room for what the guest writes to its disk");
        break;
    case QEMU_LEFT_PAUSED:
        failure_set(failure, STATUS_NO_END,
                    "a debugger had joined; it is gone, and has left the machine standing still");
        break;
    default:
        break;
    }
}

/* QEMU exited with a value that no guest's status stands behind. */
static void verdict_exit_unknown(const struct verdict_case *verdict, struct failure *failure)
{
    int value = verdict->ending->value;
    bool end = verdict->console->end.said;

    if (end)
        failure_set(failure, STATUS_FAILED,
                    "the guest said that it ends with status %" PRIu64 ", but QEMU exited with %d",
                    verdict->console->end.status, value);
    else if (value == 0 && verdict->kvm && verdict->console->lines == 0)
        failure_set(failure, STATUS_BAD_INPUT,
                    "KVM gives no sign of life: the machine was reset before it said a word; use "
                    "ACCEL=tcg");
    else if (value == 0)
        failure_set(failure, STATUS_KERNEL_DIED,
                    "the machine was reset or switched off, and nobody said how it went");
    else if (value == VERDICT_EXIT_ERROR && verdict->console->lines == 0)
        failure_set(failure, STATUS_BAD_INPUT, "QEMU did not start: %s",
                    verdict->qemu_error[0] != '\0' ? verdict->qemu_error : "it did not say why");
    else
        failure_set(failure, STATUS_KERNEL_DIED,
                    "QEMU exited with %d before the guest said how it went%s%s", value,
                    verdict->qemu_error[0] != '\0' ? ": " : "", verdict->qemu_error);
}

static void verdict_exited(const struct verdict_case *verdict, struct failure *failure)
{
    const struct console_end *end = &verdict->console->end;
    int status;

    if (!verdict_exit_lookup(verdict->ending->value, &status)) {
        verdict_exit_unknown(verdict, failure);
        return;
    }
    if (!end->said)
        failure_set(failure, STATUS_FAILED,
                    "the guest ended with status %d, but never said so on the console", status);
    else if (end->status != (uint64_t)status)
        failure_set(failure, STATUS_FAILED,
                    "the guest said that it ends with status %" PRIu64 ", and ended with %d",
                    end->status, status);
    else if (status == STATUS_NO_END && verdict->console->hang.told && verdict->ending->told_s != 0)
        failure_set(failure, status, "no end within %u seconds: %s", verdict->ending->told_s,
                    verdict->console->hang.sentence);
    else if (status != STATUS_SUCCESS)
        failure_set(failure, status, "%s",
                    end->reason[0] != '\0' ? end->reason : "the guest gave no reason");
}

static void verdict_servers_check(const struct verdict_case *verdict, struct failure *failure)
{
    const char *names = job_servers(verdict->job);

    while (*names != '\0') {
        size_t length = strcspn(names, " ");
        char name[CONSOLE_WORD_BYTES];
        const struct console_server *server;

        snprintf(name, sizeof(name), "%.*s", (int)length, names);
        server = console_server_lookup(verdict->console, name);
        if (server == NULL || !server->started)
            failure_set(failure, STATUS_FAILED, "the server %s never said that it started", name);
        else if (verdict->trace && !server->trace.said)
            failure_set(failure, STATUS_FAILED, "the server %s never said what it recorded", name);
        names += length + (names[length] == ' ');
    }
}

static void verdict_counters_check(const struct verdict_case *verdict, struct failure *failure)
{
    const char *name = job_server(verdict->job);
    const struct console_server *server = console_server_lookup(verdict->console, name);

    unsigned classes = job_is_ext2(verdict->job) ? LAYER_SPLIT : 1; /* an object has no metadata */

    for (unsigned i = 0; server != NULL && i < LAYER_GUEST_KINDS * classes; i++) {
        enum layer_kind kind = (enum layer_kind)(i / classes);
        enum layer_class class = (enum layer_class)(i % classes);

        if (!server->counted[kind][class])
            failure_set(failure, STATUS_FAILED, "the server %s never said its %s counter (%s)",
                        name, layer_kind_name(kind), layer_class_name(class));
    }
}

static void verdict_store_check(const struct verdict_case *verdict, struct failure *failure)
{
    const struct console *console = verdict->console;
    const char *name = job_server(verdict->job);
    bool said = false;

    for (size_t i = 0; i < console->stores_count; i++)
        said = said || strcmp(console->stores[i].server, name) == 0;
    if (!said)
        failure_set(failure, STATUS_FAILED, "the server %s never printed its store line", name);
}

/* Servers have a fixed number of threads, whatever they have to do. */
static void verdict_threads_check(const struct verdict_case *verdict, struct failure *failure)
{
    const char *name = job_server(verdict->job);
    const struct console_server *server = console_server_lookup(verdict->console, name);

    if (server == NULL || !server->threads.said)
        failure_set(failure, STATUS_FAILED, "the server %s never said how many threads it has",
                    name);
    else if (server->threads.first != server->threads.last)
        failure_set(failure, STATUS_FAILED,
                    "the server %s had %s threads when it began to serve, and %s at its end", name,
                    NUMBER_TEXT(server->threads.first), NUMBER_TEXT(server->threads.last));
}

static void verdict_job_check(const struct verdict_case *verdict, struct failure *failure)
{
    const struct console_job *said = &verdict->console->job;

    if (!said->said)
        failure_set(failure, STATUS_FAILED, "the workload never printed its job line");
    else if (strcmp(said->name, verdict->job->name) != 0 || said->bytes != verdict->job->size)
        failure_set(failure, STATUS_FAILED, "job %s of %s bytes was asked for, %s of %s was run",
                    verdict->job->name, NUMBER_TEXT(verdict->job->size), said->name,
                    NUMBER_TEXT(said->bytes));
}

static void verdict_sides_check(const struct verdict_case *verdict, struct failure *failure)
{
    for (size_t i = verdict->console->sides_count; i < verdict->job->sides_count; i++)
        failure_set(failure, STATUS_FAILED, "the side job %s never said what it did",
                    verdict->job->sides[i].name);
}

static void verdict_checks_check(const struct verdict_case *verdict, struct failure *failure)
{
    for (size_t i = 0; i < verdict->console->checks_count; i++) {
        const struct console_check *check = &verdict->console->checks[i];

        if (strcmp(check->result, "ok") != 0)
            failure_set(failure, STATUS_FAILED, "the guest's check %s: %s", check->name,
                        check->result);
    }
}

static void verdict_complete_check(const struct verdict_case *verdict, struct failure *failure)
{
    verdict_checks_check(verdict, failure);
    verdict_servers_check(verdict, failure);
    verdict_job_check(verdict, failure);
    verdict_sides_check(verdict, failure);
    verdict_counters_check(verdict, failure);
    verdict_store_check(verdict, failure);
    verdict_threads_check(verdict, failure);
}

void verdict_judge(const struct verdict_case *verdict, struct failure *failure)
{
    const struct console *console = verdict->console;

    if (verdict->ending->end == QEMU_INTERRUPTED)
        failure_set(failure, STATUS_SIGNALLED + verdict->ending->value, "ended by signal %d (%s)",
                    verdict->ending->value, strsignal(verdict->ending->value));
    if (console->death[0] != '\0')
        failure_set(failure, STATUS_KERNEL_DIED, "the kernel %s: %s",
                    console->death_is_panic ? "panicked" : "failed an assertion", console->death);
    if (console->crash[0] != '\0')
        failure_set(failure, STATUS_FAILED, "%s", console->crash);
    if (verdict->ending->end == QEMU_EXITED)
        verdict_exited(verdict, failure);
    else
        verdict_unended(verdict, failure);
    if (console->broken[0] != '\0')
        failure_set(failure, STATUS_FAILED, "the console's %s", console->broken);
    if (failure->status == STATUS_SUCCESS)
        verdict_complete_check(verdict, failure);
}

void verdict_claims_judge(const struct verdict_case *verdict, struct failure *failure)
{
    const struct console *console = verdict->console;
    const char *name = job_server(verdict->job);
    const struct console_server *server = console_server_lookup(console, name);
    uint64_t written = server == NULL ? 0 : layers_sum(&server->layers, LAYER_STORE_WRITE).bytes;
    uint64_t claimed = 0;

    for (size_t i = 0; i < console->claims_count; i++) {
        const struct console_claim *claim = &console->claims[i];

        if (strcmp(claim->server, name) == 0)
            claimed += claim->sectors * claim->times * VERDICT_SECTOR_BYTES;
    }
    if (claimed != written)
        failure_set(failure, STATUS_FAILED,
                    "the server %s counted store_writes of %s bytes, but claims %s", name,
                    NUMBER_TEXT(written), NUMBER_TEXT(claimed));
}

void verdict_fault_judge(const struct verdict_case *verdict, struct failure *failure)
{
    const char *fault = verdict->job->fault;

    if (strcmp(fault, "none") != 0)
        failure_set(failure, STATUS_FAILED, "fault=%s was asked for, and nothing went wrong",
                    fault);
}

bool verdict_is_checkable(const struct verdict_case *verdict)
{
    const struct console *console = verdict->console;

    return verdict->ending->end == QEMU_EXITED && console->end.said && console->crash[0] == '\0' &&
           console->death[0] == '\0' &&
           (console->end.status == STATUS_SUCCESS || console->end.status == STATUS_FAILED);
}
