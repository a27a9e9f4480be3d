// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/target.h"

#include <string.h>

#include "librt/file_types.h"
#include "librt/log.h"
#include "librt/rt.h"

#include "fs_user.h"
#include "io_user.h"
#include "pager_server_user.h"

#define TARGET_MODE 0644u /* permissions of a file that a job creates */

/* --- A bare memory object of the pager server ------------------------------------------------ */

static error_t target_object_open(struct target *target, mach_port_t server,
                                  const struct target_open *how)
{
    return error_from_rpc(object_create(server, how->size, &target->port));
}

static error_t target_object_set_size(struct target *target, vm_size_t size)
{
    (void)target;
    (void)size;
    return 0; /* objects have their size from the start */
}

static error_t target_object_map(struct target *target, mach_port_t *memory_object)
{
    return error_from_rpc(object_map(target->port, memory_object));
}

static error_t target_object_sync(struct target *target)
{
    return error_from_rpc(object_sync(target->port));
}

static error_t target_object_forget(struct target *target)
{
    return error_from_rpc(object_return(target->port));
}

/* --- A file ---------------------------------------------------------------------------------- */

static error_t target_file_open(struct target *target, mach_port_t server,
                                const struct target_open *how)
{
    int flags =
        (how->create ? FILE_CREATE : 0) | (how->create && !how->shared ? FILE_EXCLUSIVE : 0);

    return error_from_rpc(dir_lookup(server, how->path, flags, TARGET_MODE, &target->port));
}

static error_t target_file_set_size(struct target *target, vm_size_t size)
{
    return error_from_rpc(file_set_size(target->port, size));
}

static error_t target_file_map(struct target *target, mach_port_t *memory_object)
{
    return error_from_rpc(io_map(target->port, memory_object));
}

static error_t target_file_write(struct target *target, uint64_t offset, const void *data,
                                 vm_size_t length)
{
    const char *from = data;

    while (length > 0) {
        vm_size_t amount;
        error_t error = error_from_rpc(
            io_write(target->port, (pointer_t)from, length, (int64_t)offset, &amount));

        if (error != 0)
            return error;
        if (amount == 0 || amount > length)
            return EIO;
        from += amount;
        offset += amount;
        length -= amount;
    }
    return 0;
}

static error_t target_file_read(struct target *target, uint64_t offset, vm_size_t length,
                                vm_address_t *data)
{
    mach_msg_type_number_t count = 0;
    error_t error = error_from_rpc(io_read(target->port, data, &count, (int64_t)offset, length));

    if (error != 0)
        return error;
    if (count == length)
        return 0;
    if (count > 0)
        vm_deallocate(mach_task_self(), *data, count);
    return EIO; /* the file is shorter than the job says */
}

static error_t target_file_sync(struct target *target)
{
    return error_from_rpc(file_sync(target->port, TRUE));
}

static const struct target_ops target_table[] = {
    {
        .fs = "none",
        .server = "pager",
        .open = target_object_open,
        .set_size = target_object_set_size,
        .map = target_object_map,
        .sync = target_object_sync,
        .forget = target_object_forget,
    },
    {
        .fs = "ext2",
        .server = "ext2",
        .open = target_file_open,
        .set_size = target_file_set_size,
        .map = target_file_map,
        .write = target_file_write,
        .read = target_file_read,
        .sync = target_file_sync,
    },
};

const struct target_ops *target_lookup(const char *fs)
{
    for (size_t i = 0; i < sizeof(target_table) / sizeof(target_table[0]); i++)
        if (strcmp(target_table[i].fs, fs) == 0)
            return &target_table[i];
    rt_panic("no fs '%s'", fs);
}
