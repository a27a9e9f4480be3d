// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The seam between policy and mechanism: how returned pages become writes. One policy applies to
 * every pager of a task, data and metadata alike. To add one: a row of the table in policy.c.
 */
#ifndef LIBPAGER_POLICY_H
#define LIBPAGER_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "librt/mach.h"

struct pager;
struct pager_request;

/* A stretch of consecutive pages that are written before anything else of their object. */
struct pager_run {
    struct pager *pager;           /* whose pages; set before `take` is called */
    struct pager_request *returns; /* the messages whose pages it holds, linked by next */
    vm_offset_t offset;            /* in the object */
    vm_address_t data;             /* the pages, in memory */
    vm_size_t length;              /* bytes, whole pages; 0: nothing of RETURNS must be written */
    vm_address_t buffer;           /* the policy's own; 0: none */
};

struct pager_policy {
    const char *name;
    unsigned int run_pages; /* at most so many pages in one write; 0: `cut` knows */
    bool bulk;              /* pager_write_pages, or pager_write_page for each page */

    /*
     * Move one or more returns from *QUEUE, which holds what has been received and not been written
     * yet, to RUN. It is in the order of receipt, but for what a call of this function has left
     * behind in another; who changes the order must look at the sequence numbers. Of two returns
     * that overlap the older one is taken first, or both at a time: then the older one comes first
     * in run->returns, and the newer one's pages are the run's. The data of a return that the
     * kernel's requests will be answered with is that at returned->data.
     * => may block; no lock is held; *QUEUE is not empty.
     */
    void (*take)(struct pager_request **queue, struct pager_run *run);

    /* Bytes, whole pages, of the next write when DONE bytes of RUN have been dealt with.
       => above 0 and within RUN. */
    vm_size_t (*cut)(const struct pager_policy *policy, const struct pager_run *run,
                     vm_size_t done);

    /* Release what `take` has allocated for RUN, when its returns are completed. May be null. */
    void (*drop)(struct pager_run *run);
};

/* The policy called NAME, or null. */
const struct pager_policy *pager_policy_lookup(const char *name);

/* The policy number I, from 0; null behind the last. */
const struct pager_policy *pager_policy_at(size_t i);

/* Their names with commas between them, for messages. => from one thread at a time. */
const char *pager_policy_names(void);

/* Use POLICY for what is written from now on. */
void pager_policy_set(const struct pager_policy *policy);

/* The largest write of the policies that merge messages, in bytes: whole pages, at most
   PAGER_MERGE_MOST. */
#define PAGER_MERGE_DEFAULT ((vm_size_t)1 << 20)
#define PAGER_MERGE_MOST    ((vm_size_t)4 << 20)
void pager_policy_set_merge_max(vm_size_t bytes);
vm_size_t pager_policy_merge_max(void);

/* Somebody waits for a lock, or for blocks, that writing PAGER's pages keeps from him: a hint for
   the policy. => any thread; does not block. */
void pager_policy_contended(struct pager *pager);

/* The policy in use; `page` until another was set. */
const struct pager_policy *pager_policy_get(void);

#endif
