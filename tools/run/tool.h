// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs of the host that do one thing and end: mke2fs, debugfs, e2fsck, cp. */
#ifndef RUN_TOOL_H
#define RUN_TOOL_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"
#include "failure.h"

/* Once at start: programs are looked for where an administrator's are as well, and speak English
   whatever the user's language is, since their words are read here. */
void tool_setup(void);

/* Whether PROGRAM, a path or a name to look for in PATH, can be run. */
bool tool_is_there(const char *program);

/*
 * Run COMMAND in FOLDER until it ends; what it prints goes to the file OUTPUT (made or emptied), a
 * path from the runner's own folder. *CODE becomes its exit status, or -1 when a signal ended it.
 * => fails when it cannot be started, or when the runner is asked to end; it has ended then too.
 */
int tool_run(const struct command *command, const char *folder, const char *output, int *code,
             struct failure *failure);

/* Write the first line of the file at PATH, without its line break, to TEXT; "" if there is none.
 */
void tool_line_read(const char *path, char *text, size_t bytes);

/* The same with the last line. */
void tool_last_line_read(const char *path, char *text, size_t bytes);

#endif
