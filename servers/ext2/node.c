// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of a node. It begins when its inode is first looked up. Its users are handlers (nrefs)
 * and clients (send rights to its port, of which the kernel tells when they are gone). Without
 * either it is idle: kept, with its memory mapped, for who looks it up next. It is retired when
 * NODES_IDLE_MAX others have become idle since, or at once when no name is left.
 *
 * To retire a node, its data is written out and its mapping given up. Clients may still map its
 * memory: the kernel's object, and the pager, live on until they stop. Then the kernel has no send
 * right to the pager's port and tells so; the pager is shut down; when the last of its returns is
 * written, the node goes, its inode with it. Who looks the inode up meanwhile waits for that.
 *
 * Notifications have a thread of their own, since all handlers may be waiting for one.
 */
#include "ext2/node.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ext2/disk.h"
#include "ext2/file-pager.h"
#include "librt/clock.h"
#include "librt/demuxers.h"
#include "librt/latency.h"
#include "librt/log.h"
#include "librt/rt.h"
#include "librt/thread.h"
#include "librt/x86/arch.h"

#include "notify_server.h"

#define NODE_WINDOW_MIN ((vm_size_t)64 << 10)
#define NODE_POLL_MS    10u /* how often to look whether a port's queue is empty */

static struct {
    struct ext2_fs *fs;
    struct port_bucket *rpc_bucket;
    struct port_bucket *pager_bucket;
    struct port_bucket *notify_bucket;
    struct rt_mutex lock; /* guards what follows, and the nodes' members that say so */
    struct rt_cond changed;
    struct node *first;
    unsigned int nidle;
    uint64_t nidled;         /* how often a node became idle */
    error_t lost;            /* the first error of one that was retired, for nodes_sync to tell */
    struct rt_latency waits; /* of who does not write out, in files that are being synced */
} nodes;

struct ext2_fs *nodes_fs(void)
{
    return nodes.fs;
}

uint32_t node_block_size(void)
{
    return ext2_block_size(nodes.fs);
}

static bool node_has_names(struct node *node)
{
    struct ext2_stat stat;

    ext2_inode_stat(node->inode, &stat);
    return stat.nlinks > 0;
}

/* --- Beginning ------------------------------------------------------------------------------- */

/* => with the nodes' lock. */
static struct node *nodes_find(uint32_t ino)
{
    struct node *node = nodes.first;

    while (node != NULL && node->ino != ino)
        node = node->next;
    return node;
}

static error_t node_create_ports(struct node *node)
{
    error_t error = ports_create_port(nodes.rpc_bucket, node, &node->port);

    if (error != 0)
        return error;
    error = ports_create_port(nodes.notify_bucket, node, &node->notify_port);
    if (error != 0)
        ports_destroy_port(nodes.rpc_bucket, node->port);
    return error;
}

static error_t node_create(struct ext2_inode *inode, struct node **node)
{
    struct node *created = calloc(1, sizeof(*created));
    struct ext2_stat stat;
    error_t error;

    if (created == NULL)
        return ENOMEM;
    error = node_create_ports(created);
    if (error != 0) {
        free(created);
        return error;
    }
    ext2_inode_stat(inode, &stat);
    created->info.ops = &file_backend_ops;
    created->inode = inode;
    created->ino = ext2_inode_number(inode);
    created->is_file = S_ISREG(stat.mode);
    rt_rwlock_init(&created->io_lock, "io_lock");
    rt_rwlock_init(&created->write_lock, "write_lock");
    rt_rwlock_init(&created->alloc_lock, "alloc_lock");
    rt_mutex_init(&created->blocks_lock, "blocks_lock");
    rt_cond_init(&created->io_done, "io_done");
    file_set_size(created, stat.size);
    *node = created;
    return 0;
}

/* Find the node of INO; one that is being retired is waited for. => with the nodes' lock. */
static struct node *nodes_find_live(uint32_t ino)
{
    struct node *node = nodes_find(ino);

