// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pool is cut into chunks. A thread owns one at a time and is the only one to write into it;
 * when it is full the thread marks it so and looks for a free one, which is the only moment when
 * threads meet: one compare-and-swap on a chunk's state. Full chunks are drained and become free
 * again, by the drain thread as long as few are free, by trace_report at the end: the events of
 * each thread in their order. Only there do they become text or CTF.
 */
#include "libtrace/private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "librt/clock.h"
#include "librt/config.h"
#include "librt/log.h"
#include "librt/rt.h"
#include "librt/state.h"
#include "librt/sync.h"
#include "librt/thread-private.h"
#include "libtrace/ctf.h"

#define TRACE_RAM_SHARE 16u
#define TRACE_POLL_MS   200u
#define TRACE_SAMPLE_MS 50u

uint32_t trace_mask;

static struct {
    struct trace_chunk *chunks;
    uint32_t nchunks;
    uint32_t requests;    /* numbers given out; atomic */
    uint32_t ndropped;    /* atomic */
    uint32_t sequence;    /* of the chunk taken last; atomic */
    struct rt_mutex lock; /* guards what follows: who drains */
    struct rt_cond never; /* nobody signals it: the drain thread's clock */
    uint32_t ndrained;
    uint64_t drain_ns;
    bool samples;               /* set once: this server's drain thread samples the memory */
    bool text;                  /* set once: events are printed */
    const struct ctf_sink *ctf; /* set once: events go there, if it is not null */
} trace;

static uint32_t trace_number(void)
{
    return __atomic_add_fetch(&trace.requests, 1, __ATOMIC_RELAXED);
}

uint32_t trace_request(void)
{
    return trace_mask == 0 ? 0 : trace_number();
}

uint32_t trace_cause(void)
{
    return trace_mask == 0 ? 0 : rt_thread_self()->trace_cause;
}

uint32_t trace_set_cause(uint32_t request)
{
    struct rt_thread *self;
    uint32_t before;

    if (trace_mask == 0)
        return 0;
    self = rt_thread_self();
    before = self->trace_cause;
    self->trace_cause = request;
    return before;
}

