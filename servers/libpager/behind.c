// SPDX-License-Identifier: GPL-2.0-or-later
#include "libpager/behind.h"

#include "libpager/private.h"

#include "librt/log.h"
#include "librt/sync.h"
#include "librt/thread.h"

static struct {
    unsigned int seconds; /* 0: not started */
    void (*round)(void);
    struct rt_mutex lock; /* guards what follows */
    struct rt_cond changed;
    bool stopped;
    bool busy;
    unsigned int nrounds;
    unsigned int nleft_out;
} behind;

/* => the lock held, but not meanwhile. */
static void behind_round(void)
{
    behind.busy = true;
    rt_mutex_unlock(&behind.lock);
    behind.round();
    rt_mutex_lock(&behind.lock);
    behind.busy = false;
    behind.nrounds++;
    rt_cond_broadcast(&behind.changed);
}

static void behind_main(void *arg)
{
    (void)arg;
    rt_mutex_lock(&behind.lock);
    while (!behind.stopped) {
        if (rt_cond_timedwait(&behind.changed, &behind.lock, behind.seconds * 1000))
            continue;                /* it was to be stopped, or nobody knows why */
        if (pager_memory_is_short()) /* the copies of a round would have the kernel page out */
            behind.nleft_out++;
        else
            behind_round();
    }
    rt_mutex_unlock(&behind.lock);
}

error_t pager_behind_start(unsigned int seconds, void (*round)(void))
{
    rt_mutex_init(&behind.lock, "behind");
    rt_cond_init(&behind.changed, "behind");
    behind.round = round;
    behind.seconds = seconds;
    return rt_thread_create(NULL, "behind", behind_main, NULL);
}

void pager_behind_stop(void)
{
    if (behind.seconds == 0)
        return;
    rt_mutex_lock(&behind.lock);
    behind.stopped = true;
    rt_cond_broadcast(&behind.changed);
    while (behind.busy)
        rt_cond_wait(&behind.changed, &behind.lock);
    rt_mutex_unlock(&behind.lock);
    rt_log("write-behind: rounds: %u; left out for want of memory: %u", behind.nrounds,
           behind.nleft_out);
}
