// SPDX-License-Identifier: GPL-2.0-or-later
/* Notifications of the kernel (mach/notify.defs). Startup asks for one kind: a task is gone. */
#include "librt/log.h"
#include "startup/startup.h"

#include "notify_server.h"

kern_return_t do_mach_notify_dead_name(mach_port_t notify, mach_port_t name)
{
    const char *task = startup_task_name(name);

    (void)notify;
    rt_log("task %s is gone", task == NULL ? "unknown" : task);
    startup_end(99, "a task ended by itself");
}
