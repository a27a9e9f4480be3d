// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How libpager works.
 *
 * A level (struct pager_requests) is a bucket of pagers with the threads that serve them. Its
 * receiver takes messages off the port set and never waits for anything but a free node: it
 * queues each data_request and data_return at its pager. Workers take a pager's whole list at
 * once. Reads may occupy all workers but one, and so may writes: neither waits behind a long
 * queue of the other.
 *
 * Order. The kernel may ask for a page whose last data is still on its way to the store. So each
 * pager has a map with an entry for every page, and a returned page is pending from the moment its
 * message is received until it was written (or could not be); a request for a pending page waits,
 * and is answered from the returned data itself. Returns of one pager are written one worker at a
 * time and, where they overlap, in the order in which they came; but for copies that a page's
 * eviction has overtaken (lock.c), which are not written at all.
 *
 * Errors. A page whose write-out failed is stale: the store does not have what the client wrote.
 * The page is kept for the next sync (kept.c). The error stays with it, and goes to every
 * pager_sync under way or, if there is none, to the next one.
 *
 * Control ports. Each message brings a send right for the object's control port. The name stays
 * ours as long as we hold one, even when the port has died; so a request keeps its right until it
 * was answered, and an answer can only reach the object that asked. Rights of returns are dropped
 * many at a time.
 *
 * One mutex a level guards its queues and its pagers with their maps. It is held for a few
 * instructions a page; the calls made with it held are pager_report_extent, those on the bucket,
 * and a few to the kernel that do not wait (memory_object_ready, references of ports).
 */
#ifndef LIBPAGER_PRIVATE_H
#define LIBPAGER_PRIVATE_H

#include "libpager/pager.h"

#include "libpager/policy.h"
#include "librt/sync.h"
#include "libtrace/trace.h"

/* Nodes of a level: as many messages of 32 pages (the kernel's DATA_WRITE_MAX) as 128 MiB give, so
   that a whole default job fits. When all are in use the receiver waits, and further messages wait
   in the ports' queues. */
#define PAGER_NODES 1024u

/* Ports for confirmations that a level keeps: one for each worker that may be giving back. */
#define PAGER_CONFIRMS 4u

/* Pages of a level that could not be written and are kept: 1 MiB. */
#define PAGER_KEPT 256u

enum pager_kind { PAGER_READ, PAGER_UNLOCK, PAGER_RETURN };

/* A message that was received: a node of a level. */
struct pager_request {
    struct pager_request *next;
    enum pager_kind kind;
    mach_port_t control; /* a send right, for the answer; null in a return */
    vm_offset_t offset;
    vm_size_t length; /* bytes of it that are inside the object */
    vm_prot_t access; /* requests */
    uint64_t start;   /* cycles, when it was received; 0: not recorded */
    uint32_t number;  /* in the trace */
    bool replying;    /* a request: its answer is on its way, and it is in pager->replies */
    uint8_t refused;  /* a request: errno value that it gets without being read, or 0 */
    uint8_t result;   /* errno value */

    /* Returns; in a request, `data` is the page that answers it. */
    vm_address_t data;
    vm_address_t memory;           /* as it came: to be released */
    vm_size_t memory_length;       /* what is left of it */
    vm_size_t data_length;         /* as it came */
    uint64_t sequence;             /* the pager's n-th return */
    struct pager_request *pending; /* the next return that was received and is not completed */
    struct pager_request *reply;   /* the next request in pager->replies */
    bool dirty;
    bool kernel_copy;
    bool stored;    /* the store has all of it already */
    bool borrowed;  /* to be given back when it is written (borrow.c) */
    bool given;     /* it was: there is no data any more */
    bool overtaken; /* some of its pages are older than what was returned before it */
};

struct pager_list {
    struct pager_request *head;
    struct pager_request **tail;
};

/* What a worker does with a pager's list. */
enum pager_work { PAGER_WORK_READ, PAGER_WORK_WRITE, PAGER_WORK_COUNT };

/* The pagers of a level that have such work, first come first served. */
struct pager_lane {
    struct pager *head;
    struct pager **tail;
    unsigned int nbusy; /* workers that do it */
};

