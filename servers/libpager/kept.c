// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pages that could not be written.
 *
 * The kernel has no copy of such a page, or one that it takes for clean and may drop. So the page
 * is kept here, where it lay in its message, and every sync of it tries to write it again; what a
 * sync could not write, it reports. A page is kept no longer when newer data of it is on its way,
 * or has been written, or when it was flushed. A level keeps PAGER_KEPT pages at most; pages beyond
 * that are lost, but not forgotten: syncs go on reporting them, and reading one is an error.
 */
#include "libpager/private.h"

static struct pager_kept **pager_kept_find(struct pager *pager, vm_offset_t offset)
{
    struct pager_kept **link = &pager->kept;

    while (*link != NULL && (*link)->offset != offset)
        link = &(*link)->next;
    return link;
}

/* Unlink the page at *LINK. Returns where its data is. */
static vm_address_t pager_kept_unlink(struct pager *pager, struct pager_kept **link)
{
    struct pager_kept *kept = *link;

    *link = kept->next;
    kept->next = pager->level->free_kept;
    pager->level->free_kept = kept;
    return kept->data;
}

void pager_kept_drop(struct pager *pager, vm_offset_t offset)
{
    struct pager_kept **link = pager_kept_find(pager, offset);

    if (*link != NULL)
        vm_deallocate(mach_task_self(), pager_kept_unlink(pager, link), vm_page_size);
}

void pager_kept_drop_all(struct pager *pager)
{
    while (pager->kept != NULL)
        vm_deallocate(mach_task_self(), pager_kept_unlink(pager, &pager->kept), vm_page_size);
}

bool pager_kept_add(struct pager *pager, vm_offset_t offset, vm_address_t data)
{
    struct pager_kept *kept;

    pager_kept_drop(pager, offset);
    kept = pager->level->free_kept;
    if (kept == NULL)
        return false;
    pager->level->free_kept = kept->next;
    *kept = (struct pager_kept){.next = pager->kept, .offset = offset, .data = data};
    pager->kept = kept;
    return true;
}

/* Queue the page at OFFSET, whose data is at DATA, to be written. */
static void pager_kept_queue(struct pager *pager, struct pager_request *request, vm_offset_t offset,
                             vm_address_t data)
{
    request->kind = PAGER_RETURN;
    request->offset = offset;
    request->length = vm_page_size;
    request->data = data;
    request->memory = data;
    request->memory_length = vm_page_size;
    request->data_length = vm_page_size;
    request->kernel_copy = true; /* nothing has left memory */
    pager_pending_add(pager, request);
    pager_page_lookup(pager, offset)->npending++;
    pager_list_append(&pager->todo[PAGER_WORK_WRITE], request);
    pager->backlog += vm_page_size;
    pager_gather(pager, vm_page_size);
}

/* The first kept page from OFFSET on, up to END, or null. */
static struct pager_kept **pager_kept_next(struct pager *pager, vm_offset_t offset, uint64_t end)
{
    struct pager_kept **next = NULL;

    for (struct pager_kept **link = &pager->kept; *link != NULL; link = &(*link)->next)
        if ((*link)->offset >= offset && (*link)->offset < end &&
            (next == NULL || (*link)->offset < (*next)->offset))
            next = link;
    return next;
}

void pager_kept_retry(struct pager *pager, vm_offset_t offset, uint64_t end)
{
    struct pager_requests *level = pager->level;
    struct pager_kept **link;
    struct pager_request *request;

    while ((link = pager_kept_next(pager, offset, end)) != NULL) {
        request = pager_request_alloc(pager);
        if (request == NULL) {
            pager_gather_end(level);
            rt_cond_wait(&level->node_free, &level->lock);
            continue; /* the world has changed */
        }
        offset = (*link)->offset;
        pager_kept_queue(pager, request, offset, pager_kept_unlink(pager, link));
    }
    pager_gather_end(level);
}
