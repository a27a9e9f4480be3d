// SPDX-License-Identifier: GPL-2.0-or-later
/* What the parts of startup share. */
#ifndef STARTUP_STARTUP_H
#define STARTUP_STARTUP_H

#include <stdbool.h>
#include <stddef.h>

#include "librt/error.h"
#include "librt/mach.h"
#include "librt/rt.h"

#define STARTUP_TASKS_MAX 16

/* A task of the boot script. */
struct startup_task {
    const char *name;
    task_t task;
    bool started;
    mach_port_t service; /* what it registered under its name, or MACH_PORT_NULL */
};

/* The privileged ports that the kernel hands to the first task. */
struct startup_privileges {
    mach_port_t host;
    mach_port_t device_master;
};

extern struct startup_privileges startup_privileges;

/* I/O ports that every task gets, to end the run by itself: isa-debug-exit, see qemu.cfg. */
#define STARTUP_EXIT_PORT_FIRST 0xf4
#define STARTUP_EXIT_PORT_LAST  0xf7

/* tasks.c: the tasks, by the words of the command line, and who registered what. */

/* Take `name=port` words. => once, before any other thread runs. */
void startup_tasks_init(int argc, char **argv);

/* Start the tasks that CONFIG's `servers` names and end the others. PORT is to be their bootstrap
   and exception port. => once; a name without a task ends the run with status 2. */
void startup_tasks_start(const char *servers, mach_port_t port);

/* The boot script's Nth task, from 0, or null. => does not block. */
const struct startup_task *startup_task_get(size_t n);

/* Name of TASK, "startup" for this one, or null. => does not block. */
const char *startup_task_name(task_t task);

/* Remember that NAME's service is PORT and wake who waits for it. EEXIST, ENOMEM. */
error_t startup_service_add(const char *name, mach_port_t port);

/* The service NAME; blocks until it is there. */
mach_port_t startup_service_wait(const char *name);

/* Have every started server that registered a service report, in the order of the boot script. */
void startup_tasks_report(void);

/* calibrate.c */

/* The time stamp counter's frequency. => this task may use the timer's I/O ports, 0x42, 0x43 and
   0x61; blocks for about 50 ms, running. */
uint64_t startup_calibrate(void);

/* Marks in QEMU's trace (docs/protocol.md, section 3). */
#define STARTUP_MARK_BEGIN 0x3ff0u
#define STARTUP_MARK_END   0x3ff1u

/* ctf-memory.c */

/* The physical address of the memory that is shared with the host. => once, before other tasks run;
   a machine without it is a panic. */
uint64_t startup_ctf_memory_find(void);

/* main.c */

/* Let this task use the I/O ports FIRST to LAST. => may block; a failure is a panic. */
void startup_give_ports(uint16_t first, uint16_t last);

/* Print the `end` line and end the run with STATUS (0, 2, 10, 77, 99). REASON is one sentence. */
_Noreturn void startup_end(int status, const char *reason);

/* watchdog.c */

/* Start to watch over the tasks. => once, before they start; may block; no memory is a panic. */
void startup_watchdog_setup(void);

/* fault.c: what can go wrong on purpose in the kernel, for Machbed's own tests. */
void startup_fault(const char *fault);

#endif