enum pager_page_flags {
    /* Asked for; cleared by the answer, or by a return or a flush that overtook the request. */
    PAGER_PAGE_REQUESTED = 0x01,
    /* The store has what the kernel has, unless that is dirty. */
    PAGER_PAGE_STORED = 0x02,
    /* The last write-out failed. */
    PAGER_PAGE_STALE = 0x04,
    /* pager_unlock_page failed: so will the next request to write. */
    PAGER_PAGE_DENIED = 0x08,
    /* It was supplied, and the kernel may have it, or a copy that it has not sent. */
    PAGER_PAGE_SUPPLIED = 0x10,
    /* It was returned for good while there might be such a copy, and not supplied since. */
    PAGER_PAGE_GONE = 0x20,
    /* Pending, and its eviction has been notified, or it was flushed: its data is history. */
    PAGER_PAGE_FREED = 0x40,
    /* Pending, and the kernel gets it back when it is written. */
    PAGER_PAGE_BORROWED = 0x80,
    /* Its last request was answered with an error, and it was not supplied since: what the kernel
       has there is no data, and must not meet a lock request (lock.c). */
    PAGER_PAGE_FAILED = 0x100,
    /* It was supplied unasked, and not returned or flushed since: a request that is received may
       have been sent before that. */
    PAGER_PAGE_UNASKED = 0x200,
    /* Its last request was received when that was so, and it was not flushed since: the kernel may
       have the page. */
    PAGER_PAGE_OVERTAKEN = 0x400,
};

/* A page that could not be written (kept.c). */
struct pager_kept {
    struct pager_kept *next;
    vm_offset_t offset;
    vm_address_t data; /* a page, to be released */
};

struct pager_page {
    uint16_t npending; /* returns that were received and are not completed */
    uint16_t flags;
    uint8_t error; /* errno value */
};

/* A memory_object_lock_request under way (lock.c). */
struct pager_window {
    struct pager_window *next;
    vm_offset_t offset;
    vm_size_t length;
    vm_offset_t last; /* the last request made for it, which lock_completed will name */
    vm_size_t last_length;
    uint64_t start;     /* cycles, when it was asked for; 0: not recorded */
    uint8_t what;       /* in the trace */
    uint32_t cause;     /* likewise */
    uint64_t watermark; /* completed: the last return that matters */
    size_t nleft;       /* completed: returns up to it, of pages of the window, that are not */
    bool copies;        /* the kernel keeps what it returns */
    bool borrows;       /* it gets back what it returns */
    bool flushes;       /* whoever asked wants no page to stay */
    bool drops;         /* and none to be returned */
    bool asking;        /* requests are being made */
    bool completed;
    void *storage; /* null, or itself: nobody waits, and completion frees it */
};

/* Somebody in pager_sync, who will be told of errors. */
struct pager_listener {
    struct pager_listener *next;
    error_t error;
};

struct pager {
    struct pager_requests *level;
    struct user_pager_info *upi;
    bool owns_upi;      /* pager_create_alloc made it */
    unsigned int nrefs; /* the user's, and one for each node that is the pager's */
    mach_port_t port;
    enum rt_class class;
    uint32_t object; /* in the trace */

    /* What the kernel is told, and its ports; null without a kernel that has the object. */
    boolean_t may_cache;
    memory_object_copy_strategy_t copy_strategy;
    bool notify_on_evict;
    bool borrows; /* syncs may borrow pages */
    mach_port_t control;
    mach_port_t name;
    unsigned int nowed;     /* send rights for control that came with returns, to be dropped */
    unsigned int nchanging; /* changes of attributes that the kernel has not answered */

    struct pager_list todo[PAGER_WORK_COUNT]; /* requests to be served, returns to be written */
    bool queued[PAGER_WORK_COUNT];            /* in the lane, which has a reference */
    struct pager *next[PAGER_WORK_COUNT];     /* in the lane */
    struct pager_list waiting;                /* reads of pages that are pending, or being copied */

