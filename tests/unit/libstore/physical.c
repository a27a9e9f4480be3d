// SPDX-License-Identifier: GPL-2.0-or-later
#include "physical.h"

#include <stdlib.h>
#include <string.h>

#include "librt/fwcfg.h"
#include "librt/mach.h"
#include "mock/kernel-private.h"
#include "mock/rt.h"

#define PIECES_MAX  64
#define PIECE_BYTES ((size_t)1 << 20)
#define FIRST       UINT64_C(0x300000)

static uint8_t *pieces[PIECES_MAX];
static size_t npieces, npieces_max;
static const char *image_name;
static const uint8_t *image;
static size_t image_bytes;

/* No kernel runs here, and nothing is mapped. */

mach_port_t mach_task_self(void)
{
    return 1;
}

bool mock_task_unmap(vm_address_t address, vm_size_t size)
{
    (void)address;
    (void)size;
    return false;
}

void physical_init(size_t most)
{
    mock_check(most <= PIECES_MAX);
    npieces = 0;
    npieces_max = most;
    image_name = "";
}

void physical_destroy(void)
{
    while (npieces > 0)
        free(pieces[--npieces]);
}

/* Piece N lies at FIRST less N pieces of 2 MiB each: no two are neighbours, and they descend. */
static uint64_t physical_address(size_t n)
{
    return FIRST + 2 * PIECE_BYTES * (PIECES_MAX - n);
}

kern_return_t vm_allocate_contiguous(mach_port_t host, mach_port_t task, vm_address_t *address,
                                     rpc_phys_addr_t *physical, vm_size_t size,
                                     rpc_phys_addr_t first, rpc_phys_addr_t end,
                                     rpc_phys_addr_t alignment)
{
    mock_check(host == PHYSICAL_HOST && task == mach_task_self() && size == PIECE_BYTES);
    mock_check(first == 0 && end != 0 && alignment == 0);
    if (npieces == npieces_max)
        return KERN_NO_SPACE;
    pieces[npieces] = aligned_alloc(4096, size);
    mock_check(pieces[npieces] != NULL);
    memset(pieces[npieces], 0xa5, size); /* it is not said that it is zeros */
    *address = (vm_address_t)pieces[npieces];
    *physical = physical_address(npieces++);
    return KERN_SUCCESS;
}

void *physical_at(uint64_t address)
{
    for (size_t i = 0; i < npieces; i++)
        if (address >= physical_address(i) && address - physical_address(i) < PIECE_BYTES)
            return pieces[i] + (address - physical_address(i));
    mock_fail("nothing is at the physical address %#llx", (unsigned long long)address);
}

void physical_image_set(const char *name, const void *bytes, size_t size)
{
    image_name = name;
    image = bytes;
    image_bytes = size;
}

/* Its `left` is what has not been read; `request` is not used. */
error_t rt_fwcfg_stream_init(struct rt_fwcfg_stream *stream, const char *name, mach_port_t host)
{
    mock_check(host == PHYSICAL_HOST);
    if (strcmp(name, image_name) != 0)
        return ENOENT;
    *stream = (struct rt_fwcfg_stream){.left = (uint32_t)image_bytes};
    return 0;
}

error_t rt_fwcfg_stream_take(struct rt_fwcfg_stream *stream, void *data, uint32_t bytes)
{
    if (bytes > stream->left)
        return EIO;
    memcpy(data, image + image_bytes - stream->left, bytes);
    stream->left -= bytes;
    return 0;
}

error_t rt_fwcfg_stream_read(struct rt_fwcfg_stream *stream, uint64_t to, uint32_t bytes)
{
    return rt_fwcfg_stream_take(stream, physical_at(to), bytes);
}

void rt_fwcfg_stream_destroy(struct rt_fwcfg_stream *stream)
{
    mock_check(stream->left == 0 || stream->left <= image_bytes);
}
