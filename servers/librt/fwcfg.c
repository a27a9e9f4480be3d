// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU's firmware configuration device: select an item by writing its number to port 0x510, then
 * read its bytes from port 0x511 (QEMU, docs/specs/fw_cfg). Item 0x19 lists the named ones: a count
 * of 32 bits, then entries of 64 bytes. For DMA the physical address of a request is written to
 * ports 0x514 (its upper half) and 0x518, which has it done at once. Numbers are big-endian.
 */
#include "librt/fwcfg.h"

#include <stdbool.h>
#include <string.h>

#include "librt/x86/arch.h"

#define FWCFG_SELECTOR  0x510
#define FWCFG_DATA      0x511
#define FWCFG_DMA_HIGH  0x514
#define FWCFG_DMA_LOW   0x518
#define FWCFG_LAST      0x51b
#define FWCFG_SIGNATURE 0x0000 /* reads "QEMU" */
#define FWCFG_FEATURES  0x0001
#define FWCFG_DIRECTORY 0x0019

#define FWCFG_FEATURE_DMA    0x02 /* of the features' first byte: they are little-endian */
#define FWCFG_CONTROL_ERROR  0x01u
#define FWCFG_CONTROL_READ   0x02u
#define FWCFG_CONTROL_SELECT 0x08u /* the item in the upper 16 bits */

#define FWCFG_TAKE_MAX 64u /* bytes of one rt_fwcfg_stream_take */

/* A request, in a page of its own; QEMU clears the control word when it is done. */
struct rt_fwcfg_request {
    uint32_t control;
    uint32_t length;
    uint64_t address;
    uint8_t taken[FWCFG_TAKE_MAX];
};

struct fwcfg_file {
    uint8_t size[4];
    uint8_t select[2];
    uint8_t reserved[2];
    char name[56];
};

kern_return_t rt_fwcfg_setup(mach_port_t device_master)
{
    mach_port_t permission;
    kern_return_t kr = i386_io_perm_create(device_master, FWCFG_SELECTOR, FWCFG_LAST, &permission);

    if (kr == KERN_SUCCESS)
        kr = i386_io_perm_modify(mach_task_self(), permission, TRUE);
    return kr;
}

static void rt_fwcfg_bytes(void *data, size_t size)
{
    uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        bytes[i] = rt_arch_in8(FWCFG_DATA);
}

static uint32_t rt_fwcfg_number(const uint8_t *bytes, size_t size)
{
    uint32_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | bytes[i];
    return number;
}

static bool rt_fwcfg_present(void)
{
    char signature[4];

    rt_arch_out16(FWCFG_SELECTOR, FWCFG_SIGNATURE);
    rt_fwcfg_bytes(signature, sizeof(signature));
    return memcmp(signature, "QEMU", sizeof(signature)) == 0;
}

static error_t rt_fwcfg_find(const char *name, struct fwcfg_file *file)
{
    uint8_t count[4];

    rt_arch_out16(FWCFG_SELECTOR, FWCFG_DIRECTORY);
    rt_fwcfg_bytes(count, sizeof(count));
    for (uint32_t left = rt_fwcfg_number(count, sizeof(count)); left > 0; left--) {
        rt_fwcfg_bytes(file, sizeof(*file));
        if (strncmp(file->name, name, sizeof(file->name)) == 0)
            return 0;
    }
    return ENOENT;
}

error_t rt_fwcfg_read(const char *name, char *text, size_t size)
{
    struct fwcfg_file file;
    uint32_t length;

    if (!rt_fwcfg_present() || rt_fwcfg_find(name, &file) != 0)
        return ENOENT;
    length = rt_fwcfg_number(file.size, sizeof(file.size));
    if (length >= size)
        return EMSGSIZE;
    rt_arch_out16(FWCFG_SELECTOR, (uint16_t)rt_fwcfg_number(file.select, 2));
    rt_fwcfg_bytes(text, length);
    text[length] = '\0';
    return 0;
}

void rt_fwcfg_mark(unsigned int mark)
{
    rt_arch_out16(FWCFG_SELECTOR, (uint16_t)mark);
}

/* --- Streams --------------------------------------------------------------------------------- */

static bool rt_fwcfg_knows_dma(void)
{
    uint8_t features[4];

    rt_arch_out16(FWCFG_SELECTOR, FWCFG_FEATURES);
    rt_fwcfg_bytes(features, sizeof(features));
    return (features[0] & FWCFG_FEATURE_DMA) != 0;
}

error_t rt_fwcfg_stream_init(struct rt_fwcfg_stream *stream, const char *name, mach_port_t host)
{
    struct fwcfg_file file;
    rpc_phys_addr_t physical;
    vm_address_t page;

    if (!rt_fwcfg_present() || rt_fwcfg_find(name, &file) != 0)
        return ENOENT;
    if (!rt_fwcfg_knows_dma())
        return ENOTSUP;
    if (vm_allocate_contiguous(host, mach_task_self(), &page, &physical, vm_page_size, 0,
                               RT_ARCH_PHYSICAL_MAX, 0) != KERN_SUCCESS)
        return ENOMEM;
    *stream =
        (struct rt_fwcfg_stream){.left = rt_fwcfg_number(file.size, sizeof(file.size)),
                                 .next = rt_fwcfg_number(file.select, sizeof(file.select)) << 16 |
                                         FWCFG_CONTROL_SELECT | FWCFG_CONTROL_READ,
                                 .request = (struct rt_fwcfg_request *)page,
                                 .physical = physical};
    return 0;
}

error_t rt_fwcfg_stream_read(struct rt_fwcfg_stream *stream, uint64_t to, uint32_t bytes)
{
    struct rt_fwcfg_request *request = stream->request;
    uint32_t control;

    if (bytes > stream->left)
        return EIO;
    request->control = __builtin_bswap32(stream->next);
    request->length = __builtin_bswap32(bytes);
    request->address = __builtin_bswap64(to);
    rt_arch_out32(FWCFG_DMA_HIGH, __builtin_bswap32((uint32_t)(stream->physical >> 32)));
    rt_arch_out32(FWCFG_DMA_LOW, __builtin_bswap32((uint32_t)stream->physical));
    stream->next = FWCFG_CONTROL_READ;
    stream->left -= bytes;
    do {
        control = *(volatile uint32_t *)&request->control;
    } while (control != 0 && (control & __builtin_bswap32(FWCFG_CONTROL_ERROR)) == 0);
    return control == 0 ? 0 : EIO;
}

error_t rt_fwcfg_stream_take(struct rt_fwcfg_stream *stream, void *data, uint32_t bytes)
{
    error_t error;

    if (bytes > FWCFG_TAKE_MAX)
        return EINVAL;
    error = rt_fwcfg_stream_read(
        stream, stream->physical + offsetof(struct rt_fwcfg_request, taken), bytes);
    if (error == 0)
        memcpy(data, stream->request->taken, bytes);
    return error;
}

void rt_fwcfg_stream_destroy(struct rt_fwcfg_stream *stream)
{
    vm_deallocate(mach_task_self(), (vm_address_t)stream->request, vm_page_size);
}
