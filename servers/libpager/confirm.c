// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's confirmations of what was given back. A worker that has sent something looks for its
   own, at a port that nobody else uses meanwhile: so the receiver need not be woken for each. The
   host's tests have one of their own in place of this file. */
#include "libpager/private.h"

#include "librt/message.h"

#define CONFIRM_MESSAGE_MAX 256 /* bytes: a memory_object_supply_completed, and room */

mach_port_t pager_confirm_create(void)
{
    mach_port_t port;

    if (mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &port) != KERN_SUCCESS)
        return MACH_PORT_NULL;
    return port;
}

void pager_confirm_destroy(mach_port_t port)
{
    mach_port_mod_refs(mach_task_self(), port, MACH_PORT_RIGHT_RECEIVE, -1);
}

bool pager_confirm_receive(mach_port_t port)
{
    union {
        mach_msg_header_t head;
        char room[CONFIRM_MESSAGE_MAX];
    } message;

    if (mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof(message), port, 0,
                 MACH_PORT_NULL) != MACH_MSG_SUCCESS)
        return false;
    rt_message_destroy(&message.head);
    return true;
}
