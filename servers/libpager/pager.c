// SPDX-License-Identifier: GPL-2.0-or-later
#include "libpager/private.h"

#include <stdlib.h>

#include "libpager/policy.h"
#include "librt/log.h"
#include "librt/order.h"

struct pager *pager_create(struct user_pager_info *upi, struct port_bucket *bucket,
                           boolean_t may_cache, memory_object_copy_strategy_t copy_strategy,
                           boolean_t notify_on_evict)
{
    struct pager_requests *level = pager_level_lookup(bucket);
    struct pager *pager = calloc(1, sizeof(*pager));

    rt_assert(level != NULL);
    if (pager == NULL)
        return NULL;
    pager->level = level;
    pager->upi = upi;
    pager->nrefs = 1;
    pager->may_cache = may_cache;
    pager->copy_strategy = copy_strategy;
    pager->notify_on_evict = notify_on_evict != FALSE;
    pager->nwriters_most = 1;
    pager->write_most = pager_policy_merge_max();
    for (size_t i = 0; i < PAGER_WORK_COUNT; i++)
        pager_list_init(&pager->todo[i]);
    pager_list_init(&pager->waiting);
    pager->pending_tail = &pager->pending;
    rt_cond_init(&pager->changed, "pager_changed");
    rt_cond_init(&pager->cleared, "pager_cleared");
    rt_cond_init(&pager->picked, "pager_picked");
    if (ports_create_port(bucket, pager, &pager->port) != 0)
        goto error_pager;
    return pager;

error_pager:
    free(pager);
    return NULL;
}

struct pager *pager_create_alloc(size_t size, struct port_bucket *bucket, boolean_t may_cache,
                                 memory_object_copy_strategy_t copy_strategy,
                                 boolean_t notify_on_evict)
{
    struct user_pager_info *upi = calloc(1, size);
    struct pager *pager;

    if (upi == NULL)
        return NULL;
    pager = pager_create(upi, bucket, may_cache, copy_strategy, notify_on_evict);
    if (pager == NULL)
        free(upi);
    else
        pager->owns_upi = true;
    return pager;
}

/* => level locked on entry, not on return. */
static void pager_free(struct pager *pager)
{
    struct user_pager_info *upi = pager->upi;
    bool owns_upi = pager->owns_upi;

    rt_assert(pager->windows == NULL && pager->listeners == NULL);
    if (pager->level->gathering == pager) /* all that was gathered has been written already */
        pager->level->gathering = NULL;
    pager_kept_drop_all(pager);
    rt_mutex_unlock(&pager->level->lock);
    free(pager->pages);
    free(pager);
    pager_clear_user_data(upi);
    if (owns_upi)
        free(upi);
}

void pager_deref(struct pager *pager)
{
    if (--pager->nrefs == 0)
        pager_free(pager);
    else
        rt_mutex_unlock(&pager->level->lock);
}

struct pager *pager_lookup_lock(mach_port_t port)
{
    struct pager_requests *level;
    struct pager *pager;

    for (level = pager_levels(); level != NULL; level = level->next) {
        rt_mutex_lock(&level->lock);
        pager = ports_lookup_port(level->bucket, port);
        if (pager != NULL)
            return pager;
        rt_mutex_unlock(&level->lock);
    }
    return NULL;
}

struct pager *pager_lookup_reserve(mach_port_t port, struct pager_request **request)
{
    struct pager_requests *level;
    struct pager *pager;

    while ((pager = pager_lookup_lock(port)) != NULL) {
        *request = pager_request_alloc(pager);
        if (*request != NULL)
            break;
        level = pager->level;
        pager_gather_end(level);
        rt_cond_wait(&level->node_free, &level->lock);
        rt_mutex_unlock(&level->lock); /* the pager may have gone meanwhile: look again */
    }
    return pager;
}

mach_port_t pager_control_ref(struct pager *pager)
{
    if (pager->control == MACH_PORT_NULL ||
        mach_port_mod_refs(mach_task_self(), pager->control, MACH_PORT_RIGHT_SEND, 1) !=
            KERN_SUCCESS)
        return MACH_PORT_NULL;
    return pager->control;
}

void pager_right_drop(mach_port_t port)
{
    if (MACH_PORT_VALID(port))
        mach_port_deallocate(mach_task_self(), port);
}

void pager_rights_pay(struct pager *pager)
{
    mach_port_delta_t count = (mach_port_delta_t)pager->nowed;

    pager->nowed = 0;
    if (count > 0 && mach_port_mod_refs(mach_task_self(), pager->control, MACH_PORT_RIGHT_SEND,
                                        -count) != KERN_SUCCESS)
        mach_port_mod_refs(mach_task_self(), pager->control, MACH_PORT_RIGHT_DEAD_NAME, -count);
}

struct user_pager_info *pager_get_upi(struct pager *pager)
{
    return pager->upi;
}

mach_port_t pager_get_port(struct pager *pager)
{
    return pager->port;
}

void pager_set_object(struct pager *pager, uint32_t object)
{
    rt_mutex_lock(&pager->level->lock);
    pager->object = object;
    rt_mutex_unlock(&pager->level->lock);
}

void pager_set_class(struct pager *pager, enum rt_class class)
{
    rt_mutex_lock(&pager->level->lock);
    pager->class = class;
    rt_mutex_unlock(&pager->level->lock);
}

void pager_set_writers(struct pager *pager, unsigned int nwriters)
{
    rt_mutex_lock(&pager->level->lock);
    pager->nwriters_most = nwriters;
    rt_mutex_unlock(&pager->level->lock);
}

void pager_change_attributes(struct pager *pager, boolean_t may_cache,
                             memory_object_copy_strategy_t copy_strategy, int wait)
{
    mach_port_t control;

    if (wait != 0)
        pager_level_check(pager, "pager_change_attributes");
    rt_mutex_lock(&pager->level->lock);
    pager->may_cache = may_cache;
    pager->copy_strategy = copy_strategy;
    control = pager_control_ref(pager);
    if (control != MACH_PORT_NULL) {
        pager->nchanging++;
        rt_mutex_unlock(&pager->level->lock);
        memory_object_change_attributes(control, may_cache, copy_strategy, pager->port);
        pager_right_drop(control);
        rt_mutex_lock(&pager->level->lock);
    }
    while (wait != 0 && pager->nchanging > 0)
        rt_cond_wait(&pager->changed, &pager->level->lock);
    rt_mutex_unlock(&pager->level->lock);
}

error_t pager_get_error(struct pager *pager, vm_address_t addr)
{
    error_t error;

    rt_mutex_lock(&pager->level->lock);
    error = pager_page_entry(pager, addr)->error;
    rt_mutex_unlock(&pager->level->lock);
    return error;
}

void pager_level_check(const struct pager *pager, const char *call)
{
    rt_level_check(pager->level->rank, call);
}

void pager_shutdown(struct pager *pager)
{
    struct pager_requests *level = pager->level;
    mach_port_t control;
    mach_port_t name;

    rt_mutex_lock(&level->lock);
    ports_destroy_port(level->bucket, pager->port);
    pager_rights_pay(pager);
    control = pager->control;
    name = pager->name;
    pager->control = MACH_PORT_NULL;
    pager->name = MACH_PORT_NULL;
    pager_windows_abandon(pager);
    rt_mutex_unlock(&level->lock);

    if (control != MACH_PORT_NULL)
        memory_object_destroy(control, KERN_SUCCESS);
    pager_right_drop(control);
    pager_right_drop(name);
    rt_mutex_lock(&level->lock);
    pager_deref(pager);
}
