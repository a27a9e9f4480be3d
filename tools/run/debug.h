// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A debugger that joins a run (docs/debugging.md): it locks a file in the boot's folder for as long
 * as it lives, and has QEMU listen to it by QEMU's monitor.
 */
#ifndef RUN_DEBUG_H
#define RUN_DEBUG_H

#include <stdbool.h>

/* The file, made by the first debugger (tools/gdb/machbed/link.py). */
#define DEBUG_LOCK "gdb.lock"

/* Whether a debugger has joined the boot in FOLDER. => does not block. */
bool debug_is_joined(const char *folder);

/* Whether the machine of that boot stands still. => waits a few seconds at most. */
bool debug_is_paused(const char *folder);

/* Whether it does because QEMU found no room for what it wrote. => the same. */
bool debug_is_out_of_room(const char *folder);

#endif
