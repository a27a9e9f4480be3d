// SPDX-License-Identifier: GPL-2.0-or-later
/* Notifications that nobody has asked for. A server defines the functions of those that it has. */
#include "librt/mach.h"

#include "notify_server.h"

#define NOTIFY_UNWANTED __attribute__((weak)) kern_return_t

NOTIFY_UNWANTED do_mach_notify_port_deleted(mach_port_t notify, mach_port_t name)
{
    (void)notify;
    (void)name;
    return KERN_SUCCESS;
}

NOTIFY_UNWANTED do_mach_notify_msg_accepted(mach_port_t notify, mach_port_t name)
{
    (void)notify;
    (void)name;
    return KERN_SUCCESS;
}

NOTIFY_UNWANTED do_mach_notify_port_destroyed(mach_port_t notify, mach_port_t rights)
{
    (void)notify;
    mach_port_mod_refs(mach_task_self(), rights, MACH_PORT_RIGHT_RECEIVE, -1);
    return KERN_SUCCESS;
}

NOTIFY_UNWANTED do_mach_notify_no_senders(mach_port_t notify, mach_port_mscount_t mscount)
{
    (void)notify;
    (void)mscount;
    return KERN_SUCCESS;
}

NOTIFY_UNWANTED do_mach_notify_send_once(mach_port_t notify)
{
    (void)notify;
    return KERN_SUCCESS;
}

NOTIFY_UNWANTED do_mach_notify_dead_name(mach_port_t notify, mach_port_t name)
{
    (void)notify;
    (void)name;
    return KERN_SUCCESS;
}
