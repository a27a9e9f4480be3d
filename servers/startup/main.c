// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first task. The kernel's boot script gives it the privileged ports and the ports of the other
 * tasks, which are loaded but stand still. It reads the run's configuration from QEMU, measures the
 * clock, starts the servers that the job needs, answers their questions (defs/startup.defs), and
 * ends the run: when the workload says that it is done, or when a task crashes or disappears.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "librt/clock-private.h"
#include "librt/clock.h"
#include "librt/config.h"
#include "librt/demuxers.h"
#include "librt/fwcfg.h"
#include "librt/log.h"
#include "librt/ports.h"
#include "startup/startup.h"

#include "exc_server.h"
#include "notify_server.h"
#include "startup_server.h"

/* One may wait in startup_lookup for each server that is not up yet; two must be left for an
   exception and for what else comes. */
#define STARTUP_THREADS (STARTUP_TASKS_MAX + 2)

#define TIMER_PORT_FIRST 0x42 /* of the interval timer; its output is in port 0x61 */
#define TIMER_PORT_LAST  0x43
#define SYSTEM_PORT      0x61

#define STARTUP_CONFIG_OWN 64 /* bytes of the configuration that startup adds */

struct startup_privileges startup_privileges;

static char config_text[RT_CONFIG_MAX];     /* what servers get */
static char config_own_text[RT_CONFIG_MAX]; /* what librt/config.c takes apart here */

_Noreturn void startup_end(int status, const char *reason)
{
    static const struct {
        int status;
        enum rt_end end;
    } ends[] = {{0, RT_END_SUCCESS},
                {77, RT_END_SKIPPED},
                {10, RT_END_HANG},
                {99, RT_END_FAILED},
                {2, RT_END_BAD_INPUT}};
    enum rt_end end = RT_END_FAILED;

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends[i].status == status)
            end = ends[i].end;
    rt_fwcfg_mark(STARTUP_MARK_END);
    rt_emit("end status=%d reason=\"%s\"", status, reason);
    rt_end(end);
}

kern_return_t S_startup_config(mach_port_t startup, bed_text_t config,
                               mach_msg_type_number_t *length)
{
    size_t text_length = strlen(config_text);

    (void)startup;
    if (text_length > *length)
        return EMSGSIZE;
    memcpy(config, config_text, text_length);
    *length = text_length;
    return KERN_SUCCESS;
}

kern_return_t S_startup_device_master(mach_port_t startup, mach_port_t *master)
{
    (void)startup;
    *master = startup_privileges.device_master;
    return KERN_SUCCESS;
}

kern_return_t S_startup_host_privileged(mach_port_t startup, mach_port_t *host)
{
    (void)startup;
    *host = startup_privileges.host;
    return KERN_SUCCESS;
}

kern_return_t S_startup_register(mach_port_t startup, const_bed_name_t name, mach_port_t port)
{
    (void)startup;
    return startup_service_add(name, port);
}

kern_return_t S_startup_lookup(mach_port_t startup, const_bed_name_t name, mach_port_t *port)
{
    (void)startup;
    *port = startup_service_wait(name);
    return *port == MACH_PORT_NULL ? ENOENT : KERN_SUCCESS;
}

kern_return_t S_startup_finish(mach_port_t startup, int status, const_bed_reason_t reason)
{
    (void)startup;
    startup_tasks_report();
    startup_end(status, reason);
}

static boolean_t startup_demux(mach_msg_header_t *request, mach_msg_header_t *reply)
{
    return startup_server(request, reply) || exc_server(request, reply) ||
           notify_server(request, reply);
}

void startup_give_ports(uint16_t first, uint16_t last)
{
    mach_port_t permission;

    if (i386_io_perm_create(startup_privileges.device_master, first, last, &permission) !=
            KERN_SUCCESS ||
        i386_io_perm_modify(mach_task_self(), permission, TRUE) != KERN_SUCCESS)
        rt_panic("no access to the I/O ports %#x to %#x", first, last);
}

static void startup_give_all_ports(void)
{
    startup_give_ports(STARTUP_EXIT_PORT_FIRST, STARTUP_EXIT_PORT_LAST);
    if (rt_fwcfg_setup(startup_privileges.device_master) != KERN_SUCCESS)
        rt_panic("no access to QEMU's fw_cfg");
    startup_give_ports(TIMER_PORT_FIRST, TIMER_PORT_LAST);
    startup_give_ports(SYSTEM_PORT, SYSTEM_PORT);
}

/* Tell the servers a NUMBER that the host does not know. */
static void startup_config_add(const char *key, uint64_t number)
{
    size_t length = strlen(config_text);

    snprintf(config_text + length, sizeof(config_text) - length, "%s=%" PRIu64 "\n", key, number);
}

/* Fetch the configuration and add what only the guest knows. */
static void startup_config_setup(void)
{
    uint64_t hz = startup_calibrate();

    if (rt_fwcfg_read("opt/machbed/run", config_text, RT_CONFIG_MAX - STARTUP_CONFIG_OWN) != 0) {
        rt_log("QEMU's fw_cfg has no item opt/machbed/run of at most %d bytes",
               RT_CONFIG_MAX - STARTUP_CONFIG_OWN);
        startup_end(2, "the run's configuration is missing");
    }
    memcpy(config_own_text, config_text, sizeof(config_text));
    rt_config_init(config_own_text);
    startup_config_add("tsc_hz", hz);
    if (rt_config_is("trace", "ctf") || rt_config_is("trace", "both"))
        startup_config_add("ctf_memory", startup_ctf_memory_find());
    rt_clock_setup(hz);
    rt_emit("tsc hz=%" PRIu64, hz);
}

static mach_port_t startup_serve(void)
{
    static int self; /* stands for startup in the bucket; only its address matters */
    struct port_bucket *bucket;
    mach_port_t port;

    if (ports_create_bucket(&bucket) != 0 || ports_create_port(bucket, &self, &port) != 0 ||
        ports_manage(bucket, "service", STARTUP_THREADS, startup_demux) != 0)
        rt_panic("no memory to serve");
    if (mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND) !=
        KERN_SUCCESS)
        rt_panic("no send right to startup's own port");
    return port;
}

/* The mark, and what the guest's clock shows when QEMU's trace gets it. */
static void startup_begin_mark(void)
{
    uint64_t before = rt_clock_ns();

    rt_fwcfg_mark(STARTUP_MARK_BEGIN);
    rt_emit("mark ns=%" PRIu64, before + (rt_clock_ns() - before) / 2);
}

int main(int argc, char **argv)
{
    mach_port_t port;

    mach_print("\n"); /* the kernel has left a line of its own unfinished */
    startup_tasks_init(argc, argv);
    startup_give_all_ports();
    rt_emit("start server=startup");
    startup_config_setup();
    port = startup_serve();
    startup_watchdog_setup();
    startup_begin_mark();
    startup_fault(rt_config_string("fault"));
    startup_tasks_start(rt_config_string("servers"), port);
    return 0;
}
