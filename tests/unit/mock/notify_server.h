// SPDX-License-Identifier: GPL-2.0-or-later
/* What MIG generates for a task from mach/notify.defs, without MIG. */
#ifndef NOTIFY_SERVER_H
#define NOTIFY_SERVER_H

#include "librt/mach.h"

kern_return_t do_mach_notify_no_senders(mach_port_t notify, mach_port_mscount_t mscount);

#endif
