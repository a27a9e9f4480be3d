// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel asks for: pages (data_request) and leave to write to them (data_unlock).
 *
 * A request for a page that is pending, or that the kernel may have a copy of which it has not
 * sent, or that is being flushed (lock.c), goes to pager->waiting until that has ended; a return
 * that is completed answers it (return.c). Others are served by a worker. While it reads, the page
 * may become resident without our answer (pager_offer_page), be changed and come back: what was
 * read is older than that then. So receiving a return clears PAGER_PAGE_REQUESTED, as a flush does,
 * and a reader that finds it cleared starts over.
 *
 * A request for a page outside the object is refused, but by a worker, too: as any other error, its
 * answer must wait while a lock request is on its way to the page (lock.c).
 */
#include "libpager/private.h"

#include "librt/log.h"

#include "memory_object_server.h"

void pager_request_reply(struct pager *pager, struct pager_request *request)
{
    request->replying = true;
    request->reply = pager->replies;
    pager->replies = request;
}

/* REQUEST's answer has reached the kernel. => level locked. */
static void pager_reply_end(struct pager *pager, const struct pager_request *request)
{
    struct pager_request **link = &pager->replies;

    while (*link != request)
        link = &(*link)->reply;
    *link = request->reply;
    rt_cond_broadcast(&pager->cleared);
}

bool pager_replies_overlap(const struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    const struct pager_request *request = pager->replies;

    while (request != NULL && request->offset - offset >= length)
        request = request->reply;
    return request != NULL;
}

void pager_request_done(struct pager *pager, struct pager_request *request)
{
    pager_request_trace(pager, request);
    pager_right_drop(request->control);
    rt_mutex_lock(&pager->level->lock);
    if (request->replying)
        pager_reply_end(pager, request);
    pager_request_free(pager, request);
}

void pager_page_supply(struct pager_page *page)
{
    page->flags &= (uint16_t) ~(PAGER_PAGE_REQUESTED | PAGER_PAGE_GONE | PAGER_PAGE_FAILED);
    page->flags |= PAGER_PAGE_SUPPLIED;
}

bool pager_read_waits(struct pager *pager, const struct pager_request *request)
{
    const struct pager_page *page = pager_page_lookup(pager, request->offset);

    if (page == NULL) /* REQUEST is refused */
        return false;
    return page->npending > 0 || pager_windows_dropping(pager, request->offset, request->length) ||
           ((page->flags & (PAGER_PAGE_SUPPLIED | PAGER_PAGE_GONE)) != 0 &&
            pager_windows_hold(pager, request->offset, request->length));
}

void pager_request_dispatch(struct pager *pager, struct pager_request *request)
{
    struct pager_page *page = pager_page_lookup(pager, request->offset);

    if (request->kind == PAGER_READ) {
        if (page != NULL)
            page->flags |= PAGER_PAGE_REQUESTED;
        if (pager_read_waits(pager, request)) {
            pager_list_append(&pager->waiting, request);
            return;
        }
    }
    pager_list_append(&pager->todo[PAGER_WORK_READ], request);
    pager_schedule(pager, PAGER_WORK_READ);
}

void pager_waiting_dispatch(struct pager *pager)
{
    struct pager_request *list = pager->waiting.head;
    struct pager_request *next;

    pager_list_init(&pager->waiting);
    for (; list != NULL; list = next) {
        next = list->next;
        pager_request_dispatch(pager, list);
    }
}

/* Whether REQUEST makes sense. => level locked. EPERM: not from the kernel that has the object. */
static error_t pager_request_check(struct pager *pager, const struct pager_request *request)
{
    if (request->control != pager->control || pager->control == MACH_PORT_NULL)
        return EPERM;
    if (request->offset % vm_page_size != 0 || request->length != vm_page_size)
        return EINVAL; /* the kernel asks for one page at a time */
    if (pager_extent_clip(pager, request->offset, request->length) == 0)
        return EFAULT;
    return pager_map_grow(pager, request->offset, request->length);
}

static void pager_request_log(const struct pager_request *request, error_t error)
{
    if (error != EFAULT) /* a client that reaches beyond the object's end is nothing to report */
        rt_log("request for %#lx bytes at %#lx refused: error %d", (unsigned long)request->length,
               (unsigned long)request->offset, error);
}

