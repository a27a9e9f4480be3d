// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef LIBRT_ORDER_PRIVATE_H
#define LIBRT_ORDER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "librt/mach.h"
#include "librt/thread-private.h"

/* A lock as the books know it. */
struct rt_order_lock {
    const void *object;
    const char *name;
    uint8_t *class; /* in the lock; 0: not known yet */
    bool shared;
};

/* SELF is going to wait for LOCK if it must; FRAME is the frame of the function that it called.
   => does not block for long; a violation ends the run. */
void rt_order_check(struct rt_thread *self, const struct rt_order_lock *lock, const void *frame);

/* SELF has taken LOCK. => does not block. */
void rt_order_take(struct rt_thread *self, const struct rt_order_lock *lock, const void *frame);

/* SELF releases the lock OBJECT, which it holds. => does not block. */
void rt_order_drop(struct rt_thread *self, const void *object);

/* SELF sends MESSAGE and waits for the answer. => does not block. */
void rt_order_call(struct rt_thread *self, const mach_msg_header_t *message, const void *frame);

#endif
