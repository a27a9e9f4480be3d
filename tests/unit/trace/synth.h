// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A made-up run in a folder of its own: a console's log, QEMU's trace, run.cfg, and the entry of
 * result.json. The host's clock is a straight line over the guest's.
 */
#ifndef TESTS_SYNTH_H
#define TESTS_SYNTH_H

#include <stdint.h>
#include <stdio.h>
#include <jansson.h>

#include "record.h"
#include "run-test.h"
#include "view.h"

#define SYNTH_PARTITION 2048u /* first sector of the partition that the server is on */

struct synth {
    char folder[64]; /* that of the run; the boot's is "page" in it */
    FILE *serial;
    FILE *trace;
    bool stamped;           /* QEMU's trace has times */
    double drift;           /* of the guest's clock over the host's */
    const char *kinds;      /* TRACE_EVENTS */
    json_t *job;            /* has partitions, server and fs so far */
    struct record record;   /* once it is loaded */
    struct failure failure; /* what loading said */
};

/* Begin a run with a server "pager" on a device with blocks of 4,096 bytes. */
void synth_begin(struct synth *synth);

/* Add a line to the console's log. */
void synth_say(struct synth *synth, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Add an event: "event t=... dur=... kind=...", then the rest. */
void synth_event(struct synth *synth, uint64_t t, uint64_t dur, const char *kind,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Add a command of the disk, at NS of the guest's clock; SECTOR counts in the partition. */
void synth_command(struct synth *synth, uint64_t ns, bool write, uint64_t sector, uint64_t bytes);

/* A store_write from T to T + 1000000, request REQ by BY, with its commands of at most 32 KiB. */
void synth_write(struct synth *synth, uint64_t t, uint64_t req, uint64_t by, uint64_t sector,
                 uint64_t bytes);

/* Say how many events of the pager there are, and end. */
void synth_close(struct synth *synth, uint64_t events, uint64_t dropped);

/*
 * All events of a small run, and its end: two writes of 64 KiB to a file of the server, one return
 * of each after a sync, their run, a store_write with two commands; all 1 s after the clock's zero.
 * The first write ran into a page fault, and there is a return before both.
 */
void synth_two_writes(struct synth *synth);

/* Set what result.json says of a layer ("layers", "layers_file", "servers/pager", ...). */
void synth_count(struct synth *synth, const char *where, const char *layer, uint64_t count,
                 uint64_t bytes);

/* Write all and load the record. Returns the status. */
int synth_load(struct synth *synth);

/* What a view prints; valid until the next call. */
const char *synth_view(struct synth *synth, view_show_t *show, uint64_t request,
                       const char *server);

void synth_end(struct synth *synth);

#endif
