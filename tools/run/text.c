// SPDX-License-Identifier: GPL-2.0-or-later
#include "text.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define TEXT_GAP       " ... "
#define TEXT_BYTES_MAX 4u          /* of a character in UTF-8 */
#define TEXT_CODE_MAX  L'\x10ffff' /* of Unicode; glibc reads higher ones, too */

/* That of UTF-8, whatever the user's is; the global one if the system has none. */
static locale_t text_locale(void)
{
    static locale_t locale;

    if (locale == 0)
        locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", 0);
    return locale == 0 ? LC_GLOBAL_LOCALE : locale;
}

/* The length of the printable character at TEXT, or 0 if there is none. */
static size_t text_character(const char *text)
{
    mbstate_t state = {0};
    wchar_t code;
    size_t length = mbrtowc(&code, text, TEXT_BYTES_MAX, &state);

    if (length > TEXT_BYTES_MAX || code > TEXT_CODE_MAX ||
        (iswcntrl((wint_t)code) && code != L'\t'))
        return 0;
    return length;
}

char *text_clean(char *text)
{
    locale_t before = uselocale(text_locale());

    for (char *at = text; *at != '\0';) {
        size_t length = text_character(at);

        if (length == 0)
            *at = '?';
        at += length == 0 ? 1 : length;
    }
    uselocale(before);
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
