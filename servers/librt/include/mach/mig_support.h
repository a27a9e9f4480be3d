// SPDX-License-Identifier: GPL-2.0-or-later
/* What stubs made by MIG call, besides mach_msg. Implemented in librt/mig.c. */
#ifndef LIBRT_MACH_MIG_SUPPORT_H
#define LIBRT_MACH_MIG_SUPPORT_H

#include <mach/message.h>
#include <mach/mach_types.h>

mach_msg_return_t mach_msg(mach_msg_header_t *message, mach_msg_option_t option,
                           mach_msg_size_t send_size, mach_msg_size_t receive_size,
                           mach_port_t receive_name, mach_msg_timeout_t timeout,
                           mach_port_t notify);

/* The calling thread's reply port: each thread has one, made at its first call. */
mach_port_t mig_get_reply_port(void);

/* The call that used PORT is over; the port stays the thread's. */
void mig_put_reply_port(mach_port_t port);

/* PORT may still get a late reply: forget it, so that the next call makes a new one. */
void mig_dealloc_reply_port(mach_port_t port);

/* Memory for out-of-line results that did not fit inline. */
void mig_allocate(vm_address_t *address, vm_size_t size);
void mig_deallocate(vm_address_t address, vm_size_t size);

/* Copy at most SIZE bytes of SOURCE, always with a terminating zero. Returns the length copied. */
vm_size_t mig_strncpy(char *target, const char *source, vm_size_t size);

mach_port_t mach_task_self(void);

#endif
