// SPDX-License-Identifier: GPL-2.0-or-later
/* Mach as the host's tests see it: the types and calls that the tested libraries use, on top of the
   mock kernel (mock/kernel.h). */
#ifndef LIBRT_MACH_H
#define LIBRT_MACH_H

#include <stdint.h>

typedef int boolean_t;
typedef int kern_return_t;
typedef unsigned int mach_port_t;
typedef unsigned int mach_port_right_t;
typedef int mach_port_delta_t;
typedef unsigned int mach_msg_type_number_t;
typedef uintptr_t vm_offset_t;
typedef uintptr_t vm_address_t;
typedef uintptr_t vm_size_t;
typedef uint64_t rpc_phys_addr_t;
typedef int vm_prot_t;
typedef int memory_object_copy_strategy_t;
typedef int memory_object_return_t;
typedef int vm_inherit_t;
typedef int mach_msg_type_name_t;
typedef unsigned int mach_port_mscount_t;
typedef struct mock_message_header mach_msg_header_t;

typedef struct {
    unsigned int mps_msgcount;
    boolean_t mps_srights;
} mach_port_status_t;

typedef struct {
    int64_t seconds;
    int64_t nanoseconds;
} time_value64_t;

#define TRUE  1
#define FALSE 0

#define vm_page_size ((vm_size_t)4096)

/* The values of GNU Mach's headers. */
#define KERN_SUCCESS          0
#define KERN_NO_SPACE         3
#define KERN_INVALID_ARGUMENT 4
#define KERN_FAILURE          5
#define KERN_MEMORY_ERROR     10
#define KERN_INVALID_RIGHT    17

#define MACH_SEND_INVALID_DEST 0x10000003

#define MACH_PORT_NULL            0u
#define MACH_PORT_DEAD            (~0u)
#define MACH_PORT_VALID(name)     ((name) != MACH_PORT_NULL && (name) != MACH_PORT_DEAD)
#define MACH_PORT_RIGHT_SEND      0u
#define MACH_PORT_RIGHT_RECEIVE   1u
#define MACH_PORT_RIGHT_DEAD_NAME 4u

#define MACH_MSG_TYPE_MAKE_SEND      20
#define MACH_MSG_TYPE_MAKE_SEND_ONCE 21
#define MACH_NOTIFY_NO_SENDERS       70

#define VM_INHERIT_NONE 2

#define VM_PROT_NONE      0x00
#define VM_PROT_READ      0x01
#define VM_PROT_WRITE     0x02
#define VM_PROT_ALL       0x07
#define VM_PROT_NO_CHANGE 0x08

#define MEMORY_OBJECT_COPY_NONE    0
#define MEMORY_OBJECT_COPY_DELAY   2
#define MEMORY_OBJECT_RETURN_NONE  0
#define MEMORY_OBJECT_RETURN_DIRTY 1
#define MEMORY_OBJECT_RETURN_ALL   2

mach_port_t mach_task_self(void);
kern_return_t mach_port_deallocate(mach_port_t task, mach_port_t name);
kern_return_t mach_port_mod_refs(mach_port_t task, mach_port_t name, mach_port_right_t right,
                                 mach_port_delta_t delta);
kern_return_t mach_port_insert_right(mach_port_t task, mach_port_t name, mach_port_t right,
                                     mach_msg_type_name_t type);
kern_return_t mach_port_request_notification(mach_port_t task, mach_port_t name, int message,
                                             unsigned int sync, mach_port_t notify,
                                             mach_msg_type_name_t type, mach_port_t *previous);
kern_return_t mach_port_get_receive_status(mach_port_t task, mach_port_t name,
                                           mach_port_status_t *status);
mach_port_t mach_host_self(void);
kern_return_t host_get_time64(mach_port_t host, time_value64_t *now);
kern_return_t vm_map(mach_port_t task, vm_address_t *address, vm_size_t size, vm_address_t mask,
                     boolean_t anywhere, mach_port_t memory_object, vm_offset_t offset,
                     boolean_t copy, vm_prot_t protection, vm_prot_t max_protection,
                     vm_inherit_t inheritance);
kern_return_t vm_allocate(mach_port_t task, vm_address_t *address, vm_size_t size,
                          boolean_t anywhere);
kern_return_t vm_allocate_contiguous(mach_port_t host, mach_port_t task, vm_address_t *address,
                                     rpc_phys_addr_t *physical, vm_size_t size,
                                     rpc_phys_addr_t first, rpc_phys_addr_t end,
                                     rpc_phys_addr_t alignment);
kern_return_t vm_deallocate(mach_port_t task, vm_address_t address, vm_size_t size);
kern_return_t vm_copy(mach_port_t task, vm_address_t from, vm_size_t size, vm_address_t to);
typedef struct vm_statistics {
    int free_count;
    int active_count;
    int inactive_count;
    int wire_count;
} vm_statistics_data_t;

kern_return_t vm_statistics(mach_port_t task, vm_statistics_data_t *statistics);
kern_return_t vm_move(mach_port_t task, vm_address_t to, vm_address_t from,
                      mach_msg_type_number_t size);

kern_return_t memory_object_ready(mach_port_t control, boolean_t may_cache,
                                  memory_object_copy_strategy_t copy_strategy);
kern_return_t memory_object_data_supply(mach_port_t control, vm_offset_t offset, vm_offset_t data,
                                        mach_msg_type_number_t length, boolean_t deallocate,
                                        vm_prot_t lock, boolean_t precious, mach_port_t reply_to);
kern_return_t memory_object_data_unavailable(mach_port_t control, vm_offset_t offset,
                                             vm_size_t size);
kern_return_t memory_object_data_error(mach_port_t control, vm_offset_t offset, vm_size_t size,
                                       kern_return_t error);
kern_return_t memory_object_lock_request(mach_port_t control, vm_offset_t offset, vm_size_t size,
                                         memory_object_return_t should_return, boolean_t flush,
                                         vm_prot_t lock, mach_port_t reply_to);
kern_return_t memory_object_change_attributes(mach_port_t control, boolean_t may_cache,
                                              memory_object_copy_strategy_t copy_strategy,
                                              mach_port_t reply_to);
kern_return_t memory_object_destroy(mach_port_t control, kern_return_t reason);

#endif