/* A free chunk for SELF, or null. */
static struct trace_chunk *trace_chunk_take(struct rt_thread *self)
{
    for (uint32_t i = 0; i < trace.nchunks; i++) {
        struct trace_chunk *chunk = &trace.chunks[i];
        uint32_t state = TRACE_FREE;

        if (__atomic_load_n(&chunk->state, __ATOMIC_RELAXED) != TRACE_FREE ||
            !__atomic_compare_exchange_n(&chunk->state, &state, TRACE_OWNED, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        chunk->nevents = 0;
        chunk->sequence = __atomic_add_fetch(&trace.sequence, 1, __ATOMIC_RELAXED);
        chunk->ndropped = self->trace_dropped;
        chunk->thread = self;
        self->trace_dropped = 0;
        return chunk;
    }
    return NULL;
}

/* The chunk that SELF writes to next, or null. */
static struct trace_chunk *trace_chunk_current(struct rt_thread *self)
{
    struct trace_chunk *chunk = self->trace_chunk;

    if (chunk != NULL && chunk->nevents < TRACE_CHUNK_EVENTS)
        return chunk;
    if (chunk != NULL)
        __atomic_store_n(&chunk->state, TRACE_FULL, __ATOMIC_RELEASE);
    self->trace_chunk = trace_chunk_take(self);
    return self->trace_chunk;
}

void trace_end(const struct trace_event *event)
{
    uint64_t end = rt_arch_cycles();
    struct rt_thread *self = rt_thread_self();
    struct trace_chunk *chunk = trace_chunk_current(self);
    struct trace_event *record;

    if (chunk == NULL) {
        self->trace_dropped++;
        __atomic_add_fetch(&trace.ndropped, 1, __ATOMIC_RELAXED);
        return;
    }
    record = &chunk->events[chunk->nevents];
    *record = *event;
    record->end = end;
    if (record->request == 0) /* what is recorded has a number, also if recording just ended */
        record->request = trace_number();
    chunk->nevents++;
}

void trace_call_begin(struct trace_call *call)
{
    call->start = trace_begin(TRACE_IO);
    call->request = trace_request();
    call->before = trace_set_cause(call->request);
}

int trace_call_end(const struct trace_call *call, enum trace_what what, uint32_t object,
                   uint64_t offset, uint32_t length, int error)
{
    trace_set_cause(call->before);
    if (call->start != 0)
        trace_end(&(struct trace_event){.kind = TRACE_IO,
                                        .start = call->start,
                                        .request = call->request,
                                        .what = (uint8_t)what,
                                        .object = object,
                                        .offset = offset,
                                        .length = length,
                                        .result = (uint8_t)error});
    return error;
}

/* --- Draining -------------------------------------------------------------------------------- */

static void trace_event_print(const struct trace_event *event, const struct rt_thread *thread)
{
    char label[RT_LABEL_MAX];
    char line[TRACE_LINE_MAX];

    trace_event_format(event, rt_image.name, rt_thread_label(thread, label), line);
    rt_print_line(line);
}

/* THREAD's stream, made if need be. => with the lock; no memory is a panic. */
static struct ctf_stream *trace_stream_of(struct rt_thread *thread)
{
    char label[RT_LABEL_MAX];

    if (thread->trace_stream != NULL)
        return thread->trace_stream;
    thread->trace_stream = malloc(sizeof(*thread->trace_stream));
    if (thread->trace_stream == NULL)
        rt_panic("no memory for the streams of CTF");
    ctf_stream_init(thread->trace_stream, trace.ctf, rt_image.name, rt_thread_label(thread, label));
    return thread->trace_stream;
}

/* Returns how many events had no room. => with the lock. */
static uint32_t trace_chunk_stream(const struct trace_chunk *chunk)
{
    struct ctf_stream *stream = trace_stream_of(chunk->thread);
    uint32_t before;

    ctf_stream_discard(stream, chunk->ndropped, rt_clock_cycles_to_ns(chunk->events[0].end));
    before = ctf_stream_discarded(stream);
    for (uint32_t i = 0; i < chunk->nevents; i++)
        ctf_stream_put(stream, &chunk->events[i]);
    ctf_stream_flush(stream);
    rt_progress();
    return ctf_stream_discarded(stream) - before;
}

/* => with the lock. */
static void trace_chunk_drain(struct trace_chunk *chunk)
{
    uint64_t start = rt_clock_ns();
    uint32_t nlost = trace.ctf != NULL ? trace_chunk_stream(chunk) : 0;

    for (uint32_t i = 0; trace.text && i < chunk->nevents; i++)
        trace_event_print(&chunk->events[i], chunk->thread);
    if (trace.text)
        nlost = 0; /* they are on the console */
    trace.ndrained += chunk->nevents - nlost;
    __atomic_add_fetch(&trace.ndropped, nlost, __ATOMIC_RELAXED);
    __atomic_store_n(&chunk->state, TRACE_FREE, __ATOMIC_RELEASE);
    trace.drain_ns += rt_clock_ns() - start;
}

static uint32_t trace_count_free(void)
{
    uint32_t nfree = 0;

    for (uint32_t i = 0; i < trace.nchunks; i++)
        nfree += __atomic_load_n(&trace.chunks[i].state, __ATOMIC_RELAXED) == TRACE_FREE;
    return nfree;
}

/* The chunk in STATE, or in a later one, that was taken first; or null. */
static struct trace_chunk *trace_chunk_oldest(enum trace_state state)
{
    struct trace_chunk *oldest = NULL;

    for (uint32_t i = 0; i < trace.nchunks; i++) {
        struct trace_chunk *chunk = &trace.chunks[i];

        if (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) >= state &&
            (oldest == NULL || chunk->sequence < oldest->sequence))
            oldest = chunk;
    }
    return oldest;
}

/* Drain full chunks until half of all are free. => with the lock. */
static void trace_drain_some(void)
{
    struct trace_chunk *chunk = trace_chunk_oldest(TRACE_FULL);

    while (chunk != NULL && trace_count_free() < trace.nchunks / 2) {
        trace_chunk_drain(chunk);
        chunk = trace_chunk_oldest(TRACE_FULL);
    }
}

/* => with the lock, so that nothing is recorded any more behind trace_report. */
static void trace_memory_sample(void)
{
    struct trace_event event = {.kind = TRACE_MEMORY, .start = trace_begin(TRACE_MEMORY)};
    struct vm_statistics statistics;

    if (event.start == 0 || vm_statistics(mach_task_self(), &statistics) != KERN_SUCCESS)
        return;
    event.count = (uint32_t)statistics.free_count;
    trace_end(&event);
}

static void trace_drain_thread(void *arg)
{
    (void)arg;
    rt_mutex_lock(&trace.lock);
    for (;;) {
        rt_cond_timedwait(&trace.never, &trace.lock,
                          trace.samples ? TRACE_SAMPLE_MS : TRACE_POLL_MS);
        if (trace.samples)
            trace_memory_sample();
        if (trace_count_free() < trace.nchunks / 4)
            trace_drain_some();
    }
}

/* What each thread dropped behind its last chunk, and what had no room. => with the lock. */
static void trace_streams_close(void)
{
    struct rt_thread *thread = __atomic_load_n(&rt_state.threads, __ATOMIC_ACQUIRE);

    for (; thread != NULL; thread = thread->next) {
        if (thread->trace_dropped == 0 && thread->trace_stream == NULL)
            continue;
        ctf_stream_discard(trace_stream_of(thread), thread->trace_dropped, rt_clock_ns());
        ctf_stream_close(thread->trace_stream, rt_clock_ns());
    }
}

void trace_report(void)
{
    struct trace_chunk *chunk;

    if (trace_mask == 0)
        return;
    trace_mask = 0;
    rt_mutex_lock(&trace.lock);
    while ((chunk = trace_chunk_oldest(TRACE_OWNED)) != NULL)
        trace_chunk_drain(chunk);
    if (trace.ctf != NULL)
        trace_streams_close();
    rt_emit("trace server=%s events=%" PRIu32 " dropped=%" PRIu32 " drain_us=%" PRIu64,
            rt_image.name, trace.ndrained, trace.ndropped, trace.drain_ns / 1000);
    rt_mutex_unlock(&trace.lock);
}

/* --- Set-up ---------------------------------------------------------------------------------- */

/* The bit of the kind whose name is the LENGTH characters at NAME. */
static uint32_t trace_kind_bit(const char *name, size_t length)
{
    for (uint32_t kind = 0; kind < TRACE_KINDS; kind++)
        if (strlen(trace_kind_names[kind]) == length &&
            strncmp(trace_kind_names[kind], name, length) == 0)
            return 1u << kind;
    return 0; /* the disk's kinds are QEMU's to record */
}

static uint32_t trace_mask_of(const char *list)
{
    uint32_t mask = 0;

    if (strcmp(list, "all") == 0)
        return (1u << TRACE_KINDS) - 1;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");

        mask |= trace_kind_bit(list, length);
        list += length + (list[length] == ',');
    }
    return mask;
}

