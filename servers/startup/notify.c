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

kern_return_t do_mach_notify_port_deleted(mach_port_t notify, mach_port_t name)
{
    (void)notify;
    (void)name;
    return KERN_SUCCESS;
}

kern_return_t do_mach_notify_msg_accepted(mach_port_t notify, mach_port_t name)
{
    (void)notify;
    (void)name;
    return KERN_SUCCESS;
}

kern_return_t do_mach_notify_port_destroyed(mach_port_t notify, mach_port_t rights)
{
    (void)notify;
    mach_port_mod_refs(mach_task_self(), rights, MACH_PORT_RIGHT_RECEIVE, -1);
    return KERN_SUCCESS;
}

kern_return_t do_mach_notify_no_senders(mach_port_t notify, mach_port_mscount_t mscount)
{
    (void)notify;
    (void)mscount;
    return KERN_SUCCESS;
}

kern_return_t do_mach_notify_send_once(mach_port_t notify)
{
    (void)notify;
    return KERN_SUCCESS;
}
