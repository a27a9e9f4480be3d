// SPDX-License-Identifier: GPL-2.0-or-later
/* The machine: what QEMU is told, on its command line and in the files that it reads. */
#ifndef RUN_MACHINE_H
#define RUN_MACHINE_H

#include <stdint.h>
#include <stdio.h>

#include "command.h"
#include "job.h"
#include "options.h"

/* Files in a boot's folder, where QEMU runs. qemu.cfg names the first four as well. */
#define MACHINE_DISK   "disk.img"
#define MACHINE_ISO    "boot.iso"
#define MACHINE_CONFIG "run.cfg"
#define MACHINE_SERIAL "serial.log"
#define MACHINE_EVENTS "trace-events"
#define MACHINE_TRACE  "qemu.trace"
#define MACHINE_ERRORS "qemu.err"
#define MACHINE_FAULT  "blkdebug.cfg" /* only with --fail-sector */

/* In place of MACHINE_ISO, for MEDIUM=disk. */
#define MACHINE_BOOT_DISK "boot.img"

/* The socket of QEMU's monitor, in the same folder while QEMU lives. */
#define MACHINE_MONITOR "monitor"

/*
 * Check that all the files are there that a boot needs, that QEMU is, and with KVM chosen that the
 * host lets us use it. Nothing is started or made.
 */
int machine_check(const struct options *options, const struct job *job, struct failure *failure);

/* The boot medium that was chosen, or NULL if none was given; and its name in a boot's folder. */
const char *machine_medium(const struct options *options);
const char *machine_medium_name(const struct options *options);

/*
 * Put together QEMU's command line, to be run in a boot's folder.
 * => COMMAND is the caller's to destroy, also after a failure.
 */
int machine_command(struct command *command, const struct options *options,
                    struct failure *failure);

/* Write the configuration that the guest reads, opt/machbed/run (docs/protocol.md, section 1). */
void machine_config_print(const struct options *options, const struct job *job,
                          const struct policy *policy, uint64_t seed, FILE *stream);

/* Write the rules by which a sector of the disk fails, for QEMU's blkdebug. */
void machine_fault_print(const struct options *options, FILE *stream);

#endif
