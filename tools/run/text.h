// SPDX-License-Identifier: GPL-2.0-or-later
/* Text that comes from outside (an option, a file, the guest) and goes into a sentence. */
#ifndef RUN_TEXT_H
#define RUN_TEXT_H

#include <stddef.h>

/*
 * Make TEXT, in place, fit for one line of a terminal and for JSON: control characters but
 * tabs, and bytes that are not UTF-8, become '?'. Returns TEXT.
 */
char *text_clean(char *text);

/*
 * Copy FROM to TO, which has room for BYTES (at least 16), and clean it. Of what does not fit the
 * middle goes, for a sentence says at its end what is wrong. Returns TO.
 */
char *text_fit(char *to, size_t bytes, const char *from);

#endif
