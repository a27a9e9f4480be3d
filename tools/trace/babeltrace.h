// SPDX-License-Identifier: GPL-2.0-or-later
/* A trace in CTF, read by libbabeltrace2, which shares no code with what wrote it. */
#ifndef TRACE_BABELTRACE_H
#define TRACE_BABELTRACE_H

#include "record.h"

/*
 * Put the events in FOLDER, a boot's `ctf`, into RECORD's log, in the order of their beginnings.
 * What is damaged is left out, and RECORD is given a warning. => fails when there are no metadata
 * that can be read.
 */
int babeltrace_load(struct record *record, const char *folder, struct failure *failure);

#endif
