// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files and directories in use. There is one node for each inode in use, with one port that stands
 * for it.
 *
 * Locks of a node, in this order, before those of libext2:
 *   io_lock     RPC handlers only. For writing: who changes the contents' bytes or the size. For
 *               reading: who copies bytes out. Held while the file's memory is touched, so a
 *               pager's thread must never take it.
 *   write_lock  who writes the file's data to the disk. For reading: the pager's writers. For
 *               writing: who writes zeros to blocks that nobody wrote to, which must not overtake
 *               data. Held during the I/O.
 *   alloc_lock  what libext2 calls the map lock: which block holds what, and the size. Pagers take
 *               it. Nothing that may fault on a file's memory happens with it held, and no reading
 *               or writing of the file's data (file-pager.c says why that is safe). Metadata may be
 *               read from the disk with it held.
 *   blocks_lock what is going on with single blocks. Held for a few instructions.
 */
#ifndef EXT2_NODE_H
#define EXT2_NODE_H

#include <stdbool.h>

#include "ext2/backend.h"
#include "libext2/ext2.h"
#include "libstore/store.h"
#include "libtrace/trace.h"
#include "librt/ports.h"
#include "librt/sync.h"

/* Blocks of a file that are being read or written. */
struct node_io {
    struct node_io *next;
    uint32_t first; /* file blocks, up to but not including end */
    uint32_t end;
};

struct node {
    struct user_pager_info info; /* first: the pager's callbacks get a node by it */
    struct ext2_inode *inode;    /* one reference */
    uint32_t ino;                /* its number, which outlives the reference */
    bool is_file;                /* a regular one */
    mach_port_t port;
    mach_port_t notify_port; /* where the kernel says that port, or the memory, has no users */

    /* Guarded by the nodes' lock (node.c). */
    struct node *next;
    unsigned int nrefs; /* handlers that use it just now */
    bool has_senders;   /* clients have send rights to port */
    bool retiring;
    uint64_t idle_since; /* a count of nodes that became idle */

    struct rt_rwlock io_lock;
    struct pager *pager;       /* null until the file's memory is first needed */
    mach_port_t memory_object; /* a send right */
    bool handed_out;           /* clients have had it */
    vm_address_t window;       /* the file's memory from its start, in this task */
    vm_size_t window_size;     /* 0: not mapped */
    error_t write_error;       /* of a write-out, for the next sync to tell; atomic */
    unsigned int nsyncs;       /* of its data, under way; atomic */
    bool changed;              /* by this server, and not synced since; atomic */

    struct rt_rwlock write_lock;
    struct rt_rwlock alloc_lock;
    unsigned int nwaiting; /* for it, or for blocks under I/O (blocks.h); atomic */
    uint64_t size;         /* bytes */
    vm_size_t extent; /* the size up to whole pages; may be read, atomically, without the lock */

    struct rt_mutex blocks_lock; /* guards what follows */
    struct rt_cond io_done;
    struct node_io *ios;
    uint8_t *fresh; /* for each file block: allocated, and never written to the disk */
    size_t nfresh;  /* length of fresh */
};

/* Files beyond this many bytes cannot be: on i386 a memory object's offsets have 32 bits. On amd64
   it is libpager's map, 4 bytes a page, which takes half of the heap for that many
   (librt/newlib.c). */
#define NODE_SIZE_MAX                                                                              \
    (sizeof(vm_offset_t) > sizeof(uint32_t) ? UINT64_C(1) << 36 : UINT64_C(0xfffff000))

/* Writes of one file's data that may be under way at a time. */
#define NODE_WRITERS 2u

/* Nodes that no client uses are kept, with what of them is in memory, but no more than this. */
#ifndef NODES_IDLE_MAX
#define NODES_IDLE_MAX 1024u
#endif

/*
 * Serve files of FS, whose data is in STORE: start NWORKERS threads of the level "file". Nodes'
 * ports are made in RPC_BUCKET.
 * => once; may block; ENOMEM.
 */
error_t nodes_setup(struct ext2_fs *fs, struct store *store, struct port_bucket *rpc_bucket,
                    unsigned int nworkers);

/* The node of INODE, with a reference; INODE's reference is consumed, also on failure.
   => may block; ENOMEM. */
error_t node_open(struct ext2_inode *inode, struct node **node);

/* The node that PORT stands for, with a reference, or null. => takes the nodes' lock only. */
struct node *node_of_port(mach_port_t port);

/* Give a reference back. A node without users may be retired by this. => may block; no lock held.
 */
void node_deref(struct node *node);

/* Make a send right to NODE's port, for a client. => may block; ENOMEM; the caller has a reference.
 */
error_t node_make_right(struct node *node, mach_port_t *right);

/* The file system that nodes are of. => does not block. */
struct ext2_fs *nodes_fs(void);

/* Block size of the file system, bytes. */
uint32_t node_block_size(void);

/* What one thread's hold on alloc_lock is in the trace. */
struct node_hold {
    uint64_t start; /* cycles, when waiting began; 0: not recorded */
    uint64_t granted;
    enum trace_what mode;
};

/*
 * Take and release alloc_lock, MODE being TRACE_READ or TRACE_WRITE. HOLD lives between the two.
 * => may block; io_lock may be held.
 */
void node_alloc_lock(struct node *node, enum trace_what mode, struct node_hold *hold);
void node_alloc_unlock(struct node *node, const struct node_hold *hold);

/*
 * Somebody who is not writing NODE's data out begins to wait for alloc_lock, or for blocks under
 * I/O, and has waited; node_alloc_lock does that itself. While NODE is being synced, it is counted
 * how long.
 * => do not block.
 */
uint64_t node_wait_begin(struct node *node);
void node_wait_end(struct node *node, uint64_t start);

/* Take alloc_lock to write NODE's data out: the same as node_alloc_lock, but not counted. */
void node_alloc_lock_to_write(struct node *node, enum trace_what mode, struct node_hold *hold);

/* Print how long was waited, for SERVER. => any thread. */
void nodes_report(const char *server);

/*
 * Have NODE's memory mapped from 0 to SIZE, or more.
 * => io_lock held for writing; may block; ENOMEM.
 */
error_t node_map(struct node *node, vm_size_t size);

/* The send right to NODE's memory object. => io_lock held for writing; may block; ENOMEM. */
error_t node_memory_object(struct node *node, mach_port_t *port);

/* Write NODE's data out; the first error since the last call. => blocks; no lock held. */
error_t node_sync_data(struct node *node, bool wait);

/* All data and all metadata. => blocks; no lock held; the first error, but does all it can. With
   WAIT, also that of a file that nobody used any more and that was given up since. */
error_t nodes_sync(bool wait);

/* Bytes of NODE's memory were changed through the window. => does not block. */
void node_note_change(struct node *node);

/*
 * Have what was changed be written out: data of files that nobody syncs just now, and that the
 * kernel does not page out, and metadata if nobody syncs that. Errors are left for a sync.
 * => blocks, but not until data is written; no lock held; from one thread.
 */
void nodes_write_behind(void);

/* Give up all nodes, before the unmount. => no request is under way or comes. */
void nodes_close(void);

/* NODE's pager is gone. => for its callbacks only (backend.h). */
void node_pager_gone(struct node *node);

#endif
