// SPDX-License-Identifier: GPL-2.0-or-later
#include "startup/hang.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "librt/clock.h"
#include "librt/log.h"

#define HANG_PLACE_MAX 640

/* Names of messages, from MIG's stubs (servers/servers.mk). */
static const struct {
    mach_msg_id_t id;
    const char *name;
} hang_messages[] = {
#include "messages.h"
};

const char *hang_message_name(mach_msg_id_t id)
{
    for (size_t i = 0; i < sizeof(hang_messages) / sizeof(hang_messages[0]); i++)
        if (hang_messages[i].id == id)
            return hang_messages[i].name;
    return NULL;
}

static const char *hang_message(mach_msg_id_t id, char text[SNAPSHOT_NAME])
{
    const char *name = hang_message_name(id);

    if (name != NULL)
        snprintf(text, SNAPSHOT_NAME, "%s", name);
    else
        snprintf(text, SNAPSHOT_NAME, "message %d", id);
    return text;
}

const char *hang_label(const struct snapshot_thread *thread, char text[HANG_PHRASE_MAX])
{
    snprintf(text, HANG_PHRASE_MAX, "%s/%s", thread->task->name, thread->label);
    return text;
}

/* --- What a thread waits for ----------------------------------------------------------------- */

static const char *hang_lock_phrase(const struct snapshot_thread *thread)
{
    switch (thread->wait.kind) {
    case RT_WAIT_READ:
        return "waits for the lock %s (%#lx), as a reader";
    case RT_WAIT_WRITE:
        return "waits for the lock %s (%#lx), as a writer";
    case RT_WAIT_COND:
        return "waits for the condition %s (%#lx)";
    default:
        return "waits for the lock %s (%#lx)";
    }
}

static void hang_wait_phrase(const struct snapshot_thread *thread, char text[HANG_PHRASE_MAX])
{
    if (thread->wait.kind == RT_WAIT_ENDED)
        snprintf(text, HANG_PHRASE_MAX, "has ended");
    else if (thread->wait.kind == RT_WAIT_TIME)
        snprintf(text, HANG_PHRASE_MAX, "lets some time pass");
    else
        snprintf(text, HANG_PHRASE_MAX, hang_lock_phrase(thread), thread->waits_for,
                 (unsigned long)thread->wait.object);
}

static void hang_call_phrase(const struct snapshot_thread *thread, char text[HANG_PHRASE_MAX])
{
    const struct snapshot_port *port = thread->port;
    char name[SNAPSHOT_NAME];

    snprintf(text, HANG_PHRASE_MAX, "waits for %s's answer to %s",
             port == NULL ? "the kernel" : port->task->name,
             hang_message(thread->transfer.id, name));
}

static void hang_transfer_phrase(const struct snapshot_thread *thread, char text[HANG_PHRASE_MAX])
{
    const mach_msg_option_t both = MACH_SEND_MSG | MACH_RCV_MSG;
    char name[SNAPSHOT_NAME];

    if ((thread->transfer.option & both) == both)
        hang_call_phrase(thread, text);
    else if ((thread->transfer.option & MACH_SEND_MSG) != 0)
        snprintf(text, HANG_PHRASE_MAX, "sends %s", hang_message(thread->transfer.id, name));
    else if (thread->idle)
        snprintf(text, HANG_PHRASE_MAX, "is idle, receives requests");
    else
        snprintf(text, HANG_PHRASE_MAX, "waits for a message on its port %u",
                 (unsigned int)thread->transfer.from);
}

static void hang_place_phrase(const struct snapshot_thread *thread, char text[HANG_PHRASE_MAX])
{
    char place[RT_SYMBOL_MAX];

    rt_symbol_print(&thread->task->image.symbols, thread->pc, place, sizeof(place));
    switch (thread->state) {
    case SNAPSHOT_RUNS:
        snprintf(text, HANG_PHRASE_MAX, "runs at %s", place);
        break;
    case SNAPSHOT_WAITS:
        snprintf(text, HANG_PHRASE_MAX, "waits for memory that it touches at %s", place);
        break;
    default:
        snprintf(text, HANG_PHRASE_MAX, "is in the kernel, which does not say where");
        break;
    }
}

const char *hang_phrase(const struct snapshot_thread *thread, char text[HANG_PHRASE_MAX])
{
    if (thread->wait.kind != RT_WAIT_NONE)
        hang_wait_phrase(thread, text);
    else if (thread->transfer.option != 0)
        hang_transfer_phrase(thread, text);
    else
        hang_place_phrase(thread, text);
    return text;
}

/* --- All about a thread ---------------------------------------------------------------------- */

/* Append to TEXT how long ago SINCE was. */
static void hang_append_since(const struct snapshot *snapshot, uint64_t since,
                              char text[HANG_PHRASE_MAX])
{
    uint64_t ms = rt_clock_cycles_to_ns(snapshot->now - since) / 1000000;
    size_t used = strlen(text);

    snprintf(text + used, HANG_PHRASE_MAX - used, ", for %" PRIu64 ".%" PRIu64 " s", ms / 1000,
             ms / 100 % 10);
}

static void hang_held_print(const struct snapshot_thread *thread, const char *label)
{
    char place[HANG_PLACE_MAX];
    char name[SNAPSHOT_NAME];

    for (unsigned int i = 0; i < thread->nheld && i < RT_HELD_MAX; i++) {
        const struct rt_held *held = &thread->held[i];
        struct rt_callers callers = rt_held_callers(held, &thread->frames);

        snapshot_lock_name(thread->task, held, name);
        rt_symbol_callers(&thread->task->image.symbols, callers.at, RT_CALLERS_MAX, place,
                          sizeof(place));
        rt_log("hang: %s: holds %s (%#lx)%s, taken at %s", label, name, (unsigned long)held->object,
               held->shared ? " as a reader" : "", place);
    }
}

void hang_place_print(const struct snapshot_thread *thread)
{
    char label[HANG_PHRASE_MAX], here[RT_SYMBOL_MAX], place[HANG_PLACE_MAX];

    if (thread->pc == 0)
        return;
    rt_symbol_print(&thread->task->image.symbols, thread->pc, here, sizeof(here));
    rt_symbol_callers(&thread->task->image.symbols, thread->frames.callers, thread->frames.count,
                      place, sizeof(place));
    rt_log("hang: %s: at %s < %s", hang_label(thread, label), here, place);
}

void hang_thread_print(const struct snapshot *snapshot, const struct snapshot_thread *thread)
{
    char label[HANG_PHRASE_MAX], phrase[HANG_PHRASE_MAX];
    char name[SNAPSHOT_NAME];

    hang_label(thread, label);
    hang_phrase(thread, phrase);
    if (thread->transfer.option != 0)
        hang_append_since(snapshot, thread->transfer.since, phrase);
    rt_log("hang: %s: %s", label, phrase);
    if (thread->handling.id != 0) {
        snprintf(phrase, sizeof(phrase), "handles %s", hang_message(thread->handling.id, name));
        hang_append_since(snapshot, thread->handling.since, phrase);
        rt_log("hang: %s: %s", label, phrase);
    }
    hang_held_print(thread, label);
    hang_place_print(thread);
}
