// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How returns are written.
 *
 * A worker comes with all returns that were queued for a pager. The policy (policy.h) picks those
 * that make up the next run and cuts the run into writes. What a bulk write leaves undone, for
 * whatever reason, is tried again page by page, so that one bad page costs one page. Each page's
 * result is noted as soon as it is known.
 *
 * What is received while a run is written joins the list before the next is picked, so that
 * neighbours meet; unless other pagers wait for a worker.
 */
#include "libpager/private.h"

#include "libpager/policy.h"
#include "librt/log.h"

/* LENGTH bytes from OFFSET are in the store. */
static void pager_note_written(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    struct pager_page *page;
    struct pager_page *end;

    rt_mutex_lock(&pager->level->lock);
    page = pager_page_lookup(pager, offset);
    end = page + length / vm_page_size;
    for (; page < end; page++) {
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

/* Append to LIST what has been queued meanwhile, up to the first return that was overtaken. */
static void pager_returns_refill(struct pager *pager, struct pager_request **list)
{
    struct pager_list *todo = &pager->todo[PAGER_WORK_WRITE];
    struct pager_request *rest;

    while (*list != NULL)
        list = &(*list)->next;
    rt_mutex_lock(&pager->level->lock);
    if (pager->level->lanes[PAGER_WORK_WRITE].head == NULL) {
        *list = todo->head;
        rest = pager_returns_split(list);
        todo->head = rest;
        if (rest == NULL)
            todo->tail = &todo->head;
    }
    rt_mutex_unlock(&pager->level->lock);
}

/* Write LIST as the policy says, and with MORE what is queued meanwhile. */
static void pager_returns_run(struct pager *pager, struct pager_request *list, bool more)
{
    const struct pager_policy *policy = pager_policy_get();
    struct pager_run run;

    while (list != NULL) {
        run = (struct pager_run){.pager = pager};
        policy->take(&list, &run);
        pager_run_write(pager, policy, &run);
        pager_returns_complete(pager, run.returns);
        if (policy->drop != NULL)
            policy->drop(&run);
        if (more && policy == pager_policy_get()) /* another may rely on the order of receipt */
            pager_returns_refill(pager, &list);
    }
}

/* Write what is not too old of RETURNED, some pages of which are. */
static void pager_return_write_rest(struct pager *pager, struct pager_request *returned)
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
    pager_return_complete(pager, returned);
}

void pager_returns_write(struct pager *pager, struct pager_request *list)
{
    struct pager_request *overtaken;

    while (list != NULL) {
        overtaken = pager_returns_split(&list);
        pager_returns_run(pager, list, overtaken == NULL);
        list = overtaken;
        if (overtaken != NULL) {
            list = overtaken->next;
            pager_return_write_rest(pager, overtaken);
        }
    }
}
