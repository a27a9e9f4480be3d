// SPDX-License-Identifier: GPL-2.0-or-later
#include "content.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failure.h"
#include "libpattern/pattern.h"
#include "size.h"

#define CONTENT_WINDOW_BYTES (1u << 20)

struct content {
    const struct content_case *checked;
    struct pattern pattern;
    int fd;
    uint8_t *window;
    uint64_t differing; /* sectors */
    char *result;
};

static void *content_alloc(size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    return memory;
}

static bool content_is_filled(const uint8_t *sector, uint8_t value)
{
    for (unsigned i = 0; i < PATTERN_SECTOR_BYTES; i++) {
        if (sector[i] != value)
            return false;
    }
    return true;
}

/* Whether a sector is that of the stream as prepare.c makes it for a job that overwrites it. */
static bool content_is_old(const struct content *content, const uint8_t *sector, uint64_t number)
{
    uint8_t *base = content_alloc(PATTERN_BASE_BYTES);
    struct pattern old;
    bool is_old;

    pattern_init(&old, content->pattern.seed + 1, base);
    is_old = pattern_compare(&old, number * PATTERN_SECTOR_BYTES, sector, PATTERN_SECTOR_BYTES) ==
             PATTERN_SECTOR_BYTES;
    free(base);
    return is_old;
}

/* Whether SECTOR is one of the job's stream; *NUMBER becomes which. */
static bool content_is_of_stream(const struct content *content, const uint8_t *sector,
                                 uint64_t *number)
{
    memcpy(number, sector, sizeof(*number)); /* a pattern's sector starts with its number ^ seed */
    *number ^= content->pattern.seed;
    return *number < content->checked->stream / PATTERN_SECTOR_BYTES &&
           pattern_compare(&content->pattern, *number * PATTERN_SECTOR_BYTES, sector,
                           PATTERN_SECTOR_BYTES) == PATTERN_SECTOR_BYTES;
}

/* Says in TEXT what stands in the SECTOR that should hold sector NUMBER of the stream. */
static void content_sector_describe(const struct content *content, const uint8_t *sector,
                                    uint64_t number, char *text, size_t bytes)
{
    uint64_t first = content->checked->offset / PATTERN_SECTOR_BYTES;
    uint64_t stamp;

    if (content_is_filled(sector, 0))
        snprintf(text, bytes, "the sector is all zeros");
    else if (content_is_of_stream(content, sector, &stamp) && stamp >= first &&
             stamp - first < content->checked->bytes / PATTERN_SECTOR_BYTES)
        snprintf(text, bytes, "the sector holds what belongs into sector %s",
                 NUMBER_TEXT(stamp - first));
    else if (content_is_of_stream(content, sector, &stamp))
        snprintf(text, bytes, "the sector holds what belongs into another file");
    else if (content_is_old(content, sector, number))
        snprintf(text, bytes, "the sector was not overwritten");
    else
        snprintf(text, bytes, "the sector holds other data");
}

/* Says in TEXT which sector of the disk byte AT is in; nothing if it is in none. */
static void content_place_describe(const struct content *content, uint64_t at, char *text,
                                   size_t bytes)
{
    uint64_t place = file_map_locate(content->checked->map, content->checked->offset + at);

    text[0] = '\0';
    if (place != UINT64_MAX)
        snprintf(text, bytes, "; sector %s of the disk", NUMBER_TEXT(place / PATTERN_SECTOR_BYTES));
}

/* Notes the first difference: byte AT of what is checked, which is byte INDEX of the window. */
static void content_difference_note(struct content *content, uint64_t at, size_t index)
{
    size_t first = index / PATTERN_SECTOR_BYTES * PATTERN_SECTOR_BYTES;
    uint64_t sector = at / PATTERN_SECTOR_BYTES;
    uint64_t number = sector + content->checked->offset / PATTERN_SECTOR_BYTES;
    uint64_t want[PATTERN_SECTOR_BYTES / sizeof(uint64_t)];
    char what[96];
    char place[64];

    pattern_fill(&content->pattern, number * PATTERN_SECTOR_BYTES, want, PATTERN_SECTOR_BYTES);
    content_sector_describe(content, content->window + first, number, what, sizeof(what));
    content_place_describe(content, at, place, sizeof(place));
    snprintf(content->result, CONTENT_RESULT_BYTES,
             "byte %s (sector %s%s) is 0x%02x and should be 0x%02x: %s", NUMBER_TEXT(at),
             NUMBER_TEXT(sector), place, content->window[index],
             ((const uint8_t *)want)[index - first], what);
}

/* Compares the LENGTH bytes in the window, which are those from OFFSET on. */
static void content_window_check(struct content *content, uint64_t offset, size_t length)
{
    size_t at = 0;

    while (at < length) {
        size_t equal = pattern_compare(&content->pattern, content->checked->offset + offset + at,
                                       content->window + at, length - at);

        at += equal;
        if (at >= length)
            break;
        if (content->differing++ == 0)
            content_difference_note(content, offset + at, at);
        at = (at / PATTERN_SECTOR_BYTES + 1) * PATTERN_SECTOR_BYTES;
    }
}

static error_t content_window_read(struct content *content, uint64_t offset, size_t length)
{
    uint64_t start = content->checked->start + offset;
    ssize_t got = pread(content->fd, content->window, length, (off_t)start);

    if (got == (ssize_t)length)
        return 0;
    snprintf(content->result, CONTENT_RESULT_BYTES, "the image cannot be read at byte %s: %s",
             NUMBER_TEXT(start), got < 0 ? strerror(errno) : "it ends before");
    return EIO;
}

static void content_conclude(struct content *content)
{
    size_t used = strlen(content->result);

    if (content->differing == 0)
        snprintf(content->result, CONTENT_RESULT_BYTES, "ok");
    else
        snprintf(content->result + used, CONTENT_RESULT_BYTES - used, "; %s of %s sectors differ",
                 NUMBER_TEXT(content->differing),
                 NUMBER_TEXT(content->checked->bytes / PATTERN_SECTOR_BYTES));
}

static void content_run(struct content *content)
{
    uint64_t bytes = content->checked->bytes;

    for (uint64_t offset = 0; offset < bytes; offset += CONTENT_WINDOW_BYTES) {
        uint64_t rest = bytes - offset;
        size_t length = rest < CONTENT_WINDOW_BYTES ? rest : CONTENT_WINDOW_BYTES;

        if (content_window_read(content, offset, length) != 0)
            return;
        content_window_check(content, offset, length);
    }
    content_conclude(content);
}

void content_check(const struct content_case *checked, char result[CONTENT_RESULT_BYTES])
{
    struct content content = {.checked = checked, .result = result};
    uint8_t *base = content_alloc(PATTERN_BASE_BYTES);

    result[0] = '\0';
    content.window = content_alloc(CONTENT_WINDOW_BYTES);
    pattern_init(&content.pattern, checked->seed, base);
    content.fd = open(checked->path, O_RDONLY | O_CLOEXEC);
    if (content.fd < 0)
        snprintf(result, CONTENT_RESULT_BYTES, "the image %s cannot be read: %s", checked->path,
                 strerror(errno));
    else
        content_run(&content);
    if (content.fd >= 0)
        close(content.fd);
    free(content.window);
    free(base);
}
