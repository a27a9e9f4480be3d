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
 * on its way: it has pages copied or, when memory is short, waits for that to end.
 *
 * An object that the kernel is terminating takes nothing back: what is sent to it waits in its
 * control port, in which there is room for a few messages, until we receive the news, which may
 * wait for the worker that sends. So the kernel says when it has what was given back (before the
 * call returns, if it does at all), and without that no more than a few are sent.
 *
 * The kernel takes the pages of a message in pieces of PAGER_PIECE_PAGES. Where a piece ends at the
 * end of a map's entry, as each returned message's memory is one, it leaves an entry of no length
 * behind: the free memory around it stays in two parts, and messages that are received there do not
 * follow each other. store_write leaves such entries, too. So what is more than a piece is given
 * back in two messages, of which the first is shorter than what the kernel returns in one: then
 * pieces end within entries, and what is behind the ends of others goes with the memory around it.
 *
 * Nothing is given back that is not the newest. A page that was flushed meanwhile, because its file
 * was truncated maybe, is not the object's any more: whoever flushes takes the mark off the page
 * (pager_borrow_forget), and waits for those that are being given back at that moment.
 */
#include "libpager/private.h"

/* Bytes of memory that must be free beside what the kernel itself wants to have free, or syncs
   borrow all pages: twice what two windows hold. */
#define PAGER_ROOM (4 * PAGER_MERGE_MOST)

/* The part of its memory that the kernel wants to have free: a tenth (vm_page.c,
   VM_PAGE_SEG_THRESHOLD_HIGH). When half of that is left, who needs a page waits until there is as
   much again. */
#define PAGER_KERNEL_PART 10u

/* Messages with what is given back that the kernel has not confirmed, at most: fewer than a port
   holds (5, its MACH_PORT_QLIMIT_DEFAULT), so that at most one of the workers is kept by a full
   one. */
#define PAGER_GIVINGS_MOST 4u

#define PAGER_PIECE_PAGES 64u /* the kernel's VM_MAP_COPY_PAGE_LIST_MAX */
#define PAGER_FIRST_PAGES 16u /* half of its DATA_WRITE_MAX */

/* Pages that are being given back. */
struct pager_giving {
    struct pager_giving *next;
    vm_offset_t offset;
    uint64_t end;
    mach_port_t control;
    mach_port_t confirm;        /* where the kernel says that it has them */
    unsigned int nmessages;     /* as which they are sent */
    struct pager_list answered; /* requests for them */
};

void pager_set_borrowing(struct pager *pager, bool borrows)
{
    rt_mutex_lock(&pager->level->lock);
    pager->borrows = borrows && !pager->notify_on_evict;
    rt_mutex_unlock(&pager->level->lock);
}