    struct pager_page *pages; /* grows on demand */
    size_t npages;
    struct pager_page behind; /* what is known of those behind them: were any asked for in vain? */
    size_t nstale;            /* pages whose last write-out failed */
    struct pager_kept *kept;  /* their data, as far as there was room */

    struct pager_window *windows;
    struct pager_giving *givings;  /* pages that are being given back just now */
    unsigned int nunconfirmed;     /* messages of theirs that the kernel has not confirmed */
    struct pager_request *replies; /* requests whose answer is settled and on its way */

    /* Writing (write.c). */
    unsigned int nwriters_most; /* workers at a time */
    unsigned int nwriters;
    const struct pager_policy *policy; /* whose order returns are in */
    struct pager_request *returns;     /* received before those in todo */
    bool taking;                       /* a worker is picking from returns, the level unlocked */
    vm_size_t backlog;                 /* bytes in returns and todo */
    struct pager_writing *writings;    /* runs that were picked and are not completed */

    /* For policies. */
    vm_size_t write_most; /* how long a write may be at present, in bytes; atomic */
    bool contended;       /* somebody waits; atomic */

    uint64_t nreceived; /* returns */
    uint64_t ncompleted;
    struct pager_request *pending; /* returns that are not completed, in the order of receipt */
    struct pager_request **pending_tail;
    struct pager_listener *listeners;
    error_t error;          /* the first that no listener was there for */
    struct rt_cond changed; /* a window, or a return that a window waits for, was completed */
    struct rt_cond cleared; /* a window was completed, pages given back, or an answer sent */
    struct rt_cond picked;  /* a run was picked, or completed */
};

struct pager_requests {
    struct pager_requests *next; /* all levels of the task */
    unsigned int rank;           /* 1 for the first, and so on (librt/order.h) */
    struct port_bucket *bucket;
    struct rt_mutex lock;
    struct rt_cond work;
    struct rt_cond node_free;
    struct pager_request *free_nodes;
    struct pager_kept *free_kept;
    struct pager_lane lanes[PAGER_WORK_COUNT];
    struct pager *gathering;   /* its returns are not scheduled yet, for more may be waiting */
    vm_size_t gathering_bytes; /* how much of it has come */
    mach_port_t confirms[PAGER_CONFIRMS]; /* ports for confirmations that are free */
    unsigned int nconfirms;
    unsigned int nworkers;
    unsigned int ninhibits; /* pager_inhibit_workers, not resumed */
    struct rt_cond idle;    /* an inhibited worker has become idle */
    struct rt_counter data_request[RT_CLASS_COUNT];
    struct rt_counter data_return[RT_CLASS_COUNT];
};

/*
 * level.c: threads, nodes, queues.
 */

/* The level that serves BUCKET, or null. */
struct pager_requests *pager_level_lookup(const struct port_bucket *bucket);

/* The first of all levels; the others follow by next. */
struct pager_requests *pager_levels(void);

/* Take a node from LEVEL for PAGER. => level locked; null when none is free. */
struct pager_request *pager_request_alloc(struct pager *pager);

/* Note REQUEST, just received, for the trace. */
void pager_request_received(struct pager_request *request);

/* Record that REQUEST has been dealt with, with its result, as an event of its kind. */
void pager_request_trace(const struct pager *pager, const struct pager_request *request);

/* Give REQUEST back, and with it a reference to PAGER, which may be the last.
   => level locked on entry, not on return. */
void pager_request_free(struct pager *pager, struct pager_request *request);

void pager_list_init(struct pager_list *list);
void pager_list_append(struct pager_list *list, struct pager_request *request);

/* Have a worker do with PAGER what is in its list of WORK. => level locked. */
void pager_schedule(struct pager *pager, enum pager_work work);

/* LENGTH bytes for PAGER to write have been queued: have a worker do it, when the receiver finds no
   more messages (pager_gather_end), or enough for the largest write have come. => level locked. */
void pager_gather(struct pager *pager, vm_size_t length);

/* No message is waiting to be received. => level locked. */
void pager_gather_end(struct pager_requests *level);

/*
 * pager.c: pagers as such.
 */