    while (node != NULL && node->retiring) {
        rt_cond_wait(&nodes.changed, &nodes.lock);
        node = nodes_find(ino);
    }
    return node;
}

static bool node_is_idle(const struct node *node)
{
    return node->nrefs == 0 && !node->has_senders && !node->retiring;
}

/* One user more. => with the nodes' lock. */
static void node_ref(struct node *node)
{
    if (node_is_idle(node) && node->idle_since != 0) {
        node->idle_since = 0;
        nodes.nidle--;
    }
    node->nrefs++;
}

error_t node_open(struct ext2_inode *inode, struct node **node)
{
    error_t error = 0;

    rt_mutex_lock(&nodes.lock);
    *node = nodes_find_live(ext2_inode_number(inode));
    if (*node == NULL) {
        error = node_create(inode, node);
        if (error == 0) {
            (*node)->next = nodes.first;
            nodes.first = *node;
            inode = NULL; /* the node has it now */
        }
    }
    if (error == 0)
        node_ref(*node);
    rt_mutex_unlock(&nodes.lock);
    if (inode != NULL)
        ext2_inode_put(inode);
    return error;
}

struct node *node_of_port(mach_port_t port)
{
    struct node *node;

    rt_mutex_lock(&nodes.lock);
    node = ports_lookup_port(nodes.rpc_bucket, port);
    if (node != NULL)
        node_ref(node);
    rt_mutex_unlock(&nodes.lock);
    return node;
}

/* Have the kernel say when PORT has no send rights. */
static kern_return_t node_request_notice(const struct node *node, mach_port_t port)
{
    mach_port_t previous = MACH_PORT_NULL;
    kern_return_t kr =
        mach_port_request_notification(mach_task_self(), port, MACH_NOTIFY_NO_SENDERS, 0,
                                       node->notify_port, MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous);

    if (kr == KERN_SUCCESS && previous != MACH_PORT_NULL)
        mach_port_deallocate(mach_task_self(), previous);
    return kr;
}

error_t node_make_right(struct node *node, mach_port_t *right)
{
    kern_return_t kr;

    rt_mutex_lock(&nodes.lock);
    kr = mach_port_insert_right(mach_task_self(), node->port, node->port, MACH_MSG_TYPE_MAKE_SEND);
    if (kr == KERN_SUCCESS && !node->has_senders)
        kr = node_request_notice(node, node->port);
    if (kr == KERN_SUCCESS)
        node->has_senders = true;
    rt_mutex_unlock(&nodes.lock);
    *right = node->port;
    return error_from_mach(kr);
}

/* --- End ------------------------------------------------------------------------------------- */

static void nodes_unlink(const struct node *node)
{
    struct node **link = &nodes.first;

    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
}

/* The last of NODE. => no lock held; nothing refers to it but the list. */
static void node_free(struct node *node)
{
    ports_destroy_port(nodes.rpc_bucket, node->port);
    ports_destroy_port(nodes.notify_bucket, node->notify_port);
    ext2_inode_put(node->inode); /* deletes the file when it has no name */
    rt_mutex_lock(&nodes.lock);
    nodes_unlink(node);
    rt_cond_broadcast(&nodes.changed);
    rt_mutex_unlock(&nodes.lock);
    free(node->fresh);
    free(node);
}

void node_pager_gone(struct node *node)
{
    node_free(node);
}

/* NODE's memory object is mapped by nobody: what the kernel has returned is in the port's queue, or
   with the pager already. */
static void node_shutdown(struct node *node)
{
    mach_port_t port = pager_get_port(node->pager);
    mach_port_status_t status;

    while (mach_port_get_receive_status(mach_task_self(), port, &status) == KERN_SUCCESS &&
           status.mps_msgcount > 0)
        rt_sleep(NODE_POLL_MS);
    pager_shutdown(node->pager); /* calls node_pager_gone when the last return is written */
}

