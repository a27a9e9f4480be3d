// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * External pagers: memory objects whose pages live in a store of the server's own. Names and
 * meanings are those of the GNU Hurd's library of this name, so that code moves both ways; where
 * the two differ, the comment says so under "Hurd:".
 *
 * A server starts the threads of a level (pager_start_workers), creates pagers on it, hands out
 * send rights to their ports, and defines the callbacks at the end of this file. The library
 * answers the kernel: it reads pages in, writes returned pages out, and keeps every error until
 * somebody has been told.
 *
 * What the Hurd has and this library has not: pager_create_ro_port (memory_object_create_proxy
 * makes such a port of pager_get_port's), and weak references (pager_dropweak).
 *
 * Units: offsets and lengths are bytes in the object, multiples of vm_page_size unless said
 * otherwise. A write error is an errno value.
 *
 * Locks: no call may be made with a lock held that a callback takes. The library holds none of its
 * own locks while a callback runs.
 */
#ifndef LIBPAGER_PAGER_H
#define LIBPAGER_PAGER_H

#include <stdbool.h>
#include <stddef.h>

#include "librt/counter.h"
#include "librt/error.h"
#include "librt/mach.h"
#include "librt/ports.h"

struct pager;
struct pager_requests;  /* the threads and queues of one level */
struct user_pager_info; /* the server's own, one for each pager */

/*
 * Start serving BUCKET: one receiving thread and a fixed number of workers. BUCKET's ports are
 * pagers from now on, and nobody else receives on it. *REQUESTS stands for the level and lives for
 * ever.
 *
 * A worker runs callbacks of this level's pagers; these may fault only on memory of levels below
 * (docs/servers.md) and never call pager_sync and its kin on this level.
 * => once for each bucket; may block; ENOMEM.
 * Hurd: must come before the first pager_create on BUCKET; workers cannot be inhibited.
 */
error_t pager_start_workers(struct port_bucket *bucket, struct pager_requests **requests);

/* The same with NWORKERS (at least 2) workers and a NAME (not copied) for the threads. */
error_t pager_start_workers_named(struct port_bucket *bucket, const char *name,
                                  unsigned int nworkers, struct pager_requests **requests);

/* Have the workers of REQUESTS begin nothing new until pager_resume_workers has been called as
   often. Messages are received and queued meanwhile. => blocks until all are idle; not from a
   worker. */
error_t pager_inhibit_workers(struct pager_requests *requests);

/* => does not block. */
void pager_resume_workers(struct pager_requests *requests);

/*
 * Create a pager for UPI with a port in BUCKET, ready for requests. MAY_CACHE and COPY_STRATEGY are
 * what the kernel is told in memory_object_ready. With NOTIFY_ON_EVICT pages are supplied as
 * precious, and pager_notify_evict is called when one leaves memory.
 * => may block; null when there is no memory. The caller owns it until pager_shutdown.
 * Hurd: null does not set errno; no user references, no_senders is the server's to ask for.
 */
struct pager *pager_create(struct user_pager_info *upi, struct port_bucket *bucket,
                           boolean_t may_cache, memory_object_copy_strategy_t copy_strategy,
                           boolean_t notify_on_evict);

/* The same with a UPI of SIZE bytes, all zero, that the library makes, and frees behind
   pager_clear_user_data. */
struct pager *pager_create_alloc(size_t size, struct port_bucket *bucket, boolean_t may_cache,
                                 memory_object_copy_strategy_t copy_strategy,
                                 boolean_t notify_on_evict);

/* What PAGER was created for. => does not block. */
struct user_pager_info *pager_get_upi(struct pager *pager);

/* The receive right for requests to PAGER. Make a send right of it for every client. => does not
   block. */
mach_port_t pager_get_port(struct pager *pager);

/*
 * The calling thread is going to wait for PAGER, in CALL, or to touch its memory: the thread's
 * level must be above PAGER's, which is above those that were started before it (librt/order.h).
 * => does not block; a violation ends the run. An extension.
 */
void pager_level_check(const struct pager *pager, const char *call);

/* Count PAGER's requests as CLASS; RT_CLASS_FILE until said otherwise. => does not block. An
   extension. */
void pager_set_class(struct pager *pager, enum rt_class class);

/* PAGER's object is number OBJECT in the trace; 0 until said otherwise. => does not block. An
   extension. */
void pager_set_object(struct pager *pager, uint32_t object);

/* Up to NWRITERS write calls for PAGER may be under way at a time, of pages that do not overlap; 1
   until said otherwise. => does not block. An extension. */
void pager_set_writers(struct pager *pager, unsigned int nwriters);

/* Let syncs borrow pages of PAGER (borrow.c): pages that the store has nothing of are moved out of
   memory to be written, and back, instead of being copied. Who touches one meanwhile waits for the
   write. Not for a pager with NOTIFY_ON_EVICT: there it changes nothing. => does not block. An
   extension. */
void pager_set_borrowing(struct pager *pager, bool borrows);

/*
 * Write out what was changed before the call, and what is precious: the whole object, or LEN bytes
 * from START. The kernel keeps its copy.
 *
 * With WAIT, return when all of it has been written, or could not be. Without, return when the
 * kernel has handed over the last window of it: large ranges go window by window, each written
 * before the next is asked for, because the kernel copies every page of a window.
 *
 * What could not be written before is tried again. Returns the first error of a write-out since the
 * last call with WAIT that returned one, wherever in the object it was (each of several overlapping
 * calls during which it happened returns it); or that of a page of this range which is still not
 * written. Without WAIT, errors are left for a later call.
 * => may block; from any thread but a worker of this level; calls may overlap, and those of ranges
 *    that overlap take turns, window by window.
 * Hurd: returns nothing.
 */
error_t pager_sync(struct pager *pager, int wait);
error_t pager_sync_some(struct pager *pager, vm_address_t start, vm_size_t len, int wait);

/*
 * Have what was changed be written out, as pager_sync does without WAIT; unless PAGER's pages are
 * being returned or written just now, because of a sync or because the kernel pages them out: who
 * is at it need not be disturbed. Nor need clients, who can change a page while it is written: no
 * page is borrowed (pager_set_borrowing). Returns whether it was asked for.
 * => as pager_sync without WAIT. An extension.
 */
bool pager_write_behind(struct pager *pager);

/*
 * Drop the kernel's copy without writing it out: from now on the store's data counts, also for who
 * has asked for such a page before, and errors of earlier write-outs of these pages are forgotten
 * (pager_get_error).
 * => as pager_sync.
 */
error_t pager_flush(struct pager *pager, int wait);
error_t pager_flush_some(struct pager *pager, vm_address_t start, vm_size_t len, int wait);

/* Write out as pager_sync does, and have the kernel drop its copy. => as pager_sync. */
error_t pager_return(struct pager *pager, int wait);
error_t pager_return_some(struct pager *pager, vm_address_t start, vm_size_t len, int wait);

/*
 * Give the kernel the page of data at BUF for PAGE, unasked. With PRECIOUS the kernel gives it back
 * some day, and it is written then: that is how a page that is not in the store gets there; else
 * the kernel may drop it. With WRITELOCK, writing to it asks pager_unlock_page first. The kernel
 * ignores an offer of a page that it has. BUF stays the caller's.
 * => may block; EBUSY while the page is being asked for, written out or synced, and when its last
 *    request got an error, EINVAL outside the object, ENXIO when no kernel has the object mapped.
 * Hurd: returns nothing.
 */
error_t pager_offer_page(struct pager *pager, int precious, int writelock, vm_offset_t page,
                         vm_address_t buf);

/*
 * Tell the kernel that MAY_CACHE and COPY_STRATEGY are others than when PAGER was created; a kernel
 * that maps the object later is told at once. With WAIT, return when the kernel says that it knows.
 * => may block; from any thread but a worker of this level if WAIT.
 */
void pager_change_attributes(struct pager *pager, boolean_t may_cache,
                             memory_object_copy_strategy_t copy_strategy, int wait);

/*
 * Copy *SIZE bytes between OTHER and OFFSET (any alignment) in PAGER's object, of which MEMOBJ is a
 * send right: out of the object if PROT is VM_PROT_READ, into it if it has VM_PROT_WRITE too. *SIZE
 * becomes how many bytes, from the start, have been copied for sure. Neither side needs to be
 * memory that can be touched. The object is mapped for it; if nobody else has it mapped, its pages
 * are returned one by one behind that.
 * => may block for as long as pagers do; not from a worker of this level; ENOMEM; EIO: memory, on
 *    one side or the other, could not be touched. Needs rt_guard_setup.
 * Hurd: an error that a page's pager has given is found with pager_get_error.
 */
error_t pager_memcpy(struct pager *pager, mach_port_t memobj, vm_offset_t offset, void *other,
                     size_t *size, vm_prot_t prot);

/*
 * End PAGER: its port is destroyed and the kernel drops the object, with what it has not returned.
 * Whoever wants that written syncs first. Returns that were received already are still written;
 * after the last of them pager_clear_user_data is called, maybe after this call has returned.
 * PAGER must not be used any more.
 * => may block; no other call on PAGER is under way or follows.
 */
void pager_shutdown(struct pager *pager);

/*
 * The last error of the page at ADDR (any alignment), 0 when it was last read or written without
 * one; EFAULT when it was last asked for outside the object, or any page was that lies, as it does,
 * behind all that were ever asked for inside. A page whose write-out failed keeps its error, and
 * reading it gives an error to the client, until it has been written, by the next sync maybe, or
 * flushed (pager_flush).
 * => does not block.
 */
error_t pager_get_error(struct pager *pager, vm_address_t addr);

/* Print the `counter` lines of data_request and data_return, both classes, of all pagers of this
   task, for the server called SERVER. => any thread. An extension. */
void pager_counters_emit(const char *server);

/*
 * Callbacks, defined by the server. All run in a worker of the pager's level unless said otherwise,
 * may block, and may be called by several workers at once for different pages; only the write calls
 * of one pager are never concurrent with each other, unless pager_set_writers allows it.
 */

/*
 * Read one page at PAGE. *BUF becomes the address of a page from vm_allocate, which the library
 * consumes, or 0 for a page that has no data yet: the client gets zeros. *WRITE_LOCK asks for a
 * page that cannot be written before pager_unlock_page.
 * => 0, or an error that the client gets as a memory fault.
 * Hurd: *BUF is never 0.
 */
error_t pager_read_page(struct user_pager_info *upi, vm_offset_t page, vm_address_t *buf,
                        int *write_lock);

/* Write one page from BUF, at PAGE, and be done with it. The last page may lie only partly inside
   the object; what is outside is not the store's. BUF stays the library's. */
error_t pager_write_page(struct user_pager_info *upi, vm_offset_t page, vm_address_t buf);

/*
 * Write LENGTH bytes, whole pages, from DATA, at OFFSET. *WRITTEN is how many of them, from the
 * start, are in the store: whole pages, also when an error is returned. Returning 0 with less than
 * LENGTH is no error: the library calls again for the rest. After an error the library tries the
 * rest page by page with pager_write_page; EOPNOTSUPP asks for just that.
 * => 0 with *WRITTEN 0, or more than LENGTH, is a mistake: the library says so on the console and
 *    goes on as after an error.
 * A server that does not define this one gets one that says EOPNOTSUPP.
 */
error_t pager_write_pages(struct user_pager_info *upi, vm_offset_t offset, vm_address_t data,
                          vm_size_t length, vm_size_t *written);

/* Allow writing to the page at ADDRESS, which was supplied with a write lock. On an error the next
   attempt to write to it fails with that error. */
error_t pager_unlock_page(struct user_pager_info *upi, vm_offset_t address);

/*
 * The first valid offset (whole pages), and the object's size in bytes; the last page may be partly
 * inside. Requests and returns beyond are refused.
 * => runs in any thread, with the level's lock held: must neither block nor call the library.
 */
error_t pager_report_extent(struct user_pager_info *upi, vm_address_t *offset, vm_size_t *size);

/* The pager is gone; nothing refers to UPI any more. => in a worker, or in pager_shutdown. */
void pager_clear_user_data(struct user_pager_info *upi);

/* The page at PAGE has left memory, and has been written if it had to be; its error, if it had one,
   is forgotten (but reported to pager_sync): PAGE may stand for something else now. Only for pagers
   created with NOTIFY_ON_EVICT. Some evictions go without notice. */
void pager_notify_evict(struct user_pager_info *upi, vm_offset_t page);

#endif
