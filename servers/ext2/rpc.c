// SPDX-License-Identifier: GPL-2.0-or-later
/* RPC handlers: decode what came in, touching nothing, then call the one function that acts. */
#include "ext2/rpc.h"

#include "ext2/disk.h"
#include "ext2/file.h"
#include "ext2/path.h"
#include "librt/demuxers.h"
#include "libtrace/trace.h"

#include "fs_server.h"
#include "io_server.h"

/* A regular file's node. EOPNOTSUPP: PORT is no file of ours; EISDIR: it is a directory. */
static error_t rpc_file(mach_port_t port, struct node **node)
{
    *node = node_of_port(port);
    if (*node == NULL)
        return EOPNOTSUPP;
    return node_is_file(*node) ? 0 : EISDIR;
}

static uint32_t rpc_object(const struct node *node)
{
    return ext2_inode_number(node->inode);
}

static error_t rpc_write(mach_port_t file, pointer_t data, int64_t offset, vm_size_t *amount)
{
    vm_size_t wanted = *amount;
    struct trace_call call;
    struct node *node;
    error_t error = rpc_file(file, &node);

    if (error != 0)
        return error;
    if (offset < 0)
        return EINVAL;
    trace_call_begin(&call);
    error = file_write(node, (uint64_t)offset, (const void *)data, amount);
    return trace_call_end(&call, TRACE_IO_WRITE, rpc_object(node), (uint64_t)offset, wanted, error);
}

kern_return_t S_io_write(mach_port_t file, pointer_t data, mach_msg_type_number_t length,
                         int64_t offset, vm_size_t *amount)
{
    error_t error;

    *amount = length;
    error = rpc_write(file, data, offset, amount);
    /* With an error the message is released as it came (librt/ports.c). */
    if (error == 0 && length > 0)
        vm_deallocate(mach_task_self(), data, length);
    return error;
}

kern_return_t S_io_read(mach_port_t file, pointer_t *data, mach_msg_type_number_t *length,
                        int64_t offset, vm_size_t amount)
{
    vm_size_t found = amount;
    struct trace_call call;
    struct node *node;
    error_t error = rpc_file(file, &node);

    if (error != 0)
        return error;
    if (offset < 0)
        return EINVAL;
    trace_call_begin(&call);
    error = file_read(node, (uint64_t)offset, data, &found);
    *length = found;
    return trace_call_end(&call, TRACE_IO_READ, rpc_object(node), (uint64_t)offset, amount, error);
}

kern_return_t S_io_map(mach_port_t file, mach_port_t *memory_object)
{
    struct node *node;
    error_t error = rpc_file(file, &node);

    return error != 0 ? error : file_map(node, memory_object);
}

kern_return_t S_io_stat(mach_port_t file, file_stat_t *to)
{
    struct node *node = node_of_port(file);
    struct ext2_stat stat;

    if (node == NULL)
        return EOPNOTSUPP;
    ext2_inode_stat(node->inode, &stat);
    *to = (file_stat_t){
        .ino = stat.ino,
        .mode = stat.mode,
        .nlink = stat.nlinks,
        .uid = stat.uid,
        .gid = stat.gid,
        .size = stat.size,
        .blocks = stat.nsectors,
        .block_size = node_block_size(),
        .atime = stat.atime,
        .mtime = stat.mtime,
        .ctime = stat.ctime,
        .generation = stat.generation,
        .flags = stat.flags,
        .rdev = stat.rdev,
    };
    return 0;
}

kern_return_t S_dir_lookup(mach_port_t start, const_file_path_t name, int flags, unsigned int mode,
                           mach_port_t *file)
{
    struct node *from = node_of_port(start);
    struct node *found;
    error_t error;

    if (from == NULL)
        return EOPNOTSUPP;
    error = path_lookup(from, name, flags, (uint16_t)mode, &found);
    if (error == 0)
        *file = found->port;
    return error;
}

kern_return_t S_dir_mkdir(mach_port_t directory, const_file_path_t name, unsigned int mode)
{
    struct node *from = node_of_port(directory);

    return from == NULL ? EOPNOTSUPP : path_mkdir(from, name, (uint16_t)(mode & 07777));
}

kern_return_t S_file_set_size(mach_port_t file, int64_t size)
{
    struct trace_call call;
    struct node *node;
    error_t error = rpc_file(file, &node);

    if (error != 0)
        return error;
    if (size < 0)
        return EINVAL;
    trace_call_begin(&call);
    error = file_truncate(node, (uint64_t)size);
    return trace_call_end(&call, TRACE_FILE_SET_SIZE, rpc_object(node), (uint64_t)size, 0, error);
}

kern_return_t S_file_sync(mach_port_t file, boolean_t wait)
{
    struct node *node = node_of_port(file);
    struct trace_call call;
    error_t error;

    if (node == NULL)
        return EOPNOTSUPP;
    trace_call_begin(&call);
    error = file_sync(node, wait);
    return trace_call_end(&call, TRACE_FILE_SYNC, rpc_object(node), 0, 0, error);
}

kern_return_t S_file_syncfs(mach_port_t file, boolean_t wait)
{
    return node_of_port(file) == NULL ? EOPNOTSUPP : nodes_sync(wait);
}

kern_return_t S_file_statfs(mach_port_t file, fs_stat_t *to)
{
    struct ext2_statfs statfs;

    if (node_of_port(file) == NULL)
        return EOPNOTSUPP;
    ext2_statfs(nodes_fs(), &statfs);
    *to = (fs_stat_t){
        .block_size = statfs.block_size,
        .nblocks = statfs.nblocks,
        .nblocks_free = statfs.nblocks_free,
        .ninodes = statfs.ninodes,
        .ninodes_free = statfs.ninodes_free,
        .read_only = statfs.read_only,
    };
    return 0;
}

boolean_t rpc_demux(mach_msg_header_t *request, mach_msg_header_t *reply)
{
    return io_server(request, reply) || fs_server(request, reply);
}
