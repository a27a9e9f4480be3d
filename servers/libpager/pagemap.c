// SPDX-License-Identifier: GPL-2.0-or-later
#include "libpager/private.h"

#include <stdlib.h>

#define PAGER_MAP_FIRST 64u /* entries */

vm_size_t pager_extent_clip(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    vm_address_t start;
    vm_size_t size;
    uint64_t end; /* wider than an offset: an object may end where offsets do */

    if (pager_report_extent(pager->upi, &start, &size) != 0)
        return 0;
    end = ((uint64_t)start + size + vm_page_size - 1) / vm_page_size * vm_page_size;
    if (offset < start || offset >= end)
        return 0;
    return length < end - offset ? length : (vm_size_t)(end - offset);
}

error_t pager_map_grow(struct pager *pager, vm_offset_t offset, vm_size_t length)
{
    size_t needed = (size_t)(((uint64_t)offset + length + vm_page_size - 1) / vm_page_size);
    size_t npages = pager->npages == 0 ? PAGER_MAP_FIRST : pager->npages;
    struct pager_page *pages;

    if (needed <= pager->npages)
        return 0;
    while (npages < needed)
        npages *= 2;
    pages = realloc(pager->pages, npages * sizeof(*pages));
    if (pages == NULL)
        return ENOMEM;
    for (size_t i = pager->npages; i < npages; i++)
        pages[i] = pager->behind;
    pager->pages = pages;
    pager->npages = npages;
    return 0;
}

struct pager_page *pager_page_lookup(struct pager *pager, vm_offset_t offset)
{
    size_t i = offset / vm_page_size;

    return i < pager->npages ? &pager->pages[i] : NULL;
}

struct pager_page *pager_page_entry(struct pager *pager, vm_offset_t offset)
{
    struct pager_page *page = pager_page_lookup(pager, offset);

    return page == NULL ? &pager->behind : page;
}

bool pager_page_failed(struct pager *pager, vm_offset_t offset)
{
    return (pager_page_entry(pager, offset)->flags & PAGER_PAGE_FAILED) != 0;
}

static void pager_page_renew(struct pager_page *page)
{
    page->flags &= (uint16_t) ~(PAGER_PAGE_FAILED | PAGER_PAGE_UNASKED | PAGER_PAGE_OVERTAKEN);
}

void pager_map_renew(struct pager *pager)
{
    for (size_t i = 0; i < pager->npages; i++)
        pager_page_renew(&pager->pages[i]);
    pager_page_renew(&pager->behind);
}

void pager_page_set_stale(struct pager *pager, struct pager_page *page, bool stale)
{
    bool was = (page->flags & PAGER_PAGE_STALE) != 0;

    pager->nstale += (size_t)stale - (size_t)was;
    if (stale)
        page->flags |= PAGER_PAGE_STALE;
    else
        page->flags &= (uint16_t)~PAGER_PAGE_STALE;
}

error_t pager_stale_error(struct pager *pager, vm_offset_t offset, uint64_t end)
{
    struct pager_page *page;

    for (uint64_t at = offset; at < end && pager->nstale > 0; at += vm_page_size) {
        page = pager_page_lookup(pager, (vm_offset_t)at);
        if (page == NULL)
            return 0;
        if ((page->flags & PAGER_PAGE_STALE) != 0)
            return page->error;
    }
    return 0;
}

void pager_page_set_error(struct pager_page *page, error_t error)
{
    page->error = error >= 0 && error <= UINT8_MAX ? (uint8_t)error : EIO;
}

void pager_error_report(struct pager *pager, error_t error)
{
    struct pager_listener *listener;

    if (pager->listeners == NULL && pager->error == 0)
        pager->error = error;
    for (listener = pager->listeners; listener != NULL; listener = listener->next)
        if (listener->error == 0)
            listener->error = error;
}
