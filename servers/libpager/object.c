// SPDX-License-Identifier: GPL-2.0-or-later
/* A kernel takes an object up and lets go of it; and what kernels say that this library never asks
   for. */
#include "libpager/private.h"

#include "librt/log.h"

#include "memory_object_server.h"

/* Null if the kernel behind a memory_object_init may have PAGER, else why not. => level locked. */
static const char *pager_init_check(const struct pager *pager, vm_size_t page_size)
{
    if (pager->control != MACH_PORT_NULL)
        return "it has the object already, or another kernel has";
    if (page_size != vm_page_size)
        return "its pages have another size";
    return NULL;
}

kern_return_t S_memory_object_init(mach_port_t memory_object, mach_port_t memory_control,
                                   mach_port_t memory_object_name,
                                   vm_size_t memory_object_page_size)
{
    struct pager *pager = pager_lookup_lock(memory_object);
    const char *refusal = "the pager has gone";

    if (pager != NULL) {
        refusal = pager_init_check(pager, memory_object_page_size);
        if (refusal == NULL) {
            pager->control = memory_control;
            pager->name = memory_object_name;
            memory_object_ready(memory_control, pager->may_cache, pager->copy_strategy);
        }
        rt_mutex_unlock(&pager->level->lock);
    }
    if (refusal != NULL) {
        rt_log("a kernel's memory_object_init refused: %s", refusal);
        memory_object_destroy(memory_control, KERN_FAILURE);
        pager_right_drop(memory_control);
        pager_right_drop(memory_object_name);
    }
    return KERN_SUCCESS;
}

/* Drop a receive right that came in a message. Send rights of ours for it become dead names. */
static void pager_receive_right_drop(mach_port_t port)
{
    if (MACH_PORT_VALID(port))
        mach_port_mod_refs(mach_task_self(), port, MACH_PORT_RIGHT_RECEIVE, -1);
}

kern_return_t S_memory_object_terminate(mach_port_t memory_object, mach_port_t memory_control,
                                        mach_port_t memory_object_name)
{
    struct pager *pager = pager_lookup_lock(memory_object);
    mach_port_t control = MACH_PORT_NULL;
    mach_port_t name = MACH_PORT_NULL;

    if (pager != NULL) {
        if (pager->control == memory_control) {
            pager_rights_pay(pager);
            control = pager->control;
            name = pager->name;
            pager->control = MACH_PORT_NULL;
            pager->name = MACH_PORT_NULL;
            pager->nunconfirmed = 0;
            pager_windows_abandon(pager);
            pager_map_renew(pager);
        }
        rt_mutex_unlock(&pager->level->lock);
    }
    pager_receive_right_drop(memory_control);
    pager_receive_right_drop(memory_object_name);
    pager_right_drop(control);
    pager_right_drop(name);
    return KERN_SUCCESS;
}

/* Only for objects with MEMORY_OBJECT_COPY_CALL. */
kern_return_t S_memory_object_copy(mach_port_t old_memory_object, mach_port_t old_memory_control,
                                   vm_offset_t offset, vm_size_t length,
                                   mach_port_t new_memory_object)
{
    (void)old_memory_object;
    rt_log("memory_object_copy of %#lx bytes at %#lx refused", (unsigned long)length,
           (unsigned long)offset);
    pager_receive_right_drop(new_memory_object);
    pager_right_drop(old_memory_control);
    return KERN_SUCCESS;
}

/* Give-backs are confirmed elsewhere (confirm.c). */
kern_return_t S_memory_object_supply_completed(mach_port_t memory_object,
                                               mach_port_t memory_control, vm_offset_t offset,
                                               vm_size_t length, kern_return_t result,
                                               vm_offset_t error_offset)
{
    (void)memory_object;
    (void)result;
    (void)error_offset;
    rt_log("supply_completed of %#lx bytes at %#lx: nobody asked", (unsigned long)length,
           (unsigned long)offset);
    pager_right_drop(memory_control);
    return KERN_SUCCESS;
}

/* The answer to memory_object_change_attributes; whoever asked first is answered first. */
kern_return_t S_memory_object_change_completed(mach_port_t memory_object, boolean_t may_cache,
                                               memory_object_copy_strategy_t copy_strategy)
{
    struct pager *pager = pager_lookup_lock(memory_object);

    (void)may_cache;
    (void)copy_strategy;
    if (pager == NULL)
        return KERN_SUCCESS;
    if (pager->nchanging > 0 && --pager->nchanging == 0)
        rt_cond_broadcast(&pager->changed);
    rt_mutex_unlock(&pager->level->lock);
    return KERN_SUCCESS;
}
