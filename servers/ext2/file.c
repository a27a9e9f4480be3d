// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * io_write copies into the file's own memory, its memory object mapped here. Blocks are given to
 * the file first, under alloc_lock, which is released before a byte is copied: the copy may fault,
 * in the file's memory and in the client's, and the pager that answers takes alloc_lock. When the
 * client's memory is a mapping of this very file, that is one more fault of the same kind.
 */
#include "ext2/file.h"

#include "ext2/disk.h"
#include "ext2/file-pager.h"
#include "librt/guard.h"

/* Times that a copy is begun anew where it got no further: see below. */
#define FILE_COPY_TRIES 4u

/*
 * Copy between the file's memory at OFFSET and other memory; one of TO and FROM is the former. A
 * client that reaches behind the file's end gets an error, but in the kernel it belongs to the
 * page: who touches that next gets it, even if the file has been extended since then and it is us.
 * => io_lock held.
 */
static error_t file_copy(struct node *node, uint64_t offset, void *to, const void *from,
                         size_t bytes, size_t *done)
{
    unsigned int ntries = 0;
    size_t copied;
    error_t error;

    *done = 0;
    do {
        error =
            rt_guard_copy((char *)to + *done, (const char *)from + *done, bytes - *done, &copied);
        *done += copied;
        ntries = copied > 0 ? 0 : ntries + 1;
    } while (error != 0 && ntries < FILE_COPY_TRIES &&
             pager_get_error(node->pager, (vm_address_t)offset + *done) == EFAULT);
    return error;
}

/* => io_lock held for writing. */
static error_t file_write_locked(struct node *node, uint64_t offset, const void *data,
                                 vm_size_t *length)
{
    vm_size_t wanted = *length;
    size_t done = 0;
    error_t error;

    *length = 0;
    error = file_grow(node, offset, &wanted);
    if (error == 0)
        error = node_map(node, (vm_size_t)offset + wanted);
    if (error == 0)
        error = file_copy(node, offset, (char *)node->window + offset, data, wanted, &done);
    *length = done;
    if (done > 0) {
        node_note_change(node);
        error = ext2_inode_touch(node->inode, EXT2_TOUCH_MTIME);
    }
    return error;
}

error_t file_write(struct node *node, uint64_t offset, const void *data, vm_size_t *length)
{
    error_t error;

    if (*length == 0)
        return 0;
    if (offset > NODE_SIZE_MAX)
        return EFBIG;
    rt_rwlock_wrlock(&node->io_lock);
    error = file_write_locked(node, offset, data, length);
    rt_rwlock_wrunlock(&node->io_lock);
    return error;
}

/* Take io_lock for reading, with the whole file mapped. */
static error_t file_read_begin(struct node *node)
{
    error_t error = 0;

    rt_rwlock_rdlock(&node->io_lock);
    while (error == 0 && node->window_size < node->size) {
        rt_rwlock_rdunlock(&node->io_lock);
        rt_rwlock_wrlock(&node->io_lock);
        error = node_map(node, (vm_size_t)node->size);
        rt_rwlock_wrunlock(&node->io_lock);
        rt_rwlock_rdlock(&node->io_lock);
    }
    if (error != 0)
        rt_rwlock_rdunlock(&node->io_lock);
    return error;
}

/* => io_lock held. */
static error_t file_copy_out(struct node *node, uint64_t offset, vm_address_t *data,
                             vm_size_t *length)
{
    size_t done;
    error_t error;

    *data = 0;
    if (offset >= node->size)
        *length = 0;
    else if (*length > node->size - offset)
        *length = (vm_size_t)(node->size - offset);
    if (*length == 0)
        return 0;
    if (vm_allocate(mach_task_self(), data, *length, TRUE) != KERN_SUCCESS)
        return ENOMEM;
    error = file_copy(node, offset, (void *)*data, (char *)node->window + offset, *length, &done);
    if (error != 0)
        vm_deallocate(mach_task_self(), *data, *length);
    return error;
}

error_t file_read(struct node *node, uint64_t offset, vm_address_t *data, vm_size_t *length)
{
    error_t error = file_read_begin(node);

    if (error != 0)
        return error;
    error = file_copy_out(node, offset, data, length);
    rt_rwlock_rdunlock(&node->io_lock);
    return error;
}

error_t file_truncate(struct node *node, uint64_t size)
{
    error_t error;

    rt_rwlock_wrlock(&node->io_lock);
    error = file_resize(node, size);
    rt_rwlock_wrunlock(&node->io_lock);
    return error;
}

error_t file_map(struct node *node, mach_port_t *memory_object)
{
    error_t error;

    rt_rwlock_wrlock(&node->io_lock);
    error = node_memory_object(node, memory_object);
    __atomic_store_n(&node->handed_out, true, __ATOMIC_RELAXED);
    rt_rwlock_wrunlock(&node->io_lock);
    return error;
}

error_t file_sync(struct node *node, bool wait)
{
    error_t data_error = node_sync_data(node, wait);
    error_t error = ext2_sync(nodes_fs());
    error_t disk_error = disk_sync();

    if (data_error != 0)
        return data_error;
    return error != 0 ? error : disk_error;
}