/* Give up this task's mapping; node_shutdown follows when the kernel says that nobody has one. */
static void node_unmap(struct node *node)
{
    if (node->window_size > 0)
        vm_deallocate(mach_task_self(), node->window, node->window_size);
    node->window_size = 0;
    mach_port_deallocate(mach_task_self(), node->memory_object);
    if (node_request_notice(node, pager_get_port(node->pager)) != KERN_SUCCESS)
        rt_panic("no notification about a pager's port");
}

/* NODE's data could not be written, and goes: nobody can ask for it any more, but who syncs all. */
static void node_lose(const struct node *node, error_t error)
{
    rt_log("inode %lu: data is lost: error %d", (unsigned long)ext2_inode_number(node->inode),
           error);
    rt_mutex_lock(&nodes.lock);
    if (nodes.lost == 0)
        nodes.lost = error;
    rt_mutex_unlock(&nodes.lock);
}

/* => NODE is retiring: nobody else uses it. */
static void node_retire(struct node *node)
{
    error_t error = 0;

    if (node->pager == NULL) {
        node_free(node);
        return;
    }
    if (node_has_names(node))
        error = node_sync_data(node, true);
    else if (!node->handed_out) /* nobody can want the data of a deleted file */
        error = pager_flush(node->pager, 1);
    if (error != 0)
        node_lose(node, error);
    node_unmap(node);
}

/* The node that has been idle for longest, if there are too many. => with the nodes' lock. */
static struct node *nodes_oldest_idle(void)
{
    struct node *oldest = NULL;

    if (nodes.nidle <= NODES_IDLE_MAX)
        return NULL;
    for (struct node *node = nodes.first; node != NULL; node = node->next)
        if (node->idle_since != 0 && (oldest == NULL || node->idle_since < oldest->idle_since))
            oldest = node;
    return oldest;
}

/* NODE has lost a user. Returns a node to be retired, or null. => with the nodes' lock. */
static struct node *nodes_settle(struct node *node)
{
    struct node *victim;

    if (!node_is_idle(node))
        return NULL;
    if (!node_has_names(node)) {
        node->retiring = true;
        return node;
    }
    node->idle_since = ++nodes.nidled;
    nodes.nidle++;
    victim = nodes_oldest_idle();
    if (victim != NULL) {
        victim->idle_since = 0;
        nodes.nidle--;
        victim->retiring = true;
    }
    return victim;
}

void node_deref(struct node *node)
{
    struct node *victim;

    rt_mutex_lock(&nodes.lock);
    node->nrefs--;
    victim = nodes_settle(node);
    rt_mutex_unlock(&nodes.lock);
    if (victim != NULL)
        node_retire(victim);
}

/* Clients have no right to NODE's port any more, unless one was made since. Returns a node to be
   retired, or null. => with the nodes' lock. */
static struct node *node_no_clients(struct node *node)
{
    mach_port_status_t status;

    if (mach_port_get_receive_status(mach_task_self(), node->port, &status) != KERN_SUCCESS)
        rt_panic("no status of a node's port");
    if (status.mps_srights) {
        if (node_request_notice(node, node->port) != KERN_SUCCESS)
            rt_panic("no notification about a node's port");
        return NULL;
    }
    node->has_senders = false;
    return nodes_settle(node);
}

kern_return_t do_mach_notify_no_senders(mach_port_t notify, mach_port_mscount_t mscount)
{
    struct node *victim = NULL;
    struct node *node;
    bool unmapped = false;

    (void)mscount;
    rt_mutex_lock(&nodes.lock);
    node = ports_lookup_port(nodes.notify_bucket, notify);
    if (node != NULL && node->retiring)
        unmapped = true; /* its own port was given up before: this is the pager's */
    else if (node != NULL)
        victim = node_no_clients(node);
    rt_mutex_unlock(&nodes.lock);
    if (unmapped)
        node_shutdown(node);
    if (victim != NULL)
        node_retire(victim);
    return KERN_SUCCESS;
}

