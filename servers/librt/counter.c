// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/counter.h"

#include <inttypes.h>
#include <stdio.h>

#include "librt/log.h"

#define COUNTER_HIST_MAX 640 /* bytes: all buckets, with counts of 10 digits, take 551 */

static unsigned int rt_counter_bucket(uint32_t bytes)
{
    return bytes == 0 ? 0 : 31 - (unsigned int)__builtin_clz(bytes);
}

void rt_counter_add(struct rt_counter *counter, uint32_t bytes)
{
    counter->count++;
    counter->bytes += bytes;
    if (bytes > counter->max)
        counter->max = bytes;
    counter->hist[rt_counter_bucket(bytes)]++;
}

static void rt_counter_format_hist(const struct rt_counter *counter, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "-");
    for (unsigned int i = 0; i < RT_COUNTER_BUCKETS; i++) {
        if (counter->hist[i] == 0)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu32 ":%" PRIu32,
                                 used == 0 ? "" : ",", (uint32_t)1 << i, counter->hist[i]);
    }
}

void rt_counter_emit(const struct rt_counter *counter, const char *server, const char *layer,
                     enum rt_class class)
{
    char hist[COUNTER_HIST_MAX];

    rt_counter_format_hist(counter, hist, sizeof(hist));
    rt_emit("counter server=%s layer=%s class=%s count=%" PRIu64 " bytes=%" PRIu64 " max=%" PRIu32
            " hist=%s",
            server, layer, class == RT_CLASS_FILE ? "file" : "meta", counter->count, counter->bytes,
            counter->max, hist);
}
