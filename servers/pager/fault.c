// SPDX-License-Identifier: GPL-2.0-or-later
#include "pager/fault.h"

#include <string.h>

#include "librt/config.h"
#include "librt/log.h"
#include "librt/order.h"
#include "librt/rt.h"
#include "librt/sync.h"
#include "librt/thread.h"

static struct rt_mutex fault_first = {.name = "fault_first"};
static struct rt_mutex fault_second = {.name = "fault_second"};

/* Two locks of one name, so that it is not known which comes first. */
static struct rt_mutex fault_left = {.name = "fault_lock"};
static struct rt_mutex fault_right = {.name = "fault_lock"};

__attribute__((noinline)) static void fault_take_in_order(void)
{
    rt_mutex_lock(&fault_first);
    rt_mutex_lock(&fault_second);
    rt_mutex_unlock(&fault_second);
    rt_mutex_unlock(&fault_first);
}

__attribute__((noinline)) static void fault_take_in_other_order(void)
{
    rt_mutex_lock(&fault_second);
    rt_mutex_lock(&fault_first);
    rt_mutex_unlock(&fault_first);
    rt_mutex_unlock(&fault_second);
}

static kern_return_t fault_lock_order(void)
{
    fault_take_in_order();
    fault_take_in_other_order();
    return KERN_SUCCESS;
}

/* Returns with the lock held: who took it has no frame on the stack any more. */
__attribute__((noinline)) static bool fault_hold(void)
{
    rt_mutex_lock(&fault_first);
    return rt_mutex_held(&fault_first);
}

static kern_return_t fault_lock_rpc(void)
{
    rt_assert(fault_hold());
    mach_port_deallocate(mach_task_self(), rt_service_lookup(rt_image.name));
    rt_mutex_unlock(&fault_first);
    return KERN_SUCCESS;
}

/* The other of two threads, each of which has one lock and wants the other's. */
static void fault_deadlock_other(void *arg)
{
    volatile bool *is_locked = arg;

    rt_mutex_lock(&fault_right);
    *is_locked = true;
    rt_mutex_lock(&fault_left);
}

static kern_return_t fault_deadlock(void)
{
    static volatile bool is_locked;

    rt_order_nests("fault_lock");
    rt_mutex_lock(&fault_left);
    if (rt_thread_create(NULL, "fault", fault_deadlock_other, (void *)&is_locked) != 0)
        rt_panic("no memory for a thread");
    while (!is_locked)
        rt_sleep(1);
    rt_mutex_lock(&fault_right);
    return KERN_SUCCESS;
}

static kern_return_t fault_lost_reply(void)
{
    return MIG_NO_REPLY;
}

static kern_return_t fault_die(void)
{
    return task_terminate(mach_task_self());
}

static const struct {
    const char *name;
    kern_return_t (*act)(void);
} faults_in_sync[] = {
    {"deadlock", fault_deadlock},     {"die", fault_die},
    {"lock_order", fault_lock_order}, {"lock_rpc", fault_lock_rpc},
    {"lost_reply", fault_lost_reply},
};

kern_return_t fault_in_sync(void)
{
    for (size_t i = 0; i < sizeof(faults_in_sync) / sizeof(faults_in_sync[0]); i++)
        if (rt_config_is("fault", faults_in_sync[i].name))
            return faults_in_sync[i].act();
    return KERN_SUCCESS;
}

void fault_in_read(void)
{
    while (rt_config_is("fault", "no_page"))
        rt_sleep(1000);
}

void fault_in_write(struct pager *pager)
{
    if (rt_config_is("fault", "level_order"))
        pager_sync(pager, 1);
}