/* --- Memory ---------------------------------------------------------------------------------- */

uint64_t node_wait_begin(struct node *node)
{
    __atomic_add_fetch(&node->nwaiting, 1, __ATOMIC_RELAXED);
    return __atomic_load_n(&node->nsyncs, __ATOMIC_RELAXED) > 0 ? rt_arch_cycles() : 0;
}

void node_wait_end(struct node *node, uint64_t start)
{
    __atomic_sub_fetch(&node->nwaiting, 1, __ATOMIC_RELAXED);
    if (start != 0)
        rt_latency_add(&nodes.waits, rt_arch_cycles() - start);
}

void nodes_report(const char *server)
{
    rt_emit("wait server=%s what=alloc_lock count=%" PRIu64 " p99_ns=%" PRIu64 " max_ns=%" PRIu64,
            server, rt_latency_count(&nodes.waits),
            rt_clock_cycles_to_ns(rt_latency_percentile(&nodes.waits, 99)),
            rt_clock_cycles_to_ns(nodes.waits.max));
}

void node_alloc_lock_to_write(struct node *node, enum trace_what mode, struct node_hold *hold)
{
    hold->start = trace_begin(TRACE_ALLOC_LOCK);
    hold->mode = mode;
    if (mode == TRACE_WRITE)
        rt_rwlock_wrlock(&node->alloc_lock);
    else
        rt_rwlock_rdlock(&node->alloc_lock);
    hold->granted = trace_begin(TRACE_ALLOC_LOCK);
}

void node_alloc_lock(struct node *node, enum trace_what mode, struct node_hold *hold)
{
    uint64_t start = node_wait_begin(node);

    node_alloc_lock_to_write(node, mode, hold);
    node_wait_end(node, start);
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
        pager_create(&node->info, nodes.pager_bucket, FALSE, MEMORY_OBJECT_COPY_NONE, FALSE);
    mach_port_t port;

    if (pager == NULL)
        return ENOMEM;
    port = pager_get_port(pager);
    if (mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND) !=
        KERN_SUCCESS)
        rt_panic("no send right to a pager's port");
    pager_set_writers(pager, NODE_WRITERS);
    pager_set_borrowing(pager, true);
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

    if (node->pager != NULL)
        pager_level_check(node->pager, "a touch of a file");
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

void node_note_change(struct node *node)
{
    __atomic_store_n(&node->changed, true, __ATOMIC_RELEASE);
}

static struct pager *node_pager(struct node *node)
{
    struct pager *pager;

    rt_rwlock_rdlock(&node->io_lock);
    pager = node->pager;
    rt_rwlock_rdunlock(&node->io_lock);
    return pager;
}

/* => the caller has said that NODE is being synced. */
static error_t node_sync_pager(struct node *node, struct pager *pager, bool wait)
{
    error_t error, write_error, settle_error;

    __atomic_store_n(&node->changed, false, __ATOMIC_RELEASE); /* what comes next sets it again */
    error = pager_sync(pager, wait);
    if (!wait)
        return error;
    settle_error = file_settle(node);
    write_error = __atomic_exchange_n(&node->write_error, 0, __ATOMIC_RELAXED);
    if (error == 0)
        error = write_error;
    return error != 0 ? error : settle_error;
}

error_t node_sync_data(struct node *node, bool wait)
{
    struct pager *pager = node_pager(node);
    error_t error;

    if (pager == NULL)
        return 0;
    __atomic_add_fetch(&node->nsyncs, 1, __ATOMIC_RELAXED);
    error = node_sync_pager(node, pager, wait);
    __atomic_sub_fetch(&node->nsyncs, 1, __ATOMIC_RELAXED);
    return error;
}

/* --- All of them ----------------------------------------------------------------------------- */

/* Any node will do. */
static bool node_is_any(struct node *node)
{
    (void)node;
    return true;
}

