// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who waits for whom. A thread that waits for a lock waits for each thread that holds it; one that
 * waits for another server's answer waits for the threads of that server that handle such a message
 * and began after it was sent. A condition can be signalled by anybody, so nothing follows from it.
 *
 * Where that makes a circle it is a deadlock. Where a server's answer is waited for, and no thread
 * handles such a message, nor is one queued, the answer is lost.
 */
#include "startup/hang.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "librt/log.h"

static const char *const hang_kind_names[] = {"deadlock", "lost_reply", "no_progress"};

const char *hang_kind_name(enum hang_kind kind)
{
    return hang_kind_names[kind];
}

/* --- Who waits for whom ---------------------------------------------------------------------- */

static bool hang_calls(const struct snapshot_thread *thread)
{
    const mach_msg_option_t both = MACH_SEND_MSG | MACH_RCV_MSG;

    return thread->wait.kind == RT_WAIT_NONE && (thread->transfer.option & both) == both;
}

static bool hang_wants_lock(const struct snapshot_thread *thread)
{
    return thread->wait.kind == RT_WAIT_MUTEX || thread->wait.kind == RT_WAIT_READ ||
           thread->wait.kind == RT_WAIT_WRITE;
}

static bool hang_holds(const struct snapshot_thread *thread, const void *lock)
{
    for (unsigned int i = 0; i < thread->nheld && i < RT_HELD_MAX; i++)
        if (thread->held[i].object == lock)
            return true;
    return false;
}

/* Whether OTHER handles what THREAD waits for the answer to, from the task that has PORT. */
static bool hang_handles(const struct snapshot_thread *other, const struct snapshot_thread *thread,
                         const struct snapshot_port *port)
{
    return other->task == port->task && other->handling.id == thread->transfer.id &&
           other->handling.since >= thread->transfer.since;
}

/* The first thread from number FIRST on that THREAD waits for, or null. */
static const struct snapshot_thread *
hang_blocker(const struct snapshot *snapshot, const struct snapshot_thread *thread, size_t first)
{
    const struct snapshot_port *port = hang_calls(thread) ? thread->port : NULL;

    for (size_t i = first; i < snapshot->nthreads; i++) {
        const struct snapshot_thread *other = &snapshot->threads[i];

        if (hang_wants_lock(thread) && other->task == thread->task &&
            hang_holds(other, thread->wait.object))
            return other;
        if (port != NULL && hang_handles(other, thread, port))
            return other;
    }
    return NULL;
}

/* --- Circles --------------------------------------------------------------------------------- */

/* Threads, each of which waits for the next. */
struct hang_chain {
    const struct snapshot_thread *threads[SNAPSHOT_THREADS];
    size_t length;
    size_t loop; /* the last waits for this one; length: for none */
};

static size_t hang_chain_find(const struct hang_chain *chain, const struct snapshot_thread *thread)
{
    size_t i = 0;

    while (i < chain->length && chain->threads[i] != thread)
        i++;
    return i;
}

/* Extend CHAIN by what its last thread waits for, depth first, until it is a circle. SEEN marks the
   threads that lead to none. */
static bool hang_chain_close(const struct snapshot *snapshot, struct hang_chain *chain, bool *seen)
{
    const struct snapshot_thread *last = chain->threads[chain->length - 1];
    const struct snapshot_thread *next = hang_blocker(snapshot, last, 0);

    for (; next != NULL;
         next = hang_blocker(snapshot, last, (size_t)(next - snapshot->threads) + 1)) {
        chain->loop = hang_chain_find(chain, next);
        if (chain->loop < chain->length)
            return true;
        if (seen[next - snapshot->threads])
            continue;
        chain->threads[chain->length++] = next;
        if (hang_chain_close(snapshot, chain, seen))
            return true;
        chain->length--;
    }
    seen[last - snapshot->threads] = true;
    return false;
}

/* Leave only the circle in CHAIN. */
static void hang_chain_trim(struct hang_chain *chain)
{
    chain->length -= chain->loop;
    memmove(chain->threads, chain->threads + chain->loop,
            chain->length * sizeof(chain->threads[0]));
    chain->loop = 0;
}

