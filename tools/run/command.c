// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

#include <assert.h>
#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

void command_init(struct command *command)
{
    *command = (struct command){0};
}

void command_destroy(struct command *command)
{
    for (size_t i = 0; i < command->count; i++)
        free(command->words[i]);
}

void command_add(struct command *command, const char *format, ...)
{
    va_list arguments;

    assert(command->count < COMMAND_WORDS_MAX);
    va_start(arguments, format);
    if (vasprintf(&command->words[command->count], format, arguments) < 0)
        err(STATUS_BAD_INPUT, "machbed");
    va_end(arguments);
    command->count++;
}

static void command_word_print(const char *word, FILE *stream)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";

    if (*word != '\0' && strspn(word, plain) == strlen(word)) {
        fputs(word, stream);
        return;
    }
    fputc('\'', stream);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", stream);
        else
            fputc(*word, stream);
    }
    fputc('\'', stream);
}

void command_print(const struct command *command, FILE *stream)
{
    for (size_t i = 0; i < command->count; i++) {
        if (i > 0)
            fputc(' ', stream);
        command_word_print(command->words[i], stream);
    }
}
