// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include <mach/mig_support.h>

#include "librt/mach.h"
#include "librt/thread-private.h"

/* The part of a transfer that the kernel did not get to. 0 when it was not interrupted. */
static mach_msg_option_t mach_msg_left(mach_msg_option_t option, mach_msg_return_t result)
{
    switch (result) {
    case MACH_SEND_INTERRUPTED:
        return option;
    case MACH_RCV_INTERRUPTED:
        return option & ~MACH_SEND_MSG;
    default:
        return 0;
    }
}

mach_msg_return_t mach_msg(mach_msg_header_t *message, mach_msg_option_t option,
                           mach_msg_size_t send_size, mach_msg_size_t receive_size,
                           mach_port_t receive_name, mach_msg_timeout_t timeout, mach_port_t notify)
{
    mach_msg_return_t result;

    do {
        result =
            mach_msg_trap(message, option, send_size, receive_size, receive_name, timeout, notify);
        option = mach_msg_left(option, result);
    } while (option != 0);
    return result;
}

mach_port_t mig_get_reply_port(void)
{
    struct rt_thread *self = rt_thread_self();

    if (self->reply_port == MACH_PORT_NULL)
        self->reply_port = mach_reply_port();
    return self->reply_port;
}

void mig_put_reply_port(mach_port_t port)
{
    (void)port;
}

void mig_dealloc_reply_port(mach_port_t port)
{
    struct rt_thread *self = rt_thread_self();

    /* The call below is an RPC and needs a reply port itself: it shall make a new one. */
    self->reply_port = MACH_PORT_NULL;
    mach_port_mod_refs(mach_task_self(), port, MACH_PORT_RIGHT_RECEIVE, -1);
}

void mig_allocate(vm_address_t *address, vm_size_t size)
{
    if (vm_allocate(mach_task_self(), address, size, TRUE) != KERN_SUCCESS)
        *address = 0;
}

void mig_deallocate(vm_address_t address, vm_size_t size)
{
    vm_deallocate(mach_task_self(), address, size);
}

vm_size_t mig_strncpy(char *target, const char *source, vm_size_t size)
{
    size_t length = strnlen(source, size - 1);

    memcpy(target, source, length);
    target[length] = '\0';
    return length;
}
