// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel gives back (data_return), and how it is written.
 *
 * Received: the message is checked and clipped to the object, its pages become pending, and it
 * joins the pager's list. Written: a worker takes the whole list; the policy (policy.h) picks the
 * returns that make up the next run and cuts the run into writes; what a bulk write leaves undone
 * is tried again page by page, so that one bad page costs one page. Completed: the pages are no
 * longer pending, whoever waits for one of them is answered from the message's own memory, and only
 * then is that memory released.
 */
#include "libpager/private.h"

#include "libpager/policy.h"
#include "librt/log.h"

#include "memory_object_server.h"

_Static_assert(PAGER_NODES <= UINT16_MAX, "npending counts the nodes that hold a page");

static void pager_data_release(vm_address_t data, vm_size_t length)
{
    if (length > 0)
        vm_deallocate(mach_task_self(), data, length);
}

/* The pages of REQUEST are pending from now on. => level locked; the map covers them. */
static void pager_return_mark(struct pager *pager, struct pager_request *request, bool dirty)
{
    struct pager_page *page = pager_page_lookup(pager, request->offset);
    struct pager_page *end = page + request->length / vm_page_size;

    request->stored = !dirty && (request->kernel_copy ||
                                 !pager_windows_copying(pager, request->offset, request->length));
    for (; page < end; page++) {
        page->npending++;
        page->flags &= (uint8_t)~PAGER_PAGE_REQUESTED;
        if (dirty)
            page->flags &= (uint8_t)~PAGER_PAGE_STORED;
        if ((page->flags & PAGER_PAGE_STORED) == 0)
            request->stored = false; /* precious data that was never written */
        if (!request->kernel_copy)
            page->flags |= PAGER_PAGE_GONE;
        else if ((page->flags & PAGER_PAGE_GONE) != 0)
            request->overtaken = true;
    }
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
    request->sequence = ++pager->nreceived;
    pager_return_mark(pager, request, dirty);
    pager_list_append(&pager->todo[PAGER_WORK_WRITE], request);
    pager_schedule(pager, PAGER_WORK_WRITE);
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

/* Queue MESSAGE at the pager that OBJECT stands for. Returns whether it was taken. */
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
                                    .data_length = dataCnt,
                                    .kernel_copy = kernel_copy != FALSE};

    if (!pager_return_receive(memory_object, memory_control, &message, dirty != FALSE))
        pager_data_release(data, dataCnt);
    pager_right_drop(memory_control);
    return KERN_SUCCESS;
}

/* LENGTH bytes from OFFSET are in the store. */
static void pager_note_written(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    struct pager_page *page;
    struct pager_page *end;

    rt_mutex_lock(&pager->level->lock);
    page = pager_page_lookup(pager, offset);
    end = page + length / vm_page_size;
    for (; page < end; page++) {
        page->flags &= (uint8_t)~PAGER_PAGE_STALE;
        if ((page->flags & PAGER_PAGE_DENIED) == 0)
            page->error = 0;
        if (page->npending == 1) /* else something newer is on its way */
            page->flags |= PAGER_PAGE_STORED;
    }
    rt_mutex_unlock(&pager->level->lock);
}

/* The page at OFFSET could not be written. */
static void pager_note_failed(struct pager *pager, vm_offset_t offset, error_t error)
{
    struct pager_page *page;

    rt_mutex_lock(&pager->level->lock);
    page = pager_page_lookup(pager, offset);
    page->flags |= PAGER_PAGE_STALE;
    page->flags &= (uint8_t)~PAGER_PAGE_STORED;
    pager_page_set_error(page, error);
    pager_error_report(pager, error);
    rt_mutex_unlock(&pager->level->lock);
}

/* A server's own, if it has one, comes before this. */
__attribute__((weak)) error_t pager_write_pages(struct user_pager_info *upi, vm_offset_t offset,
                                                vm_address_t data, vm_size_t length,
                                                vm_size_t *written)
{
    (void)upi;
    (void)offset;
    (void)data;
    (void)length;
    *written = 0;
    return EOPNOTSUPP;
}

/* What of LENGTH bytes a bulk write says it has WRITTEN, with result ERROR, as far as that can be
   believed. */
static vm_size_t pager_bulk_progress(error_t error, vm_offset_t offset, vm_size_t length,
                                     vm_size_t written)
{
    if (error == EOPNOTSUPP)
        return 0;
    if (written > length || (error == 0 && written < vm_page_size)) {
        rt_log("pager_write_pages claims to have written %#lx of %#lx bytes at %#lx",
               (unsigned long)written, (unsigned long)length, (unsigned long)offset);
        return 0;
    }
    return written - written % vm_page_size;
}

/* Write LENGTH bytes with as few calls as the server lets us. Returns how many were written; the
   rest was not, whatever the reason: writing it page by page will tell. */
static vm_size_t pager_write_bulk(struct pager *pager, vm_offset_t offset, vm_address_t data,
                                  vm_size_t length)
{
    vm_size_t done = 0;
    vm_size_t written;
    error_t error;

    do {
        written = 0;
        error = pager_write_pages(pager->upi, offset + done, data + done, length - done, &written);
        written = pager_bulk_progress(error, offset + done, length - done, written);
        pager_note_written(pager, offset + done, written);
        done += written;
    } while (error == 0 && written > 0 && done < length);
    return done;
}

