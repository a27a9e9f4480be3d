// SPDX-License-Identifier: GPL-2.0-or-later
/* One run of QEMU: started, watched, ended. */
#ifndef RUN_QEMU_H
#define RUN_QEMU_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "console.h"
#include "cpu-state.h"
#include "failure.h"

/* How QEMU came to its end. */
enum qemu_end {
    QEMU_EXITED,    /* by itself; value: what it exited with */
    QEMU_KILLED,    /* by a signal that was not ours; value: which */
    QEMU_DIED,      /* ended by us: the kernel said its last words */
    QEMU_TIMED_OUT, /* ended by us: the time limit; value: seconds */
    QEMU_SILENT,    /* ended by us: no output at all in the time that was allowed; value: seconds */
    QEMU_INTERRUPTED, /* ended by us: the runner was asked to end; value: the signal */
    QEMU_LEFT,    /* its debugger has ended; value: by which signal, or minus what it exited with */
    QEMU_NO_ROOM, /* ended by us: QEMU waited for room for the disk's image */
    QEMU_LEFT_PAUSED, /* ended by us: a debugger that had joined left it standing still */
};

struct qemu_ending {
    enum qemu_end end;
    int value;
    uint64_t kernel_ms;   /* from the start to the kernel's first line; 0: it never came */
    uint64_t server_ms;   /* ... to the first line of the awaited server; 0: it never came */
    uint64_t end_ms;      /* ... to the end */
    unsigned told_s;      /* the guest was told that so many seconds were up; 0: it was not */
    struct cpu_state cpu; /* it had no answer, and this is what the processor did */
};

struct qemu_watch {
    const char *serial;      /* path of the console's file */
    struct console *console; /* gets its lines */
    const char *awaited;     /* the server whose start is timed */
    FILE *progress;          /* gets a line when the kernel is up */
    struct ctf *ctf;         /* gets its packets; null: there are none */
    uint64_t timeout_ms;
    struct time_up *time_up; /* what is done at the time limit; null: nothing */
    uint64_t silence_ms;     /* how long it may say nothing at all; 0: as long as it likes */
    const char *debugger;    /* a program that is given FOLDER, and ends the machine; null: none */
};

/*
 * Run ARGV in FOLDER, output and errors of QEMU itself to the file ERRORS, until it ends or WATCH
 * says that it shall end. QEMU is gone when this returns.
 * => fails only when QEMU could not be started.
 */
int qemu_run(struct qemu_ending *ending, const struct qemu_watch *watch, char *const *argv,
             const char *folder, const char *errors, struct failure *failure);

#endif
