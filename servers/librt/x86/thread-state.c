// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/x86/arch.h"

#include <string.h>

#include "librt/thread-private.h"

/* The members of struct i386_thread_state by what they are. A call pushes an address: a function's
   first instruction finds the stack pointer that far below a multiple of 16 (System V ABI). */
#ifdef __x86_64__
#define STATE_PC rip
#define STATE_SP ursp
#define STATE_FP rbp
#else
#define STATE_PC eip
#define STATE_SP uesp
#define STATE_FP ebp
#endif
#define STATE_CALL sizeof(uintptr_t)

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
    state.STATE_PC = (uintptr_t)rt_thread_main;
    state.STATE_SP = (sp & ~(uintptr_t)15) - STATE_CALL;
    state.STATE_FP = 0;
    return rt_arch_state_set(thread, &state);
}

kern_return_t rt_arch_thread_place(thread_t thread, struct rt_arch_place *place)
{
    struct i386_thread_state state;
    kern_return_t kr = rt_arch_state_get(thread, &state);

    if (kr != KERN_SUCCESS)
        return kr;
    *place =
        (struct rt_arch_place){.pc = state.STATE_PC, .sp = state.STATE_SP, .fp = state.STATE_FP};
    return KERN_SUCCESS;
}

kern_return_t rt_arch_copy_resume(thread_t thread)
{
    extern const char rt_arch_copy_start[], rt_arch_copy_end[];
    struct i386_thread_state state;
    kern_return_t kr = rt_arch_state_get(thread, &state);

    if (kr != KERN_SUCCESS)
        return kr;
    if (state.STATE_PC < (uintptr_t)rt_arch_copy_start ||
        state.STATE_PC >= (uintptr_t)rt_arch_copy_end)
        return KERN_NOT_RECEIVER;
    state.STATE_PC = (uintptr_t)rt_arch_copy_end;
    return rt_arch_state_set(thread, &state);
}