static void pager_write_single(struct pager *pager, vm_offset_t offset, vm_address_t data)
{
    error_t error = pager_write_page(pager->upi, offset, data);

    if (error == 0)
        pager_note_written(pager, offset, vm_page_size);
    else
        pager_note_failed(pager, offset, error);
}

static void pager_write_cut(struct pager *pager, bool bulk, vm_offset_t offset, vm_address_t data,
                            vm_size_t length)
{
    vm_size_t done = bulk ? pager_write_bulk(pager, offset, data, length) : 0;

    for (; done < length; done += vm_page_size)
        pager_write_single(pager, offset + done, data + done);
}

static void pager_write_run(struct pager *pager, const struct pager_policy *policy,
                            const struct pager_run *run)
{
    vm_size_t length;

    for (vm_size_t done = 0; done < run->length; done += length) {
        length = policy->cut(policy, run, done);
        rt_assert(length > 0 && length <= run->length - done);
        pager_write_cut(pager, policy->bulk, run->offset + done, run->data + done, length);
    }
}

/* The pages of RETURN are no longer pending for its sake. => level locked. */
static void pager_return_unmark(struct pager *pager, const struct pager_request *returned)
{
    struct pager_page *page = pager_page_lookup(pager, returned->offset);
    struct pager_page *end = page + returned->length / vm_page_size;

    for (; page < end; page++)
        page->npending--;
}

/* Whoever waited for RETURNED knows now. => level locked. */
static void pager_return_settle(struct pager *pager, const struct pager_request *returned)
{
    struct pager_page *page = pager_page_lookup(pager, returned->offset);
    struct pager_page *end = page + returned->length / vm_page_size;

    for (; page < end; page++)
        page->flags &= (uint8_t)~PAGER_PAGE_FREED;
}

/* Whether the page at OFFSET is in RETURNED, in its newest state. => level locked. */
static bool pager_return_has(struct pager *pager, const struct pager_request *returned,
                             vm_offset_t offset)
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
        if (pager_read_waits(pager, list) || !pager_return_has(pager, returned, list->offset)) {
            pager_request_dispatch(pager, list);
            continue;
        }
        list->data = returned->data + (list->offset - returned->offset);
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
        page->flags &= (uint8_t) ~(PAGER_PAGE_REQUESTED | PAGER_PAGE_GONE);
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
    if (evicted)
        *page = (struct pager_page){.npending = 1, .flags = PAGER_PAGE_GONE | PAGER_PAGE_FREED};
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

/* RETURNED has been written as far as it could be. */
static void pager_return_complete(struct pager *pager, struct pager_request *returned)
{
    struct pager_list answers;

    pager_return_notify(pager, returned);
    rt_mutex_lock(&pager->level->lock);
    pager_return_unmark(pager, returned);
    pager_return_match(pager, returned, &answers);
    pager_return_settle(pager, returned);
    rt_mutex_unlock(&pager->level->lock);
    pager_return_answer(pager, &answers);
    pager_data_release(returned->data, returned->data_length);

    rt_mutex_lock(&pager->level->lock);
    pager->ncompleted++;
    pager_windows_note(pager, returned->sequence);
    pager_request_free(pager, returned);
}

static void pager_returns_complete(struct pager *pager, struct pager_request *list)
{
    struct pager_request *next;

    for (; list != NULL; list = next) {
        next = list->next;
        pager_return_complete(pager, list);
    }
}

/* Write LIST as the policy says. */
static void pager_returns_run(struct pager *pager, struct pager_request *list)
{
    const struct pager_policy *policy = pager_policy_get();
    struct pager_run run;

    while (list != NULL) {
        run = (struct pager_run){.length = 0};
        policy->take(&list, &run);
        pager_write_run(pager, policy, &run);
        if (policy->drop != NULL)
            policy->drop(&run);
        pager_returns_complete(pager, run.returns);
    }
}

/* Write what is not too old of RETURNED, some pages of which are. */
static void pager_return_write_rest(struct pager *pager, struct pager_request *returned)
{
    bool current;

    for (vm_size_t done = 0; done < returned->length; done += vm_page_size) {
        rt_mutex_lock(&pager->level->lock);
        current = pager_return_has(pager, returned, returned->offset + done);
        rt_mutex_unlock(&pager->level->lock);
        if (current)
            pager_write_single(pager, returned->offset + done, returned->data + done);
    }
    pager_return_complete(pager, returned);
}

/* Cut off LIST before the first return that was overtaken, and return what follows. */
static struct pager_request *pager_returns_split(struct pager_request **list)
{
    struct pager_request *rest;

    while (*list != NULL && !(*list)->overtaken)
        list = &(*list)->next;
    rest = *list;
    *list = NULL;
    return rest;
}

void pager_returns_write(struct pager *pager, struct pager_request *list)
{
    struct pager_request *overtaken;

    while (list != NULL) {
        overtaken = pager_returns_split(&list);
        pager_returns_run(pager, list);
        list = overtaken;
        if (overtaken != NULL) {
            list = overtaken->next;
            pager_return_write_rest(pager, overtaken);
        }
    }
}