/* The pager whose port is PORT, its level locked; or null, nothing locked. */
struct pager *pager_lookup_lock(mach_port_t port);

/* The same with a node for it. => waits for a node. */
struct pager *pager_lookup_reserve(mach_port_t port, struct pager_request **request);

/* Drop a reference. => level locked on entry, not on return; may call pager_clear_user_data. */
void pager_deref(struct pager *pager);

/* Another send right for PAGER's control port, or null. => level locked. */
mach_port_t pager_control_ref(struct pager *pager);

/* Drop a send right, or the name that is left of it, if it is one. */
void pager_right_drop(mach_port_t port);

/* Drop all that PAGER owes (pager->nowed). => level locked. */
void pager_rights_pay(struct pager *pager);

/*
 * pagemap.c: the map of pages. => level locked for all of them.
 */

/* How many of LENGTH bytes (whole pages) from OFFSET are inside the object, up to the first that is
   not; a page counts if a part of it is inside. */
vm_size_t pager_extent_clip(struct pager *pager, vm_offset_t offset, vm_size_t length);

/* Make the map cover the pages up to OFFSET + LENGTH. ENOMEM. */
error_t pager_map_grow(struct pager *pager, vm_offset_t offset, vm_size_t length);

/* The entry of the page at OFFSET, or null when the map does not reach that far. */
struct pager_page *pager_page_lookup(struct pager *pager, vm_offset_t offset);

/* The same, or the entry that stands for all pages that the map does not reach. */
struct pager_page *pager_page_entry(struct pager *pager, vm_offset_t offset);

/* Whether the page at OFFSET is one that failed (PAGER_PAGE_FAILED). */
bool pager_page_failed(struct pager *pager, vm_offset_t offset);

/* The kernel has gone, and with it what it had: the next one begins with nothing. */
void pager_map_renew(struct pager *pager);

/* Note whether PAGE's last write-out failed. */
void pager_page_set_stale(struct pager *pager, struct pager_page *page, bool stale);

/* The error of the first page from OFFSET up to END whose last write-out failed, or 0. */
error_t pager_stale_error(struct pager *pager, vm_offset_t offset, uint64_t end);

/* Set PAGE's error to ERROR as an entry can hold it. */
void pager_page_set_error(struct pager_page *page, error_t error);

/* Tell the listeners, or the next one, of ERROR. */
void pager_error_report(struct pager *pager, error_t error);

/*
 * request.c, write.c: what workers do. => nothing locked, unless said otherwise.
 */
void pager_requests_serve(struct pager *pager, struct pager_request *list);

/* Write what has been returned to PAGER, run by run. => level locked, but not all the time. */
void pager_returns_write(struct pager *pager);

/* Whether one more worker, beside those there are, should write for PAGER. => level locked. */
bool pager_wants_writer(const struct pager *pager);

/*
 * return.c, request.c: parts of that.
 */

/* Whether the page at OFFSET is in RETURNED, in its newest state. => level locked. */
bool pager_return_has(struct pager *pager, const struct pager_request *returned,
                      vm_offset_t offset);

/* RETURNED, a node, has been written as far as it could be. => nothing locked. */
void pager_return_complete(struct pager *pager, struct pager_request *returned);

/* What REQUEST is answered is settled: it is on its way until pager_request_done. => level locked.
 */
void pager_request_reply(struct pager *pager, struct pager_request *request);

/* Whether an answer to a request for a page of this range is on its way. => level locked. */
bool pager_replies_overlap(const struct pager *pager, vm_offset_t offset, vm_size_t length);

/* REQUEST has been answered: record that, and free it. => nothing locked. */
void pager_request_done(struct pager *pager, struct pager_request *request);

/* Answer REQUEST with the page at request->data, which stays ours. => nothing locked. */
void pager_request_answer(struct pager *pager, struct pager_request *request, boolean_t precious);

/* PAGE is about to be supplied. => level locked. */
void pager_page_supply(struct pager_page *page);

/* Whether REQUEST, a read, must wait for a return or a window. => level locked. */
bool pager_read_waits(struct pager *pager, const struct pager_request *request);

