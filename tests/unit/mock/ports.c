// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that receive on a bucket. What they can receive here are notifications. */
#include "librt/ports.h"

#include <stdlib.h>

#include "librt/demuxers.h"
#include "librt/thread.h"
#include "mock/kernel.h"
#include "mock/rt.h"

#include "notify_server.h"

struct mock_message_header {
    struct mock_delivery delivery;
};

struct server {
    struct port_bucket *bucket;
    ports_demuxer_t demuxer;
};

boolean_t notify_server(mach_msg_header_t *request, mach_msg_header_t *reply)
{
    (void)reply;
    if (request->delivery.id != MOCK_NO_SENDERS)
        return FALSE;
    do_mach_notify_no_senders(request->delivery.object, 0);
    return TRUE;
}

static void server_run(void *arg)
{
    const struct server *server = arg;
    struct mock_message_header request;

    for (;;) {
        mock_receive(server->bucket, &request.delivery);
        mock_check(server->demuxer(&request, NULL));
    }
}

error_t ports_manage(struct port_bucket *bucket, const char *name, unsigned int nthreads,
                     ports_demuxer_t demuxer)
{
    struct server *server = malloc(sizeof(*server));

    mock_check(server != NULL && nthreads == 1); /* mock_receiver_wait knows of one */
    *server = (struct server){.bucket = bucket, .demuxer = demuxer};
    return rt_thread_create(NULL, name, server_run, server);
}
