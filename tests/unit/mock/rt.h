// SPDX-License-Identifier: GPL-2.0-or-later
/* librt on the host: what the tested code said, and how a test ends from any thread. */
#ifndef MOCK_RT_H
#define MOCK_RT_H

#include <stddef.h>

/* Say why, and abort: also from a thread that is not cmocka's. */
_Noreturn void mock_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define mock_check(condition)                                                                      \
    ((condition) ? (void)0 : mock_fail("%s:%d: %s", __FILE__, __LINE__, #condition))

/* How many lines of rt_log and rt_emit hold TEXT, since the last mock_said_clear. */
size_t mock_said(const char *text);
void mock_said_clear(void);

/* From now on, have HOOK called by whoever has released a reader/writer lock, with the lock's name;
   null: nothing. */
void mock_on_unlock(void (*hook)(const char *name));

#endif
