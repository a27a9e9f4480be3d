// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write-behind: what was changed is written out every so often, without anybody asking for it. What
 * there is to be written, and what had better be left alone, the server knows
 * (pager_write_behind); this is the clock.
 */
#ifndef LIBPAGER_BEHIND_H
#define LIBPAGER_BEHIND_H

#include "librt/error.h"

/*
 * Call ROUND every SECONDS, from a thread of its own. A round is left out while memory is so short
 * that the kernel pages out: a sync has it copy pages, which takes memory and gives none back.
 * => once; may block; ENOMEM. ROUND may block, and sync.
 */
error_t pager_behind_start(unsigned int seconds, void (*round)(void));

/* When this returns no round is under way, and none begins any more. => blocks; does nothing when
   nothing was started. */
void pager_behind_stop(void);

#endif
