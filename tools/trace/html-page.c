// SPDX-License-Identifier: GPL-2.0-or-later
/* The assembler puts the files in; make runs it in the top folder, and knows that it does. */
#include "html-page.h"

#define HTML_FILE(name) ".incbin \"tools/trace/page/" name "\"\n"

__asm__(".pushsection .rodata\n"
        ".globl html_page, html_style, html_script\n"
        "html_page:\n" HTML_FILE(
            "page.html") ".byte 0\n"
                         "html_style:\n" HTML_FILE(
                             "page.css") ".byte 0\n"
                                         "html_script:\n" HTML_FILE("data.js") HTML_FILE("chart.js")
                                             HTML_FILE("line.js") HTML_FILE("sections.js")
                                                 HTML_FILE("main.js") ".byte 0\n"
                                                                      ".popsection");
