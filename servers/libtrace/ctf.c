// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One packet is under construction at a time, in memory of this file; barectf's code is called with
 * one context for each stream, which knows the stream's sequence number and what was discarded.
 * barectf asks for the time of an event when it is put: that is when the event ended, long ago.
 */
#include "libtrace/ctf.h"

#include <stdio.h>
#include <string.h>

#include "librt/clock.h"

static uint8_t ctf_packet[CTF_PACKET_BYTES] __attribute__((aligned(8)));

/* --- What barectf wants ---------------------------------------------------------------------- */

static uint64_t ctf_stream_now(void *data)
{
    const struct ctf_stream *stream = data;

    return stream->now_ns;
}

static int ctf_stream_is_full(void *data)
{
    const struct ctf_stream *stream = data;

    return stream->sink->is_full(false);
}

static void ctf_stream_open_packet(void *data)
{
    struct ctf_stream *stream = data;

    barectf_requests_open_packet(&stream->context, stream->server, stream->thread);
}

static void ctf_stream_close_packet(void *data)
{
    struct ctf_stream *stream = data;
    uint32_t used;

    if (!barectf_packet_is_open(&stream->context))
        return;
    used = stream->context.parent.at / 8;
    memset(ctf_packet + used, 0, CTF_PACKET_BYTES - used);
    barectf_requests_close_packet(&stream->context);
    stream->ntold = ctf_stream_discarded(stream);
    stream->sink->put(ctf_packet);
}

/* --- An event of each kind ------------------------------------------------------------------- */

/* What an event is put with, nanoseconds instead of cycles. */
struct ctf_times {
    uint64_t dur;
    uint64_t wait;
};

typedef struct barectf_requests_ctx ctf_context_t;
typedef void ctf_put_t(ctf_context_t *context, const struct trace_event *event,
                       const struct ctf_times *times);

static void ctf_put_op(ctf_context_t *context, const struct trace_event *event,
                       const struct ctf_times *times)
{
    barectf_trace_op(context, times->dur, event->request, event->offset, event->length, event->what,
                     event->result);
}

static void ctf_put_io(ctf_context_t *context, const struct trace_event *event,
                       const struct ctf_times *times)
{
    barectf_trace_io(context, times->dur, event->request, event->object, event->offset,
                     event->length, event->what, event->result);
}

static void ctf_put_data_request(ctf_context_t *context, const struct trace_event *event,
                                 const struct ctf_times *times)
{
    barectf_trace_data_request(context, times->dur, event->request, event->object, event->offset,
                               event->length, event->class, event->result);
}

static void ctf_put_data_unlock(ctf_context_t *context, const struct trace_event *event,
                                const struct ctf_times *times)
{
    barectf_trace_data_unlock(context, times->dur, event->request, event->object, event->offset,
                              event->length, event->class, event->result);
}

static void ctf_put_data_return(ctf_context_t *context, const struct trace_event *event,
                                const struct ctf_times *times)
{
    barectf_trace_data_return(context, times->dur, event->request, event->object, event->offset,
                              event->length, event->class, event->what, event->result);
}

static void ctf_put_lock_request(ctf_context_t *context, const struct trace_event *event,
                                 const struct ctf_times *times)
{
    barectf_trace_lock_request(context, times->dur, event->request, event->cause, event->object,
                               event->offset, event->length, event->class, event->what);
}

static void ctf_put_run(ctf_context_t *context, const struct trace_event *event,
                        const struct ctf_times *times)
{
    barectf_trace_run(context, times->dur, event->request, event->cause, event->object,
                      event->offset, event->length, event->class, event->count);
}

static void ctf_put_alloc_lock(ctf_context_t *context, const struct trace_event *event,
                               const struct ctf_times *times)
{
    barectf_trace_alloc_lock(context, times->dur, event->request, event->cause, event->object,
                             event->what, times->wait);
}

static void ctf_put_store_write(ctf_context_t *context, const struct trace_event *event,
                                const struct ctf_times *times)
{
    barectf_trace_store_write(context, times->dur, event->request, event->cause, event->length,
                              event->sector, event->class, event->result);
}

