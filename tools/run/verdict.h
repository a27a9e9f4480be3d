// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict on a boot: what QEMU's end and the console's lines come to. */
#ifndef RUN_VERDICT_H
#define RUN_VERDICT_H

#include <stdbool.h>

#include "console.h"
#include "job.h"
#include "qemu.h"

struct verdict_case {
    const struct console *console;
    const struct qemu_ending *ending;
    const struct job *job;
    const char *qemu_error; /* what QEMU itself complained of, or "" */
    bool kvm;
    bool trace; /* events were asked for */
};

/*
 * Judge a boot by how it ended: its status and one sentence in FAILURE, or nothing when all that
 * can be said without looking at the disk is well.
 */
void verdict_judge(const struct verdict_case *verdict, struct failure *failure);

/*
 * Judge whether the bytes that the server under test counted as written are those that it claims.
 * To be asked after the disk was, which says more.
 */
void verdict_claims_judge(const struct verdict_case *verdict, struct failure *failure);

/*
 * Judge whether a fault that the job asked for was noticed. To be asked last: if all is well by
 * then, nobody did what was asked for, or nobody saw it.
 */
void verdict_fault_judge(const struct verdict_case *verdict, struct failure *failure);

/*
 * Whether the guest came to an end of its own at which the disk and the trace are worth checking:
 * it said `end` with success, or with a failed check.
 */
bool verdict_is_checkable(const struct verdict_case *verdict);

#endif
