// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel gives back (data_return).
 *
 * Received: the message is checked and clipped to the object, its pages become pending, and it
 * joins the pager's list. Then it is written (write.c). Completed: the pages are no longer pending,
 * whoever waits for one of them is answered from the message's own memory, and only then is that
 * memory released.
 */
#include "libpager/private.h"

#include "librt/log.h"

#include "memory_object_server.h"

_Static_assert(PAGER_NODES <= UINT16_MAX, "npending counts the nodes that hold a page");

static void pager_data_release(vm_address_t data, vm_size_t length)
{
    if (length > 0)
        vm_deallocate(mach_task_self(), data, length);
}

/* PAGE, which is in REQUEST, has been received. COPYING: the kernel may have a copy of it that it
   has not sent. => level locked. */
static void pager_page_mark(struct pager_page *page, struct pager_request *request, bool copying)
{
    page->npending++;
    page->flags &= (uint16_t) ~(PAGER_PAGE_REQUESTED | PAGER_PAGE_UNASKED);
    if (request->borrowed)
        page->flags |= PAGER_PAGE_BORROWED;
    if ((page->flags & PAGER_PAGE_STORED) == 0)
        request->stored = false; /* precious data that was never written */
    if (request->kernel_copy) {
        if ((page->flags & PAGER_PAGE_GONE) != 0)
            request->overtaken = true;
    } else if (copying) {
        request->stored = false; /* clean it may be only because of that copy */
        page->flags |= PAGER_PAGE_GONE;
    } else {
        page->flags &= (uint16_t)~PAGER_PAGE_SUPPLIED;
    }
}

/* What was kept of the pages of REQUEST, because it could not be written, is older than they are.
   => level locked. */
static void pager_return_supersede(struct pager *pager, const struct pager_request *request)
{
    if (pager->kept == NULL)
        return;
    for (vm_size_t done = 0; done < request->length; done += vm_page_size)
        if (pager_return_has(pager, request, request->offset + done))
            pager_kept_drop(pager, request->offset + done);
}

/* The pages of REQUEST are pending from now on. => level locked; the map covers them. */
static void pager_return_mark(struct pager *pager, struct pager_request *request, bool dirty)
{
    struct pager_page *page = pager_page_lookup(pager, request->offset);
    struct pager_page *end = page + request->length / vm_page_size;
    bool copying = pager_windows_copying(pager, request->offset, request->length);
    bool dropping = pager_windows_dropping(pager, request->offset, request->length);

    request->stored = !dirty;
    request->borrowed = pager_borrows(pager, request);
    for (; page < end; page++) {
        if (dirty)
            page->flags &= (uint16_t)~PAGER_PAGE_STORED;
        if (dropping)
            page->flags |= PAGER_PAGE_FREED;
        pager_page_mark(page, request, copying);
    }
    pager_return_supersede(pager, request);
}

/* Null if REQUEST may be written, its length clipped; else what is wrong. => level locked. */
static const char *pager_return_check(struct pager *pager, mach_port_t control,
                                      struct pager_request *request)
{
    if (control != pager->control || control == MACH_PORT_NULL)
        return "not from the kernel that has the object";
    if (request->offset % vm_page_size != 0 || request->data_length % vm_page_size != 0)
        return "not whole pages";
    if (request->data_length == 0)
        return "no data";
    request->length = pager_extent_clip(pager, request->offset, request->data_length);
    if (request->length == 0)
        return "outside the object";
    if (pager_map_grow(pager, request->offset, request->length) == 0)
        return NULL;
    pager_error_report(pager, ENOMEM); /* data of a client is lost */
    return "no memory";
}

/* => level locked. */
static void pager_return_queue(struct pager *pager, struct pager_request *request, bool dirty)
{
    rt_counter_add(&pager->level->data_return[pager->class], (uint32_t)request->data_length);
    pager->nowed++;
    pager_pending_add(pager, request);
    pager_return_mark(pager, request, dirty);
    pager_list_append(&pager->todo[PAGER_WORK_WRITE], request);
    pager->backlog += request->length;
    pager_gather(pager, request->length);
}

