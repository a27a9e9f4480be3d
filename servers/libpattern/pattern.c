// SPDX-License-Identifier: GPL-2.0-or-later
#include "libpattern/pattern.h"

#include <string.h>

struct pattern_stamp {
    uint64_t sector;
    uint64_t mixed;
};

/* Output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
   generators, 2014): every bit of X has a share in every bit of the result. */
static uint64_t pattern_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static struct pattern_stamp pattern_stamp_make(const struct pattern *pattern, uint64_t sector)
{
    return (struct pattern_stamp){
        .sector = sector ^ pattern->seed,
        .mixed = pattern_mix(pattern->seed + sector * 0x9e3779b97f4a7c15u),
    };
}

static const uint8_t *pattern_base_at(const struct pattern *pattern, uint64_t sector)
{
    return pattern->base + sector * PATTERN_SECTOR_BYTES % PATTERN_BASE_BYTES;
}

void pattern_init(struct pattern *pattern, uint64_t seed, uint8_t *base)
{
    uint64_t state = seed;

    pattern->seed = seed;
    pattern->base = base;
    for (size_t i = 0; i < PATTERN_BASE_BYTES; i += sizeof(uint64_t)) {
        uint64_t word;

        state += 0x9e3779b97f4a7c15u;
        word = pattern_mix(state);
        memcpy(base + i, &word, sizeof(word));
    }
}

void pattern_fill(const struct pattern *pattern, uint64_t offset, void *data, size_t length)
{
    uint64_t sector = offset / PATTERN_SECTOR_BYTES;
    uint8_t *to = data;

    for (size_t i = 0; i < length; i += PATTERN_SECTOR_BYTES, sector++) {
        struct pattern_stamp stamp = pattern_stamp_make(pattern, sector);

        memcpy(to + i, pattern_base_at(pattern, sector), PATTERN_SECTOR_BYTES);
        memcpy(to + i, &stamp, sizeof(stamp));
    }
}

/* Returns the index of the first of PATTERN_SECTOR_BYTES bytes that differ. */
static size_t pattern_first_difference(const uint8_t *a, const uint8_t *b)
{
    size_t i = 0;

    while (i < PATTERN_SECTOR_BYTES && a[i] == b[i])
        i++;
    return i;
}

size_t pattern_compare(const struct pattern *pattern, uint64_t offset, const void *data,
                       size_t length)
{
    const uint8_t *from = data;
    uint64_t want[PATTERN_SECTOR_BYTES / sizeof(uint64_t)];

    for (size_t i = 0; i < length; i += PATTERN_SECTOR_BYTES) {
        pattern_fill(pattern, offset + i, want, PATTERN_SECTOR_BYTES);
        if (memcmp(want, from + i, PATTERN_SECTOR_BYTES) != 0)
            return i + pattern_first_difference((const uint8_t *)want, from + i);
    }
    return length;
}

uint64_t pattern_part(uint64_t size, uint64_t count, uint64_t index, uint64_t *offset)
{
    uint64_t npages = size / PATTERN_PAGE_BYTES;
    uint64_t least = npages / count;
    uint64_t nlarger = npages % count;

    *offset = (index * least + (index < nlarger ? index : nlarger)) * PATTERN_PAGE_BYTES;
    return (least + (index < nlarger)) * PATTERN_PAGE_BYTES;
}
