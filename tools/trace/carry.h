// SPDX-License-Identifier: GPL-2.0-or-later
/* Which commands of the disk carried the bytes of which write. */
#ifndef TRACE_CARRY_H
#define TRACE_CARRY_H

#include "links.h"

/* Places in the record's events. */
struct carry {
    uint32_t write; /* an io_write, or an operation on a mapping */
    uint32_t run;
    uint32_t store;
    uint32_t command; /* or the store call, if no command is known to be its */
};

typedef void carry_use_t(void *argument, const struct carry *carry);

/*
 * Call USE for each write and each command that carried a byte of it, each pair once, in the order
 * of the writes. Within a run, store calls go on where the one before them ended, and so do the
 * commands of a store call; where the calls of a run are not as long as the run together (some
 * failed and were repeated), every one of them counts as carrying all of it.
 */
void carries_find(const struct record *record, const struct links *links, carry_use_t *use,
                  void *argument);

#endif
