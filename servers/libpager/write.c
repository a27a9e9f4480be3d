// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How returns are written.
 *
 * Of all returns that are queued for a pager the policy (policy.h) picks those that make up the
 * next run, and cuts the run into writes. What a bulk write leaves undone, for whatever reason, is
 * tried again page by page, so that one bad page costs one page. Each page's result is noted as
 * soon as it is known.
 *
 * What is received while a run is written joins the list before the next is picked, so that
 * neighbours meet; unless other pagers wait for a worker.
 *
 * Where the server allows it (pager_set_writers) a pager gets another worker when more is queued
 * than the largest write holds: then the disk has its next command when it ends one. With less, the
 * run that the other worker could pick would only be shorter than it is going to be. Runs are
 * picked one at a time, and of two that overlap the older one first; so it is enough that a run
 * waits for those that were picked before it and overlap it.
 */
#include "libpager/private.h"

#include "libpager/policy.h"
#include "librt/log.h"

/* A run that was picked and is not completed. */
struct pager_writing {
    struct pager_writing *next; /* picked later */
    const struct pager_policy *policy;
    struct pager_run run;
    uint64_t end; /* of what is in its returns */
};

/* LENGTH bytes from OFFSET are in the store. */
static void pager_note_written(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    struct pager_page *page;
    struct pager_page *end;

    rt_mutex_lock(&pager->level->lock);
    page = pager_page_lookup(pager, offset);
    end = page + length / vm_page_size;
    for (; page < end; page++) {
        if ((page->flags & PAGER_PAGE_STALE) != 0)
            pager_page_set_stale(pager, page, false);
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
    pager_page_set_stale(pager, page, true);
    page->flags &= (uint16_t)~PAGER_PAGE_STORED;
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

static void pager_returns_complete(struct pager *pager, struct pager_request *list)
{
    struct pager_request *next;

    for (; list != NULL; list = next) {
        next = list->next;
        pager_return_complete(pager, list);
    }
}

/* Write RUN, and record it. */
static void pager_run_write(struct pager *pager, const struct pager_policy *policy,
                            const struct pager_run *run)
{
    const struct pager_request *returned = run->returns;
    uint64_t start = trace_begin(TRACE_RUN);
    uint32_t number = trace_request();
    uint32_t cause = trace_set_cause(number);
    uint16_t count = 1;

    pager_write_run(pager, policy, run);
    trace_set_cause(cause);
    if (start == 0)
        return;
    while ((returned = returned->next) != NULL)
        count++;
    trace_end(&(struct trace_event){.kind = TRACE_RUN,
                                    .start = start,
                                    .request = number,
                                    .cause = run->returns->number,
                                    .object = pager->object,
                                    .offset = run->offset,
                                    .length = (uint32_t)run->length,
                                    .class = (uint8_t)pager->class,
                                    .count = count});
}

/* Write RETURNED, some pages of which are older than what was returned before, without those. */
static void pager_return_write_rest(struct pager *pager, const struct pager_request *returned)
{
    uint32_t cause = trace_set_cause(returned->number);
    bool current;

    for (vm_size_t done = 0; done < returned->length; done += vm_page_size) {
        rt_mutex_lock(&pager->level->lock);
        current = pager_return_has(pager, returned, returned->offset + done);
        rt_mutex_unlock(&pager->level->lock);
        if (current)
            pager_write_single(pager, returned->offset + done, returned->data + done);
    }
    trace_set_cause(cause);
}

static void pager_writing_do(struct pager *pager, struct pager_writing *writing)
{
    const struct pager_policy *policy = writing->policy;

    if (policy == NULL)
        pager_return_write_rest(pager, writing->run.returns);
    else
        pager_run_write(pager, policy, &writing->run);
    pager_give_back(pager, &writing->run);
    pager_returns_complete(pager, writing->run.returns);
    if (policy != NULL && policy->drop != NULL)
        policy->drop(&writing->run);
}

/* Move what may be joined to what is being written from todo: up to the first return that was
   overtaken. => level locked, nobody picks. */
static void pager_returns_refill(struct pager *pager)
{
    struct pager_list *todo = &pager->todo[PAGER_WORK_WRITE];
    struct pager_request **tail = &pager->returns;

    while (*tail != NULL)
        tail = &(*tail)->next;
    while (todo->head != NULL && !todo->head->overtaken) {
        *tail = todo->head;
        tail = &todo->head->next;
        todo->head = todo->head->next;
    }
    *tail = NULL;
    if (todo->head == NULL)
        pager_list_init(todo);
}

/* Pick the return at the head of todo, which was overtaken. => level locked. */
static void pager_pick_overtaken(struct pager *pager, struct pager_writing *writing)
{
    struct pager_list *todo = &pager->todo[PAGER_WORK_WRITE];
    struct pager_request *returned = todo->head;

    todo->head = returned->next;
    if (todo->head == NULL)
        pager_list_init(todo);
    returned->next = NULL;
    writing->policy = NULL;
    writing->run.returns = returned;
    writing->run.offset = returned->offset;
}

/* Have the policy pick. => level locked, but not meanwhile. */
static void pager_pick_run(struct pager *pager, struct pager_writing *writing)
{
    writing->policy = pager->policy;
    pager->taking = true;
    rt_mutex_unlock(&pager->level->lock);
    writing->policy->take(&pager->returns, &writing->run);
    rt_mutex_lock(&pager->level->lock);
    pager->taking = false;
    rt_cond_broadcast(&pager->picked);
}

/* What is in WRITING's returns is queued no longer. => level locked. */
static void pager_pick_note(struct pager *pager, struct pager_writing *writing)
{
    const struct pager_request *returned;

    for (returned = writing->run.returns; returned != NULL; returned = returned->next) {
        pager->backlog -= returned->length;
        if ((uint64_t)returned->offset + returned->length > writing->end)
            writing->end = (uint64_t)returned->offset + returned->length;
    }
}

bool pager_wants_writer(const struct pager *pager)
{
    if (pager->nwriters == 0)
        return true;
    return pager->nwriters < pager->nwriters_most && pager->backlog >= pager_policy_merge_max();
}

/* Whether the calling worker should go on writing for PAGER. MORE: it has written. => level
   locked. */
static bool pager_writer_stays(const struct pager *pager, bool more)
{
    if (pager->backlog == 0)
        return false;
    if (pager->nwriters > 1 && pager->backlog < pager_policy_merge_max())
        return false;
    return !more || pager->returns != NULL || pager->level->lanes[PAGER_WORK_WRITE].head == NULL;
}

/* Pick what is to be written next. MORE: the calling worker has written. False when that is up to
   others, or there is nothing. => level locked, but not all the time. */
static bool pager_pick(struct pager *pager, struct pager_writing *writing, bool more)
{
    while (pager->taking)
        rt_cond_wait(&pager->picked, &pager->level->lock);
    if (!pager_writer_stays(pager, more))
        return false;
    if (pager->returns == NULL)
        pager->policy = pager_policy_get();
    if (pager->returns == NULL ||
        (pager->policy == pager_policy_get() && pager->level->lanes[PAGER_WORK_WRITE].head == NULL))
        pager_returns_refill(pager);
    *writing = (struct pager_writing){.run = {.pager = pager}};
    if (pager->returns == NULL)
        pager_pick_overtaken(pager, writing);
    else
        pager_pick_run(pager, writing);
    pager_pick_note(pager, writing);
    return true;
}

/* Whether WRITING overlaps one that was picked before it. => level locked. */
static bool pager_writing_waits(const struct pager *pager, const struct pager_writing *writing)
{
    const struct pager_writing *other = pager->writings;

    while (other != writing &&
           (other->end <= writing->run.offset || writing->end <= other->run.offset))
        other = other->next;
    return other != writing;
}

/* => level locked, but not all the time. */
static void pager_writing_begin(struct pager *pager, struct pager_writing *writing)
{
    struct pager_writing **tail = &pager->writings;

    while (*tail != NULL)
        tail = &(*tail)->next;
    *tail = writing;
    while (pager_writing_waits(pager, writing))
        rt_cond_wait(&pager->picked, &pager->level->lock);
}

/* => level locked. */
static void pager_writing_end(struct pager *pager, const struct pager_writing *writing)
{
    struct pager_writing **link = &pager->writings;

    while (*link != writing)
        link = &(*link)->next;
    *link = writing->next;
    if (pager->writings != NULL)
        rt_cond_broadcast(&pager->picked);
}

void pager_returns_write(struct pager *pager)
{
    struct pager_writing writing;

    for (bool more = false; pager_pick(pager, &writing, more); more = true) {
        pager_writing_begin(pager, &writing);
        rt_mutex_unlock(&pager->level->lock);
        pager_writing_do(pager, &writing);
        rt_mutex_lock(&pager->level->lock);
        pager_writing_end(pager, &writing);
    }
}