static bool hang_find_circle(const struct snapshot *snapshot, struct hang_chain *chain)
{
    static bool seen[SNAPSHOT_THREADS];

    memset(seen, 0, sizeof(seen));
    for (size_t i = 0; i < snapshot->nthreads; i++) {
        if (seen[i])
            continue;
        chain->threads[0] = &snapshot->threads[i];
        chain->length = 1;
        if (hang_chain_close(snapshot, chain, seen)) {
            hang_chain_trim(chain);
            return true;
        }
    }
    return false;
}

/* --- Lost answers, and what is left ---------------------------------------------------------- */

static bool hang_is_lost(const struct snapshot *snapshot, const struct snapshot_thread *thread)
{
    const struct snapshot_port *port = hang_calls(thread) ? thread->port : NULL;

    return port != NULL && port->nqueued == 0 && hang_blocker(snapshot, thread, 0) == NULL;
}

static const struct snapshot_thread *hang_find_lost(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->nthreads; i++)
        if (hang_is_lost(snapshot, &snapshot->threads[i]))
            return &snapshot->threads[i];
    return NULL;
}

/* The first thread of the client, or else of what was started last. */
static const struct snapshot_thread *hang_client(const struct snapshot *snapshot)
{
    const struct snapshot_thread *found = NULL;

    for (size_t i = 0; i < snapshot->nthreads; i++) {
        const struct snapshot_thread *thread = &snapshot->threads[i];

        if (thread->task->task != mach_task_self() &&
            (found == NULL || found->task != thread->task))
            found = thread;
    }
    return found;
}

/* What THREAD waits for, what that waits for, and so on. There is no circle. */
static void hang_chain_follow(const struct snapshot *snapshot, const struct snapshot_thread *thread,
                              struct hang_chain *chain)
{
    chain->length = 0;
    while (thread != NULL && chain->length < SNAPSHOT_THREADS) {
        chain->threads[chain->length++] = thread;
        thread = hang_blocker(snapshot, thread, 0);
    }
    chain->loop = chain->length;
}

/* --- In words -------------------------------------------------------------------------------- */

/* Append FORMAT to the SENTENCE, as far as there is room. */
__attribute__((format(printf, 2, 3))) static void hang_append(char *sentence, const char *format,
                                                              ...)
{
    size_t used = strlen(sentence);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence + used, HANG_SENTENCE_MAX - used, format, arguments);
    va_end(arguments);
}

static void hang_chain_append(const struct hang_chain *chain, char *sentence)
{
    char label[HANG_PHRASE_MAX], phrase[HANG_PHRASE_MAX];

    for (size_t i = 0; i < chain->length; i++) {
        const struct snapshot_thread *thread = chain->threads[i];
        const char *how = i > 0 && hang_calls(chain->threads[i - 1]) ? "handled by" : "held by";

        if (i == 0)
            hang_append(sentence, "%s", hang_label(thread, label));
        else
            hang_append(sentence, ", %s %s, which", how, hang_label(thread, label));
        hang_append(sentence, " %s", hang_phrase(thread, phrase));
    }
    if (chain->loop < chain->length)
        hang_append(sentence, ", %s %s",
                    hang_calls(chain->threads[chain->length - 1]) ? "handled by" : "held by",
                    hang_label(chain->threads[chain->loop], label));
}

static void hang_lost_append(const struct snapshot_thread *thread, char *sentence)
{
    const struct snapshot_port *port = thread->port;
    char label[HANG_PHRASE_MAX], phrase[HANG_PHRASE_MAX];

    hang_append(sentence, "%s %s, but no thread of %s works on it", hang_label(thread, label),
                hang_phrase(thread, phrase), port->task->name);
}

/* --- Lines ----------------------------------------------------------------------------------- */

/* Whether there is no more to say of THREAD than what it waits for. */
static bool hang_is_plain(const struct snapshot_thread *thread)
{
    return thread->nheld == 0 && thread->handling.id == 0 &&
           (thread->wait.kind == RT_WAIT_COND || thread->wait.kind == RT_WAIT_TIME ||
            thread->wait.kind == RT_WAIT_ENDED || thread->idle);
}

