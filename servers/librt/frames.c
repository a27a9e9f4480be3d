// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/frames.h"

#include <stdbool.h>

#include "librt/x86/arch.h"

/* Whether ADDRESS can be the frame of FRAME's caller. newlib's functions have no frames, and use
   the register for what they like. */
static bool rt_frame_is_above(uintptr_t frame, uintptr_t address)
{
    return address > frame && address % sizeof(address) == 0 && (address ^ frame) < RT_STACK_BYTES;
}

void rt_frames_take(struct rt_frames *frames, const void *frame)
{
    uintptr_t at = (uintptr_t)frame;

    frames->count = 0;
    while (frames->count < RT_FRAMES_MAX) {
        uintptr_t next = rt_arch_caller_frame((const void *)at);

        frames->frames[frames->count] = at;
        frames->callers[frames->count] = rt_arch_return_address((const void *)at);
        frames->count++;
        if (!rt_frame_is_above(at, next))
            break;
        at = next;
    }
}

/* Append the callers of FRAMES from number FIRST on to CALLERS, which has USED. */
static void rt_callers_append(struct rt_callers *callers, size_t used,
                              const struct rt_frames *frames, size_t first)
{
    for (size_t i = first; i < frames->count && used < RT_CALLERS_MAX; i++)
        callers->at[used++] = frames->callers[i];
}

struct rt_callers rt_frames_callers(const struct rt_frames *frames)
{
    struct rt_callers callers = {{0}};

    rt_callers_append(&callers, 0, frames, 0);
    return callers;
}

struct rt_callers rt_held_callers(const struct rt_held *held, const struct rt_frames *frames)
{
    struct rt_callers callers = {{held->site}};
    size_t i = 0;

    while (i < frames->count && frames->frames[i] < held->frame)
        i++;
    if (i > 0 && i < frames->count && frames->frames[i] > held->frame)
        i--;
    rt_callers_append(&callers, 1, frames, i);
    return callers;
}