/* REQUEST is none that a worker could answer. */
static void pager_request_refuse(struct pager *pager, struct pager_request *request, error_t error)
{
    if (request->kind == PAGER_READ && error == EINVAL)
        memory_object_data_error(request->control, request->offset, request->length,
                                 KERN_MEMORY_ERROR);
    if (request->kind == PAGER_UNLOCK && error != EPERM) /* the client tries again: see above */
        pager_page_ask(pager, request, MEMORY_OBJECT_RETURN_NONE, true, VM_PROT_NO_CHANGE);
    pager_request_done(pager, request);
}

/* REQUEST has just been received; the kernel sends no other for its page until this one has been
   answered, or overtaken by a supply, and then the new one counts. => level locked. */
static void pager_request_mark(struct pager *pager, const struct pager_request *request)
{
    struct pager_page *page = pager_page_lookup(pager, request->offset);

    if (page == NULL)
        return;
    if ((page->flags & PAGER_PAGE_UNASKED) != 0)
        page->flags |= PAGER_PAGE_OVERTAKEN;
    else
        page->flags &= (uint16_t)~PAGER_PAGE_OVERTAKEN;
    page->flags &= (uint16_t)~PAGER_PAGE_UNASKED;
}

/* REQUEST has been checked, with result ERROR. Returns whether it was queued. => level locked. */
static bool pager_request_queue(struct pager *pager, struct pager_request *request, error_t error)
{
    bool read = request->kind == PAGER_READ;

    if (error != 0)
        request->start = 0; /* what is refused is not counted */
    if (error != 0 && (!read || error == EPERM || error == EINVAL))
        return false;
    if (read)
        pager_request_mark(pager, request);
    if (error == 0 && read)
        rt_counter_add(&pager->level->data_request[pager->class], (uint32_t)request->length);
    request->refused = (uint8_t)error;
    pager_request_dispatch(pager, request);
    return true;
}

static kern_return_t pager_request_receive(mach_port_t object, const struct pager_request *message)
{
    struct pager_request *request;
    struct pager *pager = pager_lookup_reserve(object, &request);
    error_t error;
    bool queued;

    if (pager == NULL) {
        pager_right_drop(message->control);
        return KERN_SUCCESS;
    }
    *request = *message;
    pager_request_received(request);
    error = pager_request_check(pager, request);
    queued = pager_request_queue(pager, request, error);
    rt_mutex_unlock(&pager->level->lock);
    if (error != 0)
        pager_request_log(message, error);
    if (!queued) /* the node is still ours, and keeps the pager alive */
        pager_request_refuse(pager, request, error);
    return KERN_SUCCESS;
}

kern_return_t S_memory_object_data_request(mach_port_t memory_object, mach_port_t memory_control,
                                           vm_offset_t offset, vm_size_t length,
                                           vm_prot_t desired_access)
{
    struct pager_request message = {.kind = PAGER_READ,
                                    .control = memory_control,
                                    .offset = offset,
                                    .length = length,
                                    .access = desired_access};

    return pager_request_receive(memory_object, &message);
}

kern_return_t S_memory_object_data_unlock(mach_port_t memory_object, mach_port_t memory_control,
                                          vm_offset_t offset, vm_size_t length,
                                          vm_prot_t desired_access)
{
    struct pager_request message = {.kind = PAGER_UNLOCK,
                                    .control = memory_control,
                                    .offset = offset,
                                    .length = length,
                                    .access = desired_access};

    return pager_request_receive(memory_object, &message);
}

void pager_request_answer(struct pager *pager, struct pager_request *request, boolean_t precious)
{
    memory_object_data_supply(request->control, request->offset, request->data,
                              (mach_msg_type_number_t)request->length, FALSE, VM_PROT_NONE,
                              precious, MACH_PORT_NULL);
    pager_request_done(pager, request);
}

