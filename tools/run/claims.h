// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * disk_agrees: what the servers say they wrote, against what the disk was asked to write.
 */
#ifndef RUN_CLAIMS_H
#define RUN_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

#include "console.h"
#include "mbr.h"
#include "qemu-trace.h"

#define CLAIMS_RESULT_BYTES 512

/*
 * Compare the claims of all servers on CONSOLE with the writes of TRACE, to the disk which is
 * called DISK in Mach and partitioned as MBR says. They agree when
 * - nothing wrote to the disk before the servers started or after they stopped;
 * - the sectors that were written are those that are claimed, each claim rounded outward to the
 *   block that its server's `store` line names, and no others;
 * - a sector that was claimed k times was written at least k times;
 * - the bytes written are the bytes claimed and those that the servers say the rounding added.
 * Writes "ok" to RESULT, or a sentence with the first sector that disagrees and the side that
 * lacks it.
 */
void claims_check(const struct console *console, const struct trace *trace, const struct mbr *mbr,
                  const char *disk, char result[CLAIMS_RESULT_BYTES]);

#endif
