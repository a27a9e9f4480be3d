// SPDX-License-Identifier: GPL-2.0-or-later
#include "libpager/private.h"

static void pager_counter_merge(struct rt_counter *sum, const struct rt_counter *counter)
{
    sum->count += counter->count;
    sum->bytes += counter->bytes;
    if (counter->max > sum->max)
        sum->max = counter->max;
    for (size_t i = 0; i < RT_COUNTER_BUCKETS; i++)
        sum->hist[i] += counter->hist[i];
}

void pager_counters_emit(const char *server)
{
    struct rt_counter requests[RT_CLASS_COUNT] = {{.count = 0}};
    struct rt_counter returns[RT_CLASS_COUNT] = {{.count = 0}};
    struct pager_requests *level;

    for (level = pager_levels(); level != NULL; level = level->next) {
        rt_mutex_lock(&level->lock);
        for (size_t i = 0; i < RT_CLASS_COUNT; i++) {
            pager_counter_merge(&requests[i], &level->data_request[i]);
            pager_counter_merge(&returns[i], &level->data_return[i]);
        }
        rt_mutex_unlock(&level->lock);
    }
    for (size_t i = 0; i < RT_CLASS_COUNT; i++) {
        rt_counter_emit(&requests[i], server, "data_request", (enum rt_class)i);
        rt_counter_emit(&returns[i], server, "data_return", (enum rt_class)i);
    }
}
