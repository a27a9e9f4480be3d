// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The image of a store, as the runner hands it over: a head, then extents, each a head with the
 * blocks behind it. Only blocks that hold something are there. Numbers are little-endian, as this
 * machine's are.
 */
#include "libstore/ram.h"

#include <stdio.h>

#include "librt/fwcfg.h"

#define RAM_IMAGE_MAGIC UINT64_C(0x6567616d69626d) /* "mbimage" */
#define RAM_IMAGE_PATH  "opt/machbed/"

struct ram_image_head {
    uint64_t magic;
    uint64_t nsectors; /* of the store; 0: there is no such partition */
    uint64_t nextents;
};

struct ram_image_extent {
    uint64_t block;
    uint64_t nblocks;
};

static error_t ram_extent_read(struct ram *ram, struct rt_fwcfg_stream *stream)
{
    struct ram_image_extent extent;
    error_t error = rt_fwcfg_stream_take(stream, &extent, sizeof(extent));

    for (uint64_t i = 0; i < extent.nblocks && error == 0; i++) {
        uint64_t physical;

        error = ram_block_next(ram, extent.block + i, &physical);
        if (error == 0)
            error = rt_fwcfg_stream_read(stream, physical, RAM_BLOCK_BYTES);
    }
    return error;
}

static error_t ram_image_read(mach_port_t host, struct rt_fwcfg_stream *stream, struct ram **ram,
                              uint64_t *nsectors)
{
    struct ram_image_head head;
    error_t error = rt_fwcfg_stream_take(stream, &head, sizeof(head));

    if (error != 0)
        return error;
    if (head.magic != RAM_IMAGE_MAGIC)
        return EIO;
    if (head.nsectors == 0)
        return ENXIO;
    *nsectors = head.nsectors;
    error = ram_create(host, head.nsectors, ram);
    for (uint64_t i = 0; i < head.nextents && error == 0; i++)
        error = ram_extent_read(*ram, stream);
    return error;
}

error_t ram_image_load(mach_port_t host, const char *name, struct ram **ram, uint64_t *nsectors)
{
    struct rt_fwcfg_stream stream;
    char path[64];
    error_t error;

    snprintf(path, sizeof(path), RAM_IMAGE_PATH "%s", name);
    error = rt_fwcfg_stream_init(&stream, path, host);
    if (error != 0)
        return error == ENOENT ? ENXIO : error;
    error = ram_image_read(host, &stream, ram, nsectors);
    rt_fwcfg_stream_destroy(&stream);
    return error;
}
