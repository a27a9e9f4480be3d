// SPDX-License-Identifier: GPL-2.0-or-later
#include "libstore/store.h"

#include <string.h>

#include "libstore/ram.h"
#include "librt/fwcfg.h"
#include "librt/log.h"
#include "librt/rt.h"

/* A store in memory has blocks of a sector: there is no device that would work in larger ones. */
static error_t store_open_ram(const char *name, struct store **store)
{
    struct store_geometry geometry = {.block_bytes = STORE_SECTOR_BYTES};
    mach_port_t host = rt_host_privileged();
    struct ram *ram;
    error_t error = error_from_mach(rt_fwcfg_setup(rt_device_master()));

    if (error == 0)
        error = ram_image_load(host, name, &ram, &geometry.nsectors);
    if (error != 0)
        return error;
    rt_emit("ram server=%s device=%s piece=%llu", rt_image.name, name,
            (unsigned long long)ram_first_piece(ram));
    return store_create(name, &ram_store_ops, ram, &geometry, store);
}

error_t store_open(const char *name, struct store **store)
{
    if (strncmp(name, "ram", 3) == 0)
        return store_open_ram(name, store);
    return store_open_device(rt_device_master(), name, store);
}
