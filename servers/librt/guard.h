// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Touching memory that may fail. Memory of an external pager, a client's or one's own, can turn out
 * unreadable when it is touched (a disk error, a client that lied); that is an exception in the
 * thread that touches it. A guarded copy gets an error instead.
 */
#ifndef LIBRT_GUARD_H
#define LIBRT_GUARD_H

#include <stddef.h>

#include "librt/error.h"

/* Start the thread that receives this task's exceptions. What is not a guarded copy's goes on to
   startup, which reports the crash. => once, after rt_server_init; blocks; a failure is a panic. */
void rt_guard_setup(void);

/*
 * Copy BYTES from FROM to TO, which may be memory of any pager. *DONE is how many bytes, from the
 * start, have been copied for sure.
 * => may block for as long as the pagers do; EIO: some of the memory could not be touched.
 */
error_t rt_guard_copy(void *to, const void *from, size_t bytes, size_t *done);

/* Make BYTES at TO zero, likewise. */
error_t rt_guard_zero(void *to, size_t bytes);

#endif
