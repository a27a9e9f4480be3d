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

struct pager_request;

/* A stretch of consecutive pages that are written before anything else of their object. */
struct pager_run {
    struct pager_request *returns; /* the messages whose pages it holds, linked by next */
    vm_offset_t offset;            /* in the object */
    vm_address_t data;             /* the pages, in memory */
    vm_size_t length;              /* bytes, whole pages; 0: nothing of RETURNS must be written */
};

struct pager_policy {
    const char *name;
    unsigned int run_blocks; /* at most so many blocks in one store_write; 0: no limit of its own */
    bool bulk;               /* pager_write_pages, or pager_write_page for each page */

    /*
     * Move one or more returns from *QUEUE, which holds what was queued when the worker came for
     * it, oldest first, to RUN. Returns that overlap keep their order: in the queue, in
     * run->returns, and in what is written.
     * => may block and copy; no lock is held; *QUEUE is not empty.
     */
    void (*take)(struct pager_request **queue, struct pager_run *run);

    /* Bytes, whole pages, of the next write when DONE bytes of RUN have been dealt with.
       => above 0 and within RUN. */
    vm_size_t (*cut)(const struct pager_policy *policy, const struct pager_run *run,
                     vm_size_t done);

    /* Release what `take` has allocated for RUN. May be null. */
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

/* The policy in use; `page` until another was set. */
const struct pager_policy *pager_policy_get(void);

#endif
