// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef WORKLOAD_OPS_H
#define WORKLOAD_OPS_H

#include "librt/mach.h"

/*
 * Use every call of the interfaces io and fs at least once, also wrongly, on the file system whose
 * root is ROOT, and look at what they answer. Leaves some files and directories behind.
 * => blocks. Returns 0; or 99, with a sentence on the first answer that is wrong in REASON (SIZE
 *    bytes).
 */
int ops_run(mach_port_t root, char *reason, size_t size);

#endif
