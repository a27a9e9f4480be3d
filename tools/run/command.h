// SPDX-License-Identifier: GPL-2.0-or-later
/* A command line that is put together piece by piece. */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#define COMMAND_WORDS_MAX 64

struct command {
    char *words[COMMAND_WORDS_MAX + 1]; /* ended by NULL, as execvp wants it */
    size_t count;
};

void command_init(struct command *command);
void command_destroy(struct command *command);

/* Add one word. => at most COMMAND_WORDS_MAX of them; memory that runs out ends the program. */
void command_add(struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print the words so that a shell reads the same ones. */
void command_print(const struct command *command, FILE *stream);

#endif
