// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The data that jobs write, and that checks compare with.
 *
 * A pattern is a stream of bytes that depends on a seed and on nothing else. Each 512-byte sector
 * starts with a 16-byte stamp, made of the seed and the sector's number in the stream; the other
 * 496 bytes come from a base of PATTERN_BASE_BYTES that repeats. So no two sectors of a stream and
 * no two runs look alike, and filling memory costs a copy and a stamp for each sector, which is
 * little beside what is measured. The base is made once, before any clock starts.
 *
 * The same code runs in the guest (to fill and to read back) and on the host (to check the image).
 */
#ifndef LIBPATTERN_PATTERN_H
#define LIBPATTERN_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#define PATTERN_SECTOR_BYTES 512u
#define PATTERN_BASE_BYTES   (1u << 20)

struct pattern {
    uint64_t seed;
    uint8_t *base; /* PATTERN_BASE_BYTES, the caller's */
};

/*
 * Make the pattern of SEED. BASE is PATTERN_BASE_BYTES of the caller's memory, aligned to 8 bytes,
 * and belongs to the pattern until it is no longer used.
 * => does not block, cannot fail; any number of threads may use the result at once.
 */
void pattern_init(struct pattern *pattern, uint64_t seed, uint8_t *base);

/*
 * Write LENGTH bytes of the stream, from byte OFFSET on, to DATA. Both are multiples of
 * PATTERN_SECTOR_BYTES; DATA is aligned to 8 bytes.
 */
void pattern_fill(const struct pattern *pattern, uint64_t offset, void *data, size_t length);

/*
 * Compare LENGTH bytes at DATA with the stream from byte OFFSET on (units as pattern_fill).
 * Returns LENGTH when all are equal, else the index in DATA of the first byte that differs.
 */
size_t pattern_compare(const struct pattern *pattern, uint64_t offset, const void *data,
                       size_t length);

#define PATTERN_PAGE_BYTES 4096u

/*
 * A job's files hold one stream together, each a part of it, so that no two look alike. The stream
 * of SIZE bytes, whole pages, is cut into COUNT parts (from 1 to as many as there are pages) of as
 * many pages each, but for the first ones, which may have one more. *OFFSET becomes where part
 * INDEX begins. Returns its bytes.
 */
uint64_t pattern_part(uint64_t size, uint64_t count, uint64_t index, uint64_t *offset);

#endif
