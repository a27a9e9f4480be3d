// SPDX-License-Identifier: GPL-2.0-or-later
/* The memory that is shared with the host, as a server sees it (ctf-packet.h). It is the memory of
   a PCI device: the kernel's device `mem` maps it, startup has found where it is. */
#include <string.h>

#include <device/device_types.h>

#include "device_user.h"
#include "librt/config.h"
#include "librt/log.h"
#include "librt/rt.h"
#include "libtrace/ctf.h"

static uint8_t *ctf_memory;
static uint32_t ctf_slot; /* the next packet's, or 0: none was taken yet */

static void ctf_memory_map(void)
{
    vm_address_t address = 0;
    mach_port_t device;
    mach_port_t pager;
    kern_return_t kr = device_open(rt_device_master(), D_READ | D_WRITE, "mem", &device);

    if (kr == KERN_SUCCESS)
        kr = device_map(device, VM_PROT_READ | VM_PROT_WRITE,
                        (vm_offset_t)rt_config_u64("ctf_memory"), CTF_MEMORY_BYTES, &pager, 0);
    if (kr == KERN_SUCCESS)
        kr = vm_map(mach_task_self(), &address, CTF_MEMORY_BYTES, 0, TRUE, pager, 0, FALSE,
                    VM_PROT_READ | VM_PROT_WRITE, VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_NONE);
    if (kr != KERN_SUCCESS)
        rt_panic("the memory for CTF cannot be mapped: error %#x", kr);
    ctf_memory = (uint8_t *)address;
}

static bool ctf_memory_is_full(bool last)
{
    struct ctf_memory *head = (struct ctf_memory *)(void *)ctf_memory;

    if (ctf_slot == 0)
        ctf_slot = __atomic_add_fetch(&head->taken, 1, __ATOMIC_RELAXED);
    return ctf_slot >= CTF_MEMORY_SLOTS - (last ? 0 : CTF_MEMORY_LAST);
}

static void ctf_memory_put(const uint8_t *packet)
{
    uint8_t *slot = ctf_memory + (size_t)ctf_slot * CTF_PACKET_BYTES;
    uint32_t magic;

    memcpy(&magic, packet, sizeof(magic));
    memcpy(slot + sizeof(magic), packet + sizeof(magic), CTF_PACKET_BYTES - sizeof(magic));
    __atomic_store_n((uint32_t *)(void *)slot, magic, __ATOMIC_RELEASE);
    ctf_slot = 0;
}

const struct ctf_sink *ctf_memory_setup(void)
{
    static const struct ctf_sink sink = {.is_full = ctf_memory_is_full, .put = ctf_memory_put};

    ctf_memory_map();
    return &sink;
}