/* Say what was not taken of MESSAGE: all of it (REFUSAL says why), or what follows LENGTH bytes. */
static void pager_return_log(const struct pager_request *message, const char *refusal,
                             vm_size_t length)
{
    if (refusal != NULL)
        rt_log("data_return of %#lx bytes at %#lx refused: %s", (unsigned long)message->data_length,
               (unsigned long)message->offset, refusal);
    else if (length < message->data_length)
        rt_log("data_return of %#lx bytes at %#lx clipped: the object ends after %#lx",
               (unsigned long)message->data_length, (unsigned long)message->offset,
               (unsigned long)length);
}

/* Queue MESSAGE at the pager that OBJECT stands for. Returns whether it was taken, with its memory
   and its right. */
static bool pager_return_receive(mach_port_t object, mach_port_t control,
                                 const struct pager_request *message, bool dirty)
{
    struct pager_request *request;
    struct pager *pager = pager_lookup_reserve(object, &request);
    const char *refusal;
    vm_size_t length;

    if (pager == NULL)
        return false;
    *request = *message;
    pager_request_received(request);
    request->dirty = dirty;
    refusal = pager_return_check(pager, control, request);
    length = request->length;
    if (refusal == NULL) {
        pager_return_queue(pager, request, dirty);
        rt_mutex_unlock(&pager->level->lock);
    } else {
        pager_request_free(pager, request);
    }
    pager_return_log(message, refusal, length);
    return refusal == NULL;
}

kern_return_t S_memory_object_data_return(mach_port_t memory_object, mach_port_t memory_control,
                                          vm_offset_t offset, vm_offset_t data,
                                          mach_msg_type_number_t dataCnt, boolean_t dirty,
                                          boolean_t kernel_copy)
{
    struct pager_request message = {.kind = PAGER_RETURN,
                                    .offset = offset,
                                    .data = data,
                                    .memory = data,
                                    .memory_length = dataCnt,
                                    .data_length = dataCnt,
                                    .kernel_copy = kernel_copy != FALSE};

    if (pager_return_receive(memory_object, memory_control, &message, dirty != FALSE))
        return KERN_SUCCESS;
    pager_data_release(data, dataCnt);
    pager_right_drop(memory_control);
    return KERN_SUCCESS;
}

/* The pages of RETURN are no longer pending for its sake. => level locked. */
static void pager_return_unmark(struct pager *pager, struct pager_request *returned)
{
    struct pager_page *page = pager_page_lookup(pager, returned->offset);
    struct pager_page *end = page + returned->length / vm_page_size;

    for (; page < end; page++) {
        if (--page->npending == 0)
            page->flags &= (uint16_t)~PAGER_PAGE_BORROWED;
        if ((page->flags & PAGER_PAGE_STALE) != 0)
            returned->result = page->error;
    }
}

/* Whoever waited for RETURNED knows now. What else is pending of its pages may be history, too.
   => level locked. */
static void pager_return_settle(struct pager *pager, const struct pager_request *returned)
{
    struct pager_page *page = pager_page_lookup(pager, returned->offset);
    struct pager_page *end = page + returned->length / vm_page_size;

    for (; page < end; page++)
        if (page->npending == 0)
            page->flags &= (uint16_t)~PAGER_PAGE_FREED;
}

bool pager_return_has(struct pager *pager, const struct pager_request *returned, vm_offset_t offset)
{
    uint8_t older = returned->overtaken ? PAGER_PAGE_GONE | PAGER_PAGE_FREED : PAGER_PAGE_FREED;

    return offset - returned->offset < returned->length &&
           (pager_page_lookup(pager, offset)->flags & older) == 0;
}

/* Move the requests that RETURNED can answer from pager->waiting to ANSWERS: those for a page of
   it that nothing newer is pending for. => level locked. */
static void pager_return_match(struct pager *pager, const struct pager_request *returned,
                               struct pager_list *answers)
{
    struct pager_request *list = pager->waiting.head;
    struct pager_request *next;

