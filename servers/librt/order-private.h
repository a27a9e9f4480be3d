// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef LIBRT_ORDER_PRIVATE_H
#define LIBRT_ORDER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/mach.h"
#include "librt/thread-private.h"

/* Locks with one name are a class. Class 0 is that of locks that were never taken: nothing is in
   order with it, and every thread seems to hold one, so that the first check finds the class. */
#define RT_ORDER_CLASSES 32
#define RT_ORDER_NONE    UINT32_C(1)

/* A lock as the books know it. */
struct rt_order_lock {
    const void *object;
    const char *name;
    uint8_t *class; /* in the lock */
    bool shared;
};

/* For each class those that are known to be in order when they are held while it is taken: a bit
   for each class. Changed by order.c only. */
extern uint32_t rt_order_known[RT_ORDER_CLASSES];

/* The names of the classes. */
extern const char *rt_order_names[RT_ORDER_CLASSES];

/* What the functions below do when there is more to it. */
void rt_order_check_all(struct rt_thread *self, struct rt_order_lock lock, const void *frame);
uint8_t rt_order_class(struct rt_thread *self, struct rt_order_lock lock);
void rt_order_drop_any(struct rt_thread *self, const void *object);

/* SELF is going to wait for LOCK if it must; FRAME is the frame of the function that it called.
   => does not block for long; a violation ends the run. */
static inline void rt_order_check(struct rt_thread *self, struct rt_order_lock lock,
                                  const void *frame)
{
    if ((self->held_classes & ~rt_order_known[*lock.class]) != 0)
        rt_order_check_all(self, lock, frame);
}

/* SELF has taken LOCK, whose class is known. => does not block. */
static inline void rt_order_take(struct rt_thread *self, struct rt_order_lock lock,
                                 const void *frame)
{
    struct rt_held *held = &self->held[self->nheld];

    rt_assert(self->nheld < RT_HELD_MAX);
    held->object = lock.object;
    held->site = rt_arch_return_address(frame);
    held->frame = rt_arch_caller_frame(frame);
    held->class = *lock.class;
    held->shared = lock.shared;
    self->held_classes |= UINT32_C(1) << *lock.class;
    self->nheld++;
}

/* SELF releases the lock OBJECT. => does not block; a panic when SELF does not hold it. */
static inline void rt_order_drop(struct rt_thread *self, const void *object)
{
    unsigned int last = self->nheld - 1;

    if (last < RT_HELD_MAX && self->held[last].object == object && !self->held_nests) {
        self->held_classes &= ~(UINT32_C(1) << self->held[last].class);
        self->nheld = last;
    } else {
        rt_order_drop_any(self, object);
    }
}

/* SELF sends MESSAGE and waits for the answer. => does not block. */
void rt_order_call(struct rt_thread *self, const mach_msg_header_t *message, const void *frame);

#endif
