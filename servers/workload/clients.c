// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload/clients.h"

#include <stdio.h>
#include <stdlib.h>

#include "librt/log.h"
#include "librt/sync.h"
#include "librt/thread.h"

static struct {
    struct client *all;
    uint32_t count;
    bool failed; /* atomically */
    struct rt_mutex lock;
    struct rt_cond changed;
    clients_step_t *step;
    uint32_t nsteps; /* begun */
    uint32_t nbusy;  /* clients that have not ended it, but for the first */
} clients;

bool clients_failed(void)
{
    return __atomic_load_n(&clients.failed, __ATOMIC_RELAXED);
}

/* Client number I has the files I, I + COUNT, I + 2 * COUNT and so on. */
static void client_do(struct client *client, clients_step_t *step)
{
    const struct job *job = client->job;

    for (uint32_t i = client->number; i < job->nfiles && !clients_failed(); i += job->nclients) {
        client->status = step(client, &job->files[i]);
        if (client->status != 0)
            __atomic_store_n(&clients.failed, true, __ATOMIC_RELAXED);
    }
}

/* Wait for a step after the first NDONE. */
static clients_step_t *client_wait(uint32_t ndone)
{
    clients_step_t *step;

    rt_mutex_lock(&clients.lock);
    while (clients.nsteps == ndone)
        rt_cond_wait(&clients.changed, &clients.lock);
    step = clients.step;
    rt_mutex_unlock(&clients.lock);
    return step;
}

static void client_main(void *arg)
{
    struct client *client = arg;

    for (uint32_t ndone = 0;; ndone++) {
        client_do(client, client_wait(ndone));
        rt_mutex_lock(&clients.lock);
        if (--clients.nbusy == 0)
            rt_cond_broadcast(&clients.changed);
        rt_mutex_unlock(&clients.lock);
    }
}

static void client_init(struct client *client, struct job *job, uint32_t number)
{
    client->job = job;
    client->number = number;
    if (vm_allocate(mach_task_self(), &client->buffer, job->block, TRUE) != KERN_SUCCESS)
        rt_panic("no memory for a block of %lu bytes", (unsigned long)job->block);
    if (number > 0 && rt_thread_create(NULL, "client", client_main, client) != 0)
        rt_panic("no memory for a client's thread");
}

void clients_setup(struct job *job)
{
    rt_mutex_init(&clients.lock, "clients");
    rt_cond_init(&clients.changed, "clients_changed");
    clients.count = job->nclients;
    clients.all = calloc(job->nclients, sizeof(*clients.all));
    if (clients.all == NULL)
        rt_panic("no memory for the clients");
    for (uint32_t i = 0; i < job->nclients; i++)
        client_init(&clients.all[i], job, i);
}

static void clients_begin(clients_step_t *step)
{
    rt_mutex_lock(&clients.lock);
    clients.step = step;
    clients.nsteps++;
    clients.nbusy = clients.count - 1;
    rt_cond_broadcast(&clients.changed);
    rt_mutex_unlock(&clients.lock);
}

static void clients_end(void)
{
    rt_mutex_lock(&clients.lock);
    while (clients.nbusy > 0)
        rt_cond_wait(&clients.changed, &clients.lock);
    rt_mutex_unlock(&clients.lock);
}

int clients_do(clients_step_t *step, char *reason)
{
    clients_begin(step);
    client_do(&clients.all[0], step);
    clients_end();
    for (uint32_t i = 0; i < clients.count; i++)
        if (clients.all[i].status != 0) {
            snprintf(reason, JOB_REASON_MAX, "%s", clients.all[i].reason);
            return clients.all[i].status;
        }
    return 0;
}
