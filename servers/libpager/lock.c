// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pager_sync and its kin: memory_object_lock_request, window by window.
 *
 * A request that does not flush makes the kernel copy every dirty page of its range, and all its
 * messages are queued before one is received. So a range is done in windows, of which
 * PAGER_WINDOWS at a time have been asked for and not been written: while the disk writes the one,
 * the kernel copies the next, and returns on both sides of a window's end can be written together.
 * A window is over when the kernel has sent lock_completed, which is received after all returns of
 * that request, and all returns of its pages that were received until then are completed. Returns
 * of other pages do not matter: who truncates a file does not wait for a long flush of the rest.
 *
 * The kernel gathers up to 32 copies before it sends them, and the pages are clean, unlocked and
 * evictable meanwhile. Four things can happen to a page whose copy is not sent yet:
 *
 * 1. Another request finds it clean and completes first; or finds it changed again, and its newer
 *    copy comes first. So of windows that overlap only one is asked for at a time.
 * 2. It is evicted without a word and asked for again: the request comes before the copy. So a
 *    request waits while its page is in such a window, unless the kernel never had the page.
 * 3. It is changed and evicted: its newest data comes before the copy. That cannot wait for the
 *    window's end, for the kernel may be waiting for memory. So the page is marked gone until it is
 *    supplied again (which is after the window's end, see 2), and left out of a copy that comes
 *    while it is.
 * 4. It is precious and evicted: it comes back as clean, though the store does not have it. So it
 *    is written, whatever the map says.
 *
 * A flush says that what the store has now counts. The kernel drops the pages that it has; but one
 * may be on its way to it, or about to be sent, as it was read or returned before. So a flush
 * begins when none of its pages is on its way, and whoever waits for one is answered from the store
 * again, when the kernel is done: the answer may be an error, for there is no such page any more.
 *
 * Failed pages. An error that answers a request leaves a page without memory behind, until the
 * thread that faulted has run and taken note; and a kernel whose lock request meets such a page
 * stops on an assertion. We never learn when that thread has run. But until it is asked for again
 * there is no data to be returned or flushed. So a window is asked for in pieces, around the pages
 * that failed; and no error is sent for a page of a window that the kernel has not answered.
 * One case is left: a page that was given back (borrow.c), left memory unnoticed and cannot be read
 * then. Its request may as well have been sent before the page was given back, and the kernel may
 * have it; so the page counts as there.
 */
#include "libpager/private.h"

#include <stdlib.h>

#include "libpager/policy.h"
#include "librt/log.h"

#include "memory_object_server.h"

/* 32 messages of 32 pages, the kernel's DATA_WRITE_MAX, and as much as the largest write. Larger or
   more windows take more memory for the copies. */
#define PAGER_WINDOW  PAGER_MERGE_MOST
#define PAGER_WINDOWS 2u

/* What becomes of the pages in a range. */
struct pager_range {
    vm_offset_t offset;
    uint64_t end; /* an object may end where offsets do */
    memory_object_return_t should_return;
    bool flush;
    bool undisturbed; /* clients go on with the pages: they are copied, not borrowed */
};

static uint8_t pager_range_what(const struct pager_range *range)
{
    if (!range->flush)
        return TRACE_SYNC;
    return range->should_return == MEMORY_OBJECT_RETURN_NONE ? TRACE_FLUSH : TRACE_RETURN;
}

static void pager_window_link(struct pager *pager, struct pager_window *window)
{
    window->next = pager->windows;
    pager->windows = window;
}

static void pager_window_unlink(struct pager *pager, const struct pager_window *window)
{
    struct pager_window **link = &pager->windows;

    while (*link != window)
        link = &(*link)->next;
    *link = window->next;
}

static void pager_window_trace(const struct pager *pager, const struct pager_window *window)
{
    if (window->start != 0)
        trace_end(&(struct trace_event){.kind = TRACE_LOCK_REQUEST,
                                        .start = window->start,
                                        .cause = window->cause,
                                        .object = pager->object,
                                        .offset = window->offset,
                                        .length = (uint32_t)window->length,
                                        .class = (uint8_t)pager->class,
                                        .what = window->what});
}

static bool pager_window_overlaps(const struct pager_window *window, vm_offset_t offset,
                                  vm_size_t length)
{
    return window->offset < (uint64_t)offset + length &&
           offset < (uint64_t)window->offset + window->length;
}

/* Returns of pages of WINDOW that are not completed. */
static size_t pager_window_pending(const struct pager *pager, const struct pager_window *window)
{
    const struct pager_request *returned;
    size_t count = 0;

    for (returned = pager->pending; returned != NULL; returned = returned->pending)
        count += pager_window_overlaps(window, returned->offset, returned->length);
    return count;
}

/* Free WINDOW, if it is over and nobody waits for it. */
static void pager_window_release(struct pager *pager, const struct pager_window *window)
{
    if (window->storage == NULL || !window->completed || window->asking)
        return;
    pager_window_unlink(pager, window);
    free(window->storage);
}

/* WINDOW, a flush, is done: what was supplied unasked before has gone, and requests that were sent
   before that have been received. => level locked. */
static void pager_window_clear(struct pager *pager, const struct pager_window *window)
{
    struct pager_page *page;

    for (vm_size_t done = 0; done < window->length; done += vm_page_size) {
        page = pager_page_lookup(pager, window->offset + done);
        if (page == NULL)
            return;
        page->flags &= (uint16_t) ~(PAGER_PAGE_UNASKED | PAGER_PAGE_OVERTAKEN);
    }
}

static void pager_window_complete(struct pager *pager, struct pager_window *window)
{
    if (window->flushes)
        pager_window_clear(pager, window);
    pager_window_trace(pager, window);
    window->completed = true;
    window->watermark = pager->nreceived;
    window->nleft = pager_window_pending(pager, window);
    rt_cond_broadcast(&pager->cleared);
    if (window->nleft == 0)
        rt_cond_broadcast(&pager->changed);
    pager_waiting_dispatch(pager);
    pager_window_release(pager, window);
}

void pager_windows_abandon(struct pager *pager)
{
    struct pager_window *window = pager->windows;
    struct pager_window *next;

    for (; window != NULL; window = next) {
        next = window->next;
        if (!window->completed)
            pager_window_complete(pager, window);
    }
    pager_waiting_dispatch(pager);
    pager->nchanging = 0;
    rt_cond_broadcast(&pager->changed);
}

void pager_pending_add(struct pager *pager, struct pager_request *returned)
{
    returned->sequence = ++pager->nreceived;
    returned->pending = NULL;
    *pager->pending_tail = returned;
    pager->pending_tail = &returned->pending;
}

static void pager_pending_unlink(struct pager *pager, struct pager_request *returned)
{
    struct pager_request **link = &pager->pending;

    while (*link != returned)
        link = &(*link)->pending;
    *link = returned->pending;
    if (*link == NULL)
        pager->pending_tail = link;
}

void pager_pending_remove(struct pager *pager, struct pager_request *returned)
{
    struct pager_window *window;

    pager->ncompleted++;
    pager_pending_unlink(pager, returned);
    for (window = pager->windows; window != NULL; window = window->next)
        if (window->completed && returned->sequence <= window->watermark &&
            pager_window_overlaps(window, returned->offset, returned->length) &&
            --window->nleft == 0)
            rt_cond_broadcast(&pager->changed);
}

bool pager_windows_copying(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    struct pager_window *window;

    for (window = pager->windows; window != NULL; window = window->next)
        if (window->copies && !window->completed && pager_window_overlaps(window, offset, length))
            return true;
    return false;
}

bool pager_windows_borrowing(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    struct pager_window *window;

    for (window = pager->windows; window != NULL; window = window->next)
        if (window->borrows && !window->completed && pager_window_overlaps(window, offset, length))
            return true;
    return false;
}

bool pager_windows_dropping(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    struct pager_window *window;

    for (window = pager->windows; window != NULL; window = window->next)
        if (window->drops && !window->completed && pager_window_overlaps(window, offset, length))
            return true;
    return false;
}

bool pager_windows_hold(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    return pager_windows_copying(pager, offset, length) ||
           pager_windows_borrowing(pager, offset, length);
}

bool pager_windows_cover(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    struct pager_window *window;

    for (window = pager->windows; window != NULL; window = window->next)
        if (!window->completed && pager_window_overlaps(window, offset, length))
            return true;
    return false;
}

/* The window of which that was the last request, and which the kernel has not answered yet. */
static struct pager_window *pager_window_lookup(struct pager *pager, vm_offset_t offset,
                                                vm_size_t length)
{
    struct pager_window *window = pager->windows;

    while (window != NULL &&
           (window->completed || window->last != offset || window->last_length != length))
        window = window->next;
    return window;
}

kern_return_t S_memory_object_lock_completed(mach_port_t memory_object, mach_port_t memory_control,
                                             vm_offset_t offset, vm_size_t length)
{
    struct pager *pager = pager_lookup_lock(memory_object);
    struct pager_window *window = NULL;

    if (pager != NULL) {
        if (memory_control == pager->control)
            window = pager_window_lookup(pager, offset, length);
        if (window != NULL)
            pager_window_complete(pager, window);
        rt_mutex_unlock(&pager->level->lock);
        if (window == NULL)
            rt_log("lock_completed of %#lx bytes at %#lx: nobody asked", (unsigned long)length,
                   (unsigned long)offset);
    }
    pager_right_drop(memory_control);
    return KERN_SUCCESS;
}

/* Wait until WINDOW is over. => level locked. */
static void pager_window_wait(struct pager *pager, struct pager_window *window)
{
    struct pager_requests *level = pager->level;

    while (!window->completed || window->nleft > 0)
        rt_cond_wait(&pager->changed, &level->lock);
}

/* The store's data of WINDOW's pages counts from now on: what is being read of them is older, and
   so is what was returned. => level locked; none of them is on its way. */
static void pager_window_outdate(struct pager *pager, const struct pager_window *window)
{
    struct pager_page *page;

    for (vm_size_t done = 0; done < window->length; done += vm_page_size) {
        page = pager_page_lookup(pager, window->offset + done);
        if (page == NULL)
            return;
        page->flags &= (uint16_t)~PAGER_PAGE_REQUESTED;
        if (page->npending > 0)
            page->flags |= PAGER_PAGE_FREED;
    }
}

/* Wait until it is WINDOW's turn, and decide how to return its pages. => level locked, but not all
   the time. */
static void pager_window_begin(struct pager *pager, struct pager_window *window,
                               const struct pager_range *range)
{
    bool stays = range->should_return != MEMORY_OBJECT_RETURN_NONE && !range->flush;
    bool may_borrow = stays && !range->undisturbed;

    window->flushes = range->flush;
    window->drops = range->should_return == MEMORY_OBJECT_RETURN_NONE;
    while (pager_windows_cover(pager, window->offset, window->length) ||
           (window->drops && pager_replies_overlap(pager, window->offset, window->length)) ||
           (range->flush && !pager_borrow_forget(pager, window->offset, window->length)) ||
           (may_borrow && pager_borrow_waits(pager)))
        rt_cond_wait(&pager->cleared, &pager->level->lock);
    if (window->drops)
        pager_window_outdate(pager, window);
    window->borrows = may_borrow && pager_borrow_allowed(pager, window->offset, window->length);
    window->copies = stays && !window->borrows;
}

/* Make PIECE the first pages of WINDOW at or behind its end that have not failed. False if there
   are none. => level locked. */
static bool pager_window_piece(struct pager *pager, const struct pager_window *window,
                               struct pager_range *piece)
{
    uint64_t end = (uint64_t)window->offset + window->length;
    uint64_t offset = piece->end;

    while (offset < end && pager_page_failed(pager, (vm_offset_t)offset))
        offset += vm_page_size;
    piece->offset = (vm_offset_t)offset;
    piece->end = offset;
    while (piece->end < end && !pager_page_failed(pager, (vm_offset_t)piece->end))
        piece->end += vm_page_size;
    return offset < end;
}

/* Ask CONTROL to do with WINDOW as PIECE says, piece by piece; to answer the last. If a call fails
   the object has gone, and memory_object_terminate completes the window.
   => level locked, but not all the time. */
static void pager_window_send(struct pager *pager, struct pager_window *window,
                              struct pager_range *piece, mach_port_t control)
{
    struct pager_range next = *piece;
    bool more = pager_window_piece(pager, window, &next);

    while (more && !window->completed) {
        *piece = next;
        more = pager_window_piece(pager, window, &next);
        window->last = piece->offset;
        window->last_length = more ? 0 : (vm_size_t)(piece->end - piece->offset);
        rt_mutex_unlock(&pager->level->lock);
        memory_object_lock_request(control, piece->offset, (vm_size_t)(piece->end - piece->offset),
                                   piece->should_return, piece->flush, VM_PROT_NO_CHANGE,
                                   more ? MACH_PORT_NULL : pager->port);
        rt_mutex_lock(&pager->level->lock);
    }
}

/* Ask the kernel to do with WINDOW as RANGE says, when it is its turn. => level locked, but not
   meanwhile; WINDOW may be completed, and freed if nobody waits, on return. */
static void pager_window_ask(struct pager *pager, struct pager_window *window,
                             const struct pager_range *range)
{
    struct pager_range piece = {.end = window->offset, .should_return = range->should_return};
    mach_port_t control;

    pager_window_begin(pager, window, range);
    piece.flush = range->flush || window->borrows;
    window->what = pager_range_what(range);
    window->cause = trace_cause();
    window->start = trace_begin(TRACE_LOCK_REQUEST);
    window->asking = true;
    pager_window_link(pager, window);
    control = pager_control_ref(pager);
    if (control != MACH_PORT_NULL)
        pager_window_send(pager, window, &piece, control);
    pager_right_drop(control);
    window->asking = false;
    if (window->last_length == 0 && !window->completed) /* nothing to ask for, or nobody to ask */
        pager_window_complete(pager, window);
    else
        pager_window_release(pager, window);
}

void pager_page_ask(struct pager *pager, const struct pager_request *request,
                    memory_object_return_t should_return, bool flush, vm_prot_t prot)
{
    struct pager_window window = {.offset = request->offset, .length = request->length};

    rt_mutex_lock(&pager->level->lock);
    if (!pager_page_failed(pager, request->offset)) {
        pager_window_link(pager, &window);
        rt_mutex_unlock(&pager->level->lock);
        memory_object_lock_request(request->control, request->offset, request->length,
                                   should_return, flush, prot, MACH_PORT_NULL);
        rt_mutex_lock(&pager->level->lock);
        pager_window_unlink(pager, &window);
        rt_cond_broadcast(&pager->cleared);
        pager_waiting_dispatch(pager);
    }
    rt_mutex_unlock(&pager->level->lock);
}

/* What was dropped unwritten is of no interest any more, nor why it could not be written before. */
static void pager_range_forget(struct pager *pager, const struct pager_range *range,
                               vm_offset_t offset, vm_size_t length)
{
    struct pager_page *page;

    if (range->should_return != MEMORY_OBJECT_RETURN_NONE)
        return;
    for (vm_size_t done = 0; done < length; done += vm_page_size) {
        page = pager_page_lookup(pager, offset + done);
        if (page == NULL)
            return;
        pager_page_set_stale(pager, page, false);
        pager_kept_drop(pager, offset + done);
        page->flags &= (uint16_t)~PAGER_PAGE_DENIED;
        page->error = 0;
    }
}

/* Ask for a window without anybody waiting for it, if there is memory. */
static bool pager_window_start(struct pager *pager, const struct pager_range *range,
                               vm_offset_t offset, vm_size_t length)
{
    struct pager_window *window = malloc(sizeof(*window));

    if (window == NULL)
        return false;
    *window = (struct pager_window){.offset = offset, .length = length, .storage = window};
    pager_window_ask(pager, window, range);
    pager_range_forget(pager, range, offset, length);
    return true;
}

/* WINDOW, which was asked for as RANGE says, is waited for. => level locked, but not all the time.
 */
static void pager_window_finish(struct pager *pager, const struct pager_range *range,
                                struct pager_window *window)
{
    pager_window_wait(pager, window);
    pager_window_unlink(pager, window);
    pager_range_forget(pager, range, window->offset, window->length);
}

/* The length of the window of RANGE that begins at OFFSET. */
static vm_size_t pager_window_length(const struct pager_range *range, uint64_t offset)
{
    return range->end - offset < PAGER_WINDOW ? (vm_size_t)(range->end - offset) : PAGER_WINDOW;
}

/* Windows that have been asked for: number N is windows[N % PAGER_WINDOWS].
   => level locked, but not all the time. */
static void pager_range_run(struct pager *pager, const struct pager_range *range, bool wait)
{
    struct pager_window windows[PAGER_WINDOWS];
    size_t nasked = 0;
    size_t nfinished = 0;
    vm_size_t length;

    if (range->should_return != MEMORY_OBJECT_RETURN_NONE)
        pager_kept_retry(pager, range->offset, range->end);
    for (uint64_t offset = range->offset; offset < range->end; offset += length) {
        length = pager_window_length(range, offset);
        if (nasked - nfinished == PAGER_WINDOWS)
            pager_window_finish(pager, range, &windows[nfinished++ % PAGER_WINDOWS]);
        if (!wait && offset + length == range->end &&
            pager_window_start(pager, range, (vm_offset_t)offset, length))
            break;
        windows[nasked % PAGER_WINDOWS] =
            (struct pager_window){.offset = (vm_offset_t)offset, .length = length};
        pager_window_ask(pager, &windows[nasked++ % PAGER_WINDOWS], range);
    }
    while (nfinished < nasked)
        pager_window_finish(pager, range, &windows[nfinished++ % PAGER_WINDOWS]);
}

/* Tell LISTENER of errors from now on, and of the one that nobody was there for. */
static void pager_listener_link(struct pager *pager, struct pager_listener *listener)
{
    *listener = (struct pager_listener){.next = pager->listeners, .error = pager->error};
    pager->error = 0;
    pager->listeners = listener;
}

static void pager_listener_unlink(struct pager *pager, const struct pager_listener *listener)
{
    struct pager_listener **link = &pager->listeners;

    while (*link != listener)
        link = &(*link)->next;
    *link = listener->next;
}

/* => level locked, but not all the time. */
static error_t pager_range_listen(struct pager *pager, const struct pager_range *range)
{
    struct pager_listener listener;

    pager_listener_link(pager, &listener);
    pager_range_run(pager, range, true);
    pager_listener_unlink(pager, &listener);
    if (listener.error == 0 && range->should_return != MEMORY_OBJECT_RETURN_NONE)
        return pager_stale_error(pager, range->offset, range->end);
    return listener.error;
}

static error_t pager_range_do(struct pager *pager, const struct pager_range *range, int wait)
{
    error_t error = 0;

    if (wait != 0)
        pager_level_check(pager, "a sync");
    rt_mutex_lock(&pager->level->lock);
    if (wait != 0)
        error = pager_range_listen(pager, range);
    else
        pager_range_run(pager, range, false);
    rt_mutex_unlock(&pager->level->lock);
    return error;
}

static error_t pager_some_do(struct pager *pager, vm_address_t start, vm_size_t len,
                             memory_object_return_t should_return, bool flush, int wait)
{
    vm_size_t page = vm_page_size;
    struct pager_range range = {.offset = start / page * page,
                                .end = ((uint64_t)start + len + page - 1) / page * page,
                                .should_return = should_return,
                                .flush = flush};

    return pager_range_do(pager, &range, wait);
}

static error_t pager_all_do(struct pager *pager, memory_object_return_t should_return, bool flush,
                            int wait)
{
    vm_address_t start;
    vm_size_t size;
    error_t error;

    rt_mutex_lock(&pager->level->lock);
    error = pager_report_extent(pager->upi, &start, &size);
    rt_mutex_unlock(&pager->level->lock);
    if (error != 0)
        return error;
    return pager_some_do(pager, start, size, should_return, flush, wait);
}

error_t pager_sync(struct pager *pager, int wait)
{
    return pager_all_do(pager, MEMORY_OBJECT_RETURN_ALL, false, wait);
}

error_t pager_sync_some(struct pager *pager, vm_address_t start, vm_size_t len, int wait)
{
    return pager_some_do(pager, start, len, MEMORY_OBJECT_RETURN_ALL, false, wait);
}

bool pager_write_behind(struct pager *pager)
{
    struct pager_range range = {.should_return = MEMORY_OBJECT_RETURN_ALL, .undisturbed = true};
    vm_address_t start;
    vm_size_t size;
    bool idle;

    rt_mutex_lock(&pager->level->lock);
    idle = pager->windows == NULL && pager->nreceived == pager->ncompleted &&
           pager_report_extent(pager->upi, &start, &size) == 0;
    if (idle) {
        range.offset = start;
        range.end = ((uint64_t)start + size + vm_page_size - 1) / vm_page_size * vm_page_size;
        pager_range_run(pager, &range, false);
    }
    rt_mutex_unlock(&pager->level->lock);
    return idle;
}

error_t pager_flush(struct pager *pager, int wait)
{
    return pager_all_do(pager, MEMORY_OBJECT_RETURN_NONE, true, wait);
}

error_t pager_flush_some(struct pager *pager, vm_address_t start, vm_size_t len, int wait)
{
    return pager_some_do(pager, start, len, MEMORY_OBJECT_RETURN_NONE, true, wait);
}

error_t pager_return(struct pager *pager, int wait)
{
    return pager_all_do(pager, MEMORY_OBJECT_RETURN_ALL, true, wait);
}

error_t pager_return_some(struct pager *pager, vm_address_t start, vm_size_t len, int wait)
{
    return pager_some_do(pager, start, len, MEMORY_OBJECT_RETURN_ALL, true, wait);
}
