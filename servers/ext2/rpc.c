// SPDX-License-Identifier: GPL-2.0-or-later
/* RPC handlers: decode what came in, touching nothing, then call the one function that acts. */
#include "ext2/rpc.h"

#include <string.h>

#include "ext2/disk.h"
#include "ext2/file.h"
#include "ext2/path.h"
#include "librt/demuxers.h"
#include "libtrace/trace.h"

#include "fs_server.h"
#include "io_server.h"

#define RPC_READDIR_MAX ((vm_size_t)1 << 20) /* bytes that one dir_readdir returns */
#define RPC_READ_MAX    ((vm_size_t)1 << 30) /* and one io_read: a message counts them in 32 bits */

static uint32_t rpc_object(const struct node *node)
{
    return ext2_inode_number(node->inode);
}

/* The node of PORT, with a reference. EOPNOTSUPP: PORT is none of ours. */
static error_t rpc_node(mach_port_t port, struct node **node)
{
    *node = node_of_port(port);
    return *node == NULL ? EOPNOTSUPP : 0;
}

/* The same for a regular file. EISDIR: it is something else. */
static error_t rpc_file(mach_port_t port, struct node **node)
{
    error_t error = rpc_node(port, node);

    if (error != 0 || (*node)->is_file)
        return error;
    node_deref(*node);
    return EISDIR;
}

/* --- io -------------------------------------------------------------------------------------- */

static error_t rpc_write(struct node *node, pointer_t data, int64_t offset, vm_size_t *amount)
{
    vm_size_t wanted = *amount;
    struct trace_call call;
    error_t error;

    if (offset < 0)
        return EINVAL;
    trace_call_begin(&call);
    error = file_write(node, (uint64_t)offset, (const void *)data, amount);
    return trace_call_end(&call, TRACE_IO_WRITE, rpc_object(node), (uint64_t)offset, wanted, error);
}

kern_return_t S_io_write(mach_port_t file, pointer_t data, mach_msg_type_number_t length,
                         int64_t offset, vm_size_t *amount)
{
    struct node *node;
    error_t error = rpc_file(file, &node);

    if (error != 0)
        return error;
    *amount = length;
    error = rpc_write(node, data, offset, amount);
    node_deref(node);
    /* With an error the message is released as it came (librt/ports.c). */
    if (error == 0 && length > 0)
        vm_deallocate(mach_task_self(), data, length);
    return error;
}

static error_t rpc_read(struct node *node, pointer_t *data, mach_msg_type_number_t *length,
                        int64_t offset, vm_size_t amount)
{
    vm_size_t found = amount < RPC_READ_MAX ? amount : RPC_READ_MAX;
    struct trace_call call;
    error_t error;

    if (offset < 0)
        return EINVAL;
    trace_call_begin(&call);
    error = file_read(node, (uint64_t)offset, data, &found);
    *length = (mach_msg_type_number_t)found;
    return trace_call_end(&call, TRACE_IO_READ, rpc_object(node), (uint64_t)offset, amount, error);
}

kern_return_t S_io_read(mach_port_t file, pointer_t *data, mach_msg_type_number_t *length,
                        int64_t offset, vm_size_t amount)
{
    struct node *node;
    error_t error = rpc_file(file, &node);

    if (error != 0)
        return error;
    error = rpc_read(node, data, length, offset, amount);
    node_deref(node);
    return error;
}

kern_return_t S_io_map(mach_port_t file, mach_port_t *memory_object)
{
    struct node *node;
    error_t error = rpc_file(file, &node);

    if (error != 0)
        return error;
    error = file_map(node, memory_object);
    node_deref(node);
    return error;
}