static vm_size_t trace_ram_bytes(void)
{
    struct host_basic_info info = {0};
    mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;
    kern_return_t kr = host_info(mach_host_self(), HOST_BASIC_INFO, (host_info_t)&info, &count);

    if (kr != KERN_SUCCESS)
        rt_panic("host_info: error %#x", kr);
    return info.memory_size;
}

static unsigned int trace_count_servers(const char *servers)
{
    unsigned int count = 1;

    for (; *servers != '\0'; servers++)
        count += *servers == ' ';
    return count;
}

/* The machine's memory is one for all: the first of the SERVERS samples it. */
static bool trace_is_first(const char *servers)
{
    size_t length = strcspn(servers, " ");

    return strlen(rt_image.name) == length && strncmp(servers, rt_image.name, length) == 0;
}

/* Take the pool, and touch it, so that recording does not meet page faults. */
static void trace_pool_create(void)
{
    vm_size_t bytes =
        trace_ram_bytes() / TRACE_RAM_SHARE / trace_count_servers(rt_config_string("servers"));
    vm_address_t pool = 0;

    trace.nchunks = (uint32_t)(bytes / sizeof(struct trace_chunk));
    bytes = trace.nchunks * sizeof(struct trace_chunk);
    if (bytes == 0 || vm_allocate(mach_task_self(), &pool, bytes, TRUE) != KERN_SUCCESS)
        rt_panic("no memory for the trace");
    for (vm_size_t i = 0; i < bytes; i += vm_page_size)
        *(volatile char *)(pool + i) = 0;
    trace.chunks = (struct trace_chunk *)pool;
}

void trace_setup(void)
{
    const char *kinds = rt_config_find("trace_events");

    if (rt_config_is("trace", "off"))
        return;
    trace.text = !rt_config_is("trace", "ctf");
    if (!rt_config_is("trace", "text"))
        trace.ctf = ctf_memory_setup();
    rt_mutex_init(&trace.lock, "trace");
    rt_cond_init(&trace.never, "trace_poll");
    trace_pool_create();
    trace_mask = trace_mask_of(kinds == NULL ? "all" : kinds);
    trace.samples = trace_begin(TRACE_MEMORY) != 0 && trace_is_first(rt_config_string("servers"));
    if (rt_thread_create(NULL, "trace", trace_drain_thread, NULL) != 0)
        rt_panic("no memory for the trace's thread");
}
