// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ext2 file server: libext2 for the format, libpager for memory, libstore for the disk's
 * partition 1. Its levels (docs/servers.md): RPC handlers, then the files' pagers, then the DISK
 * pager for metadata, then the store.
 *
 * It mounts when it starts, and unmounts when it is asked to report, so that what it counts is
 * everything between the two.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ext2/disk.h"
#include "ext2/node.h"
#include "ext2/rpc.h"
#include "libpager/behind.h"
#include "libpager/policy.h"
#include "librt/config.h"
#include "librt/demuxers.h"
#include "librt/guard.h"
#include "librt/log.h"
#include "librt/rt.h"
#include "libtrace/trace.h"

#include "server_server.h"

#define SERVER_PARTITION    1
#define SERVER_RPC_THREADS  8
#define SERVER_FILE_WORKERS 4
#define SERVER_DISK_WORKERS 2

static struct store *server_store;
static struct ext2_fs *server_fs;
static struct node *server_root;

/* First the data, then the metadata, then the mark that all is well. */
static error_t server_unmount(void)
{
    error_t sync_error = nodes_sync(true);
    error_t error;

    nodes_close();
    error = ext2_sync(server_fs); /* nodes without a name are gone now */
    if (sync_error == 0)
        sync_error = error;
    error = disk_sync();
    if (sync_error == 0)
        sync_error = error;
    disk_set_fs(NULL);
    error = ext2_unmount(server_fs);
    if (sync_error == 0)
        sync_error = error;
    error = disk_sync();
    return sync_error == 0 ? error : sync_error;
}

kern_return_t S_server_report(mach_port_t port)
{
    error_t error;

    if (port != server_root->port)
        return EOPNOTSUPP;
    pager_behind_stop();
    error = server_unmount();
    rt_emit("check name=unmount result=\"%s\"", error == 0 ? "ok" : error_text(error));
    pager_counters_emit(rt_image.name);
    nodes_report(rt_image.name);
    store_report(server_store, rt_image.name, 0);
    rt_threads_emit();
    trace_report();
    return KERN_SUCCESS;
}

static boolean_t server_demux(mach_msg_header_t *request, mach_msg_header_t *reply)
{
    return rpc_demux(request, reply) || server_server(request, reply);
}

static void server_policy_setup(void)
{
    const char *name = rt_config_string("policy");
    const struct pager_policy *policy = pager_policy_lookup(name);

    if (policy == NULL)
        rt_panic("no policy '%s', but there are %s", name, pager_policy_names());
    pager_policy_set(policy);
    pager_policy_set_merge_max((vm_size_t)rt_config_u64("merge_max"));
}

static void server_store_setup(void)
{
    static char device[32];
    error_t error;

    snprintf(device, sizeof(device), "%ss%d", rt_config_string("disk"), SERVER_PARTITION);
    error = store_open(device, &server_store);
    if (error == 0)
        error = disk_setup(server_store, SERVER_DISK_WORKERS);
    if (error != 0)
        rt_fail("cannot open and map the device %s: %s", device, strerror(error));
}

static error_t server_mount(void)
{
    error_t error = ext2_mount(&disk_ops, NULL, disk_size(), false, &server_fs);

    if (error != 0)
        return error;
    disk_set_fs(server_fs);
    return disk_sync(); /* the super block says "in use" before anything else changes */
}

/* That the root is there, and a directory, no check of the super block can say. */
static error_t server_root_get(struct ext2_inode **root)
{
    error_t error = ext2_inode_get(server_fs, EXT2_ROOT_INO, root);
    struct ext2_stat stat = {0};

    if (error == 0)
        ext2_inode_stat(*root, &stat);
    if (error == ENOENT || (error == 0 && !S_ISDIR(stat.mode))) {
        ext2_damaged(server_fs, "inode 2, the root, is no directory");
        error = EIO;
    }
    return error;
}

/* Open the root directory and serve; its port is the server's. */
static error_t server_serve(void)
{
    struct port_bucket *bucket;
    struct ext2_inode *root;
    error_t error = ports_create_bucket(&bucket);

    if (error == 0)
        error = nodes_setup(server_fs, server_store, bucket, SERVER_FILE_WORKERS);
    if (error == 0)
        error = server_root_get(&root);
    if (error == 0)
        error = node_open(root, &server_root);
    if (error == 0)
        error = ports_manage(bucket, "rpc", SERVER_RPC_THREADS, server_demux);
    return error;
}

static error_t server_behind_setup(void)
{
    unsigned int seconds = (unsigned int)rt_config_u64("sync_every");

    return seconds == 0 ? 0 : pager_behind_start(seconds, nodes_write_behind);
}

/* Why the mount failed: libext2 says more than an error number. */
static const char *server_reason(error_t error)
{
    return disk_last_report() != NULL ? disk_last_report() : strerror(error);
}

int main(int argc, char **argv)
{
    error_t error;

    (void)argc;
    (void)argv;
    rt_server_init();
    trace_setup();
    rt_guard_setup();
    server_policy_setup();
    server_store_setup();
    error = server_mount();
    if (error == 0)
        error = server_serve();
    if (error == 0)
        error = server_behind_setup();
    if (error != 0)
        rt_fail("cannot mount partition %d: %s", SERVER_PARTITION, server_reason(error));
    rt_service_register(rt_image.name, server_root->port);
    return 0;
}
