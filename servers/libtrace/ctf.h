// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of the ring as packets of CTF (docs/trace.md), by the code that barectf generates. */
#ifndef LIBTRACE_CTF_H
#define LIBTRACE_CTF_H

#include <stdbool.h>
#include <stdint.h>

#include "barectf.h"
#include "libtrace/ctf-packet.h"
#include "libtrace/trace.h"

#define CTF_THREAD_MAX 48 /* librt's RT_LABEL_MAX */

/* Where packets go. */
struct ctf_sink {
    bool (*is_full)(bool last);         /* LAST: for the last packet of a stream, too */
    void (*put)(const uint8_t *packet); /* CTF_PACKET_BYTES; => is_full has just said no */
};

/* The events of one thread, in the order of their ends. */
struct ctf_stream {
    struct barectf_requests_ctx context;
    const struct ctf_sink *sink;
    const char *server;
    char thread[CTF_THREAD_MAX];
    uint64_t now_ns; /* of the event at hand */
    uint32_t ntold;  /* events that were discarded up to the last packet */
};

/* => SERVER and SINK must live as long as STREAM; THREAD is copied. */
void ctf_stream_init(struct ctf_stream *stream, const struct ctf_sink *sink, const char *server,
                     const char *thread);

/* Put EVENT into the stream's packet, and the packet to the sink when it is full. When the sink is
   full, EVENT is lost, and counted as discarded. => does not block; one stream at a time has an
   open packet: flush before the next one's. */
void ctf_stream_put(struct ctf_stream *stream, const struct trace_event *event);

/* COUNT events before NOW_NS, and behind those that were put, never came to be put. */
void ctf_stream_discard(struct ctf_stream *stream, uint32_t count, uint64_t now_ns);

/* How many events of the stream were lost, or never came, so far. */
uint32_t ctf_stream_discarded(const struct ctf_stream *stream);

/* Put what there is to the sink. */
void ctf_stream_flush(struct ctf_stream *stream);

/* If events were discarded since the last packet, put one without events to the sink, so that they
   are told as well. */
void ctf_stream_close(struct ctf_stream *stream, uint64_t now_ns);

/* The memory that is shared with the host, where the configuration says it is. => once, before it
   is used; blocks; a failure is a panic. */
const struct ctf_sink *ctf_memory_setup(void);

#endif
