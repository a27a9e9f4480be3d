// SPDX-License-Identifier: GPL-2.0-or-later
#include "libpager/private.h"

#include <stdlib.h>

#include "libpager/policy.h"
#include "librt/log.h"
#include "librt/order.h"
#include "librt/thread.h"

/* Enough that a file's flush, another's, and reads make progress together; a level's threads are
   never more than these and the receiver. */
#define PAGER_WORKERS 4u

static struct pager_requests *pager_first_level; /* changed and read atomically */

struct pager_requests *pager_levels(void)
{
    return __atomic_load_n(&pager_first_level, __ATOMIC_ACQUIRE);
}

struct pager_requests *pager_level_lookup(const struct port_bucket *bucket)
{
    struct pager_requests *level = pager_levels();

    while (level != NULL && level->bucket != bucket)
        level = level->next;
    return level;
}

void pager_list_init(struct pager_list *list)
{
    list->head = NULL;
    list->tail = &list->head;
}

void pager_list_append(struct pager_list *list, struct pager_request *request)
{
    request->next = NULL;
    *list->tail = request;
    list->tail = &request->next;
}

static struct pager_request *pager_list_take(struct pager_list *list)
{
    struct pager_request *head = list->head;

    pager_list_init(list);
    return head;
}

struct pager_request *pager_request_alloc(struct pager *pager)
{
    struct pager_requests *level = pager->level;
    struct pager_request *request = level->free_nodes;

    if (request == NULL)
        return NULL;
    level->free_nodes = request->next;
    *request = (struct pager_request){.control = MACH_PORT_NULL};
    pager->nrefs++;
    return request;
}

static enum trace_kind pager_trace_kind(const struct pager_request *request)
{
    static const enum trace_kind kinds[] = {
        [PAGER_READ] = TRACE_DATA_REQUEST,
        [PAGER_UNLOCK] = TRACE_DATA_UNLOCK,
        [PAGER_RETURN] = TRACE_DATA_RETURN,
    };

    return kinds[request->kind];
}

void pager_request_received(struct pager_request *request)
{
    request->start = trace_begin(pager_trace_kind(request));
    request->number = trace_request();
}

void pager_request_trace(const struct pager *pager, const struct pager_request *request)
{
    bool is_return = request->kind == PAGER_RETURN;

    if (request->start == 0)
        return;
    trace_end(&(struct trace_event){
        .kind = (uint8_t)pager_trace_kind(request),
        .start = request->start,
        .request = request->number,
        .object = pager->object,
        .offset = request->offset,
        .length = (uint32_t)(is_return ? request->data_length : request->length),
        .class = (uint8_t)pager->class,
        .what = (uint8_t)(!is_return       ? TRACE_NOTHING
                          : request->dirty ? TRACE_DIRTY
                                           : TRACE_CLEAN),
        .result = request->result,
    });
}

void pager_request_free(struct pager *pager, struct pager_request *request)
{
    struct pager_requests *level = pager->level;

    request->next = level->free_nodes;
    level->free_nodes = request;
    rt_cond_signal(&level->node_free);
    pager_deref(pager);
}

void pager_schedule(struct pager *pager, enum pager_work work)
{
    struct pager_lane *lane = &pager->level->lanes[work];

    if (pager->queued[work] || (work == PAGER_WORK_WRITE && !pager_wants_writer(pager)))
        return;
    pager->queued[work] = true;
    pager->nrefs++;
    pager->next[work] = NULL;
    *lane->tail = pager;
    lane->tail = &pager->next[work];
    rt_cond_signal(&pager->level->work);
}

void pager_gather_end(struct pager_requests *level)
{
    struct pager *pager = level->gathering;

    level->gathering = NULL;
    level->gathering_bytes = 0;
    if (pager == NULL)
        return;
    pager_schedule(pager, PAGER_WORK_WRITE);
    pager_rights_pay(pager);
}

void pager_gather(struct pager *pager, vm_size_t length)
{
    struct pager_requests *level = pager->level;

    if (level->gathering != pager)
        pager_gather_end(level);
    level->gathering = pager;
    level->gathering_bytes += length;
    if (level->gathering_bytes >= pager_policy_merge_max())
        pager_gather_end(level);
}

/* The first of LANE, with the lane's reference. */
static struct pager *pager_lane_pop(struct pager_lane *lane, enum pager_work work)
{
    struct pager *pager = lane->head;

    lane->head = pager->next[work];
    if (lane->head == NULL)
        lane->tail = &lane->head;
    pager->queued[work] = false;
    return pager;
}

/* Serve what PAGER has been asked for. Other workers may serve what is asked meanwhile.
   => level locked. */
static void pager_worker_read(struct pager *pager)
{
    struct pager_request *list = pager_list_take(&pager->todo[PAGER_WORK_READ]);

    rt_mutex_unlock(&pager->level->lock);
    pager_requests_serve(pager, list);
    rt_mutex_lock(&pager->level->lock);
}

