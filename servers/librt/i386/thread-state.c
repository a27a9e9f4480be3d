// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/i386/arch.h"

#include <string.h>

#include "librt/thread-private.h"

static kern_return_t rt_arch_state_get(thread_t thread, struct i386_thread_state *state)
{
    mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;

    memset(state, 0, sizeof(*state));
    return thread_get_state(thread, i386_REGS_SEGS_STATE, (thread_state_t)state, &count);
}

static kern_return_t rt_arch_state_set(thread_t thread, struct i386_thread_state *state)
{
    return thread_set_state(thread, i386_REGS_SEGS_STATE, (thread_state_t)state,
                            i386_THREAD_STATE_COUNT);
}

kern_return_t rt_arch_thread_setup(thread_t thread, uintptr_t sp)
{
    struct i386_thread_state state;
    kern_return_t kr = rt_arch_state_get(thread, &state);

    if (kr != KERN_SUCCESS)
        return kr;
    state.eip = (uintptr_t)rt_thread_main;
    /* As after a call: SP modulo 16 is 12 (System V ABI, i386). */
    state.uesp = (sp & ~15u) - 4;
    state.ebp = 0;
    return rt_arch_state_set(thread, &state);
}

kern_return_t rt_arch_thread_place(thread_t thread, struct rt_arch_place *place)
{
    struct i386_thread_state state;
    kern_return_t kr = rt_arch_state_get(thread, &state);

    if (kr != KERN_SUCCESS)
        return kr;
    *place = (struct rt_arch_place){.pc = state.eip, .sp = state.uesp, .fp = state.ebp};
    return KERN_SUCCESS;
}

kern_return_t rt_arch_copy_resume(thread_t thread)
{
    extern const char rt_arch_copy_start[], rt_arch_copy_end[];
    struct i386_thread_state state;
    kern_return_t kr = rt_arch_state_get(thread, &state);

    if (kr != KERN_SUCCESS)
        return kr;
    if (state.eip < (uintptr_t)rt_arch_copy_start || state.eip >= (uintptr_t)rt_arch_copy_end)
        return KERN_NOT_RECEIVER;
    state.eip = (uintptr_t)rt_arch_copy_end;
    return rt_arch_state_set(thread, &state);
}
