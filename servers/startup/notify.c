// SPDX-License-Identifier: GPL-2.0-or-later
/* Notifications of the kernel (mach/notify.defs). Startup asks for one kind: a task is gone. */
#include <stdio.h>

#include "librt/log.h"
#include "startup/startup.h"

#include "notify_server.h"

kern_return_t do_mach_notify_dead_name(mach_port_t notify, mach_port_t name)
{
    const char *task = startup_task_name(name);
    char reason[128];

    (void)notify;
    snprintf(reason, sizeof(reason), "the task %s ended by itself", task == NULL ? "?" : task);
    rt_log("%s", reason);
    startup_end(99, reason);
}
