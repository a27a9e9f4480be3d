// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/failure.h"

void names_init(struct names *names)
{
    memset(names, 0, sizeof(*names));
}

void names_destroy(struct names *names)
{
    for (size_t i = 0; i < NAMES_SLOTS; i++)
        free(names->slots[i]);
}

/* FNV-1a. */
static uint32_t names_hash(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

const char *names_get(struct names *names, const char *text, size_t length)
{
    uint32_t slot = names_hash(text, length) % NAMES_SLOTS;

    for (; names->slots[slot] != NULL; slot = (slot + 1) % NAMES_SLOTS) {
        const char *name = names->slots[slot];

        if (strncmp(name, text, length) == 0 && name[length] == '\0')
            return name;
    }
    if (names->count == NAMES_SLOTS / 2)
        return NULL;
    names->slots[slot] = strndup(text, length);
    if (names->slots[slot] == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    names->count++;
    return names->slots[slot];
}
