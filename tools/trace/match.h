// SPDX-License-Identifier: GPL-2.0-or-later
/* Which call of the store asked for which command of the disk, and when by the guest's clock. */
#ifndef TRACE_MATCH_H
#define TRACE_MATCH_H

#include "record.h"

/*
 * Fill in the record's align, events, count and uncovered from its log and its disk's commands.
 * => the log, the disk, the partitions and the device's block are there.
 */
void match_disk(struct record *record);

#endif
