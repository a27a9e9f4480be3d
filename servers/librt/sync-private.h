// SPDX-License-Identifier: GPL-2.0-or-later
/* Mutexes that nobody keeps book of, for what keeps the books. */
#ifndef LIBRT_SYNC_PRIVATE_H
#define LIBRT_SYNC_PRIVATE_H

#include "librt/sync.h"

/* Take MUTEX, which SELF does not hold. => may block. */
void rt_mutex_enter(struct rt_mutex *mutex, struct rt_thread *self);

/* Release it. => does not block. */
void rt_mutex_leave(struct rt_mutex *mutex);

#endif
