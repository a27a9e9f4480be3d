// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/symbol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name on LINE, which ends before END; *LENGTH is how long it is. */
static const char *rt_symbol_name(const char *line, const char *end, size_t *length)
{
    const char *name = memchr(line, ' ', (size_t)(end - line));
    const char *stop;

    if (name == NULL)
        return NULL;
    name++;
    stop = memchr(name, '\n', (size_t)(end - name));
    *length = (size_t)((stop == NULL ? end : stop) - name);
    return name;
}

/* The last line of TABLE whose address is at or below PC; *START is that address. */
static const char *rt_symbol_search(const struct rt_symbols *table, uintptr_t pc, uintptr_t *start)
{
    const char *found = NULL;
    const char *line = table->start;

    while (line != NULL && line < table->end) {
        uintptr_t address = strtoul(line, NULL, 16);

        if (address > pc)
            break;
        *start = address;
        found = line;
        line = memchr(line, '\n', (size_t)(table->end - line));
        line = line == NULL ? NULL : line + 1;
    }
    return found;
}

/* Write what is at PC, as a caller's address when it is one: that is behind the call. */
static void rt_symbol_write(const struct rt_symbols *table, uintptr_t pc, uintptr_t within,
                            char *text, size_t size)
{
    uintptr_t start = 0;
    size_t length = 0;
    const char *line = rt_symbol_search(table, within, &start);
    const char *name = line == NULL ? NULL : rt_symbol_name(line, table->end, &length);

    if (name == NULL)
        snprintf(text, size, "%#lx", (unsigned long)pc);
    else
        snprintf(text, size, "%.*s+%#lx", (int)length, name, (unsigned long)(pc - start));
}

void rt_symbol_print(const struct rt_symbols *table, uintptr_t pc, char *text, size_t size)
{
    rt_symbol_write(table, pc, pc, text, size);
}

void rt_symbol_callers(const struct rt_symbols *table, const uintptr_t *callers, unsigned int count,
                       char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "an unknown place");
    for (unsigned int i = 0; i < count && callers[i] != 0 && used < size; i++) {
        char name[RT_SYMBOL_MAX];

        rt_symbol_write(table, callers[i], callers[i] - 1, name, sizeof(name));
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : " < ", name);
    }
}
