// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The pager server: memory objects of its own on partition 2 of the test disk, placed one behind
 * the other. It is the plainest user of libpager: page n of an object lives in the sectors
 * FIRST + 8n to FIRST + 8n + 7, so a run of pages is a run of sectors, whatever its length.
 *
 * Two levels (docs/servers.md): RPC handlers may wait for pagers, pagers wait for the store only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "librt/config.h"
#include "librt/demuxers.h"
#include "librt/x86/arch.h"
#include "librt/log.h"
#include "librt/ports.h"
#include "librt/rt.h"
#include "libtrace/trace.h"
#include "libpager/behind.h"
#include "libpager/policy.h"
#include "pager/fault.h"
#include "pager/object.h"

#include "pager_server_server.h"
#include "server_server.h"

#define PAGER_RPC_THREADS 4
#define PAGER_WORKERS     4
#define PAGER_PARTITION   2
#define PAGER_FORGETS     100 /* fault=claim: every how manieth write is only said to be made */

static struct store *pager_store;
static struct port_bucket *rpc_bucket;
static int server_self; /* what the server's own port stands for in the bucket */
static mach_port_t server_port;

/* Decode. The server port stands for itself; every other port of the bucket is an object. */
static struct object *pager_object_of(mach_port_t port)
{
    void *found = ports_lookup_port(rpc_bucket, port);

    return found == &server_self ? NULL : found;
}

kern_return_t S_object_create(mach_port_t server, vm_size_t size, mach_port_t *object)
{
    struct object *created;
    error_t error;

    if (server != server_port)
        return EOPNOTSUPP;
    if (size == 0 || size % vm_page_size != 0)
        return EINVAL;
    if (rt_config_is("fault", "crash_pager"))
        rt_arch_crash();
    error = object_create(rpc_bucket, size, &created);
    if (error == 0)
        *object = object_port(created);
    return error;
}

kern_return_t S_object_map(mach_port_t port, mach_port_t *memory_object)
{
    struct object *object = pager_object_of(port);

    if (object == NULL)
        return EOPNOTSUPP;
    *memory_object = pager_get_port(object_pager(object));
    return KERN_SUCCESS;
}

kern_return_t S_object_sync(mach_port_t port)
{
    struct object *object = pager_object_of(port);
    struct trace_call call;
    kern_return_t fault;
    error_t error;

    if (object == NULL)
        return EOPNOTSUPP;
    fault = fault_in_sync();
    if (fault != KERN_SUCCESS)
        return fault;
    trace_call_begin(&call);
    error = pager_sync(object_pager(object), 1);
    return trace_call_end(&call, TRACE_OBJECT_SYNC, object_number(object), 0, 0, error);
}

kern_return_t S_object_return(mach_port_t port)
{
    struct object *object = pager_object_of(port);
    struct trace_call call;
    error_t error;

    if (object == NULL)
        return EOPNOTSUPP;
    trace_call_begin(&call);
    error = pager_return(object_pager(object), 1);
    return trace_call_end(&call, TRACE_OBJECT_RETURN, object_number(object), 0, 0, error);
}

kern_return_t S_server_report(mach_port_t port)
{
    if (port != server_port)
        return EOPNOTSUPP;
    pager_behind_stop();
    pager_counters_emit(rt_image.name);
    store_report(pager_store, rt_image.name, 0);
    rt_threads_emit();
    trace_report();
    return KERN_SUCCESS;
}

static boolean_t pager_demux(mach_msg_header_t *request, mach_msg_header_t *reply)
{
    return pager_server_server(request, reply) || server_server(request, reply);
}

static void pager_policy_setup(void)
{
    const char *name = rt_config_string("policy");
    const struct pager_policy *policy = pager_policy_lookup(name);

    if (policy == NULL)
        rt_panic("no policy '%s'", name);
    pager_policy_set(policy);
    pager_policy_set_merge_max((vm_size_t)rt_config_u64("merge_max"));
}

static void pager_store_setup(void)
{
    static char device[32];
    error_t error;

    snprintf(device, sizeof(device), "%ss%d", rt_config_string("disk"), PAGER_PARTITION);
    error = store_open(device, &pager_store);
    if (error == 0 && rt_config_is("fault", "claim"))
        error = store_create_forgetful(pager_store, PAGER_FORGETS, &pager_store);
    if (error != 0)
        rt_fail("cannot open the device %s: %s", device, strerror(error));
    rt_log("%s has %" PRIu64 " sectors", device, store_size(pager_store));
}

static void pager_behind_setup(void)
{
    unsigned int seconds = (unsigned int)rt_config_u64("sync_every");

    if (seconds > 0 && pager_behind_start(seconds, objects_write_behind) != 0)
        rt_panic("no memory for the thread that writes behind");
}

static void pager_serve(void)
{
    if (ports_create_bucket(&rpc_bucket) != 0 ||
        ports_create_port(rpc_bucket, &server_self, &server_port) != 0 ||
        ports_manage(rpc_bucket, "rpc", PAGER_RPC_THREADS, pager_demux) != 0)
        rt_panic("no memory to serve");
    rt_service_register(rt_image.name, server_port);
}

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    rt_server_init();
    trace_setup();
    pager_policy_setup();
    pager_store_setup();
    if (objects_setup(pager_store, PAGER_WORKERS) != 0)
        rt_panic("no memory for the objects' threads");
    pager_behind_setup();
    pager_serve();
    return 0;
}
