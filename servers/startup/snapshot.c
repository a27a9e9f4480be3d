// SPDX-License-Identifier: GPL-2.0-or-later
#include "startup/snapshot.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "librt/x86/arch.h"

/* --- Threads --------------------------------------------------------------------------------- */

/* The part of a struct rt_thread that is read. */
#define SNAPSHOT_THREAD_BYTES offsetof(struct rt_thread, reent)

static void snapshot_label(task_t task, const struct rt_thread *thread, char *label)
{
    char name[SNAPSHOT_NAME - 12];
    struct rt_thread named = {.name = name, .number = thread->number};
    char text[RT_LABEL_MAX];

    peek_string(task, (vm_address_t)thread->name, name, sizeof(name));
    snprintf(label, SNAPSHOT_NAME, "%s", rt_thread_label(&named, text));
}

/* Take the thread at ADDRESS of TASK. Returns the address of the next, 0 when this is none. */
static vm_address_t snapshot_thread_take(struct snapshot *snapshot,
                                         const struct snapshot_task *task, vm_address_t address)
{
    static struct rt_thread thread; /* too large for a stack */
    struct snapshot_thread *taken = &snapshot->threads[snapshot->nthreads];

    if (peek_read(task->task, address, &thread, SNAPSHOT_THREAD_BYTES) != KERN_SUCCESS ||
        thread.magic != RT_THREAD_MAGIC)
        return 0;
    *taken = (struct snapshot_thread){.task = task,
                                      .address = address,
                                      .wait = thread.wait,
                                      .transfer = thread.transfer,
                                      .handling = thread.handling,
                                      .serves = thread.serves,
                                      .nheld = thread.nheld,
                                      .trace_chunk = (vm_address_t)thread.trace_chunk};
    memcpy(taken->held, thread.held, sizeof(thread.held));
    snapshot_label(task->task, &thread, taken->label);
    if (thread.wait.kind != RT_WAIT_NONE && thread.wait.name != NULL)
        peek_string(task->task, (vm_address_t)thread.wait.name, taken->waits_for, SNAPSHOT_NAME);
    if (address != (vm_address_t)rt_thread_self())
        snapshot->nthreads++;
    return (vm_address_t)thread.next;
}

/* Take TASK's threads; its list has the newest first, the snapshot the oldest. */
static void snapshot_threads_take(struct snapshot *snapshot, struct snapshot_task *task)
{
    size_t first = snapshot->nthreads;
    vm_address_t next;

    if (peek_read(task->task, (vm_address_t)task->image.head.state, &task->state,
                  sizeof(task->state)) != KERN_SUCCESS)
        return;
    next = (vm_address_t)task->state.threads;
    while (next != 0 && snapshot->nthreads < SNAPSHOT_THREADS)
        next = snapshot_thread_take(snapshot, task, next);
    snapshot->cut = snapshot->cut || next != 0;
    for (size_t low = first, high = snapshot->nthreads; low + 1 < high--; low++) {
        struct snapshot_thread swap = snapshot->threads[low];

        snapshot->threads[low] = snapshot->threads[high];
        snapshot->threads[high] = swap;
    }
}

static enum snapshot_state snapshot_state_of(thread_t thread)
{
    struct thread_basic_info info = {0};
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;

    if (thread_info(thread, THREAD_BASIC_INFO, (thread_info_t)&info, &count) != KERN_SUCCESS)
        return SNAPSHOT_UNKNOWN;
    switch (info.run_state) {
    case TH_STATE_RUNNING:
        return SNAPSHOT_RUNS;
    case TH_STATE_UNINTERRUPTIBLE:
        return SNAPSHOT_STUCK;
    default:
        return SNAPSHOT_WAITS;
    }
}

/* Whose stack SP is on, or null. */
static struct snapshot_thread *snapshot_thread_of_stack(struct snapshot *snapshot, size_t first,
                                                        uintptr_t sp)
{
    for (size_t i = first; i < snapshot->nthreads; i++)
        if (snapshot->threads[i].address == (vm_address_t)rt_thread_of_stack(sp))
            return &snapshot->threads[i];
    return NULL;
}

/* Follow the frames up THREAD's stack (librt/x86/arch.h says what they look like). */
static void snapshot_callers_take(struct snapshot_thread *thread, const struct rt_arch_place *place)
{
    struct rt_frames *frames = &thread->frames;
    uintptr_t frame[2]; /* the caller's frame, and where it goes on */
    uintptr_t at = place->fp;

    thread->pc = place->pc;
    while (frames->count < RT_FRAMES_MAX && at >= place->sp && at < thread->address &&
           peek_read(thread->task->task, at, frame, sizeof(frame)) == KERN_SUCCESS) {
        frames->frames[frames->count] = at;
        frames->callers[frames->count++] = frame[1];
        at = frame[0];
    }
}

/* The kernel does not say where a thread is that cannot be interrupted: asking would wait for it.
 */
static void snapshot_place_take(struct snapshot *snapshot, size_t first, thread_t port)
{
    enum snapshot_state state = snapshot_state_of(port);
    struct rt_arch_place place;
    struct snapshot_thread *thread;

    if (state == SNAPSHOT_STUCK || rt_arch_thread_place(port, &place) != KERN_SUCCESS)
        return;
    thread = snapshot_thread_of_stack(snapshot, first, place.sp);
    if (thread == NULL)
        return;
    thread->state = state;
    snapshot_callers_take(thread, &place);
}