/* Append the labels of the threads, from number FIRST on, of FIRST's task that do the same. */
static unsigned int hang_alike_append(const struct snapshot *snapshot, size_t first, bool *said,
                                      char *line)
{
    char phrase[HANG_PHRASE_MAX], other[HANG_PHRASE_MAX];
    const struct snapshot_task *task = snapshot->threads[first].task;
    unsigned int count = 0;

    hang_phrase(&snapshot->threads[first], phrase);
    for (size_t i = first; i < snapshot->nthreads; i++) {
        const struct snapshot_thread *thread = &snapshot->threads[i];

        if (said[i] || thread->task != task || !hang_is_plain(thread) ||
            strcmp(phrase, hang_phrase(thread, other)) != 0)
            continue;
        said[i] = true;
        hang_append(line, "%s%s/%s", count == 0 ? "" : ", ", task->name, thread->label);
        count++;
    }
    return count;
}

/* Where the first of them waits is said for all, unless it is where threads get their requests. */
static void hang_alike_print(const struct snapshot *snapshot, size_t first, bool *said)
{
    const struct snapshot_thread *thread = &snapshot->threads[first];
    char line[HANG_SENTENCE_MAX] = "";
    char phrase[HANG_PHRASE_MAX];
    unsigned int count = hang_alike_append(snapshot, first, said, line);

    rt_log("hang: %s: %s%s", line, count > 1 ? "each " : "", hang_phrase(thread, phrase));
    if (!thread->idle && thread->wait.kind != RT_WAIT_ENDED)
        hang_place_print(thread);
}

static void hang_threads_print(const struct snapshot *snapshot)
{
    static bool said[SNAPSHOT_THREADS];

    memset(said, 0, sizeof(said));
    for (size_t i = 0; i < snapshot->nthreads; i++) {
        if (said[i] || (snapshot->threads[i].task->task == mach_task_self() &&
                        hang_is_plain(&snapshot->threads[i])))
            continue;
        if (hang_is_plain(&snapshot->threads[i]))
            hang_alike_print(snapshot, i, said);
        else
            hang_thread_print(snapshot, &snapshot->threads[i]);
    }
}

/* The label of a thread that has received on the port set SET of TASK, or "nobody". */
static const char *hang_receiver(const struct snapshot *snapshot, const struct snapshot_port *port)
{
    for (size_t i = 0; i < snapshot->nthreads; i++)
        if (snapshot->threads[i].task == port->task && port->set != MACH_PORT_NULL &&
            snapshot->threads[i].serves == port->set)
            return snapshot->threads[i].label;
    return "nobody";
}

static void hang_ports_print(const struct snapshot *snapshot)
{
    size_t nqueued = 0;

    for (size_t i = 0; i < snapshot->nports; i++) {
        const struct snapshot_port *port = &snapshot->ports[i];

        if (port->nqueued == 0)
            continue;
        nqueued++;
        rt_log("hang: port %u of %s: %u messages queued, of %u at most; they go to %s",
               (unsigned int)port->name, port->task->name, port->nqueued, port->limit,
               hang_receiver(snapshot, port));
    }
    if (nqueued == 0)
        rt_log("hang: no message is queued in any of %lu ports", (unsigned long)snapshot->nports);
}

enum hang_kind hang_report(const struct snapshot *snapshot, char *sentence)
{
    static struct hang_chain chain;
    const struct snapshot_thread *lost;

    hang_threads_print(snapshot);
    hang_ports_print(snapshot);
    hang_events_print(snapshot);
    if (snapshot->cut)
        rt_log("hang: there are more threads or ports than are shown");
    sentence[0] = '\0';
    if (hang_find_circle(snapshot, &chain)) {
        hang_append(sentence, "a deadlock: ");
        hang_chain_append(&chain, sentence);
        return HANG_DEADLOCK;
    }
    lost = hang_find_lost(snapshot);
    if (lost != NULL) {
        hang_append(sentence, "a reply is lost: ");
        hang_lost_append(lost, sentence);
        return HANG_LOST_REPLY;
    }
    hang_chain_follow(snapshot, hang_client(snapshot), &chain);
    hang_chain_append(&chain, sentence);
    if (chain.length == 0)
        hang_append(sentence, "no server has come up");
    return HANG_NO_PROGRESS;
}