/* Whether NODE may have data that is only in memory. What clients do to a mapping nobody tells. */
static bool node_may_be_dirty(struct node *node)
{
    return __atomic_load_n(&node->changed, __ATOMIC_ACQUIRE) ||
           __atomic_load_n(&node->handed_out, __ATOMIC_RELAXED);
}

/* The node behind NODE in the list, or the first, that is not being retired and is WANTED; with a
   reference. NODE's is given back. Who is not wanted stays as idle as it is. */
static struct node *nodes_next(struct node *node, bool (*wanted)(struct node *node))
{
    struct node *next;

    rt_mutex_lock(&nodes.lock);
    next = node == NULL ? nodes.first : node->next;
    while (next != NULL && (next->retiring || !wanted(next)))
        next = next->next;
    if (next != NULL)
        node_ref(next);
    rt_mutex_unlock(&nodes.lock);
    if (node != NULL)
        node_deref(node);
    return next;
}

/* What nobody has been told yet of nodes that were retired. */
static error_t nodes_take_lost(void)
{
    error_t lost;

    rt_mutex_lock(&nodes.lock);
    lost = nodes.lost;
    nodes.lost = 0;
    rt_mutex_unlock(&nodes.lock);
    return lost;
}

error_t nodes_sync(bool wait)
{
    error_t first = 0;
    error_t error;

    for (struct node *node = nodes_next(NULL, node_is_any); node != NULL;
         node = nodes_next(node, node_is_any)) {
        error = node_sync_data(node, wait);
        if (first == 0)
            first = error;
    }
    if (wait && first == 0)
        first = nodes_take_lost();
    error = ext2_sync(nodes.fs);
    if (first == 0)
        first = error;
    error = disk_sync();
    return first == 0 ? error : first;
}

/* The mark goes before the kernel is asked, so that a change behind that sets it again. */
static void node_write_behind(struct node *node)
{
    struct pager *pager = node_pager(node);
    bool changed = __atomic_exchange_n(&node->changed, false, __ATOMIC_ACQ_REL);

    if (pager != NULL && !pager_write_behind(pager) && changed)
        node_note_change(node); /* for the next round */
}

void nodes_write_behind(void)
{
    error_t error;

    for (struct node *node = nodes_next(NULL, node_may_be_dirty); node != NULL;
         node = nodes_next(node, node_may_be_dirty))
        node_write_behind(node);
    error = ext2_sync(nodes.fs);
    if (error != 0)
        rt_log("write-behind: the super block: error %d", error); /* the next sync says it too */
    disk_write_behind();
}

/* => with the nodes' lock. */
static bool nodes_retire_under_way(void)
{
    for (struct node *node = nodes.first; node != NULL; node = node->next)
        if (node->retiring)
            return true;
    return false;
}

void nodes_close(void)
{
    rt_mutex_lock(&nodes.lock);
    while (nodes_retire_under_way())
        rt_cond_wait(&nodes.changed, &nodes.lock);
    for (struct node *node = nodes.first; node != NULL; node = node->next)
        ext2_inode_put(node->inode);
    rt_mutex_unlock(&nodes.lock);
}

error_t nodes_setup(struct ext2_fs *fs, struct store *store, struct port_bucket *rpc_bucket,
                    unsigned int nworkers)
{
    struct pager_requests *requests;
    error_t error = ports_create_bucket(&nodes.pager_bucket);

    if (error == 0)
        error = ports_create_bucket(&nodes.notify_bucket);
    if (error != 0)
        return error;
    nodes.fs = fs;
    nodes.rpc_bucket = rpc_bucket;
    rt_mutex_init(&nodes.lock, "nodes");
    rt_cond_init(&nodes.changed, "node_gone");
    file_pager_setup(store);
    error = pager_start_workers_named(nodes.pager_bucket, "file", nworkers, &requests);
    return error == 0 ? ports_manage(nodes.notify_bucket, "notify", 1, notify_server) : error;
}
