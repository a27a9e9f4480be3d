// SPDX-License-Identifier: GPL-2.0-or-later
#include "file-map.h"

#include <err.h>
#include <stdbool.h>
#include <stdlib.h>

#include "array.h"
#include "failure.h"

void file_map_init(struct file_map *map)
{
    *map = (struct file_map){0};
}

void file_map_destroy(struct file_map *map)
{
    free(map->pieces);
    free(map->by_start);
}

/* Whether PIECE goes on where LAST ends, in the file and on the disk. */
static bool file_map_follows(const struct file_piece *last, const struct file_piece *piece)
{
    return last->offset + last->bytes == piece->offset && last->start + last->bytes == piece->start;
}

void file_map_add(struct file_map *map, struct file_piece piece)
{
    if (map->count > 0 && file_map_follows(&map->pieces[map->count - 1], &piece)) {
        map->pieces[map->count - 1].bytes += piece.bytes;
        return;
    }
    map->pieces = array_grow(map->pieces, map->count, sizeof(*map->pieces));
    map->pieces[map->count++] = piece;
}

static int file_map_compare(const void *left, const void *right, void *hook)
{
    const struct file_piece *pieces = hook;
    uint64_t a = pieces[*(const size_t *)left].start;
    uint64_t b = pieces[*(const size_t *)right].start;

    return (a > b) - (a < b);
}

void file_map_finish(struct file_map *map)
{
    map->by_start = reallocarray(NULL, map->count + 1, sizeof(*map->by_start));
    if (map->by_start == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    for (size_t i = 0; i < map->count; i++)
        map->by_start[i] = i;
    qsort_r(map->by_start, map->count, sizeof(*map->by_start), file_map_compare, map->pieces);
}

/* The first piece in the disk's order that ends behind byte START. */
static size_t file_map_first(const struct file_map *map, uint64_t start)
{
    size_t low = 0;
    size_t high = map->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct file_piece *piece = &map->pieces[map->by_start[middle]];

        if (piece->start + piece->bytes > start)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint64_t file_map_inside(const struct file_map *map, uint64_t start, uint64_t bytes)
{
    uint64_t end = start + bytes;
    uint64_t inside = 0;

    for (size_t i = file_map_first(map, start); i < map->count; i++) {
        const struct file_piece *piece = &map->pieces[map->by_start[i]];
        uint64_t from = piece->start > start ? piece->start : start;
        uint64_t to = piece->start + piece->bytes < end ? piece->start + piece->bytes : end;

        if (from >= to)
            break;
        inside += to - from;
    }
    return inside;
}

uint64_t file_map_locate(const struct file_map *map, uint64_t offset)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct file_piece *piece = &map->pieces[i];

        if (offset >= piece->offset && offset - piece->offset < piece->bytes)
            return piece->start + (offset - piece->offset);
    }
    return UINT64_MAX;
}

uint64_t file_map_longest(const struct file_map *map)
{
    uint64_t longest = 0;

    for (size_t i = 0; i < map->count; i++) {
        if (map->pieces[i].bytes > longest)
            longest = map->pieces[i].bytes;
    }
    return longest;
}