/* FIRST is TASK's first thread in the snapshot. */
static void snapshot_places_take(struct snapshot *snapshot, const struct snapshot_task *task,
                                 size_t first)
{
    thread_array_t ports;
    mach_msg_type_number_t count;

    for (size_t i = first; i < snapshot->nthreads; i++)
        snapshot->threads[i].state = SNAPSHOT_STUCK;
    if (task_threads(task->task, &ports, &count) != KERN_SUCCESS)
        return;
    for (mach_msg_type_number_t i = 0; i < count; i++)
        snapshot_place_take(snapshot, first, ports[i]);
    vm_deallocate(mach_task_self(), (vm_address_t)ports, count * sizeof(*ports));
}

/* --- Ports ----------------------------------------------------------------------------------- */

/* A right that this task gets of NAME in TASK, as a send right; or null. */
static mach_port_t snapshot_right(task_t task, mach_port_t name, mach_msg_type_name_t how)
{
    mach_port_t right = MACH_PORT_NULL;
    mach_msg_type_name_t got;

    if (mach_port_extract_right(task, name, how, &right, &got) != KERN_SUCCESS)
        return MACH_PORT_NULL;
    return right;
}

static void snapshot_port_take(struct snapshot *snapshot, const struct snapshot_task *task,
                               mach_port_t name)
{
    struct snapshot_port *port = &snapshot->ports[snapshot->nports];
    mach_port_status_t status;

    if (snapshot->nports == SNAPSHOT_PORTS) {
        snapshot->cut = true;
        return;
    }
    if (mach_port_get_receive_status(task->task, name, &status) != KERN_SUCCESS)
        return;
    *port =
        (struct snapshot_port){.task = task,
                               .name = name,
                               .right = snapshot_right(task->task, name, MACH_MSG_TYPE_MAKE_SEND),
                               .set = status.mps_pset,
                               .nqueued = status.mps_msgcount,
                               .limit = status.mps_qlimit};
    snapshot->nports++;
}

static void snapshot_ports_take(struct snapshot *snapshot, const struct snapshot_task *task)
{
    mach_port_array_t names;
    mach_port_type_array_t types;
    mach_msg_type_number_t nnames, ntypes;

    if (mach_port_names(task->task, &names, &nnames, &types, &ntypes) != KERN_SUCCESS)
        return;
    for (mach_msg_type_number_t i = 0; i < nnames; i++)
        if ((types[i] & MACH_PORT_TYPE_RECEIVE) != 0)
            snapshot_port_take(snapshot, task, names[i]);
    vm_deallocate(mach_task_self(), (vm_address_t)names, nnames * sizeof(*names));
    vm_deallocate(mach_task_self(), (vm_address_t)types, ntypes * sizeof(*types));
}

/* The port that THREAD sends to, or null. */
static const struct snapshot_port *snapshot_port_of(const struct snapshot *snapshot,
                                                    const struct snapshot_thread *thread)
{
    mach_port_t right =
        snapshot_right(thread->task->task, thread->transfer.to, MACH_MSG_TYPE_COPY_SEND);

    for (size_t i = 0; i < snapshot->nports && right != MACH_PORT_NULL; i++)
        if (snapshot->ports[i].right == right)
            return &snapshot->ports[i];
    return NULL;
}

static bool snapshot_is_idle(const struct snapshot_thread *thread)
{
    mach_port_type_t type;

    return thread->wait.kind == RT_WAIT_NONE &&
           (thread->transfer.option & (MACH_SEND_MSG | MACH_RCV_MSG)) == MACH_RCV_MSG &&
           mach_port_type(thread->task->task, thread->transfer.from, &type) == KERN_SUCCESS &&
           (type & MACH_PORT_TYPE_PORT_SET) != 0;
}

/* Find out what threads send to, and which are idle. => all ports have been taken. */
static void snapshot_transfers_take(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->nthreads; i++) {
        struct snapshot_thread *thread = &snapshot->threads[i];

        if ((thread->transfer.option & MACH_SEND_MSG) != 0)
            thread->port = snapshot_port_of(snapshot, thread);
        thread->idle = snapshot_is_idle(thread);
    }
}

/* --- All ------------------------------------------------------------------------------------- */

static void snapshot_task_take(struct snapshot *snapshot, const char *name, task_t task)
{
    struct snapshot_task *taken = &snapshot->tasks[snapshot->ntasks];
    size_t first = snapshot->nthreads;

    *taken = (struct snapshot_task){.name = name, .task = task};
    if (peek_image_init(&taken->image, task, name) != KERN_SUCCESS)
        return;
    snapshot->ntasks++;
    snapshot_threads_take(snapshot, taken);
    snapshot_places_take(snapshot, taken, first);
    snapshot_ports_take(snapshot, taken);
}

void snapshot_take(struct snapshot *snapshot)
{
    const struct startup_task *task;

    snapshot->now = rt_arch_cycles();
    snapshot->ntasks = snapshot->nthreads = snapshot->nports = 0;
    snapshot->cut = false;
    for (size_t i = 0; (task = startup_task_get(i)) != NULL; i++)
        if (task->started)
            snapshot_task_take(snapshot, task->name, task->task);
    snapshot_task_take(snapshot, rt_image.name, mach_task_self());
    snapshot_transfers_take(snapshot);
}

void snapshot_lock_name(const struct snapshot_task *task, const struct rt_held *held,
                        char name[SNAPSHOT_NAME])
{
    const char *const *at = &task->state.lock_names[held->class];
    const char *text;

    snprintf(name, SNAPSHOT_NAME, "an unknown lock");
    if (peek_read(task->task, (vm_address_t)at, (void *)&text, sizeof(text)) == KERN_SUCCESS)
        peek_string(task->task, (vm_address_t)text, name, SNAPSHOT_NAME);
}
