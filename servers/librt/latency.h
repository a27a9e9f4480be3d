// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How long something took, many times: how often, the longest, and percentiles. Times are cycles of
 * the time stamp counter. They are sorted into classes, eight for each power of two, so a
 * percentile is known to one part in eight: it is given as the upper end of its class, never too
 * low. The longest is exact.
 */
#ifndef LIBRT_LATENCY_H
#define LIBRT_LATENCY_H

#include <stdint.h>

#define RT_LATENCY_STEPS   8u                       /* classes of a power of two */
#define RT_LATENCY_CLASSES (44u * RT_LATENCY_STEPS) /* up to 2^46 cycles: hours */

/* All zero at first. */
struct rt_latency {
    uint32_t classes[RT_LATENCY_CLASSES];
    uint64_t max; /* cycles */
};

/* Count one that took CYCLES. => any thread; does not block. */
void rt_latency_add(struct rt_latency *latency, uint64_t cycles);

/* How many there were. => does not block. */
uint64_t rt_latency_count(const struct rt_latency *latency);

/* Cycles that PERCENT of all took at most; 0 when there were none. => does not block. */
uint64_t rt_latency_percentile(const struct rt_latency *latency, unsigned int percent);

#endif
