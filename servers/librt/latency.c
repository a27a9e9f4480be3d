// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/latency.h"

#include <stdbool.h>

/* The class of CYCLES. The first 2 * RT_LATENCY_STEPS numbers have one each. */
static unsigned int latency_class(uint64_t cycles)
{
    unsigned int shift;
    unsigned int class;

    if (cycles < 2 * RT_LATENCY_STEPS)
        return (unsigned int)cycles;
    shift = 63 - (unsigned int)__builtin_clzll(cycles / RT_LATENCY_STEPS);
    class = shift * RT_LATENCY_STEPS + (unsigned int)(cycles >> shift);
    return class < RT_LATENCY_CLASSES ? class : RT_LATENCY_CLASSES - 1;
}

/* The largest number in CLASS. */
static uint64_t latency_class_end(unsigned int class)
{
    unsigned int shift;

    if (class < 2 * RT_LATENCY_STEPS)
        return class;
    shift = class / RT_LATENCY_STEPS - 1;
    return ((uint64_t)(class - shift * RT_LATENCY_STEPS + 1) << shift) - 1;
}

void rt_latency_add(struct rt_latency *latency, uint64_t cycles)
{
    uint64_t max = __atomic_load_n(&latency->max, __ATOMIC_RELAXED);

    __atomic_add_fetch(&latency->classes[latency_class(cycles)], 1, __ATOMIC_RELAXED);
    while (cycles > max && !__atomic_compare_exchange_n(&latency->max, &max, cycles, true,
                                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static uint32_t latency_class_count(const struct rt_latency *latency, unsigned int class)
{
    return __atomic_load_n(&latency->classes[class], __ATOMIC_RELAXED);
}

uint64_t rt_latency_count(const struct rt_latency *latency)
{
    uint64_t count = 0;

    for (unsigned int i = 0; i < RT_LATENCY_CLASSES; i++)
        count += latency_class_count(latency, i);
    return count;
}

uint64_t rt_latency_percentile(const struct rt_latency *latency, unsigned int percent)
{
    uint64_t max = __atomic_load_n(&latency->max, __ATOMIC_RELAXED);
    uint64_t wanted = (rt_latency_count(latency) * percent + 99) / 100;
    uint64_t seen = 0;
    unsigned int class = 0;

    if (wanted == 0)
        return 0;
    while (class < RT_LATENCY_CLASSES - 1 && (seen += latency_class_count(latency, class)) < wanted)
        class ++;
    return latency_class_end(class) < max ? latency_class_end(class) : max;
}
