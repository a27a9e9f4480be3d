// SPDX-License-Identifier: GPL-2.0-or-later
/* What MIG generates for a task from mach/memory_object.defs, without MIG. */
#ifndef MEMORY_OBJECT_SERVER_H
#define MEMORY_OBJECT_SERVER_H

#include "librt/mach.h"

kern_return_t S_memory_object_init(mach_port_t memory_object, mach_port_t memory_control,
                                   mach_port_t memory_object_name,
                                   vm_size_t memory_object_page_size);
kern_return_t S_memory_object_terminate(mach_port_t memory_object, mach_port_t memory_control,
                                        mach_port_t memory_object_name);
kern_return_t S_memory_object_copy(mach_port_t old_memory_object, mach_port_t old_memory_control,
                                   vm_offset_t offset, vm_size_t length,
                                   mach_port_t new_memory_object);
kern_return_t S_memory_object_data_request(mach_port_t memory_object, mach_port_t memory_control,
                                           vm_offset_t offset, vm_size_t length,
                                           vm_prot_t desired_access);
kern_return_t S_memory_object_data_unlock(mach_port_t memory_object, mach_port_t memory_control,
                                          vm_offset_t offset, vm_size_t length,
                                          vm_prot_t desired_access);
kern_return_t S_memory_object_lock_completed(mach_port_t memory_object, mach_port_t memory_control,
                                             vm_offset_t offset, vm_size_t length);
kern_return_t S_memory_object_supply_completed(mach_port_t memory_object,
                                               mach_port_t memory_control, vm_offset_t offset,
                                               vm_size_t length, kern_return_t result,
                                               vm_offset_t error_offset);
kern_return_t S_memory_object_data_return(mach_port_t memory_object, mach_port_t memory_control,
                                          vm_offset_t offset, vm_offset_t data,
                                          mach_msg_type_number_t dataCnt, boolean_t dirty,
                                          boolean_t kernel_copy);
kern_return_t S_memory_object_change_completed(mach_port_t memory_object, boolean_t may_cache,
                                               memory_object_copy_strategy_t copy_strategy);

#endif
