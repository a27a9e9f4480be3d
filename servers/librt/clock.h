// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef LIBRT_CLOCK_H
#define LIBRT_CLOCK_H

#include <stdint.h>

/*
 * Nanoseconds since an arbitrary moment before the first task's start, from the processor's time
 * stamp counter as startup has calibrated it: the same clock in every task.
 * => does not block, makes no system call.
 */
uint64_t rt_clock_ns(void);

/* CYCLES of the time stamp counter in nanoseconds; of a moment, those of rt_clock_ns. => as above.
 */
uint64_t rt_clock_cycles_to_ns(uint64_t cycles);

#endif