bool pager_memory_is_short(void)
{
    vm_statistics_data_t now;
    uint64_t free;
    uint64_t all;

    if (vm_statistics(mach_task_self(), &now) != KERN_SUCCESS)
        return false;
    free = (uint64_t)now.free_count;
    all =
        free + (uint64_t)now.active_count + (uint64_t)now.inactive_count + (uint64_t)now.wire_count;
    return free < all / PAGER_KERNEL_PART + PAGER_ROOM / vm_page_size;
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

bool pager_borrow_waits(const struct pager *pager)
{
    return pager->borrows && pager->replies != NULL && pager_memory_is_short();
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
        page->flags &= (uint16_t)~PAGER_PAGE_BORROWED;
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
        page->flags &= (uint16_t)~PAGER_PAGE_BORROWED;
        page->flags |= PAGER_PAGE_UNASKED;
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

/* What of RUN is given back in a message of its own. */
static vm_size_t pager_giving_first(const struct pager_run *run)
{
    return run->length > (PAGER_FIRST_PAGES + PAGER_PIECE_PAGES) * vm_page_size
               ? PAGER_FIRST_PAGES * vm_page_size
               : 0;
}

/* A port for GIVING that no other has at present. False if there is none. => level locked. */
static bool pager_giving_port(struct pager_requests *level, struct pager_giving *giving)
{
    if (level->nconfirms > 0)
        giving->confirm = level->confirms[--level->nconfirms];
    else
        giving->confirm = pager_confirm_create();
    return giving->confirm != MACH_PORT_NULL;
}

/* GIVING's port is free again: unless it may be told something yet. => level locked. */
static void pager_giving_port_put(struct pager_requests *level, const struct pager_giving *giving,
                                  bool told)
{
    if (told && level->nconfirms < PAGER_CONFIRMS)
        level->confirms[level->nconfirms++] = giving->confirm;
    else
        pager_confirm_destroy(giving->confirm);
}

/* Begin to give RUN back. False if that may not be. => level locked. */
static bool pager_giving_begin(struct pager *pager, const struct pager_run *run,
                               struct pager_giving *giving)
{
    const struct pager_request *returned;
    unsigned int nmessages = pager_giving_first(run) > 0 ? 2 : 1;

    if (pager->nunconfirmed + nmessages > PAGER_GIVINGS_MOST)
        return false;
    for (returned = run->returns; returned != NULL; returned = returned->next)
        if (!pager_giving_may(pager, returned))
            return false;
    *giving = (struct pager_giving){.next = pager->givings,
                                    .offset = run->offset,
                                    .end = (uint64_t)run->offset + run->length,
                                    .nmessages = nmessages};
    if (!pager_giving_port(pager->level, giving))
        return false;
    giving->control = pager_control_ref(pager);
    if (giving->control == MACH_PORT_NULL) {
        pager_giving_port_put(pager->level, giving, true);
        return false;
    }
    pager_list_init(&giving->answered);
    pager_giving_mark(pager, giving);
    pager_giving_match(pager, giving);
    pager->givings = giving;
    pager->nunconfirmed += nmessages;
    return true;
}

/* GIVING's pages were sent. CONFIRMED: and the kernel has them, or could not be sent anything.
   => level locked. */
static void pager_giving_end(struct pager *pager, const struct pager_giving *giving, bool confirmed)
{
    struct pager_giving **link = &pager->givings;

    if (confirmed && giving->control == pager->control)
        pager->nunconfirmed -= giving->nmessages;
    pager_giving_port_put(pager->level, giving, confirmed);
    while (*link != giving)
        link = &(*link)->next;
    *link = giving->next;
    rt_cond_broadcast(&pager->cleared);
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

/* Supply the LENGTH bytes of RUN behind the first DONE. The kernel confirms it to REPLY, if any. */
static kern_return_t pager_giving_send(const struct pager_giving *giving,
                                       const struct pager_run *run, vm_size_t done,
                                       vm_size_t length, mach_port_t reply)
{
    return memory_object_data_supply(giving->control, run->offset + done, run->data + done,
                                     (mach_msg_type_number_t)length, TRUE, VM_PROT_NONE, FALSE,
                                     reply);
}

/* Supply all of RUN. With an error, which says that the object has gone, nothing is consumed. */
static kern_return_t pager_giving_supply(const struct pager_giving *giving,
                                         const struct pager_run *run)
{
    vm_size_t first = pager_giving_first(run);
    vm_size_t rest = run->length - first;
    kern_return_t kr = KERN_SUCCESS;

    if (first > 0)
        kr = pager_giving_send(giving, run, 0, first, MACH_PORT_NULL);
    if (kr != KERN_SUCCESS)
        return kr;
    kr = pager_giving_send(giving, run, first, rest, giving->confirm);
    if (kr == KERN_SUCCESS || first == 0)
        return kr;
    vm_deallocate(mach_task_self(), run->data + first, rest);
    return KERN_SUCCESS;
}

void pager_give_back(struct pager *pager, struct pager_run *run)
{
    struct pager_giving giving;
    struct pager_request *next;
    kern_return_t kr;
    bool given, confirmed;

    rt_mutex_lock(&pager->level->lock);
    given = run->length > 0 && pager_giving_begin(pager, run, &giving);
    rt_mutex_unlock(&pager->level->lock);
    if (!given)
        return;
    kr = pager_giving_supply(&giving, run);
    confirmed = kr != KERN_SUCCESS || pager_confirm_receive(giving.confirm);
    if (kr == KERN_SUCCESS) /* else the object has gone */
        pager_run_given(run);
    rt_mutex_lock(&pager->level->lock);
    pager_giving_end(pager, &giving, confirmed);
    rt_mutex_unlock(&pager->level->lock);
    pager_right_drop(giving.control);
    for (struct pager_request *list = giving.answered.head; list != NULL; list = next) {
        next = list->next;
        pager_request_done(pager, list);
    }
}
