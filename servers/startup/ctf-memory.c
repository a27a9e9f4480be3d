// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the memory is that is shared with the host (libtrace/ctf-packet.h). It belongs to a device
 * on the PCI bus, QEMU's ivshmem-plain, in the slot in which the runner puts it; its third base
 * address register says where the firmware has placed it. Only startup asks, and before any other
 * task runs: the two ports by which PCI is configured cannot be shared.
 *
 * 64-bit UEFI places it beyond 4 GiB, where a 32-bit task cannot map it. Then it is moved to the
 * end of what both of QEMU's machines leave to PCI below 4 GiB, which firmware fills from its
 * beginning.
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

#define CTF_MEMORY_ID  0x11101af4u /* QEMU, docs/specs/ivshmem-spec */
#define CTF_MEMORY_END 0xfc000000u /* of PCI's addresses: interrupt controllers follow */
#define CTF_MEMORY_LOW (CTF_MEMORY_END - CTF_MEMORY_BYTES)

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

static uint64_t ctf_memory_address(void)
{
    return (uint64_t)pci_read(PCI_BAR2_HIGH) << 32 | (pci_read(PCI_BAR2) & PCI_BAR_MASK);
}

/* => the device does not answer to addresses at the moment. */
static void ctf_memory_move(uint32_t address)
{
    pci_write(PCI_BAR2, address);
    pci_write(PCI_BAR2_HIGH, 0);
}

uint64_t startup_ctf_memory_find(void)
{
    uint32_t command;

    startup_give_ports(PCI_PORT_ADDRESS, PCI_PORT_LAST);
    if (pci_read(PCI_ID) != CTF_MEMORY_ID)
        rt_panic("the machine has no memory for CTF (ivshmem-plain in slot %#x of its PCI bus)",
                 CTF_MEMORY_SLOT);
    command = pci_read(PCI_COMMAND) & PCI_COMMAND_MASK & ~PCI_COMMAND_SPACE;
    pci_write(PCI_COMMAND, command);
    if (ctf_memory_address() == 0 || ctf_memory_address() > (vm_offset_t)-1)
        ctf_memory_move(CTF_MEMORY_LOW);
    pci_write(PCI_COMMAND, command | PCI_COMMAND_SPACE);
    return ctf_memory_address();
}
