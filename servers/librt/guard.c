// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guarded copy is one function (guard.S) with no state but its registers. When it faults,
 * the kernel sends the exception here; the thread that copies then continues behind the copy loop,
 * which returns how far it got. Exceptions anywhere else are passed to startup as they came.
 */
#include "librt/guard.h"

#include <string.h>

#include "librt/demuxers.h"
#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/ports.h"

#include "exc_server.h"
#include "exc_user.h"

#define GUARD_ZERO_BYTES 512

static mach_port_t guard_next; /* startup's port: where other exceptions go */

void rt_guard_setup(void)
{
    static int self; /* stands for the guard in its bucket; only its address matters */
    struct port_bucket *bucket;
    mach_port_t port;

    if (task_get_special_port(mach_task_self(), TASK_EXCEPTION_PORT, &guard_next) != KERN_SUCCESS)
        rt_panic("no exception port to pass exceptions to");
    if (ports_create_bucket(&bucket) != 0 || ports_create_port(bucket, &self, &port) != 0 ||
        ports_manage(bucket, "guard", 1, exc_server) != 0 ||
        mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND) !=
            KERN_SUCCESS ||
        task_set_special_port(mach_task_self(), TASK_EXCEPTION_PORT, port) != KERN_SUCCESS)
        rt_panic("cannot receive this task's exceptions");
}

kern_return_t catch_exception_raise(mach_port_t port, mach_port_t thread, mach_port_t task,
                                    integer_t exception, integer_t code, rpc_long_integer_t subcode)
{
    kern_return_t kr = rt_arch_copy_resume(thread);

    (void)port;
    if (kr == KERN_NOT_RECEIVER)
        kr = exception_raise(guard_next, thread, task, exception, code, subcode);
    if (kr != KERN_SUCCESS)
        return kr; /* the message is released as it came (librt/ports.c) */
    mach_port_deallocate(mach_task_self(), thread);
    mach_port_deallocate(mach_task_self(), task);
    return KERN_SUCCESS;
}

error_t rt_guard_copy(void *to, const void *from, size_t bytes, size_t *done)
{
    *done = rt_arch_copy(to, from, bytes);
    return *done == bytes ? 0 : EIO;
}

error_t rt_guard_zero(void *to, size_t bytes)
{
    static const char zeros[GUARD_ZERO_BYTES];
    error_t error = 0;

    for (size_t at = 0; at < bytes && error == 0; at += sizeof(zeros)) {
        size_t step = bytes - at < sizeof(zeros) ? bytes - at : sizeof(zeros);
        size_t done;

        error = rt_guard_copy((char *)to + at, zeros, step, &done);
    }
    return error;
}
