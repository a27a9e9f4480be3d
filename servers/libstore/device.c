// SPDX-License-Identifier: GPL-2.0-or-later
/* A store on a device of the kernel's, by its RPCs (device/device.defs). Records are sectors. */
#include "libstore/store.h"

#include <stdlib.h>

#include <device/device_types.h>

#include "librt/rt.h"

/* The drivers take the pages of one call in pieces of so many (VM_MAP_COPY_PAGE_LIST_MAX). */
#define STORE_PIECE_PAGES 64u

struct store_device {
    mach_port_t port;
    uint32_t block_bytes;
};

/* GNU Mach's drivers use blocks of the block size that they set for the whole disk: the IDE driver
   1,024 bytes, the AHCI driver 4,096. DEV_GET_RECORDS says 512 for both. */
static uint32_t store_device_block(const char *name)
{
    return name[0] == 's' ? 4096 : 1024;
}

static error_t store_device_read(void *hook, uint64_t sector, vm_size_t bytes, vm_address_t *data)
{
    struct store_device *device = hook;
    io_buf_ptr_t read;
    mach_msg_type_number_t count = 0;
    kern_return_t kr = device_read(device->port, 0, (recnum_t)sector, (int)bytes, &read, &count);

    if (kr != KERN_SUCCESS)
        return error_from_mach(kr);
    if (count != bytes) {
        vm_deallocate(mach_task_self(), (vm_address_t)read, count);
        return EIO;
    }
    *data = (vm_address_t)read;
    return 0;
}

/*
 * How much of a write goes into one call. Where pages do not lie on the disk as blocks do (a file
 * system with smaller blocks), the end of a driver's piece is inside a block, which the driver then
 * reads, changes and writes, once for each side. So calls end at the last block that fits a piece.
 */
static vm_size_t store_device_call(const struct store_device *device, uint64_t sector,
                                   vm_address_t data, vm_size_t bytes)
{
    uint64_t start = sector * STORE_SECTOR_BYTES;
    vm_size_t piece = STORE_PIECE_PAGES * vm_page_size - data % vm_page_size;

    if (bytes <= piece || start % device->block_bytes == data % device->block_bytes)
        return bytes;
    return piece - (vm_size_t)((start + piece) % device->block_bytes);
}

static error_t store_device_write(void *hook, uint64_t sector, vm_address_t data, vm_size_t bytes,
                                  vm_size_t *written)
{
    struct store_device *device = hook;
    kern_return_t kr;
    vm_size_t length;
    int count;

    *written = 0;
    do {
        length = store_device_call(device, sector + *written / STORE_SECTOR_BYTES, data + *written,
                                   bytes - *written);
        count = 0;
        kr = device_write(device->port, 0, (recnum_t)(sector + *written / STORE_SECTOR_BYTES),
                          (io_buf_ptr_t)(data + *written), length, &count);
        *written += count > 0 ? (vm_size_t)count : 0;
    } while (kr == KERN_SUCCESS && count > 0 && (vm_size_t)count == length && *written < bytes);
    return error_from_mach(kr);
}

static const struct store_ops store_device_ops = {
    .read = store_device_read,
    .write = store_device_write,
};

static error_t store_device_size(mach_port_t port, uint64_t *nsectors)
{
    int status[DEV_GET_RECORDS_COUNT];
    mach_msg_type_number_t count = DEV_GET_RECORDS_COUNT;
    kern_return_t kr = device_get_status(port, DEV_GET_RECORDS, status, &count);

    if (kr != KERN_SUCCESS)
        return error_from_mach(kr);
    if (status[DEV_GET_RECORDS_RECORD_SIZE] != STORE_SECTOR_BYTES)
        return ENOTSUP;
    *nsectors = (uint32_t)status[DEV_GET_RECORDS_DEVICE_RECORDS];
    return 0;
}

error_t store_open_device(mach_port_t device_master, const char *name, struct store **store)
{
    struct store_geometry geometry = {.block_bytes = store_device_block(name)};
    struct store_device *device = malloc(sizeof(*device));
    kern_return_t kr;
    error_t error;

    if (device == NULL)
        return ENOMEM;
    device->block_bytes = geometry.block_bytes;
    kr = device_open(device_master, D_READ | D_WRITE, name, &device->port);
    error = error_from_mach(kr);
    if (error != 0)
        goto error_memory;
    error = store_device_size(device->port, &geometry.nsectors);
    if (error == 0)
        error = store_create(name, &store_device_ops, device, &geometry, store);
    if (error == 0)
        return 0;

    device_close(device->port);
error_memory:
    free(device);
    return error;
}
