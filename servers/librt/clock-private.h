// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef LIBRT_CLOCK_PRIVATE_H
#define LIBRT_CLOCK_PRIVATE_H

#include <stdint.h>

/* The time stamp counter runs at HZ. => once, by librt and by startup, before threads ask. */
void rt_clock_setup(uint64_t hz);

/* Measure the counter's frequency against the kernel's clock, which ticks every 10 ms.
   => blocks for about 60 ms, running. */
uint64_t rt_clock_calibrate(void);

#endif
