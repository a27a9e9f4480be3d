// SPDX-License-Identifier: GPL-2.0-or-later
/* What goes wrong on purpose in this server, for Machbed's own tests (the job's key `fault`). */
#ifndef PAGER_FAULT_H
#define PAGER_FAULT_H

#include "libpager/pager.h"
#include "librt/mach.h"

/* In the handler of object_sync. What it returns is the handler's answer, KERN_SUCCESS: go on. */
kern_return_t fault_in_sync(void);

/* In a pager's thread that is going to read a page. */
void fault_in_read(void);

/* In a pager's thread that is going to write pages of PAGER. */
void fault_in_write(struct pager *pager);

#endif