/* Write what was returned to PAGER. What is left for want of time comes next. => level locked. */
static void pager_worker_write(struct pager *pager)
{
    pager->nwriters++;
    pager_returns_write(pager);
    pager->nwriters--;
    if (pager->backlog > 0)
        pager_schedule(pager, PAGER_WORK_WRITE);
}

/* Do WORK for the first pager that has any. => level locked. Returns false when there is none, or
   when the only idle worker is kept for the other kind. */
static bool pager_worker_do(struct pager_requests *level, enum pager_work work)
{
    struct pager_lane *lane = &level->lanes[work];
    struct pager *pager;

    if (lane->head == NULL || lane->nbusy + 1 == level->nworkers || level->ninhibits > 0)
        return false;
    pager = pager_lane_pop(lane, work);
    lane->nbusy++;
    if (work == PAGER_WORK_READ)
        pager_worker_read(pager);
    else
        pager_worker_write(pager);
    pager_deref(pager);
    rt_mutex_lock(&level->lock);
    lane->nbusy--;
    if (level->ninhibits > 0)
        rt_cond_broadcast(&level->idle);
    return true;
}

error_t pager_inhibit_workers(struct pager_requests *requests)
{
    const struct pager_lane *lanes = requests->lanes;

    rt_level_check(requests->rank, "pager_inhibit_workers");
    rt_mutex_lock(&requests->lock);
    requests->ninhibits++;
    while (lanes[PAGER_WORK_READ].nbusy + lanes[PAGER_WORK_WRITE].nbusy > 0)
        rt_cond_wait(&requests->idle, &requests->lock);
    rt_mutex_unlock(&requests->lock);
    return 0;
}

void pager_resume_workers(struct pager_requests *requests)
{
    rt_mutex_lock(&requests->lock);
    if (--requests->ninhibits == 0)
        rt_cond_broadcast(&requests->work);
    rt_mutex_unlock(&requests->lock);
}

static void pager_worker(void *arg)
{
    struct pager_requests *level = arg;

    rt_level_enter(level->rank);
    rt_mutex_lock(&level->lock);
    for (;;)
        if (!pager_worker_do(level, PAGER_WORK_READ) && !pager_worker_do(level, PAGER_WORK_WRITE))
            rt_cond_wait(&level->work, &level->lock);
}

static struct pager_requests *pager_level_create(struct port_bucket *bucket, unsigned int nworkers)
{
    struct pager_requests *level = calloc(1, sizeof(*level));
    struct pager_request *nodes = calloc(PAGER_NODES, sizeof(*nodes));
    struct pager_kept *kept = calloc(PAGER_KEPT, sizeof(*kept));

    if (level == NULL || nodes == NULL || kept == NULL)
        goto error_memory;
    level->bucket = bucket;
    level->nworkers = nworkers;
    rt_mutex_init(&level->lock, "pager_level");
    rt_cond_init(&level->work, "pager_work");
    rt_cond_init(&level->node_free, "pager_node");
    rt_cond_init(&level->idle, "pager_idle");
    for (size_t i = 0; i < PAGER_WORK_COUNT; i++)
        level->lanes[i].tail = &level->lanes[i].head;
    for (size_t i = 0; i < PAGER_NODES; i++) {
        nodes[i].next = level->free_nodes;
        level->free_nodes = &nodes[i];
    }
    for (size_t i = 0; i < PAGER_KEPT; i++) {
        kept[i].next = level->free_kept;
        level->free_kept = &kept[i];
    }
    return level;

error_memory:
    free(kept);
    free(nodes);
    free(level);
    return NULL;
}

error_t pager_start_workers_named(struct port_bucket *bucket, const char *name,
                                  unsigned int nworkers, struct pager_requests **requests)
{
    struct pager_requests *level;
    error_t error;

    rt_assert(nworkers >= 2 && pager_level_lookup(bucket) == NULL);
    level = pager_level_create(bucket, nworkers);
    if (level == NULL)
        return ENOMEM;
    level->next = pager_levels();
    do
        level->rank = level->next == NULL ? 1 : level->next->rank + 1;
    while (!__atomic_compare_exchange_n(&pager_first_level, &level->next, level, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    /* A thread that cannot be started leaves a level that some threads use already: it stays. */
    error = rt_thread_create(NULL, name, pager_receive, level);
    for (unsigned int i = 0; i < nworkers && error == 0; i++)
        error = rt_thread_create(NULL, name, pager_worker, level);
    *requests = error == 0 ? level : NULL;
    return error;
}

error_t pager_start_workers(struct port_bucket *bucket, struct pager_requests **requests)
{
    return pager_start_workers_named(bucket, "pager", PAGER_WORKERS, requests);
}
