// SPDX-License-Identifier: GPL-2.0-or-later
/* What one boot left behind, put together: the console's events and the disk's commands. */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>

#include "align.h"
#include "log.h"
#include "run/choice.h"
#include "run/failure.h"
#include "run/job.h"
#include "run/mbr.h"
#include "run/qemu-trace.h"

#define RECORD_WARNINGS      16
#define RECORD_WARNING_BYTES 256

struct record {
    const struct policy *policy;
    struct log log;
    bool is_ctf;       /* the log's events are not from the console, but from CTF */
    struct job config; /* of run.cfg: fs alone */
    uint32_t kinds;    /* bit i: the servers recorded events of kind i */
    struct trace disk;
    bool disk_known; /* all of QEMU's trace could be read */
    struct mbr mbr;  /* the disk's partitions; none if they are not known */
    uint64_t device_block;
    json_t *job; /* the boot's entry of result.json, or NULL; borrowed */
    struct align align;
    struct event *events; /* the guest's and the disk's, by time; those without a time come first */
    size_t count;
    uint64_t calls;     /* of the store, whose place on the disk is known */
    uint64_t uncovered; /* of these, those that the disk was not asked for all of */
    char warnings[RECORD_WARNINGS][RECORD_WARNING_BYTES]; /* what is missing, in sentences */
    size_t warnings_count;
};

/*
 * Read what the boot with POLICY left in the folder RUN. JOB is its entry of result.json, or NULL.
 * What is missing or damaged becomes a warning, as long as there are events.
 * => free with record_destroy, also after a failure; JOB must live as long.
 */
int record_load(struct record *record, const char *run, const struct policy *policy, json_t *job,
                struct failure *failure);

void record_destroy(struct record *record);

/* Note something that is missing. */
void record_warn(struct record *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The number at the name of a JSON object, or FALLBACK if there is none. */
uint64_t record_number(const json_t *object, const char *name, uint64_t fallback);

/* How many events of a server need not be here: those that it dropped. => UINT64_MAX: its closing
   line is missing, and with it nobody knows what. */
uint64_t record_missing(const struct console_server *server);

#endif
