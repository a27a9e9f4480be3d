// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/clock.h"

#include "librt/clock-private.h"
#include "librt/x86/arch.h"
#include "librt/log.h"

#define CLOCK_NS_PER_S 1000000000u

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
