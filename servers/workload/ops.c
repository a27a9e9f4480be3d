// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One function for each group of calls. Each works in a directory of its own, and stops at the
 * first answer that is not what it must be.
 */
#include "workload/ops.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "librt/error.h"
#include "librt/file_types.h"
#include "librt/rt.h"
#include "librt/thread.h"

#include "fs_user.h"
#include "io_user.h"

#define OPS_MODE     0640u
#define OPS_BYTES    ((vm_size_t)10000)
#define OPS_FAR      ((int64_t)1 << 20)
#define OPS_FARTHER  ((int64_t)5 << 30) /* more than 32 bits can say */
#define OPS_SLOW     80 /* characters of a symbolic link's target that does not fit into an inode */
#define OPS_PATIENCE 200 /* tries, OPS_POLL_MS apart, until what happens by itself has happened */
#define OPS_POLL_MS  10u
#define OPS_RMDIR    34003 /* dir_rmdir's number (servers/defs/fs.defs) */
#define OPS_HOSTILE  20    /* calls: more than any server has threads */

struct ops {
    mach_port_t root;
    char *reason;
    size_t reason_size;
};

static bool ops_fail(struct ops *ops, const char *where, const char *what, long got, long want)
{
    snprintf(ops->reason, ops->reason_size, "%s: %s is %ld instead of %ld", where, what, got, want);
    return false;
}

static bool ops_check(struct ops *ops, const char *where, const char *what, long got, long want)
{
    return got == want || ops_fail(ops, where, what, got, want);
}