/* The error that REQUEST must get without reading, or 0. */
static error_t pager_read_veto(struct pager *pager, const struct pager_request *request)
{
    struct pager_page *page;
    error_t error = request->refused;

    rt_mutex_lock(&pager->level->lock);
    page = error == 0 ? pager_page_lookup(pager, request->offset) : NULL;
    if (page != NULL && (page->flags & PAGER_PAGE_DENIED) != 0 &&
        (request->access & VM_PROT_WRITE) != 0) {
        page->flags &= (uint16_t)~PAGER_PAGE_DENIED;
        error = page->error;
    }
    if (page != NULL && (page->flags & PAGER_PAGE_STALE) != 0)
        error = page->error;
    if (pager_extent_clip(pager, request->offset, request->length) == 0)
        error = EFAULT; /* the object has become shorter since the request was received */
    rt_mutex_unlock(&pager->level->lock);
    return error;
}

/* Whether it is open if the kernel has the page of REQUEST, but will not be soon: the object has
   become shorter, and whoever made it so flushes what was cut off. => level locked. */
static bool pager_error_awaits_flush(const struct pager *pager, const struct pager_request *request,
                                     const struct pager_page *page, error_t error)
{
    return error == EFAULT && page != NULL && (page->flags & PAGER_PAGE_OVERTAKEN) != 0 &&
           request->control == pager->control;
}

/* Whether REQUEST can be answered now, with ERROR or with data. If not it was queued again: it was
   overtaken, or an error must wait. => level locked. */
static bool pager_read_ready(struct pager *pager, struct pager_request *request, error_t error)
{
    const struct pager_page *page = pager_page_lookup(pager, request->offset);

    if (page != NULL &&
        ((page->flags & PAGER_PAGE_REQUESTED) == 0 || pager_read_waits(pager, request))) {
        pager_request_dispatch(pager, request);
        return false;
    }
    if (error != 0 && (pager_windows_cover(pager, request->offset, request->length) ||
                       pager_error_awaits_flush(pager, request, page, error))) {
        pager_list_append(&pager->waiting, request);
        return false;
    }
    return true;
}

/* PAGE will be supplied, or found unavailable. => level locked. */
static void pager_page_read(struct pager_page *page, bool data)
{
    pager_page_supply(page);
    if ((page->flags & PAGER_PAGE_DENIED) == 0)
        pager_page_set_error(page, 0);
    if (data)
        page->flags |= PAGER_PAGE_STORED;
    else
        page->flags &= (uint16_t)~PAGER_PAGE_STORED;
}

/* The page of REQUEST gets ERROR; but the kernel ignores that if it has the page. => level locked.
 */
static void pager_page_fail(struct pager *pager, const struct pager_request *request, error_t error)
{
    struct pager_page *page = pager_page_entry(pager, request->offset);

    page->flags &= (uint16_t) ~(PAGER_PAGE_REQUESTED | PAGER_PAGE_STORED);
    if ((page->flags & PAGER_PAGE_OVERTAKEN) == 0)
        page->flags |= PAGER_PAGE_FAILED;
    pager_page_set_error(page, error);
}

/* REQUEST is answered with ERROR, or else maybe with DATA. The kernel that asked may have gone, and
   then it is not what the page is like for the next one. => level locked. */
static void pager_read_begin(struct pager *pager, struct pager_request *request, error_t error,
                             bool data)
{
    pager_request_reply(pager, request);
    if (request->control != pager->control)
        return;
    if (error != 0)
        pager_page_fail(pager, request, error);
    else
        pager_page_read(pager_page_lookup(pager, request->offset), data);
}

/* The page of REQUEST has been read with result ERROR, and there is data or not: note it. Returns
   false when it cannot be answered yet, and was queued again. */
static bool pager_read_note(struct pager *pager, struct pager_request *request, error_t error,
                            bool data)
{
    bool ready;

    rt_mutex_lock(&pager->level->lock);
    ready = pager_read_ready(pager, request, error);
    if (ready)
        pager_read_begin(pager, request, error, data);
    rt_mutex_unlock(&pager->level->lock);
    return ready;
}

/* Send what was read. BUF, if there is any, is consumed. */
static void pager_read_reply(struct pager *pager, const struct pager_request *request,
                             error_t error, vm_address_t buf, vm_prot_t lock)
{
    if (error != 0)
        memory_object_data_error(request->control, request->offset, request->length,
                                 KERN_MEMORY_ERROR);
    else if (buf == 0)
        memory_object_data_unavailable(request->control, request->offset, request->length);
    else if (memory_object_data_supply(request->control, request->offset, buf,
                                       (mach_msg_type_number_t)request->length, TRUE, lock,
                                       pager->notify_on_evict, MACH_PORT_NULL) != KERN_SUCCESS)
        vm_deallocate(mach_task_self(), buf, vm_page_size); /* the object has gone */
}

