// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/ports.h"

#include <stdlib.h>
#include <string.h>

#include <mach/mig_support.h>

#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/message.h"
#include "librt/order.h"
#include "librt/sync.h"
#include "librt/thread-private.h"

#define PORTS_TABLE_FIRST 64 /* slots; power of two */

struct port_slot {
    mach_port_t port; /* MACH_PORT_NULL: never used; MACH_PORT_DEAD: used and free again */
    void *object;
};

struct port_bucket {
    mach_port_t set;
    struct rt_mutex lock; /* guards the table */
    struct port_slot *slots;
    size_t nslots; /* power of two */
    size_t nused;  /* slots that are not MACH_PORT_NULL */
};

struct port_service {
    struct port_bucket *bucket;
    ports_demuxer_t demuxer;
};

/* Port names are small numbers in steps: spread them (Knuth's multiplicative hash). */
static size_t ports_hash(mach_port_t port, size_t nslots)
{
    return ((uint32_t)port * 2654435761u >> 8) & (nslots - 1);
}

/* The slot of PORT, or the free slot at which the search for it ended. */
static struct port_slot *ports_probe(struct port_slot *slots, size_t nslots, mach_port_t port)
{
    size_t i = ports_hash(port, nslots);

    while (slots[i].port != MACH_PORT_NULL && slots[i].port != port)
        i = (i + 1) & (nslots - 1);
    return &slots[i];
}

static error_t ports_table_resize(struct port_bucket *bucket, size_t nslots)
{
    struct port_slot *slots = calloc(nslots, sizeof(*slots));
    size_t nused = 0;

    if (slots == NULL)
        return ENOMEM;
    for (size_t i = 0; i < bucket->nslots; i++) {
        struct port_slot *old = &bucket->slots[i];

        if (old->port == MACH_PORT_NULL || old->port == MACH_PORT_DEAD)
            continue;
        *ports_probe(slots, nslots, old->port) = *old;
        nused++;
    }
    free(bucket->slots);
    bucket->slots = slots;
    bucket->nslots = nslots;
    bucket->nused = nused;
    return 0;
}

static error_t ports_table_add(struct port_bucket *bucket, mach_port_t port, void *object)
{
    struct port_slot *slot;
    error_t error = 0;

    rt_mutex_lock(&bucket->lock);
    if (2 * (bucket->nused + 1) > bucket->nslots)
        error = ports_table_resize(bucket, 2 * bucket->nslots);
    if (error == 0) {
        slot = ports_probe(bucket->slots, bucket->nslots, port);
        bucket->nused += slot->port == MACH_PORT_NULL;
        *slot = (struct port_slot){.port = port, .object = object};
    }
    rt_mutex_unlock(&bucket->lock);
    return error;
}

static void ports_table_remove(struct port_bucket *bucket, mach_port_t port)
{
    struct port_slot *slot;

    rt_mutex_lock(&bucket->lock);
    slot = ports_probe(bucket->slots, bucket->nslots, port);
    if (slot->port == port)
        *slot = (struct port_slot){.port = MACH_PORT_DEAD, .object = NULL};
    rt_mutex_unlock(&bucket->lock);
}

error_t ports_create_bucket(struct port_bucket **bucket)
{
    struct port_bucket *created = calloc(1, sizeof(*created));

    if (created == NULL)
        return ENOMEM;
    rt_mutex_init(&created->lock, "port_bucket");
    if (ports_table_resize(created, PORTS_TABLE_FIRST) != 0)
        goto error_bucket;
    if (mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_PORT_SET, &created->set) !=
        KERN_SUCCESS)
        goto error_slots;
    *bucket = created;
    return 0;

error_slots:
    free(created->slots);
error_bucket:
    free(created);
    return ENOMEM;
}

error_t ports_create_port(struct port_bucket *bucket, void *object, mach_port_t *port)
{
    if (mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, port) != KERN_SUCCESS)
        return ENOMEM;
    if (ports_table_add(bucket, *port, object) != 0)
        goto error_port;
    if (mach_port_move_member(mach_task_self(), *port, bucket->set) != KERN_SUCCESS)
        goto error_slot;
    return 0;

error_slot:
    ports_table_remove(bucket, *port);
error_port:
    mach_port_mod_refs(mach_task_self(), *port, MACH_PORT_RIGHT_RECEIVE, -1);
    return ENOMEM;
}

