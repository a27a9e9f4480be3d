// SPDX-License-Identifier: GPL-2.0-or-later
/* Mach as a task sees it: the kernel's types, its traps, and the generated stubs of its RPCs. */
#ifndef LIBRT_MACH_H
#define LIBRT_MACH_H

#include <stdint.h>

#include <mach/boolean.h>
#include <mach/kern_return.h>
#include <mach/mach_types.h>
#include <mach/message.h>
#include <mach/mig_errors.h>
#include <mach/notify.h>
#include <mach/port.h>
#include <mach/vm_param.h>

/* Traps (mach/syscall_sw.h numbers them). mach_print writes a string to the console and is done
   when it returns. */
extern mach_port_t mach_task_self(void);
extern mach_port_t mach_thread_self(void);
extern mach_port_t mach_host_self(void);
extern mach_port_t mach_reply_port(void);
extern void mach_print(const char *text);
extern kern_return_t syscall_vm_allocate(mach_port_t task, vm_address_t *address, vm_size_t size,
                                         boolean_t anywhere);
extern mach_msg_return_t mach_msg_trap(mach_msg_header_t *message, mach_msg_option_t option,
                                       mach_msg_size_t send_size, mach_msg_size_t receive_size,
                                       mach_port_t receive_name, mach_msg_timeout_t timeout,
                                       mach_port_t notify);

#include "device_user.h"
#include "gnumach_user.h"
#include "mach_host_user.h"
#include "mach_i386_user.h"
#include "mach_port_user.h"
#include "mach_user.h"
#include "vm_move_user.h"

/* The page of i386 and amd64, in bytes. */
#define vm_page_size ((vm_size_t)4096)

/* Flags of gsync_wait and gsync_wake. No header of the kernel has them (its kern/gsync.h does). */
#define GSYNC_TIMED     4
#define GSYNC_BROADCAST 8

#endif
