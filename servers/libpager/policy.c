// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The policies. Most write one returned message after the other; they differ in how much of it goes
 * into one write. Their measure is the page, also where a file system has smaller blocks: no policy
 * makes more writes than `page`.
 */
#include "libpager/policy.h"

#include <stdio.h>
#include <string.h>

#include "libpager/merge.h"
#include "libpager/private.h"

/* The oldest return alone. */
static void pager_take_one(struct pager_request **queue, struct pager_run *run)
{
    struct pager_request *returned = *queue;

    *queue = returned->next;
    returned->next = NULL;
    run->returns = returned;
    run->offset = returned->offset;
    run->data = returned->data;
    run->length = returned->stored ? 0 : returned->length;
}

/* At most run_pages. Where consecutive pages are not consecutive on the disk, the server cuts
   further. */
static vm_size_t pager_cut_fixed(const struct pager_policy *policy, const struct pager_run *run,
                                 vm_size_t done)
{
    vm_size_t most = policy->run_pages * vm_page_size;
    vm_size_t left = run->length - done;

    return left < most ? left : most;
}

/*
 * While somebody waits for what a write keeps from him, each write is half as long as the one
 * before, down to what the disk's driver makes one command of; then they grow by as much with each
 * write that nobody waits for. So the length settles where waiting is rare, and comes back slowly
 * enough for who waits now and then.
 */
#define PAGER_ADAPTIVE_STEP ((vm_size_t)32 << 10)

static vm_size_t pager_cut_adaptive(const struct pager_policy *policy, const struct pager_run *run,
                                    vm_size_t done)
{
    struct pager *pager = run->pager;
    vm_size_t before = __atomic_load_n(&pager->write_most, __ATOMIC_RELAXED);
    vm_size_t most = before + PAGER_ADAPTIVE_STEP;

    if (__atomic_exchange_n(&pager->contended, false, __ATOMIC_RELAXED))
        most = before / 2 / vm_page_size * vm_page_size;
    if (most < PAGER_ADAPTIVE_STEP)
        most = PAGER_ADAPTIVE_STEP;
    if (most > pager_policy_merge_max())
        most = pager_policy_merge_max();
    __atomic_store_n(&pager->write_most, most, __ATOMIC_RELAXED);
    return merge_cut(policy, run, done) < most ? merge_cut(policy, run, done) : most;
}

static const struct pager_policy pager_policies[] = {
    {"page", 1, false, pager_take_one, pager_cut_fixed, NULL},
    {"chunk2", 2, true, pager_take_one, pager_cut_fixed, NULL},
    {"run128", 128, true, pager_take_one, pager_cut_fixed, NULL},
    {"merge", 0, true, merge_take, merge_cut, merge_drop},
    {"adaptive", 0, true, merge_take, pager_cut_adaptive, merge_drop},
};

#define PAGER_NPOLICIES (sizeof(pager_policies) / sizeof(pager_policies[0]))
#define PAGER_NAMES_MAX 256

static const struct pager_policy *pager_policy = &pager_policies[0]; /* atomically */
static vm_size_t pager_merge_max = PAGER_MERGE_DEFAULT;              /* likewise */

const struct pager_policy *pager_policy_at(size_t i)
{
    return i < PAGER_NPOLICIES ? &pager_policies[i] : NULL;
}

const struct pager_policy *pager_policy_lookup(const char *name)
{
    for (size_t i = 0; i < PAGER_NPOLICIES; i++)
        if (strcmp(pager_policies[i].name, name) == 0)
            return &pager_policies[i];
    return NULL;
}

const char *pager_policy_names(void)
{
    static char names[PAGER_NAMES_MAX];
    size_t used = 0;

    for (size_t i = 0; i < PAGER_NPOLICIES; i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "" : ",",
                                 pager_policies[i].name);
    return names;
}

void pager_policy_set(const struct pager_policy *policy)
{
    __atomic_store_n(&pager_policy, policy, __ATOMIC_RELAXED);
}

const struct pager_policy *pager_policy_get(void)
{
    return __atomic_load_n(&pager_policy, __ATOMIC_RELAXED);
}

void pager_policy_set_merge_max(vm_size_t bytes)
{
    __atomic_store_n(&pager_merge_max, bytes, __ATOMIC_RELAXED);
}

vm_size_t pager_policy_merge_max(void)
{
    return __atomic_load_n(&pager_merge_max, __ATOMIC_RELAXED);
}

void pager_policy_contended(struct pager *pager)
{
    __atomic_store_n(&pager->contended, true, __ATOMIC_RELAXED);
}