    pager_list_init(answers);
    pager_list_init(&pager->waiting);
    for (; list != NULL; list = next) {
        next = list->next;
        if (pager_read_waits(pager, list) || returned->given || list->refused != 0 ||
            !pager_return_has(pager, returned, list->offset)) {
            pager_request_dispatch(pager, list);
            continue;
        }
        list->data = returned->data + (list->offset - returned->offset);
        pager_request_reply(pager, list);
        pager_list_append(answers, list);
    }
}

/* Answer the requests in ANSWERS. Data that could not be written is precious: the kernel will give
   it back, and it gets another chance. */
static void pager_return_answer(struct pager *pager, struct pager_list *answers)
{
    struct pager_request *list = answers->head;
    struct pager_request *next;
    struct pager_page *page;
    bool stale;

    for (; list != NULL; list = next) {
        next = list->next;
        rt_mutex_lock(&pager->level->lock);
        page = pager_page_lookup(pager, list->offset);
        pager_page_supply(page);
        stale = (page->flags & PAGER_PAGE_STALE) != 0;
        rt_mutex_unlock(&pager->level->lock);
        pager_request_answer(pager, list, pager->notify_on_evict || stale);
    }
}

/* If the page at OFFSET has left memory for good, forget what is known about it: the server may use
   it for something else now. Requests for it wait until the return that took it is completed. */
static bool pager_evict(struct pager *pager, vm_offset_t offset)
{
    struct pager_page *page;
    bool evicted;

    rt_mutex_lock(&pager->level->lock);
    page = pager_page_lookup(pager, offset);
    evicted = page->npending == 1 && (page->flags & PAGER_PAGE_REQUESTED) == 0;
    if (evicted) {
        pager_page_set_stale(pager, page, false);
        pager_kept_drop(pager, offset);
        page->flags = (page->flags & PAGER_PAGE_GONE) | PAGER_PAGE_FREED;
        page->error = 0;
    }
    rt_mutex_unlock(&pager->level->lock);
    return evicted;
}

static void pager_return_notify(struct pager *pager, const struct pager_request *returned)
{
    if (returned->kernel_copy || !pager->notify_on_evict)
        return;
    for (vm_size_t done = 0; done < returned->length; done += vm_page_size)
        if (pager_evict(pager, returned->offset + done))
            pager_notify_evict(pager->upi, returned->offset + done);
}

/* Keep the page at OFFSET of RETURNED, whose memory up to it is released. => level locked. */
static void pager_return_keep_page(struct pager *pager, struct pager_request *returned,
                                   vm_offset_t offset)
{
    vm_address_t end = returned->memory + returned->memory_length;
    vm_address_t data = end - returned->data_length + (offset - returned->offset);

    if (!pager_kept_add(pager, offset, data))
        return;
    pager_data_release(returned->memory, data - returned->memory);
    returned->memory = data + vm_page_size;
    returned->memory_length = end - returned->memory;
}

/* Keep what of RETURNED could not be written, if it is the newest that there is. */
static void pager_return_keep(struct pager *pager, struct pager_request *returned)
{
    struct pager_page *page;

    rt_mutex_lock(&pager->level->lock);
    for (vm_size_t done = 0; done < returned->length && pager->nstale > 0; done += vm_page_size) {
        page = pager_page_lookup(pager, returned->offset + done);
        if ((page->flags & PAGER_PAGE_STALE) != 0 && page->npending == 0 && !returned->stored &&
            pager_return_has(pager, returned, returned->offset + done))
            pager_return_keep_page(pager, returned, returned->offset + done);
    }
    rt_mutex_unlock(&pager->level->lock);
}

void pager_return_complete(struct pager *pager, struct pager_request *returned)
{
    struct pager_list answers;

    pager_return_notify(pager, returned);
    rt_mutex_lock(&pager->level->lock);
    pager_return_unmark(pager, returned);
    pager_return_match(pager, returned, &answers);
    pager_return_settle(pager, returned);
    rt_mutex_unlock(&pager->level->lock);
    pager_return_answer(pager, &answers);
    pager_return_keep(pager, returned);
    pager_data_release(returned->memory, returned->memory_length);
    pager_request_trace(pager, returned);

    rt_mutex_lock(&pager->level->lock);
    pager_pending_remove(pager, returned);
    pager_request_free(pager, returned);
}
