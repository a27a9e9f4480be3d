// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The end of a boot whose time is up. The guest is told, and may say what it is doing (a report of
 * startup's watchdog) and end by itself. If it does not, QEMU is asked what the processor does.
 */
#ifndef RUN_TIME_UP_H
#define RUN_TIME_UP_H

#include <stdbool.h>
#include <stdint.h>

#include "console.h"
#include "cpu-state.h"
#include "options.h"

#define TIME_UP_FILE "cpu-state" /* in the boot's folder */

struct time_up {
    const struct options *options;
    const struct console *console;
    const char *folder;
    uint64_t since_ms; /* 0: the time is not up */
    bool told;         /* the guest had come far enough to understand, and was told */
    struct cpu_state cpu;
};

/* The boot in FOLDER, which says CONSOLE. All are the caller's and live as long as TIME_UP. */
void time_up_init(struct time_up *time_up, const struct options *options,
                  const struct console *console, const char *folder);

/*
 * Time is up, for the first time or still: it is NOW_MS, and the console last said something at
 * SPOKE_MS, of the same clock. Returns whether it is time to end QEMU.
 * => takes seconds when QEMU's monitor does.
 */
bool time_up_step(struct time_up *time_up, uint64_t now_ms, uint64_t spoke_ms);

#endif