static void ctf_put_store_read(ctf_context_t *context, const struct trace_event *event,
                               const struct ctf_times *times)
{
    barectf_trace_store_read(context, times->dur, event->request, event->cause, event->length,
                             event->sector, event->class, event->result);
}

static void ctf_put_memory(ctf_context_t *context, const struct trace_event *event,
                           const struct ctf_times *times)
{
    barectf_trace_memory(context, times->dur, event->request, event->count);
}

static ctf_put_t *const ctf_puts[TRACE_KINDS] = {
    [TRACE_OP] = ctf_put_op,
    [TRACE_IO] = ctf_put_io,
    [TRACE_DATA_REQUEST] = ctf_put_data_request,
    [TRACE_DATA_UNLOCK] = ctf_put_data_unlock,
    [TRACE_DATA_RETURN] = ctf_put_data_return,
    [TRACE_LOCK_REQUEST] = ctf_put_lock_request,
    [TRACE_RUN] = ctf_put_run,
    [TRACE_ALLOC_LOCK] = ctf_put_alloc_lock,
    [TRACE_STORE_WRITE] = ctf_put_store_write,
    [TRACE_STORE_READ] = ctf_put_store_read,
    [TRACE_MEMORY] = ctf_put_memory,
};

/* --- Streams --------------------------------------------------------------------------------- */

void ctf_stream_init(struct ctf_stream *stream, const struct ctf_sink *sink, const char *server,
                     const char *thread)
{
    const struct barectf_platform_callbacks callbacks = {
        .guest_clock_get_value = ctf_stream_now,
        .is_backend_full = ctf_stream_is_full,
        .open_packet = ctf_stream_open_packet,
        .close_packet = ctf_stream_close_packet,
    };

    *stream = (struct ctf_stream){.sink = sink, .server = server};
    snprintf(stream->thread, sizeof(stream->thread), "%s", thread);
    /* A packet of no size is full, and stays so when its size changes: barectf then opens one when
       the first event comes, as it does behind each packet that was closed. */
    barectf_init(&stream->context, ctf_packet, 0, callbacks, stream);
    barectf_packet_set_buf(&stream->context, ctf_packet, sizeof(ctf_packet));
}

void ctf_stream_put(struct ctf_stream *stream, const struct trace_event *event)
{
    struct ctf_times times = {
        .dur = rt_clock_cycles_to_ns(event->end) - rt_clock_cycles_to_ns(event->start),
        .wait = rt_clock_cycles_to_ns(event->wait),
    };

    stream->now_ns = rt_clock_cycles_to_ns(event->end);
    ctf_puts[event->kind](&stream->context, event, &times);
}

static void ctf_stream_put_empty(struct ctf_stream *stream, uint64_t now_ns)
{
    if (stream->sink->is_full(true))
        return;
    stream->now_ns = now_ns;
    ctf_stream_open_packet(stream);
    ctf_stream_close_packet(stream);
}

/* Readers compare what is discarded with the packet before. So there is one, at least. */
static void ctf_stream_begin(struct ctf_stream *stream, uint64_t now_ns)
{
    uint32_t *ndiscarded =
        &stream->context.parent.events_discarded; /* barectf has no call for it */
    uint32_t kept = *ndiscarded;

    if (barectf_packet_sequence_number(&stream->context) != 0)
        return;
    *ndiscarded = 0;
    ctf_stream_put_empty(stream, now_ns);
    *ndiscarded = kept;
}

void ctf_stream_discard(struct ctf_stream *stream, uint32_t count, uint64_t now_ns)
{
    if (count == 0)
        return;
    ctf_stream_begin(stream, now_ns);
    stream->context.parent.events_discarded += count;
}

uint32_t ctf_stream_discarded(const struct ctf_stream *stream)
{
    return barectf_discarded_event_records_count(&stream->context);
}

void ctf_stream_flush(struct ctf_stream *stream)
{
    ctf_stream_close_packet(stream);
}

void ctf_stream_close(struct ctf_stream *stream, uint64_t now_ns)
{
    if (ctf_stream_discarded(stream) == stream->ntold)
        return;
    ctf_stream_begin(stream, now_ns);
    ctf_stream_put_empty(stream, now_ns);
}
