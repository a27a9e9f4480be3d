// SPDX-License-Identifier: GPL-2.0-or-later
#include "ext2/node.h"

#include <stdlib.h>

#include "ext2/disk.h"
#include "ext2/file-pager.h"
#include "librt/log.h"
#include "librt/rt.h"

#define NODE_WINDOW_MIN ((vm_size_t)1 << 20)

static struct {
    struct ext2_fs *fs;
    struct port_bucket *rpc_bucket;
    struct port_bucket *pager_bucket;
    struct rt_mutex lock; /* guards the list */
    struct node *first;
} nodes;

error_t nodes_setup(struct ext2_fs *fs, struct store *store, struct port_bucket *rpc_bucket,
                    unsigned int nworkers)
{
    struct pager_requests *requests;
    error_t error = ports_create_bucket(&nodes.pager_bucket);

    if (error != 0)
        return error;
    nodes.fs = fs;
    nodes.rpc_bucket = rpc_bucket;
    rt_mutex_init(&nodes.lock, "nodes");
    file_pager_setup(store);
    return pager_start_workers_named(nodes.pager_bucket, "file", nworkers, &requests);
}

struct ext2_fs *nodes_fs(void)
{
    return nodes.fs;
}

uint32_t node_block_size(void)
{
    return ext2_block_size(nodes.fs);
}

/* => with the list's lock. */
static struct node *nodes_find(uint32_t ino)
{
    struct node *node = nodes.first;

    while (node != NULL && ext2_inode_number(node->inode) != ino)
        node = node->next;
    return node;
}

static error_t node_create(struct ext2_inode *inode, struct node **node)
{
    struct node *created = calloc(1, sizeof(*created));
    struct ext2_stat stat;
    error_t error;

    if (created == NULL)
        return ENOMEM;
    error = ports_create_port(nodes.rpc_bucket, created, &created->port);
    if (error != 0) {
        free(created);
        return error;
    }
    ext2_inode_stat(inode, &stat);
    created->info.ops = &file_backend_ops;
    created->inode = inode;
    rt_rwlock_init(&created->io_lock, "io_lock");
    rt_rwlock_init(&created->alloc_lock, "alloc_lock");
    file_set_size(created, stat.size);
    *node = created;
    return 0;
}

error_t node_open(struct ext2_inode *inode, struct node **node)
{
    error_t error = 0;

    rt_mutex_lock(&nodes.lock);
    *node = nodes_find(ext2_inode_number(inode));
    if (*node == NULL) {
        error = node_create(inode, node);
        if (error == 0) {
            (*node)->next = nodes.first;
            nodes.first = *node;
            inode = NULL; /* the node has it now */
        }
    }
    rt_mutex_unlock(&nodes.lock);
    if (inode != NULL)
        ext2_inode_put(inode);
    return error;
}

struct node *node_of_port(mach_port_t port)
{
    return ports_lookup_port(nodes.rpc_bucket, port);
}

bool node_is_file(struct node *node)
{
    struct ext2_stat stat;

    ext2_inode_stat(node->inode, &stat);
    return (stat.mode & 0170000) == 0100000;
}

void node_alloc_lock(struct node *node, enum trace_what mode, struct node_hold *hold)
{
    hold->start = trace_begin(TRACE_ALLOC_LOCK);
    hold->mode = mode;
    if (mode == TRACE_WRITE)
        rt_rwlock_wrlock(&node->alloc_lock);
    else
        rt_rwlock_rdlock(&node->alloc_lock);
    hold->granted = trace_begin(TRACE_ALLOC_LOCK);
}

void node_alloc_unlock(struct node *node, const struct node_hold *hold)
{
    if (hold->mode == TRACE_WRITE)
        rt_rwlock_wrunlock(&node->alloc_lock);
    else
        rt_rwlock_rdunlock(&node->alloc_lock);
    if (hold->start != 0)
        trace_end(&(struct trace_event){.kind = TRACE_ALLOC_LOCK,
                                        .start = hold->start,
                                        .wait = hold->granted - hold->start,
                                        .cause = trace_cause(),
                                        .object = ext2_inode_number(node->inode),
                                        .what = (uint8_t)hold->mode});
}

static error_t node_pager_create(struct node *node)
{
    struct pager *pager =
        pager_create(&node->info, nodes.pager_bucket, TRUE, MEMORY_OBJECT_COPY_NONE, FALSE);
    mach_port_t port;

    if (pager == NULL)
        return ENOMEM;
    port = pager_get_port(pager);
    if (mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND) !=
        KERN_SUCCESS) {
        pager_shutdown(pager);
        return ENOMEM;
    }
    pager_set_object(pager, ext2_inode_number(node->inode));
    node->pager = pager;
    node->memory_object = port;
    return 0;
}

error_t node_memory_object(struct node *node, mach_port_t *port)
{
    error_t error = node->pager == NULL ? node_pager_create(node) : 0;

    *port = node->memory_object;
    return error;
}

/* Windows are powers of two, so that a growing file is mapped anew only now and then. */
static vm_size_t node_window_for(vm_size_t size)
{
    vm_size_t window = NODE_WINDOW_MIN;

    while (window < size && window < ((vm_size_t)1 << 31))
        window *= 2;
    return window < size ? (vm_size_t)NODE_SIZE_MAX : window;
}

error_t node_map(struct node *node, vm_size_t size)
{
    vm_size_t window_size = node_window_for(size);
    vm_address_t window = 0;
    mach_port_t port;
    error_t error;

    if (size <= node->window_size)
        return 0;
    error = node_memory_object(node, &port);
    if (error == 0)
        error = error_from_mach(vm_map(mach_task_self(), &window, window_size, 0, TRUE, port, 0,
                                       FALSE, VM_PROT_READ | VM_PROT_WRITE,
                                       VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_NONE));
    if (error != 0)
        return error;
    /* The new mapping is there, so giving up the old one returns no page. */
    if (node->window_size > 0)
        vm_deallocate(mach_task_self(), node->window, node->window_size);
    node->window = window;
    node->window_size = window_size;
    return 0;
}

error_t node_sync_data(struct node *node, bool wait)
{
    struct pager *pager;
    error_t error, settle_error;

    rt_rwlock_rdlock(&node->io_lock);
    pager = node->pager;
    rt_rwlock_rdunlock(&node->io_lock);
    if (pager == NULL)
        return 0;
    error = pager_sync(pager, wait);
    settle_error = wait ? file_settle(node) : 0;
    return error != 0 ? error : settle_error;
}

/* => nodes are only ever added, at the front, until nodes_close: no lock is needed behind it. */
static struct node *nodes_head(void)
{
    struct node *head;

    rt_mutex_lock(&nodes.lock);
    head = nodes.first;
    rt_mutex_unlock(&nodes.lock);
    return head;
}

error_t nodes_sync(bool wait)
{
    error_t first = 0;
    error_t error;

    for (struct node *node = nodes_head(); node != NULL; node = node->next) {
        error = node_sync_data(node, wait);
        if (first == 0)
            first = error;
    }
    error = ext2_sync(nodes.fs);
    if (first == 0)
        first = error;
    error = disk_sync();
    return first == 0 ? error : first;
}

void nodes_close(void)
{
    for (struct node *node = nodes_head(); node != NULL; node = node->next)
        ext2_inode_put(node->inode);
}
