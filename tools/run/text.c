// SPDX-License-Identifier: GPL-2.0-or-later
#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TEXT_GAP " ... "

/* How many bytes follow LEAD in UTF-8, or -1: none starts so. */
static int text_followers(unsigned char lead)
{
    if (lead < 0x80)
        return 0;
    if (lead >= 0xc2 && lead < 0xe0)
        return 1;
    if (lead >= 0xe0 && lead < 0xf0)
        return 2;
    return lead >= 0xf0 && lead < 0xf5 ? 3 : -1;
}

static bool text_is_control(uint32_t code)
{
    return (code < 0x20 && code != '\t') || (code >= 0x7f && code < 0xa0);
}

/* Not so long that fewer bytes would do, no half of a surrogate, and none that there is not. */
static bool text_is_code(uint32_t code, int followers)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};

    return code >= least[followers] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

/* The length of the printable character at TEXT, or 0 if there is none. */
static size_t text_character(const char *text)
{
    unsigned char lead = (unsigned char)*text;
    int followers = text_followers(lead);
    uint32_t code = followers <= 0 ? lead : lead & (0x3fu >> followers);

    if (followers < 0)
        return 0;
    for (int i = 1; i <= followers; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return text_is_code(code, followers) && !text_is_control(code) ? (size_t)followers + 1 : 0;
}

char *text_clean(char *text)
{
    for (char *at = text; *at != '\0';) {
        size_t length = text_character(at);

        if (length == 0)
            *at = '?';
        at += length == 0 ? 1 : length;
    }
    return text;
}

char *text_fit(char *to, size_t bytes, const char *from)
{
    size_t length = strlen(from);
    size_t half = (bytes - sizeof(TEXT_GAP)) / 2;

    if (length < bytes) {
        memcpy(to, from, length + 1);
    } else {
        memcpy(to, from, half);
        memcpy(to + half, TEXT_GAP, sizeof(TEXT_GAP) - 1);
        memcpy(to + half + sizeof(TEXT_GAP) - 1, from + length - half, half + 1);
    }
    return text_clean(to);
}
