// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU's own account of what the emulated disk was asked to do, read from the log that
 * `-trace events=… -D LOG` writes.
 */
#ifndef RUN_QEMU_TRACE_H
#define RUN_QEMU_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "failure.h"

/* When a request happened, by the marks of docs/protocol.md, section 3. */
enum trace_phase { TRACE_BEFORE, TRACE_COUNTED, TRACE_AFTER };

struct trace_request {
    uint64_t offset; /* bytes from the disk's start */
    uint64_t bytes;
    uint64_t host_us; /* when it came, by the host's clock: microseconds since 1970; 0: not said */
    enum trace_phase phase;
    bool write;
};

struct trace {
    struct trace_request *requests; /* in the order in which the disk got them */
    size_t count;
    unsigned starts; /* how often each mark was seen */
    unsigned stops;
    uint64_t start_us; /* when the first was, by the host's clock as above; 0: not said */
};

/* The names of the events that a trace needs, one a line, for QEMU's events file. */
extern const char trace_events[];

/*
 * Read the log from STREAM. Only requests to the disk whose image file is called DISK (the last
 * part of its path) are kept. PATH names the log in messages. TORN says that QEMU was ended from
 * outside, so that the last line may be cut off.
 * => a line that cannot be understood is an error. Free the trace with trace_destroy in any case.
 */
int trace_read(struct trace *trace, FILE *stream, const char *path, const char *disk, bool torn,
               struct failure *failure);

void trace_destroy(struct trace *trace);

#endif
