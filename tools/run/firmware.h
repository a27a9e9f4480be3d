// SPDX-License-Identifier: GPL-2.0-or-later
/* The machine's firmware: SeaBIOS, which QEMU brings, or OVMF (UEFI) in flash memory. */
#ifndef RUN_FIRMWARE_H
#define RUN_FIRMWARE_H

#include "command.h"
#include "options.h"

/* UEFI's variables, in a boot's folder while it runs: the firmware writes to them. */
#define FIRMWARE_VARIABLES "uefi-variables.fd"

/* The QEMU that runs it, a program in PATH. */
const char *firmware_qemu(const struct options *options);

/* Check that the firmware's files are there. */
int firmware_check(const struct options *options, struct failure *failure);

/* What `-machine` needs for it behind the machine's name: "" or words, each with a comma in front.
 */
const char *firmware_machine_words(const struct options *options);

/* Add its own options to QEMU's command line. */
void firmware_add(struct command *command, const struct options *options);

/* Put its files into FOLDER, a boot's, and remove them. */
int firmware_prepare(const struct options *options, const char *folder, struct failure *failure);
void firmware_remove(const struct options *options, const char *folder);

#endif