kern_return_t S_io_stat(mach_port_t file, file_stat_t *to)
{
    struct ext2_stat stat;
    struct node *node;
    error_t error = rpc_node(file, &node);

    if (error != 0)
        return error;
    ext2_inode_stat(node->inode, &stat);
    node_deref(node);
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

/* --- fs: directories ------------------------------------------------------------------------- */

kern_return_t S_dir_lookup(mach_port_t start, const_file_path_t name, int flags, unsigned int mode,
                           mach_port_t *file)
{
    struct node *from;
    struct node *found;
    error_t error = rpc_node(start, &from);

    if (error != 0)
        return error;
    error = path_lookup(from, name, flags, (uint16_t)mode, &found);
    node_deref(from);
    if (error != 0)
        return error;
    error = node_make_right(found, file);
    node_deref(found);
    return error;
}

/* Call ACT on the directory that PATH leads to from START, and PATH's last name. */
static error_t rpc_in_directory(mach_port_t start, const char *path,
                                error_t (*act)(struct ext2_inode *directory, const char *name,
                                               const void *argument),
                                const void *argument)
{
    struct path_place place;
    struct node *from;
    error_t error = rpc_node(start, &from);

    if (error != 0)
        return error;
    error = path_find_place(from, path, &place);
    node_deref(from);
    if (error != 0)
        return error;
    error = act(place.directory, place.name, argument);
    ext2_inode_put(place.directory);
    return error;
}

static error_t rpc_act_mkdir(struct ext2_inode *directory, const char *name, const void *argument)
{
    struct ext2_inode *created;
    error_t error = ext2_mkdir(directory, name, (uint16_t)(*(const unsigned int *)argument & 07777),
                               0, 0, &created);

    if (error == 0)
        ext2_inode_put(created);
    return error;
}

kern_return_t S_dir_mkdir(mach_port_t directory, const_file_path_t name, unsigned int mode)
{
    return rpc_in_directory(directory, name, rpc_act_mkdir, &mode);
}

static error_t rpc_act_unlink(struct ext2_inode *directory, const char *name, const void *argument)
{
    (void)argument;
    return path_unlink(directory, name);
}

kern_return_t S_dir_unlink(mach_port_t directory, const_file_path_t name)
{
    return rpc_in_directory(directory, name, rpc_act_unlink, NULL);
}

static error_t rpc_act_rmdir(struct ext2_inode *directory, const char *name, const void *argument)
{
    (void)argument;
    return ext2_rmdir(directory, name);
}

kern_return_t S_dir_rmdir(mach_port_t directory, const_file_path_t name)
{
    return rpc_in_directory(directory, name, rpc_act_rmdir, NULL);
}

static error_t rpc_act_link(struct ext2_inode *directory, const char *name, const void *argument)
{
    return ext2_link(directory, name, ((const struct node *)argument)->inode);
}

kern_return_t S_dir_link(mach_port_t directory, mach_port_t file, const_file_path_t name)
{
    struct node *node;
    error_t error = rpc_node(file, &node);

    if (error != 0)
        return error;
    error = rpc_in_directory(directory, name, rpc_act_link, node);
    node_deref(node);
    if (error == 0)
        mach_port_deallocate(mach_task_self(), file); /* a right of our own, back from the client */
    return error;
}

static error_t rpc_act_symlink(struct ext2_inode *directory, const char *name, const void *argument)
{
    struct ext2_inode *created;
    error_t error = ext2_symlink(directory, name, argument, 0, 0, &created);

    if (error == 0)
        ext2_inode_put(created);
    return error;
}

kern_return_t S_dir_symlink(mach_port_t directory, const_file_path_t name, const_file_path_t target)
{
    return rpc_in_directory(directory, name, rpc_act_symlink, target);
}

/* Where rpc_act_readlink puts the target. */
struct rpc_target {
    char *text;
};

static error_t rpc_act_readlink(struct ext2_inode *directory, const char *name,
                                const void *argument)
{
    const struct rpc_target *target = argument;
    struct ext2_inode *link;
    size_t length;
    error_t error = ext2_lookup(directory, name, &link);

    if (error != 0)
        return error;
    error = ext2_readlink(link, target->text, sizeof(file_path_t) - 1, &length);
    if (error == 0)
        target->text[length] = '\0';
    ext2_inode_put(link);
    return error;
}

kern_return_t S_dir_readlink(mach_port_t directory, const_file_path_t name, file_path_t target)
{
    struct rpc_target to = {.text = target};

    target[0] = '\0';
    return rpc_in_directory(directory, name, rpc_act_readlink, &to);
}

/* The second half of a rename. */
struct rpc_rename {
    const struct path_place *to;
};

static error_t rpc_act_rename(struct ext2_inode *directory, const char *name, const void *argument)
{
    const struct rpc_rename *rename = argument;

    return path_rename(directory, name, rename->to->directory, rename->to->name);
}

kern_return_t S_dir_rename(mach_port_t old_directory, const_file_path_t old_name,
                           mach_port_t new_directory, const_file_path_t new_name)
{
    struct path_place to;
    struct node *from;
    error_t error = rpc_node(new_directory, &from);

    if (error != 0)
        return error;
    error = path_find_place(from, new_name, &to);
    node_deref(from);
    if (error != 0)
        return error;
    error =
        rpc_in_directory(old_directory, old_name, rpc_act_rename, &(struct rpc_rename){.to = &to});
    ext2_inode_put(to.directory);
    if (error == 0)
        mach_port_deallocate(mach_task_self(), new_directory); /* as for dir_link */
    return error;
}

/* Entries collected for a client. */
struct rpc_entries {
    vm_address_t data;
    vm_size_t room;
    vm_size_t used;
    bool full;
};

static bool rpc_add_entry(void *hook, const struct ext2_entry *entry)
{
    struct rpc_entries *entries = hook;
    vm_size_t align = sizeof(uint64_t);
    vm_size_t bytes =
        (offsetof(struct file_entry, name) + entry->length + align - 1) / align * align;
    struct file_entry *to = (struct file_entry *)(entries->data + entries->used);

    entries->full = bytes > entries->room - entries->used;
    if (entries->full)
        return false;
    to->cookie = entry->cookie;
    to->ino = entry->ino;
    to->mode = entry->mode;
    to->record_bytes = (uint16_t)bytes;
    to->name_bytes = entry->length;
    memcpy(to->name, entry->name, entry->length);
    entries->used += bytes;
    return true;
}

/* Collect entries into memory of whole pages, and give back those that stay empty. */
static error_t rpc_readdir(struct node *node, uint64_t cookie, struct rpc_entries *entries)
{
    vm_size_t pages = (entries->room + vm_page_size - 1) / vm_page_size * vm_page_size;
    vm_size_t used_pages;
    error_t error;

    if (vm_allocate(mach_task_self(), &entries->data, pages, TRUE) != KERN_SUCCESS)
        return ENOMEM;
    error = ext2_dir_iterate(node->inode, cookie, rpc_add_entry, entries);
    if (error == 0 && entries->used == 0 && entries->full)
        error = EINVAL; /* no room for a single entry */
    if (error != 0)
        entries->used = 0;
    used_pages = (entries->used + vm_page_size - 1) / vm_page_size * vm_page_size;
    if (used_pages < pages)
        vm_deallocate(mach_task_self(), entries->data + used_pages, pages - used_pages);
    if (entries->used == 0)
        entries->data = 0;
    return error;
}

kern_return_t S_dir_readdir(mach_port_t directory, int64_t cookie, vm_size_t amount,
                            pointer_t *data, mach_msg_type_number_t *length)
{
    struct rpc_entries entries = {
        .room = amount < RPC_READDIR_MAX ? amount : RPC_READDIR_MAX,
    };
    struct node *node;
    error_t error = rpc_node(directory, &node);

    if (error != 0)
        return error;
    error = amount == 0 || cookie < 0 ? EINVAL : rpc_readdir(node, (uint64_t)cookie, &entries);
    node_deref(node);
    *data = entries.data;
    *length = (mach_msg_type_number_t)entries.used;
    return error;
}

/* --- fs: files ------------------------------------------------------------------------------- */

kern_return_t S_file_set_size(mach_port_t file, int64_t size)
{
    struct trace_call call;
    struct node *node;
    error_t error = rpc_file(file, &node);

    if (error != 0)
        return error;
    trace_call_begin(&call);
    error = size < 0 ? EINVAL : file_truncate(node, (uint64_t)size);
    trace_call_end(&call, TRACE_FILE_SET_SIZE, rpc_object(node), (uint64_t)size, 0, error);
    node_deref(node);
    return error;
}

kern_return_t S_file_sync(mach_port_t file, boolean_t wait)
{
    struct trace_call call;
    struct node *node;
    error_t error = rpc_node(file, &node);

    if (error != 0)
        return error;
    trace_call_begin(&call);
    error = file_sync(node, wait);
    trace_call_end(&call, TRACE_FILE_SYNC, rpc_object(node), 0, 0, error);
    node_deref(node);
    return error;
}

kern_return_t S_file_syncfs(mach_port_t file, boolean_t wait)
{
    struct node *node;
    error_t error = rpc_node(file, &node);

    if (error != 0)
        return error;
    error = nodes_sync(wait);
    node_deref(node);
    return error;
}

kern_return_t S_file_chmod(mach_port_t file, unsigned int mode)
{
    struct node *node;
    error_t error = rpc_node(file, &node);

    if (error != 0)
        return error;
    error = mode > 07777 ? EINVAL : ext2_inode_chmod(node->inode, (uint16_t)mode);
    node_deref(node);
    return error;
}

kern_return_t S_file_chown(mach_port_t file, unsigned int uid, unsigned int gid)
{
    struct node *node;
    error_t error = rpc_node(file, &node);

    if (error != 0)
        return error;
    error = ext2_inode_chown(node->inode, uid, gid);
    node_deref(node);
    return error;
}

kern_return_t S_file_utimes(mach_port_t file, unsigned int atime, unsigned int mtime)
{
    struct node *node;
    error_t error = rpc_node(file, &node);

    if (error != 0)
        return error;
    error = ext2_inode_utimes(node->inode, atime, mtime);
    node_deref(node);
    return error;
}

kern_return_t S_file_statfs(mach_port_t file, fs_stat_t *to)
{
    struct ext2_statfs statfs;
    struct node *node;
    error_t error = rpc_node(file, &node);

    if (error != 0)
        return error;
    ext2_statfs(nodes_fs(), &statfs);
    node_deref(node);
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
