// SPDX-License-Identifier: GPL-2.0-or-later
/* The receiver of a level: messages off the port set, through MIG's server stubs (libpager.mk), to
   the S_ functions. The host's tests have one of their own in place of this file. */
#include "libpager/private.h"

#include <stdlib.h>

#include "librt/log.h"
#include "librt/message.h"
#include "librt/order.h"

#include "memory_object_server.h"

/* MIG defines it and leaves its declaration to us. */
extern boolean_t memory_object_server(mach_msg_header_t *request, mach_msg_header_t *reply);

static void pager_receive_handle(mach_msg_header_t *request, mig_reply_header_t *reply)
{
    if (memory_object_server(request, &reply->Head)) {
        if (reply->RetCode == KERN_SUCCESS || reply->RetCode == MIG_NO_REPLY)
            return;
    } else if (request->msgh_id == MACH_NOTIFY_SEND_ONCE) {
        return; /* a lock request died with its object: memory_object_terminate says so as well */
    }
    rt_log("message %d to a pager refused", request->msgh_id);
    rt_message_destroy(request);
}

/* The next message. With MACH_RCV_TIMEOUT as OPTION, only if there is one. */
static mach_msg_return_t pager_receive_next(const struct pager_requests *level,
                                            mach_msg_header_t *request, mach_msg_option_t option)
{
    return mach_msg(request, MACH_RCV_MSG | option, 0, RT_MESSAGE_MAX,
                    ports_bucket_set(level->bucket), 0, MACH_PORT_NULL);
}

void pager_receive(void *arg)
{
    struct pager_requests *level = arg;
    mach_msg_header_t *request = malloc(RT_MESSAGE_MAX);
    mig_reply_header_t *reply = malloc(RT_MESSAGE_MAX);

    if (request == NULL || reply == NULL)
        rt_panic("no memory for a message buffer");
    rt_level_enter(level->rank);
    for (;;) {
        mach_msg_return_t result = pager_receive_next(level, request, MACH_RCV_TIMEOUT);

        if (result == MACH_RCV_TIMED_OUT) {
            rt_mutex_lock(&level->lock);
            pager_gather_end(level);
            rt_mutex_unlock(&level->lock);
            result = pager_receive_next(level, request, 0);
        }
        if (result == MACH_MSG_SUCCESS)
            pager_receive_handle(request, reply);
        else if (result != MACH_RCV_TOO_LARGE) /* the kernel has dropped that message */
            rt_panic("mach_msg: error %#x", result);
    }
}