static void pager_read(struct pager *pager, struct pager_request *request)
{
    vm_address_t buf = 0;
    int write_lock = 0;
    error_t error = pager_read_veto(pager, request);
    uint32_t cause = trace_set_cause(request->number);

    if (error == 0)
        error = pager_read_page(pager->upi, request->offset, &buf, &write_lock);
    trace_set_cause(cause);
    if (!pager_read_note(pager, request, error, buf != 0)) {
        if (buf != 0)
            vm_deallocate(mach_task_self(), buf, vm_page_size);
        return;
    }
    request->result = (uint8_t)error;
    pager_read_reply(pager, request, error, buf, write_lock != 0 ? VM_PROT_WRITE : VM_PROT_NONE);
    pager_request_done(pager, request);
}

/* The page may not be written to: the next request that wants to gets ERROR, and for it to come the
   page must leave memory. */
static void pager_unlock_deny(struct pager *pager, const struct pager_request *request,
                              error_t error)
{
    struct pager_page *page;

    rt_mutex_lock(&pager->level->lock);
    page = pager_page_lookup(pager, request->offset);
    page->flags |= PAGER_PAGE_DENIED;
    pager_page_set_error(page, error);
    rt_mutex_unlock(&pager->level->lock);
    pager_page_ask(pager, request, MEMORY_OBJECT_RETURN_ALL, true, VM_PROT_NO_CHANGE);
}

static void pager_unlock(struct pager *pager, struct pager_request *request)
{
    uint32_t cause = trace_set_cause(request->number);
    error_t error = pager_unlock_page(pager->upi, request->offset);

    trace_set_cause(cause);
    request->result = (uint8_t)error;
    if (error == 0)
        pager_page_ask(pager, request, MEMORY_OBJECT_RETURN_NONE, false, VM_PROT_NONE);
    else
        pager_unlock_deny(pager, request, error);
    pager_request_done(pager, request);
}

void pager_requests_serve(struct pager *pager, struct pager_request *list)
{
    struct pager_request *next;

    for (; list != NULL; list = next) {
        next = list->next;
        if (list->kind == PAGER_READ)
            pager_read(pager, list);
        else
            pager_unlock(pager, list);
    }
}

/* Whether PAGE may be offered. => level locked. */
static error_t pager_offer_check(struct pager *pager, vm_offset_t page)
{
    struct pager_page *entry;

    if (page % vm_page_size != 0 || pager_extent_clip(pager, page, vm_page_size) == 0)
        return EINVAL;
    if (pager_map_grow(pager, page, vm_page_size) != 0)
        return ENOMEM;
    entry = pager_page_lookup(pager, page);
    if (entry->npending > 0 || (entry->flags & (PAGER_PAGE_REQUESTED | PAGER_PAGE_FAILED)) != 0 ||
        pager_windows_copying(pager, page, vm_page_size))
        return EBUSY;
    return 0;
}

/* PAGE is about to be offered. => level locked. */
static void pager_offer_mark(struct pager *pager, vm_offset_t page, bool precious)
{
    struct pager_page *entry = pager_page_lookup(pager, page);

    pager_page_supply(entry);
    entry->flags |= PAGER_PAGE_UNASKED;
    if (precious)
        entry->flags &= (uint16_t)~PAGER_PAGE_STORED;
}

error_t pager_offer_page(struct pager *pager, int precious, int writelock, vm_offset_t page,
                         vm_address_t buf)
{
    mach_port_t control;
    error_t error;

    rt_mutex_lock(&pager->level->lock);
    control = pager_control_ref(pager);
    error = control == MACH_PORT_NULL ? ENXIO : pager_offer_check(pager, page);
    if (error == 0)
        pager_offer_mark(pager, page, precious != 0);
    rt_mutex_unlock(&pager->level->lock);
    if (error == 0)
        memory_object_data_supply(control, page, buf, (mach_msg_type_number_t)vm_page_size, FALSE,
                                  writelock != 0 ? VM_PROT_WRITE : VM_PROT_NONE, precious != 0,
                                  MACH_PORT_NULL);
    pager_right_drop(control);
    return error;
}
