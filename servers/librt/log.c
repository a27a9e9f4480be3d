// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "librt/mach.h"
#include "librt/rt.h"
#include "librt/state.h"

/* Print HEAD, the message and a line end as one call, so that no other line can get between. */
static void rt_print(const char *head, const char *format, va_list arguments)
{
    char line[RT_LINE_MAX + 1];
    size_t used = strlen(head);
    size_t length;

    memcpy(line, head, used);
    vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);
    length = strlen(line);
    line[length] = '\n';
    line[length + 1] = '\0';
    mach_print(line);
    rt_progress();
}

void rt_print_line(const char *text)
{
    char line[RT_LINE_MAX + 2];

    snprintf(line, sizeof(line), "%s\n", text);
    mach_print(line);
    rt_progress();
}

static void rt_print_named(const char *what, const char *format, va_list arguments)
{
    char head[sizeof(rt_image.name) + 16];

    snprintf(head, sizeof(head), "%s: %s", rt_image.name, what);
    rt_print(head, format, arguments);
}

void rt_log(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    rt_print_named("", format, arguments);
    va_end(arguments);
}

void rt_emit(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    rt_print("machbed ", format, arguments);
    va_end(arguments);
}

void rt_panic(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    rt_print_named("panic: ", format, arguments);
    va_end(arguments);
    rt_emit("end status=99 reason=\"%s panicked\"", rt_image.name);
    rt_end(RT_END_FAILED);
}

void rt_fail(const char *format, ...)
{
    char reason[RT_LINE_MAX / 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason, sizeof(reason), format, arguments);
    va_end(arguments);
    for (char *quote = strchr(reason, '"'); quote != NULL; quote = strchr(quote, '"'))
        *quote = '\'';
    rt_log("%s", reason);
    rt_emit("end status=2 reason=\"%s: %s\"", rt_image.name, reason);
    rt_end(RT_END_BAD_INPUT);
}
