// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Borrowed pages.
 *
 * The kernel copies each page that a sync has returned and that stays in memory. Copying costs more
 * than all else that is done with the page, and needs a free page for each. So a sync may have
 * pages moved out of memory instead, into the messages; and when they are written the same pages
 * are moved back: the kernel steals them from memory that is given up with
 * memory_object_data_supply. Who touches one meanwhile waits for the write.
 *
 * The kernel cannot be told to move dirty pages and leave clean ones where they are: it drops them.
 * So a sync borrows where the store has not got a page that could be clean, as in a file that was
 * just written; elsewhere the kernel copies. But when memory is short it must not: it would wait
 * for free pages in the middle of the request, while the pageout daemon waits for us. Clean pages
 * are what it looks for then, so that dropping them does no harm.
 *
 * Nothing may be supplied while the page is away but what is given back. A request that a give-back
 * has overtaken would be answered with a page that the kernel has already, and may have lent again.
 * So no request is answered while a sync borrows its page, and no sync borrows while an answer is
 * on its way.
 *
 * An object that the kernel is terminating takes nothing back: what is sent to it waits in its
 * control port, in which there is room for a few messages, until we receive the news, which may
 * wait for the worker that sends. So the kernel says when it has what was given back (it does so at
 * once if it does at all), and without that no more than a few are sent.
 *
 * Nothing is given back that is not the newest. A page that was flushed meanwhile, because its file
 * was truncated maybe, is not the object's any more: whoever flushes takes the mark off the page
 * (pager_borrow_forget), and waits for those that are being given back at that moment.
 */
#include "libpager/private.h"

/* With fewer bytes of memory free than these, syncs borrow all pages: twice what two windows hold.
 */
#define PAGER_BORROW_BELOW (4 * PAGER_MERGE_MOST)

/* Give-backs that the kernel has not confirmed, at most: fewer than a port holds (5, its
   MACH_PORT_QLIMIT_DEFAULT), so that at most one of the workers is kept by a full one. */
#define PAGER_GIVINGS_MOST 4u

/* Pages that are being given back. */
struct pager_giving {
    struct pager_giving *next;
    vm_offset_t offset;
    uint64_t end;
    mach_port_t control;
    struct pager_list answered; /* requests for them */
};

void pager_set_borrowing(struct pager *pager, bool borrows)
{
    rt_mutex_lock(&pager->level->lock);
    pager->borrows = borrows && !pager->notify_on_evict;
    rt_mutex_unlock(&pager->level->lock);
}

static bool pager_memory_is_short(void)
{
    vm_statistics_data_t statistics;

    return vm_statistics(mach_task_self(), &statistics) == KERN_SUCCESS &&
           (vm_size_t)statistics.free_count < PAGER_BORROW_BELOW / vm_page_size;
}

/* Whether the kernel may have a page from OFFSET on that is clean. => level locked. */
static bool pager_borrow_drops(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    const struct pager_page *page;
    uint8_t clean = PAGER_PAGE_STORED | PAGER_PAGE_SUPPLIED;

    for (vm_size_t done = 0; done < length; done += vm_page_size) {
        page = pager_page_lookup(pager, offset + done);
        if (page == NULL)
            return false; /* never asked for, as those behind it */
        if ((page->flags & clean) == clean)
            return true;
    }
    return false;
}

bool pager_borrow_allowed(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    return pager->borrows && pager->replies == NULL &&
           (!pager_borrow_drops(pager, offset, length) || pager_memory_is_short());
}

bool pager_borrows(struct pager *pager, const struct pager_request *returned)
{
    return !returned->kernel_copy && returned->length == returned->data_length &&
           pager_windows_borrowing(pager, returned->offset, returned->length);
}

static bool pager_giving_overlaps(const struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    const struct pager_giving *giving = pager->givings;

    while (giving != NULL && (giving->end <= offset || giving->offset >= (uint64_t)offset + length))
        giving = giving->next;
    return giving != NULL;
}

bool pager_borrow_forget(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    struct pager_page *page;

    for (vm_size_t done = 0; pager->borrows && done < length; done += vm_page_size) {
        page = pager_page_lookup(pager, offset + done);
        if (page == NULL)
            break;
        page->flags &= (uint8_t)~PAGER_PAGE_BORROWED;
    }
    return !pager_giving_overlaps(pager, offset, length);
}

