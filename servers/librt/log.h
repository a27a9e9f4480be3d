// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a task says on the console (docs/protocol.md, "Lines on the console"), and how it ends the
 * run. Output is synchronous (the mach_print system call): what was said has been written.
 */
#ifndef LIBRT_LOG_H
#define LIBRT_LOG_H

#define RT_LINE_MAX 1000 /* bytes of a line, its end included */

/* Print "NAME: " (the server's), the message and a line end. FORMAT is printf's.
   => may be called from any thread, with any lock held; longer lines are cut. */
void rt_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print "machbed ", the message and a line end: a line for the runner. */
void rt_emit(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print TEXT, at most RT_LINE_MAX bytes, and a line end, as one call. */
void rt_print_line(const char *text);

/* Print "NAME: panic: " and the message, then end the run with status 99. */
_Noreturn void rt_panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print "NAME: " and the message, then end the run with status 2: what this server was given (an
   image, a device) is not what it can work with. The message names it and what was expected. */
_Noreturn void rt_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A condition that only a mistake in this program can break. */
#define rt_assert(condition)                                                                       \
    ((condition) ? (void)0                                                                         \
                 : rt_panic("%s:%d: %s: failed: %s", __FILE__, __LINE__, __func__, #condition))

#endif
