// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the guest said on its console (docs/protocol.md, section 2), line by line.
 */
#ifndef RUN_CONSOLE_H
#define RUN_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layer.h"

#define CONSOLE_WORD_BYTES 64
#define CONSOLE_LINE_BYTES 1024

struct console_job {
    bool said;
    char name[CONSOLE_WORD_BYTES];
    uint64_t fill_us;
    uint64_t sync_us;
    uint64_t runtime_us;
    uint64_t bytes;
};

/* The plain loop of device_writes, for comparison. */
struct console_plain {
    bool said;
    uint64_t bytes;
    uint64_t us;
    uint64_t one_ns; /* the fastest write of 128 KiB */
};

/* How long was waited for something, in nanoseconds. */
struct console_wait {
    bool said;
    uint64_t count;
    uint64_t p99_ns;
    uint64_t max_ns;
};

/* What a side job did. */
struct console_side {
    char name[CONSOLE_WORD_BYTES];
    uint64_t count;  /* calls */
    uint64_t faults; /* stores that met no file */
    uint64_t p99_ns; /* of a call */
    uint64_t max_ns;
};

/* What a server recorded (docs/trace.md). */
struct console_trace {
    bool said;
    uint64_t events;
    uint64_t dropped;
    uint64_t drain_us;
};

/* How many threads a server had. */
struct console_threads {
    bool said;
    uint64_t first; /* when it began to serve */
    uint64_t last;  /* at its end */
};

struct console_server {
    char name[CONSOLE_WORD_BYTES];
    bool started;
    struct console_threads threads;
    bool counted[LAYER_GUEST_KINDS][LAYER_SPLIT];
    struct layers layers;
    struct console_trace trace;
};

struct console_claim {
    char server[CONSOLE_WORD_BYTES];
    char device[CONSOLE_WORD_BYTES];
    uint64_t sector; /* from the device's start, of 512 bytes */
    uint64_t sectors;
    uint64_t times;
};

struct console_store {
    char server[CONSOLE_WORD_BYTES];
    char device[CONSOLE_WORD_BYTES];
    uint64_t block;
    uint64_t rmw_bytes;
    uint64_t copied_bytes;
};

/* A store in the machine's memory. */
struct console_ram {
    char server[CONSOLE_WORD_BYTES];
    char device[CONSOLE_WORD_BYTES];
    uint64_t piece; /* physical address of its first piece */
};

struct console_check {
    char name[CONSOLE_WORD_BYTES];
    char result[CONSOLE_LINE_BYTES];
};

struct console_hang {
    char kind[CONSOLE_WORD_BYTES]; /* "": none was reported */
    bool told;                     /* it was reported because the runner had said that time is up */
    char sentence[CONSOLE_LINE_BYTES];
};

struct console_end {
    bool said;
    uint64_t status;
    char reason[CONSOLE_LINE_BYTES];
};

struct console {
    uint64_t lines;
    char kernel[CONSOLE_WORD_BYTES]; /* the kernel's first line, "GNU Mach ...", or "" */
    uint64_t mark_ns; /* the guest's clock at the mark "the servers start now"; 0: not said */
    struct console_job job;
    struct console_hang hang;
    struct console_plain plain;
    struct console_wait alloc_lock;
    struct console_side *sides;
    size_t sides_count;
    struct console_end end;
    struct console_server *servers;
    size_t servers_count;
    struct console_claim *claims;
    size_t claims_count;
    struct console_claim *failed; /* what could not be written, or only in part */
    size_t failed_count;
    struct console_store *stores;
    size_t stores_count;
    struct console_ram *rams;
    size_t rams_count;
    struct console_check *checks;
    size_t checks_count;
    char crash[CONSOLE_LINE_BYTES];  /* the first crash in words, or "" */
    char death[CONSOLE_LINE_BYTES];  /* the kernel's panic or assertion as it printed it, or "" */
    bool death_is_panic;             /* else it is an assertion */
    char broken[CONSOLE_LINE_BYTES]; /* what is wrong with the first line that breaks the rules */
};

void console_init(struct console *console);
void console_destroy(struct console *console);

/*
 * Take the next line, without its line break. Lines for people are only searched for the kernel's
 * last words, and events (docs/trace.md) are only counted as lines. => what a line breaks the rules
 * by goes to `broken`; memory that runs out ends the program.
 */
void console_feed(struct console *console, const char *line);

/*
 * Look for the kernel's last words in a line that may not be complete yet; notes them in CONSOLE
 * and returns whether there were any.
 */
bool console_feed_death(struct console *console, const char *line);

/* The server of that name as the console spoke of it, or NULL. */
const struct console_server *console_server_lookup(const struct console *console, const char *name);

#endif