/* Whether all of RETURNED may be given back. => level locked. */
static bool pager_giving_may(struct pager *pager, const struct pager_request *returned)
{
    const struct pager_page *page = pager_page_lookup(pager, returned->offset);
    const struct pager_page *end = page + returned->length / vm_page_size;
    uint8_t wanted = PAGER_PAGE_BORROWED | PAGER_PAGE_STORED;

    if (!returned->borrowed || returned->overtaken)
        return false;
    while (page < end && page->npending == 1 && (page->flags & wanted) == wanted)
        page++;
    return page == end;
}

/* GIVING's pages are about to be supplied. => level locked. */
static void pager_giving_mark(struct pager *pager, const struct pager_giving *giving)
{
    struct pager_page *page = pager_page_lookup(pager, giving->offset);
    struct pager_page *end = page + (vm_size_t)(giving->end - giving->offset) / vm_page_size;

    for (; page < end; page++) {
        pager_page_supply(page);
        page->flags &= (uint8_t)~PAGER_PAGE_BORROWED;
    }
}

/* Move the requests that GIVING answers from pager->waiting to it. => level locked. */
static void pager_giving_match(struct pager *pager, struct pager_giving *giving)
{
    struct pager_request *list = pager->waiting.head;
    struct pager_request *next;

    pager_list_init(&pager->waiting);
    for (; list != NULL; list = next) {
        next = list->next;
        pager_list_append(list->offset >= giving->offset && list->offset < giving->end &&
                                  list->control == giving->control
                              ? &giving->answered
                              : &pager->waiting,
                          list);
    }
}

/* Begin to give RUN back. False if that may not be. => level locked. */
static bool pager_giving_begin(struct pager *pager, const struct pager_run *run,
                               struct pager_giving *giving)
{
    const struct pager_request *returned;

    if (pager->nunconfirmed >= PAGER_GIVINGS_MOST)
        return false;
    for (returned = run->returns; returned != NULL; returned = returned->next)
        if (!pager_giving_may(pager, returned))
            return false;
    *giving = (struct pager_giving){.next = pager->givings,
                                    .offset = run->offset,
                                    .end = (uint64_t)run->offset + run->length,
                                    .control = pager_control_ref(pager)};
    if (giving->control == MACH_PORT_NULL)
        return false;
    pager_list_init(&giving->answered);
    pager_giving_mark(pager, giving);
    pager_giving_match(pager, giving);
    pager->givings = giving;
    pager->nunconfirmed++;
    return true;
}

/* The kernel has GIVING's pages. => level locked. */
static void pager_giving_end(struct pager *pager, const struct pager_giving *giving)
{
    struct pager_giving **link = &pager->givings;

    while (*link != giving)
        link = &(*link)->next;
    *link = giving->next;
    rt_cond_broadcast(&pager->changed);
}

/* The data of RUN has been consumed. */
static void pager_run_given(struct pager_run *run)
{
    struct pager_request *returned;

    for (returned = run->returns; returned != NULL; returned = returned->next) {
        returned->given = true;
        if (run->buffer == 0)
            returned->memory_length = 0;
    }
    run->buffer = 0;
}

void pager_give_back(struct pager *pager, struct pager_run *run)
{
    struct pager_giving giving;
    struct pager_request *next;
    kern_return_t kr;
    bool given;

    rt_mutex_lock(&pager->level->lock);
    given = run->length > 0 && pager_giving_begin(pager, run, &giving);
    rt_mutex_unlock(&pager->level->lock);
    if (!given)
        return;
    kr = memory_object_data_supply(giving.control, run->offset, run->data,
                                   (mach_msg_type_number_t)run->length, TRUE, VM_PROT_NONE, FALSE,
                                   pager->port);
    if (kr == KERN_SUCCESS) /* else the object has gone */
        pager_run_given(run);
    rt_mutex_lock(&pager->level->lock);
    if (kr != KERN_SUCCESS && giving.control == pager->control && pager->nunconfirmed > 0)
        pager->nunconfirmed--;
    pager_giving_end(pager, &giving);
    rt_mutex_unlock(&pager->level->lock);
    pager_right_drop(giving.control);
    for (struct pager_request *list = giving.answered.head; list != NULL; list = next) {
        next = list->next;
        pager_request_done(pager, list);
    }
}
