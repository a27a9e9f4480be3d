// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include <mach/mig_support.h>

#include "librt/x86/arch.h"
#include "librt/mach.h"
#include "librt/order-private.h"
#include "librt/thread-private.h"

/* Numbers of messages that say that something gets done: those of pagers and devices, and of our
   own interfaces (servers/defs) with their answers. Waiting for locks is messages too. */
#define MESSAGE_PAGER_FIRST  2200 /* mach/memory_object.defs */
#define MESSAGE_DEVICE_LAST  2999 /* device/device.defs, the answers included */
#define MESSAGE_SERVER_FIRST 30000

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

/* FRAME is mach_msg's. */
static void mach_msg_note_begin(struct rt_thread *self, const mach_msg_header_t *message,
                                mach_msg_option_t option, mach_port_t receive_name,
                                const void *frame)
{
    self->transfer.from = receive_name;
    self->transfer.since = rt_arch_cycles();
    self->transfer.frame = frame;
    self->transfer.option = option;
    if ((option & MACH_SEND_MSG) == 0) {
        self->serves = receive_name;
        return;
    }
    self->transfer.id = message->msgh_id;
    self->transfer.to = message->msgh_remote_port;
    if ((option & MACH_RCV_MSG) != 0)
        rt_order_call(self, message, frame);
}

static void mach_msg_note_end(struct rt_thread *self, const mach_msg_header_t *message,
                              mach_msg_option_t option, mach_msg_return_t result)
{
    self->transfer.option = 0;
    if ((option & MACH_RCV_MSG) != 0 && result == MACH_MSG_SUCCESS &&
        ((message->msgh_id >= MESSAGE_PAGER_FIRST && message->msgh_id <= MESSAGE_DEVICE_LAST) ||
         message->msgh_id >= MESSAGE_SERVER_FIRST))
        rt_progress();
}

mach_msg_return_t mach_msg(mach_msg_header_t *message, mach_msg_option_t option,
                           mach_msg_size_t send_size, mach_msg_size_t receive_size,
                           mach_port_t receive_name, mach_msg_timeout_t timeout, mach_port_t notify)
{
    struct rt_thread *self = rt_thread_current();
    mach_msg_option_t left = option;
    mach_msg_return_t result;

    mach_msg_note_begin(self, message, option, receive_name, __builtin_frame_address(0));
    do {
        result =
            mach_msg_trap(message, left, send_size, receive_size, receive_name, timeout, notify);
        left = mach_msg_left(left, result);
    } while (left != 0);
    mach_msg_note_end(self, message, option, result);
    return result;
}

mach_port_t mig_get_reply_port(void)
{
    struct rt_thread *self = rt_thread_current();

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
    struct rt_thread *self = rt_thread_current();

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
