// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One event for each request at each layer (docs/trace.md). Recording stores one record into memory
 * that only this thread writes: no lock, no call, no formatting; and does nothing but test a word
 * when the kind is not wanted. What an event is about is put together by the caller:
 *
 *     uint64_t start = trace_begin(TRACE_STORE_WRITE);
 *     ...
 *     if (start != 0)
 *         trace_end(&(struct trace_event){.kind = TRACE_STORE_WRITE, .start = start, ...});
 */
#ifndef LIBTRACE_TRACE_H
#define LIBTRACE_TRACE_H

#include <stdint.h>

#include "librt/counter.h"
#include "librt/x86/arch.h"

enum trace_kind {
    TRACE_OP,
    TRACE_IO,
    TRACE_DATA_REQUEST,
    TRACE_DATA_UNLOCK,
    TRACE_DATA_RETURN,
    TRACE_LOCK_REQUEST,
    TRACE_RUN,
    TRACE_ALLOC_LOCK,
    TRACE_STORE_WRITE,
    TRACE_STORE_READ,
    TRACE_MEMORY,
    TRACE_KINDS
};

/* The words that `what` can be; the first is "not said". */
enum trace_what {
    TRACE_NOTHING,
    TRACE_READ,
    TRACE_WRITE,
    TRACE_SYNC,
    TRACE_FLUSH,
    TRACE_RETURN,
    TRACE_DIRTY,
    TRACE_CLEAN,
    TRACE_IO_READ,
    TRACE_IO_WRITE,
    TRACE_FILE_SYNC,
    TRACE_FILE_SET_SIZE,
    TRACE_OBJECT_SYNC,
    TRACE_OBJECT_RETURN,
    TRACE_WHATS
};

/* A record, 64 bytes. Which members count depends on the kind. */
struct trace_event {
    uint64_t start; /* cycles; what trace_begin said, or another moment */
    uint64_t end;   /* set by trace_end */
    uint64_t offset;
    uint64_t sector;
    uint64_t wait;    /* cycles of the time before it was granted */
    uint32_t length;  /* bytes */
    uint32_t request; /* from trace_request; 0: trace_end takes a new one */
    uint32_t cause;   /* the request for whose sake, 0 when not known */
    uint32_t object;
    uint32_t count;
    uint8_t kind;
    uint8_t what;
    uint8_t class;
    uint8_t result; /* errno value */
};

extern uint32_t trace_mask; /* a bit for each kind that is recorded */

/* Now, in cycles, if KIND is recorded; else 0. => does not block. */
static inline uint64_t trace_begin(enum trace_kind kind)
{
    return (trace_mask >> kind & 1) != 0 ? rt_arch_cycles() : 0;
}

/* A new request number, unique in this task, or 0 when nothing is recorded. => does not block. */
uint32_t trace_request(void);

/* Record EVENT, with now as its end. It is dropped, and counted, when there is no memory left.
   => does not block; EVENT's kind is recorded (trace_begin said so). */
void trace_end(const struct trace_event *event);

/*
 * The request for whose sake the calling thread works: the cause of the store calls that it makes.
 * Setting it returns the one before, to be set again afterwards. => do not block.
 */
uint32_t trace_cause(void);
uint32_t trace_set_cause(uint32_t request);

/* An RPC that is being handled: the cause of what the thread does meanwhile. */
struct trace_call {
    uint64_t start; /* cycles; 0: not recorded */
    uint32_t request;
    uint32_t before;
};

/* Begin and end to handle an RPC. WHAT it was, on which bytes of which OBJECT, with which result,
   becomes an event of kind TRACE_IO. Returns ERROR. => do not block; the same thread. */
void trace_call_begin(struct trace_call *call);
int trace_call_end(const struct trace_call *call, enum trace_what what, uint32_t object,
                   uint64_t offset, uint32_t length, int error);

/*
 * Record what the configuration asks for (keys `trace` and `trace_events`): take the memory, this
 * server's share of a sixteenth of the machine's, and start the thread that prints when it is
 * mostly used, and that in one of the servers samples the machine's free pages. Does nothing with
 * trace=off.
 * => once, after rt_server_init; blocks; no memory is a panic.
 */
void trace_setup(void);

/* Print what was recorded, and the server's closing line. => once, when no other thread records
   any more; blocks for as long as printing takes. */
void trace_report(void);

#endif
