// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A counter of sizes: how many, how many bytes, the largest, and a histogram by powers of two. One
 * for each layer and class of a server; counting costs a few instructions and is always on.
 */
#ifndef LIBRT_COUNTER_H
#define LIBRT_COUNTER_H

#include <stdint.h>

#define RT_COUNTER_BUCKETS 32 /* bucket i counts sizes from 2^i to below 2^(i+1); 0 goes to 0 */

struct rt_counter {
    uint64_t count;
    uint64_t bytes;
    uint32_t max; /* bytes */
    uint32_t hist[RT_COUNTER_BUCKETS];
};

/* What a request carries: a file's data, or anything else (docs/protocol.md). */
enum rt_class { RT_CLASS_FILE, RT_CLASS_META, RT_CLASS_COUNT };

/* Count one request of BYTES. => does not block; the caller keeps others off COUNTER. */
void rt_counter_add(struct rt_counter *counter, uint32_t bytes);

/* Print COUNTER's `counter` line. => the caller keeps others off COUNTER. */
void rt_counter_emit(const struct rt_counter *counter, const char *server, const char *layer,
                     enum rt_class class);

#endif
