// SPDX-License-Identifier: GPL-2.0-or-later
/* libpager's receiver for the host: messages of the mock kernel, to the S_ functions; and its ports
   for confirmations. */
#include "libpager/private.h"

#include <sched.h>

#include "mock/kernel.h"
#include "mock/rt.h"

#include "memory_object_server.h"

static void receive_handle(const struct mock_delivery *m)
{
    switch (m->id) {
    case MOCK_INIT:
        S_memory_object_init(m->object, m->control, m->name, m->length);
        break;
    case MOCK_TERMINATE:
        S_memory_object_terminate(m->object, m->control, m->name);
        break;
    case MOCK_DATA_REQUEST:
        S_memory_object_data_request(m->object, m->control, m->offset, m->length, m->access);
        break;
    case MOCK_DATA_UNLOCK:
        S_memory_object_data_unlock(m->object, m->control, m->offset, m->length, m->access);
        break;
    case MOCK_LOCK_COMPLETED:
        S_memory_object_lock_completed(m->object, m->control, m->offset, m->length);
        break;
    case MOCK_CHANGE_COMPLETED:
        S_memory_object_change_completed(m->object, FALSE, MEMORY_OBJECT_COPY_NONE);
        break;
    case MOCK_DATA_RETURN:
        S_memory_object_data_return(m->object, m->control, m->offset, m->data,
                                    (mach_msg_type_number_t)m->length, m->dirty, m->kernel_copy);
        break;
    case MOCK_NO_SENDERS:
        mock_fail("a notification for a pager");
    }
}

void pager_receive(void *arg)
{
    struct pager_requests *level = arg;
    struct mock_delivery delivery;

    for (;;) {
        if (!mock_receive_queued(level->bucket, &delivery)) {
            rt_mutex_lock(&level->lock);
            pager_gather_end(level);
            rt_mutex_unlock(&level->lock);
            mock_receive(level->bucket, &delivery);
        }
        receive_handle(&delivery);
    }
}

/* Whether LEVEL's threads have nothing to do, and do nothing. */
static bool level_is_idle(struct pager_requests *level)
{
    bool idle;

    rt_mutex_lock(&level->lock); /* so that nobody begins */
    idle = mock_receiver_is_idle(level->bucket);
    for (enum pager_work work = 0; work < PAGER_WORK_COUNT; work++)
        idle = idle && level->lanes[work].head == NULL && level->lanes[work].nbusy == 0;
    rt_mutex_unlock(&level->lock);
    return idle;
}

void mock_pagers_wait(struct port_bucket *bucket)
{
    struct pager_requests *level = pager_level_lookup(bucket);

    while (!level_is_idle(level))
        sched_yield();
}

mach_port_t pager_confirm_create(void)
{
    return mock_confirm_create();
}

void pager_confirm_destroy(mach_port_t port)
{
    mock_confirm_destroy(port);
}

bool pager_confirm_receive(mach_port_t port)
{
    return mock_confirm_receive(port);
}
