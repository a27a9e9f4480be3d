// SPDX-License-Identifier: GPL-2.0-or-later
/* The page's parts, as they lie in tools/trace/page. */
#ifndef TRACE_HTML_PAGE_H
#define TRACE_HTML_PAGE_H

/* The page, with the words @STYLE@, @DATA@ and @SCRIPT@ where the other parts belong. */
extern const char html_page[];

extern const char html_style[];

/* The scripts, in their order. */
extern const char html_script[];

#endif
