// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A message's body is a row of items: a type descriptor, short or long, then either the elements
 * themselves (inline) or the address of memory that holds them. Items start at multiples of the
 * machine's word (mach/message.h).
 */
#include "librt/message.h"

#include <stdbool.h>
#include <stddef.h>

struct message_item {
    mach_msg_type_name_t name;
    mach_msg_type_number_t number;
    size_t bytes; /* of the elements */
    size_t element_bytes;
    bool is_inline;
};

static uintptr_t rt_message_align(uintptr_t address)
{
    return (address + sizeof(uintptr_t) - 1) & ~(sizeof(uintptr_t) - 1);
}

/* Decode the descriptor at ADDRESS. Returns the address behind it. */
static uintptr_t rt_message_decode(uintptr_t address, struct message_item *item)
{
    const mach_msg_type_t *type = (const mach_msg_type_t *)address;
    const mach_msg_type_long_t *longer = (const mach_msg_type_long_t *)address;
    size_t bits;

    item->is_inline = type->msgt_inline;
    if (type->msgt_longform) {
        item->name = longer->msgtl_name;
        item->number = longer->msgtl_number;
        bits = longer->msgtl_size;
        address += sizeof(*longer);
    } else {
        item->name = type->msgt_name;
        item->number = type->msgt_number;
        bits = type->msgt_size;
        address += sizeof(*type);
    }
    item->bytes = (bits * item->number + 7) / 8;
    item->element_bytes = bits / 8;
    return rt_message_align(address);
}

static void rt_message_release_right(mach_msg_type_name_t name, mach_port_t port)
{
    if (!MACH_PORT_VALID(port))
        return;
    if (name == MACH_MSG_TYPE_PORT_RECEIVE)
        mach_port_mod_refs(mach_task_self(), port, MACH_PORT_RIGHT_RECEIVE, -1);
    else
        mach_port_deallocate(mach_task_self(), port);
}

static bool rt_message_is_right(mach_msg_type_name_t name)
{
    return name == MACH_MSG_TYPE_PORT_RECEIVE || name == MACH_MSG_TYPE_PORT_SEND ||
           name == MACH_MSG_TYPE_PORT_SEND_ONCE;
}

/* On amd64 a name inside the message takes a word, one in memory outside does not. */
static void rt_message_release_elements(const struct message_item *item, uintptr_t elements)
{
    if (!rt_message_is_right(item->name))
        return;
    for (mach_msg_type_number_t i = 0; i < item->number; i++) {
        rt_message_release_right(item->name, *(const mach_port_t *)elements);
        elements += item->element_bytes;
    }
}

/* Release the item at ADDRESS. Returns the address of the next. */
static uintptr_t rt_message_release_item(uintptr_t address)
{
    struct message_item item;
    uintptr_t data = rt_message_decode(address, &item);
    uintptr_t memory;

    if (item.is_inline) {
        rt_message_release_elements(&item, data);
        return rt_message_align(data + item.bytes);
    }
    memory = *(const vm_offset_t *)data;
    if (item.bytes > 0) {
        rt_message_release_elements(&item, memory);
        vm_deallocate(mach_task_self(), memory, item.bytes);
    }
    return rt_message_align(data + sizeof(vm_offset_t));
}

void rt_message_destroy(mach_msg_header_t *message)
{
    uintptr_t end = (uintptr_t)message + message->msgh_size;

    rt_message_release_right(MACH_MSGH_BITS_REMOTE(message->msgh_bits), message->msgh_remote_port);
    if (!(message->msgh_bits & MACH_MSGH_BITS_COMPLEX))
        return;
    for (uintptr_t item = (uintptr_t)(message + 1); item < end;)
        item = rt_message_release_item(item);
}
