// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions that are active on a thread's stack. */
#ifndef LIBRT_FRAMES_H
#define LIBRT_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "librt/state.h"

#define RT_FRAMES_MAX 12

/* The innermost frames, and for each where its caller goes on. */
struct rt_frames {
    uintptr_t frames[RT_FRAMES_MAX];
    uintptr_t callers[RT_FRAMES_MAX];
    size_t count;
};

#define RT_CALLERS_MAX 3

/* The callers that led to a lock's being taken, the innermost first; a 0 ends them. */
struct rt_callers {
    uintptr_t at[RT_CALLERS_MAX];
};

/* The frames of the calling thread from FRAME up. => does not block. */
void rt_frames_take(struct rt_frames *frames, const void *frame);

/* Who called, from FRAMES' innermost frame up. => does not block. */
struct rt_callers rt_frames_callers(const struct rt_frames *frames);

/*
 * Who took HELD, by the FRAMES that its holder has now: where the taker goes on, then its callers.
 * A taker that has returned is missing in the frames; then its caller's caller comes next.
 * => does not block.
 */
struct rt_callers rt_held_callers(const struct rt_held *held, const struct rt_frames *frames);

#endif