/* Queue REQUEST where it belongs. => level locked; the map covers its page, or it is refused. */
void pager_request_dispatch(struct pager *pager, struct pager_request *request);

/* The same for all that wait. => level locked. */
void pager_waiting_dispatch(struct pager *pager);

/*
 * kept.c: pages that could not be written. => level locked.
 */

/* Keep DATA, the newest of the page at OFFSET, to be written some day: it is consumed. False when
   there is no room for it. */
bool pager_kept_add(struct pager *pager, vm_offset_t offset, vm_address_t data);

/* Keep the page at OFFSET, if it is kept, no longer; or none of PAGER's. */
void pager_kept_drop(struct pager *pager, vm_offset_t offset);
void pager_kept_drop_all(struct pager *pager);

/* Queue what is kept of the pages from OFFSET up to END to be written. => may wait for nodes, the
   level unlocked meanwhile; not from a worker. */
void pager_kept_retry(struct pager *pager, vm_offset_t offset, uint64_t end);

/*
 * borrow.c: pages that are moved out of memory and back.
 */

/* Whether the kernel may soon have no page for whoever needs one. */
bool pager_memory_is_short(void);

/* Whether a sync that could borrow pages must wait for answers to go, as it cannot have them
   copied.
   => level locked. */
bool pager_borrow_waits(const struct pager *pager);

/* Whether a sync may borrow the pages from OFFSET on. => level locked. */
bool pager_borrow_allowed(struct pager *pager, vm_offset_t offset, vm_size_t length);

/* Whether RETURNED, which was just received, is borrowed. => level locked. */
bool pager_borrows(struct pager *pager, const struct pager_request *returned);

/* The kernel is about to be asked to drop the pages from OFFSET on: those that are borrowed will
   not be given back. False if some of them just are. => level locked. */
bool pager_borrow_forget(struct pager *pager, vm_offset_t offset, vm_size_t length);

/* Give RUN, which has been written as far as it could be, back if it is borrowed, and all of it is
   in the store, and is the newest that there is. => nothing locked. */
void pager_give_back(struct pager *pager, struct pager_run *run);

/*
 * confirm.c: ports that the kernel says at when it has what was given back.
 */

/* A new one, or null. */
mach_port_t pager_confirm_create(void);

void pager_confirm_destroy(mach_port_t port);

/* Whether something was said at PORT. => does not wait for it. */
bool pager_confirm_receive(mach_port_t port);

/*
 * lock.c: windows. => level locked.
 */

/* Whether the kernel may be returning pages of this range for a sync that borrows them. */
bool pager_windows_borrowing(struct pager *pager, vm_offset_t offset, vm_size_t length);

/* Either of these two: what is read of this range may be older than what the kernel is sending. */
bool pager_windows_hold(struct pager *pager, vm_offset_t offset, vm_size_t length);

/* Whether the kernel may have copies of pages of this range that it has not sent yet. */
bool pager_windows_copying(struct pager *pager, vm_offset_t offset, vm_size_t length);

/* Whether pages of this range are being flushed: what is received of them was sent before. */
bool pager_windows_dropping(struct pager *pager, vm_offset_t offset, vm_size_t length);

/* Whether a lock request may be on its way to a page of this range, or at it. */
bool pager_windows_cover(struct pager *pager, vm_offset_t offset, vm_size_t length);

/* memory_object_lock_request for the page of REQUEST alone, which nobody waits for; nothing if the
   page is one that failed. => level not locked. */
void pager_page_ask(struct pager *pager, const struct pager_request *request,
                    memory_object_return_t should_return, bool flush, vm_prot_t prot);

/* The kernel has gone: nothing that was asked will be answered. */
void pager_windows_abandon(struct pager *pager);

/* RETURNED has been received: number it. Windows that overlap it wait for it. */
void pager_pending_add(struct pager *pager, struct pager_request *returned);

/* It is completed. */
void pager_pending_remove(struct pager *pager, struct pager_request *returned);

/* receive.c: the receiver's thread, for ever. ARG is the level. */
void pager_receive(void *arg);

#endif
