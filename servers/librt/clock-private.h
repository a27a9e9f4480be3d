// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef LIBRT_CLOCK_PRIVATE_H
#define LIBRT_CLOCK_PRIVATE_H

#include <stdint.h>

/* The time stamp counter runs at HZ. => once, by librt and by startup, before threads ask. */
void rt_clock_setup(uint64_t hz);

#endif
