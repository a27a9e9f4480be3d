// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/clock.h"

#include "librt/clock-private.h"
#include "librt/i386/arch.h"
#include "librt/log.h"

#define CLOCK_NS_PER_S 1000000000u
#define CLOCK_TICKS    5 /* 50 ms: an error of reading, some µs, is below 0.1 % */

static uint64_t clock_hz;

void rt_clock_setup(uint64_t hz)
{
    rt_assert(hz > 0);
    clock_hz = hz;
}

uint64_t rt_clock_ns(void)
{
    return rt_clock_cycles_to_ns(rt_arch_cycles());
}

uint64_t rt_clock_cycles_to_ns(uint64_t cycles)
{
    rt_assert(clock_hz > 0);
    return cycles / clock_hz * CLOCK_NS_PER_S + cycles % clock_hz * CLOCK_NS_PER_S / clock_hz;
}

static uint64_t rt_clock_uptime_us(void)
{
    time_value64_t now;
    kern_return_t kr = host_get_uptime64(mach_host_self(), &now);

    if (kr != KERN_SUCCESS)
        rt_panic("host_get_uptime64: error %#x", kr);
    return (uint64_t)now.seconds * 1000000u + (uint64_t)now.nanoseconds / 1000u;
}

/* Wait for the next tick; *CYCLES is the counter right behind it. Returns the new time. */
static uint64_t rt_clock_next_tick(uint64_t *cycles)
{
    uint64_t before = rt_clock_uptime_us();
    uint64_t now;

    do {
        now = rt_clock_uptime_us();
        *cycles = rt_arch_cycles();
    } while (now == before);
    return now;
}

uint64_t rt_clock_calibrate(void)
{
    uint64_t first_cycles, last_cycles;
    uint64_t first_us = rt_clock_next_tick(&first_cycles);
    uint64_t last_us = first_us;

    for (int i = 0; i < CLOCK_TICKS; i++)
        last_us = rt_clock_next_tick(&last_cycles);
    return (last_cycles - first_cycles) * 1000000u / (last_us - first_us);
}
