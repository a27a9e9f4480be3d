// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A boot with a trace in CTF, from the servers' code to the reader's: events become packets,
 * packets go to the memory that the runner shares with the machine, the runner makes files of them.
 */
#ifndef TESTS_STREAMS_H
#define TESTS_STREAMS_H

#include "libtrace/ctf.h"
#include "record.h"
#include "run-test.h"
#include "run/ctf.h"

struct streams {
    char folder[64]; /* the boot's */
    uint8_t *memory; /* as the machine sees it */
    uint32_t room;   /* so many packets fit, beside last ones */
    struct ctf ctf;
    struct record record; /* once it was read */
    struct failure failure;
};

extern struct streams streams;

/* Begin a boot. */
void streams_begin(void);

/* A stream of the server "pager" whose packets go to the memory. */
void streams_init(struct ctf_stream *stream, const char *thread);

/* Put COUNT events of a plain kind, one every microsecond from US on, their requests numbered from
   REQUEST. */
void streams_fill(struct ctf_stream *stream, uint64_t us, uint32_t request, unsigned count);

/* Put PACKET, CTF_PACKET_BYTES, into the next slot. */
void streams_put(const uint8_t *packet);

/* Where a boot's file is; good until the next call. */
const char *streams_path(const char *file);

/* How many bytes it has. => it is there. */
size_t streams_size(const char *file);

/* Have the runner take what there is and end. Returns its status. */
int streams_end(int64_t offset_ns);

/* Read the folder as make trace does. Returns the status. */
int streams_read(void);

/* The record's warnings, a line each. */
const char *streams_warnings(void);

/* Remove all of it. */
void streams_remove(void);

#endif
