// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the memory is that is shared with the host (libtrace/ctf-packet.h). It belongs to a device
 * on the PCI bus, QEMU's ivshmem-plain, in the slot in which the runner puts it; its third base
 * address register says where the firmware has placed it. Only startup asks, and before any other
 * task runs: the two ports by which PCI is configured cannot be shared.
 */
#include "librt/log.h"
#include "librt/x86/arch.h"
#include "libtrace/ctf-packet.h"
#include "startup/startup.h"

#define PCI_PORT_ADDRESS 0xcf8
#define PCI_PORT_DATA    0xcfc
#define PCI_PORT_LAST    0xcff
#define PCI_ENABLE       0x80000000u
#define PCI_SLOT_SHIFT   11

/* Registers of a device, and their bits (PCI Local Bus Specification 3.0, chapter 6). */
#define PCI_ID            0x00
#define PCI_COMMAND       0x04
#define PCI_COMMAND_MASK  0xffffu
#define PCI_COMMAND_SPACE 0x0002u
#define PCI_BAR2          0x18
#define PCI_BAR2_HIGH     0x1c
#define PCI_BAR_MASK      (~0xfu)

#define CTF_MEMORY_ID 0x11101af4u /* QEMU, docs/specs/ivshmem-spec */

static uint32_t pci_read(unsigned int reg)
{
    rt_arch_out32(PCI_PORT_ADDRESS, PCI_ENABLE | CTF_MEMORY_SLOT << PCI_SLOT_SHIFT | reg);
    return rt_arch_in32(PCI_PORT_DATA);
}

static void pci_write(unsigned int reg, uint32_t value)
{
    rt_arch_out32(PCI_PORT_ADDRESS, PCI_ENABLE | CTF_MEMORY_SLOT << PCI_SLOT_SHIFT | reg);
    rt_arch_out32(PCI_PORT_DATA, value);
}

uint64_t startup_ctf_memory_find(void)
{
    uint64_t address;

    startup_give_ports(PCI_PORT_ADDRESS, PCI_PORT_LAST);
    if (pci_read(PCI_ID) != CTF_MEMORY_ID)
        rt_panic("the machine has no memory for CTF (ivshmem-plain in slot %#x of its PCI bus)",
                 CTF_MEMORY_SLOT);
    pci_write(PCI_COMMAND, (pci_read(PCI_COMMAND) & PCI_COMMAND_MASK) | PCI_COMMAND_SPACE);
    address = (uint64_t)pci_read(PCI_BAR2_HIGH) << 32 | (pci_read(PCI_BAR2) & PCI_BAR_MASK);
    if (address == 0 || address > (vm_offset_t)-1 - CTF_MEMORY_BYTES)
        rt_panic("the firmware has placed the memory for CTF at %#llx, where no task can map it",
                 (unsigned long long)address);
    return address;
}
