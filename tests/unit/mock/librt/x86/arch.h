// SPDX-License-Identifier: GPL-2.0-or-later
/* The little of librt/x86/arch.h that is used on the host. */
#ifndef LIBRT_ARCH_H
#define LIBRT_ARCH_H

#include <stdint.h>
#include <time.h>

#define RT_ARCH_PHYSICAL_MAX UINT64_C(0xfffff000)

static inline uint64_t rt_arch_cycles(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
