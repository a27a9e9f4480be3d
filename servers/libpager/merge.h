// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of the policy `merge` (policy.c); how it works is said in merge.c. */
#ifndef LIBPAGER_MERGE_H
#define LIBPAGER_MERGE_H

#include "libpager/policy.h"

/* As pager_policy's members of these names (policy.h). */
void merge_take(struct pager_request **queue, struct pager_run *run);
vm_size_t merge_cut(const struct pager_policy *policy, const struct pager_run *run, vm_size_t done);
void merge_drop(struct pager_run *run);

#endif