void *ports_lookup_port(struct port_bucket *bucket, mach_port_t port)
{
    struct port_slot *slot;
    void *object;

    if (!MACH_PORT_VALID(port))
        return NULL;
    rt_mutex_lock(&bucket->lock);
    slot = ports_probe(bucket->slots, bucket->nslots, port);
    object = slot->object;
    rt_mutex_unlock(&bucket->lock);
    return object;
}

void ports_destroy_port(struct port_bucket *bucket, mach_port_t port)
{
    ports_table_remove(bucket, port);
    mach_port_mod_refs(mach_task_self(), port, MACH_PORT_RIGHT_RECEIVE, -1);
}

mach_port_t ports_bucket_set(const struct port_bucket *bucket)
{
    return bucket->set;
}

/* Send REPLY if there is somebody to send it to. A receiver who has gone gets nothing, nor one
   whose port is full, which a send-once right never meets; what the reply carries is released then.
 */
static void ports_reply(mig_reply_header_t *reply)
{
    bool once = MACH_MSGH_BITS_REMOTE(reply->Head.msgh_bits) == MACH_MSG_TYPE_MOVE_SEND_ONCE;
    mach_msg_option_t option = MACH_SEND_MSG | (once ? 0 : MACH_SEND_TIMEOUT);

    if (!MACH_PORT_VALID(reply->Head.msgh_remote_port) ||
        mach_msg(&reply->Head, option, reply->Head.msgh_size, 0, MACH_PORT_NULL, 0,
                 MACH_PORT_NULL) != MACH_MSG_SUCCESS)
        rt_message_destroy(&reply->Head);
}

/* The server stub has not taken what REQUEST carries: release it, but for the reply port. */
static void ports_refuse(mach_msg_header_t *request)
{
    request->msgh_remote_port = MACH_PORT_NULL;
    rt_message_destroy(request);
}

static void ports_handle(struct port_service *service, mach_msg_header_t *request,
                         mig_reply_header_t *reply)
{
    struct rt_thread *self = rt_thread_self();

    self->handling = (struct rt_handling){request->msgh_id, rt_arch_cycles()};
    service->demuxer(request, &reply->Head);
    self->handling.id = 0;
    if (reply->RetCode == MIG_NO_REPLY)
        return;
    if (reply->RetCode != KERN_SUCCESS && !(reply->Head.msgh_bits & MACH_MSGH_BITS_COMPLEX))
        ports_refuse(request);
    ports_reply(reply);
}

/* A string in a request may lack its zero, which MIG's stubs do not look for: it ends with the
   message at the latest. REQUEST's memory has room for that. */
static void ports_end_strings(mach_msg_header_t *request)
{
    ((char *)request)[request->msgh_size] = '\0';
}

static void ports_serve(void *arg)
{
    struct port_service *service = arg;
    mach_msg_header_t *request = malloc(RT_MESSAGE_MAX + 1);
    mig_reply_header_t *reply = malloc(RT_MESSAGE_MAX);

    if (request == NULL || reply == NULL)
        rt_panic("no memory for a message buffer");
    rt_level_enter(RT_LEVEL_RPC);
    for (;;) {
        mach_msg_return_t result =
            mach_msg(request, MACH_RCV_MSG, 0, RT_MESSAGE_MAX, service->bucket->set,
                     MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);

        if (result == MACH_MSG_SUCCESS) {
            ports_end_strings(request);
            ports_handle(service, request, reply);
        } else if (result != MACH_RCV_TOO_LARGE) /* the kernel has dropped that message */
            rt_panic("mach_msg: error %#x", result);
    }
}

error_t ports_manage(struct port_bucket *bucket, const char *name, unsigned int nthreads,
                     ports_demuxer_t demuxer)
{
    struct port_service *service = malloc(sizeof(*service));
    error_t error = 0;
    unsigned int i;

    rt_assert(nthreads > 0);
    if (service == NULL)
        return ENOMEM;
    *service = (struct port_service){.bucket = bucket, .demuxer = demuxer};
    for (i = 0; i < nthreads && error == 0; i++)
        error = rt_thread_create(NULL, name, ports_serve, service);
    if (i <= 1 && error != 0)
        free(service); /* else the threads that were created keep it, and serve */
    return error;
}
