// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A task of Machbed: how it starts, what it is told, how it ends the run.
 *
 * The kernel starts a task at _start (start.S) with the words of its boot script line as
 * arguments; librt gives the first thread a stack like every other thread's and calls main. A
 * server's main calls rt_server_init first.
 */
#ifndef LIBRT_RT_H
#define LIBRT_RT_H

#include <stddef.h>
#include <stdint.h>

#include "librt/error.h"
#include "librt/mach.h"

/* What the task is, at its image's lowest address, for debuggers and for startup's reports. */
struct rt_image {
    uint32_t magic; /* RT_IMAGE_MAGIC */
    char name[28];
    const char *symbols;     /* the symbol table: lines "ADDRESS NAME\n", hexadecimal, ascending */
    const char *symbols_end; /* first address behind it */
    const struct rt_state *state;
};

#define RT_IMAGE_MAGIC 0x6d627864u /* "mbxd" */

extern const struct rt_image rt_image;

/* How a run ends: values for port 0xf4 (docs/protocol.md, section 4). */
enum rt_end {
    RT_END_SUCCESS = 0x10,
    RT_END_SKIPPED = 0x11,
    RT_END_HANG = 0x12,
    RT_END_FAILED = 0x13,
    RT_END_BAD_INPUT = 0x14,
};

/* End the run: QEMU exits at once. What was printed has arrived; nothing else is waited for.
   => startup must have given this task the port (it does so before it resumes it). */
_Noreturn void rt_end(enum rt_end how);

/* The task's entry, defined by each server. Its return ends the first thread only. */
int main(int argc, char **argv);

/*
 * Fetch the configuration and the clock from startup, and print the `start` line.
 * => once, first thing in main, in every task but startup; blocks; a failure is a panic.
 */
void rt_server_init(void);

/* startup's port, for the calls in startup.defs. */
mach_port_t rt_startup_port(void);

/* The device master port, by which devices are opened. => blocks; a failure is a panic. */
mach_port_t rt_device_master(void);

/* The host's privileged port, by which physical memory is had. => blocks; a failure is a panic. */
mach_port_t rt_host_privileged(void);

/* Tell others, by NAME, that PORT (a receive right of this task) serves. => blocks. */
void rt_service_register(const char *name, mach_port_t port);

/* Print how many threads the kernel knows of in this task, at its rt_service_register and now (the
   `threads` line, docs/protocol.md). => once; blocks. */
void rt_threads_emit(void);

/* A send right to the service NAME; waits until it has been registered. => blocks. */
mach_port_t rt_service_lookup(const char *name);

/* ERROR of a call of the kernel or of a device as an errno value; what has none is EIO. */
error_t error_from_mach(kern_return_t error);

/* ERROR of a call of one of our servers as an errno value: the servers' answers are errno values,
   and a call that did not get through is EIO. */
error_t error_from_rpc(kern_return_t error);

#endif
