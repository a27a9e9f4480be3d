// SPDX-License-Identifier: GPL-2.0-or-later
#include "tool.h"

#include <err.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

#define TOOL_STEP_MS 50u

void tool_setup(void)
{
    const char *path = getenv("PATH");
    char *longer;

    if (asprintf(&longer, "%s:/usr/sbin:/sbin", path != NULL ? path : "/usr/bin:/bin") < 0)
        err(STATUS_BAD_INPUT, "machbed");
    setenv("PATH", longer, 1);
    setenv("LC_ALL", "C", 1);
    free(longer);
}

static bool tool_is_in(const char *folder, size_t length, const char *program)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%.*s/%s", (int)length, length == 0 ? "." : folder, program);
    return access(path, X_OK) == 0;
}

bool tool_is_there(const char *program)
{
    const char *folder = getenv("PATH");

    if (strchr(program, '/') != NULL)
        return access(program, X_OK) == 0;
    while (folder != NULL) {
        size_t length = strcspn(folder, ":");

        if (tool_is_in(folder, length, program))
            return true;
        folder = folder[length] == ':' ? folder + length + 1 : NULL;
    }
    return false;
}

int tool_run(const struct command *command, const char *folder, const char *output, int *code,
             struct failure *failure)
{
    struct process process;
    enum process_event event;
    int status = process_start(&process, command->words, folder, output, failure);

    *code = -1;
    if (status != STATUS_SUCCESS)
        return status;
    do {
        event = process_wait(&process, TOOL_STEP_MS);
    } while (event == PROCESS_IDLE);
    process_end(&process);
    *code = process.code;
    if (process.interrupt != 0)
        return failure_set(failure, STATUS_SIGNALLED + process.interrupt, "ended by signal %d (%s)",
                           process.interrupt, strsignal(process.interrupt));
    return STATUS_SUCCESS;
}

void tool_last_line_read(const char *path, char *text, size_t bytes)
{
    FILE *stream = fopen(path, "re");

    text[0] = '\0';
    if (stream == NULL)
        return;
    while (fgets(text, (int)bytes, stream) != NULL)
        text[strcspn(text, "\n")] = '\0';
    fclose(stream);
}

void tool_line_read(const char *path, char *text, size_t bytes)
{
    FILE *stream = fopen(path, "re");

    text[0] = '\0';
    if (stream == NULL)
        return;
    if (fgets(text, (int)bytes, stream) == NULL)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    fclose(stream);
}