/* Go on only if CALL answers ERROR, or VALUE is WANT. For functions with OPS that return bool. */
#define OPS_ANSWER(call, error)                                                                    \
    do {                                                                                           \
        if (!ops_check(ops, __func__, #call, error_from_rpc(call), error))                         \
            return false;                                                                          \
    } while (0)
#define OPS_VALUE(value, want)                                                                     \
    do {                                                                                           \
        if (!ops_check(ops, __func__, #value, (long)(value), (long)(want)))                        \
            return false;                                                                          \
    } while (0)

static unsigned char ops_byte(size_t i)
{
    return (unsigned char)(i * 7 + (i >> 8));
}

static bool ops_write(struct ops *ops, mach_port_t file, int64_t offset, vm_size_t length)
{
    static unsigned char data[OPS_BYTES];
    vm_size_t amount = 0;

    for (size_t i = 0; i < length; i++)
        data[i] = ops_byte(i);
    OPS_ANSWER(io_write(file, (pointer_t)data, length, offset, &amount), 0);
    OPS_VALUE(amount, length);
    return true;
}

/* The bytes from OFFSET on are those that ops_write wrote first, from its byte AT on; or zeros. */
static bool ops_expect(struct ops *ops, mach_port_t file, int64_t offset, vm_size_t length,
                       size_t at, bool zeros)
{
    mach_msg_type_number_t count = 0;
    pointer_t data = 0;
    bool equal = true;

    OPS_ANSWER(io_read(file, &data, &count, offset, length), 0);
    OPS_VALUE(count, length);
    for (size_t i = 0; i < length; i++)
        equal = equal && ((unsigned char *)data)[i] == (zeros ? 0 : ops_byte(at + i));
    vm_deallocate(mach_task_self(), data, count);
    OPS_VALUE(equal, true);
    return true;
}

/* Beyond 4 GiB there can be data where offsets have 64 bits. */
static bool ops_bytes_far(struct ops *ops, mach_port_t file)
{
    vm_size_t amount;

    OPS_ANSWER(io_write(file, (pointer_t)ops, 1, OPS_FARTHER, &amount),
               sizeof(vm_offset_t) > sizeof(uint32_t) ? 0 : EFBIG);
    if (sizeof(vm_offset_t) == sizeof(uint32_t))
        return true;
    if (!ops_write(ops, file, OPS_FARTHER, 100) ||
        !ops_expect(ops, file, OPS_FARTHER, 100, 0, false) ||
        !ops_expect(ops, file, OPS_FARTHER - 5000, 5000, 0, true))
        return false;
    OPS_ANSWER(file_set_size(file, OPS_BYTES), 0);
    return ops_expect(ops, file, 0, OPS_BYTES, 0, false);
}

static bool ops_bytes(struct ops *ops)
{
    mach_msg_type_number_t count = 1;
    pointer_t data = 0;
    file_stat_t stat;
    mach_port_t file;
    vm_size_t amount;

    OPS_ANSWER(dir_mkdir(ops->root, "bytes", 0755), 0);
    OPS_ANSWER(dir_lookup(ops->root, "bytes/f", FILE_CREATE | FILE_EXCLUSIVE, OPS_MODE, &file), 0);
    if (!ops_write(ops, file, 0, OPS_BYTES) || !ops_expect(ops, file, 0, OPS_BYTES, 0, false) ||
        !ops_expect(ops, file, 4090, 100, 4090, false))
        return false;
    OPS_ANSWER(io_stat(file, &stat), 0);
    OPS_VALUE(stat.size, OPS_BYTES);
    OPS_VALUE(stat.mode, 0100000 | OPS_MODE);
    OPS_VALUE(stat.nlink, 1);
    OPS_ANSWER(io_read(file, &data, &count, OPS_BYTES, 100), 0);
    OPS_VALUE(count, 0);
    OPS_ANSWER(io_read(file, &data, &count, -1, 1), EINVAL);
    OPS_ANSWER(io_write(file, (pointer_t)ops, 1, -1, &amount), EINVAL);
    OPS_ANSWER(io_write(file, (pointer_t)ops, 1, (int64_t)1 << 40, &amount), EFBIG);
    if (!ops_bytes_far(ops, file))
        return false;
    OPS_ANSWER(file_sync(file, TRUE), 0);
    return true;
}

static bool ops_sizes(struct ops *ops)
{
    file_stat_t before, after;
    mach_port_t file;

    OPS_ANSWER(dir_lookup(ops->root, "sizes", FILE_CREATE, OPS_MODE, &file), 0);
    if (!ops_write(ops, file, 0, OPS_BYTES))
        return false;
    OPS_ANSWER(file_set_size(file, 5000), 0);
    OPS_ANSWER(file_set_size(file, 9000), 0);
    if (!ops_expect(ops, file, 0, 5000, 0, false) || !ops_expect(ops, file, 5000, 4000, 0, true))
        return false;
    OPS_ANSWER(file_sync(file, TRUE), 0);
    OPS_ANSWER(io_stat(file, &before), 0);
    if (!ops_write(ops, file, OPS_FAR, 100) || !ops_expect(ops, file, OPS_FAR, 100, 0, false) ||
        !ops_expect(ops, file, OPS_FAR - 5000, 5000, 0, true))
        return false;
    OPS_ANSWER(io_stat(file, &after), 0);
    OPS_VALUE(after.size, OPS_FAR + 100);
    /* A block of data, and at most two indirect blocks: the rest is a hole. */
    OPS_VALUE((after.blocks - before.blocks) * 512 <= 3 * after.block_size, true);
    OPS_ANSWER(file_set_size(file, 0), 0);
    OPS_ANSWER(io_stat(file, &after), 0);
    OPS_VALUE(after.blocks, 0);
    OPS_ANSWER(file_set_size(file, -1), EINVAL);
    return true;
}

static bool ops_mapping(struct ops *ops)
{
    vm_address_t address = 0;
    mach_port_t file, memory;

    OPS_ANSWER(dir_lookup(ops->root, "mapping", FILE_CREATE, OPS_MODE, &file), 0);
    OPS_ANSWER(file_set_size(file, OPS_BYTES), 0);
    OPS_ANSWER(io_map(file, &memory), 0);
    OPS_VALUE(vm_map(mach_task_self(), &address, 3 * vm_page_size, 0, TRUE, memory, 0, FALSE,
                     VM_PROT_READ | VM_PROT_WRITE, VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_NONE),
              KERN_SUCCESS);
    for (size_t i = 0; i < OPS_BYTES; i++)
        ((unsigned char *)address)[i] = ops_byte(i);
    OPS_ANSWER(file_sync(file, TRUE), 0);
    if (!ops_expect(ops, file, 0, OPS_BYTES, 0, false))
        return false;
    vm_deallocate(mach_task_self(), address, 3 * vm_page_size);
    return true;
}

static bool ops_names(struct ops *ops)
{
    mach_port_t directory, file, other;
    file_stat_t stat;

    OPS_ANSWER(dir_mkdir(ops->root, "names", 0755), 0);
    OPS_ANSWER(dir_mkdir(ops->root, "names", 0755), EEXIST);
    OPS_ANSWER(dir_lookup(ops->root, "names", 0, 0, &directory), 0);
    OPS_ANSWER(dir_lookup(directory, "a", FILE_CREATE, OPS_MODE, &file), 0);
    OPS_ANSWER(dir_lookup(directory, "a", FILE_CREATE | FILE_EXCLUSIVE, OPS_MODE, &other), EEXIST);
    OPS_ANSWER(dir_lookup(directory, "b", 0, 0, &other), ENOENT);
    OPS_ANSWER(dir_lookup(directory, "a/b", 0, 0, &other), ENOTDIR);
    OPS_ANSWER(dir_link(directory, file, "b"), 0);
    OPS_ANSWER(io_stat(file, &stat), 0);
    OPS_VALUE(stat.nlink, 2);
    OPS_ANSWER(dir_rename(directory, "b", ops->root, "names/c"), 0);
    OPS_ANSWER(dir_lookup(directory, "c", FILE_CREATE, OPS_MODE, &other), 0);
    OPS_VALUE(other, file);
    OPS_ANSWER(dir_lookup(directory, "d", FILE_CREATE, OPS_MODE, &other), 0);
    OPS_ANSWER(dir_rename(directory, "d", directory, "c"), 0);
    OPS_ANSWER(io_stat(file, &stat), 0);
    OPS_VALUE(stat.nlink, 1);
    OPS_ANSWER(dir_mkdir(directory, "e", 0755), 0);
    OPS_ANSWER(dir_rename(ops->root, "names", directory, "e/names"), EINVAL);
    OPS_ANSWER(dir_rmdir(ops->root, "names"), ENOTEMPTY);
    OPS_ANSWER(dir_rmdir(directory, "e"), 0);
    OPS_ANSWER(dir_unlink(ops->root, "names"), EISDIR);
    OPS_ANSWER(io_read(directory, &(pointer_t){0}, &(mach_msg_type_number_t){0}, 0, 1), EISDIR);
    return true;
}

static bool ops_symlink(struct ops *ops, mach_port_t directory, const char *target)
{
    mach_port_t through, straight;
    file_path_t found;

    OPS_ANSWER(dir_symlink(directory, "link", target), 0);
    OPS_ANSWER(dir_readlink(directory, "link", found), 0);
    OPS_VALUE(strcmp(found, target), 0);
    OPS_ANSWER(dir_lookup(directory, "link", 0, 0, &through), 0);
    OPS_ANSWER(dir_lookup(directory, target, 0, 0, &straight), 0);
    OPS_VALUE(through, straight);
    OPS_ANSWER(dir_unlink(directory, "link"), 0);
    return true;
}

static bool ops_symlinks(struct ops *ops)
{
    mach_port_t directory, file;
    char slow[OPS_SLOW + 2];

    OPS_ANSWER(dir_mkdir(ops->root, "links", 0755), 0);
    OPS_ANSWER(dir_lookup(ops->root, "links", 0, 0, &directory), 0);
    OPS_ANSWER(dir_lookup(directory, "f", FILE_CREATE, OPS_MODE, &file), 0);
    memset(slow, '/', sizeof(slow));
    memcpy(slow, "./", 2);
    memcpy(slow + OPS_SLOW, "f", 2);
    if (!ops_symlink(ops, directory, "f") || !ops_symlink(ops, directory, slow))
        return false;
    OPS_ANSWER(dir_symlink(directory, "round", "round"), 0);
    OPS_ANSWER(dir_lookup(directory, "round", 0, 0, &file), ELOOP);
    OPS_ANSWER(dir_symlink(directory, "round", "f"), EEXIST);
    return true;
}

static bool ops_attributes(struct ops *ops)
{
    file_stat_t stat;
    mach_port_t file;

    OPS_ANSWER(dir_lookup(ops->root, "attributes", FILE_CREATE, OPS_MODE, &file), 0);
    OPS_ANSWER(file_chmod(file, 04751), 0);
    OPS_ANSWER(file_chmod(file, 0100000), EINVAL);
    OPS_ANSWER(file_chown(file, 1000, 65535), 0);
    OPS_ANSWER(file_utimes(file, 1000000000, 1500000000), 0);
    OPS_ANSWER(io_stat(file, &stat), 0);
    OPS_VALUE(stat.mode, 0104751);
    OPS_VALUE(stat.uid, 1000);
    OPS_VALUE(stat.gid, 65535);
    OPS_VALUE(stat.atime, 1000000000);
    OPS_VALUE(stat.mtime, 1500000000);
    return true;
}

/* Count the entries of DIRECTORY, read in pieces of AMOUNT bytes. */
static bool ops_count_entries(struct ops *ops, mach_port_t directory, vm_size_t amount,
                              unsigned int want)
{
    unsigned int nentries = 0;
    int64_t cookie = 0;

    for (;;) {
        mach_msg_type_number_t length = 0;
        pointer_t data = 0;
        const struct file_entry *entry;

        OPS_ANSWER(dir_readdir(directory, cookie, amount, &data, &length), 0);
        if (length == 0)
            break;
        for (size_t at = 0; at < length; at += entry->record_bytes, nentries++) {
            entry = (const struct file_entry *)(data + at);
            cookie = (int64_t)entry->cookie;
        }
        vm_deallocate(mach_task_self(), data, length);
    }
    OPS_VALUE(nentries, want);
    return true;
}

static bool ops_entries(struct ops *ops)
{
    mach_port_t directory, file;
    char name[32];

    OPS_ANSWER(dir_mkdir(ops->root, "entries", 0755), 0);
    OPS_ANSWER(dir_lookup(ops->root, "entries", 0, 0, &directory), 0);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "a-name-of-some-length-%d", i);
        OPS_ANSWER(dir_lookup(directory, name, FILE_CREATE, OPS_MODE, &file), 0);
        mach_port_deallocate(mach_task_self(), file);
    }
    OPS_ANSWER(dir_readdir(directory, 0, 8, &(pointer_t){0}, &(mach_msg_type_number_t){0}), EINVAL);
    return ops_count_entries(ops, directory, 4096, 202) &&
           ops_count_entries(ops, directory, 300, 202) &&
           ops_count_entries(ops, directory, 1 << 16, 202);
}

/* Wait until so many blocks are free. */
static bool ops_wait_free(struct ops *ops, uint64_t want)
{
    fs_stat_t stat = {.nblocks_free = want + 1};

    for (int i = 0; i < OPS_PATIENCE && stat.nblocks_free != want; i++) {
        OPS_ANSWER(file_statfs(ops->root, &stat), 0);
        rt_sleep(OPS_POLL_MS);
    }
    OPS_VALUE(stat.nblocks_free, want);
    return true;
}

/* A file without a name is there for as long as somebody uses it, and then it is gone. */
static bool ops_unlinked(struct ops *ops)
{
    fs_stat_t before;
    mach_port_t file, other;

    OPS_ANSWER(file_syncfs(ops->root, TRUE), 0);
    OPS_ANSWER(file_statfs(ops->root, &before), 0);
    OPS_ANSWER(dir_lookup(ops->root, "gone", FILE_CREATE, OPS_MODE, &file), 0);
    if (!ops_write(ops, file, 0, OPS_BYTES))
        return false;
    OPS_ANSWER(dir_unlink(ops->root, "gone"), 0);
    OPS_ANSWER(dir_lookup(ops->root, "gone", 0, 0, &other), ENOENT);
    OPS_ANSWER(dir_unlink(ops->root, "gone"), ENOENT);
    if (!ops_expect(ops, file, 0, OPS_BYTES, 0, false) || !ops_write(ops, file, OPS_FAR, 100))
        return false;
    OPS_ANSWER(file_sync(file, TRUE), 0);
    mach_port_deallocate(mach_task_self(), file);
    return ops_wait_free(ops, before.nblocks_free);
}

/* A call of dir_rmdir, as a client may send it that does not use MIG's stubs. */
struct ops_message {
    mach_msg_header_t head;
    mach_msg_type_t type;
    char name[sizeof(file_path_t)];
};

static mach_msg_return_t ops_send(mach_port_t to, mach_port_t reply, const struct ops_message *body)
{
    struct ops_message message = *body;

    message.head = (mach_msg_header_t){
        .msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND),
        .msgh_size = sizeof(message),
        .msgh_remote_port = to,
        .msgh_local_port = reply,
        .msgh_id = OPS_RMDIR,
    };
    return mach_msg(&message.head, MACH_SEND_MSG, sizeof(message), 0, MACH_PORT_NULL,
                    MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
}

/* Calls with a name that does not end, whose answers go to a port that takes but one message and is
   not read: each of the server's threads gets one, and all of them go on. */
static bool ops_hostile(struct ops *ops)
{
    struct ops_message message = {.type = {.msgt_name = MACH_MSG_TYPE_STRING_C,
                                           .msgt_size = 8,
                                           .msgt_number = sizeof(message.name),
                                           .msgt_inline = TRUE}};
    mach_port_t reply;

    memset(message.name, 'x', sizeof(message.name));
    OPS_VALUE(mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &reply), KERN_SUCCESS);
    OPS_VALUE(mach_port_set_qlimit(mach_task_self(), reply, 1), KERN_SUCCESS);
    for (int i = 0; i < OPS_HOSTILE; i++)
        OPS_VALUE(ops_send(ops->root, reply, &message), MACH_MSG_SUCCESS);
    OPS_ANSWER(dir_mkdir(ops->root, "hostile", 0755), 0);
    OPS_VALUE(mach_port_mod_refs(mach_task_self(), reply, MACH_PORT_RIGHT_RECEIVE, -1),
              KERN_SUCCESS);
    return true;
}

int ops_run(mach_port_t root, char *reason, size_t size)
{
    static bool (*const groups[])(struct ops *) = {
        ops_bytes,      ops_sizes,   ops_mapping,  ops_names,   ops_symlinks,
        ops_attributes, ops_entries, ops_unlinked, ops_hostile,
    };
    struct ops ops = {.root = root, .reason = reason, .reason_size = size};

    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        if (!groups[i](&ops))
            return 99;
    return 0;
}
