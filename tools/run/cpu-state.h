// SPDX-License-Identifier: GPL-2.0-or-later
/* What the processor does when the guest does not speak any more, as QEMU's monitor tells. */
#ifndef RUN_CPU_STATE_H
#define RUN_CPU_STATE_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "qmp.h"

#define CPU_STATE_BYTES 400

struct cpu_state {
    char sentence[CPU_STATE_BYTES]; /* what the processor does, in words; "": QEMU did not say */
    bool for_task;                  /* it gets on, and was seen to work for a task */
};

/*
 * Ask QEMU; look a few times, a moment apart, whether anything moves. Everything goes to STREAM,
 * with the names of OPTIONS' kernel and servers put to addresses.
 * => takes about a second.
 */
void cpu_state_take(struct cpu_state *state, struct qmp *qmp, const struct options *options,
                    FILE *stream);

#endif
