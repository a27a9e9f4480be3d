// SPDX-License-Identifier: GPL-2.0-or-later
#include "output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_BUFFER_BYTES (1u << 20)

int output_open(struct output *output, const char *folder, const char *subfolder, const char *file,
                struct failure *failure)
{
    int length = snprintf(output->path, sizeof(output->path), "%s%s%s/%s", folder,
                          subfolder == NULL ? "" : "/", subfolder == NULL ? "" : subfolder, file);

    output->stream = NULL;
    if (length >= (int)sizeof(output->path) ||
        snprintf(output->unfinished, sizeof(output->unfinished), "%s.unfinished", output->path) >=
            (int)sizeof(output->unfinished))
        return failure_set(failure, STATUS_BAD_INPUT, "the path %s is too long", folder);
    output->stream = fopen(output->unfinished, "we");
    if (output->stream == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "%s cannot be written: %s",
                           output->unfinished, strerror(errno));
    setvbuf(output->stream, NULL, _IOFBF, OUTPUT_BUFFER_BYTES);
    return STATUS_SUCCESS;
}

int output_close(struct output *output, uint64_t *bytes, struct failure *failure)
{
    long size = ftell(output->stream);
    int failed = ferror(output->stream);

    failed |= fclose(output->stream);
    *bytes = size < 0 ? 0 : (uint64_t)size;
    if (!failed && rename(output->unfinished, output->path) == 0)
        return STATUS_SUCCESS;
    failure_set(failure, STATUS_BAD_INPUT, "%s cannot be written: %s", output->path,
                strerror(errno));
    unlink(output->unfinished);
    return failure->status;
}

void output_json_word(FILE *stream, const char *word)
{
    fputc('"', stream);
    for (; *word != '\0'; word++) {
        if (*word == '"' || *word == '\\')
            fputc('\\', stream);
        if (*word == '<')
            fputs("\\u003c", stream);
        else
            fputc(*word < ' ' || *word > '~' ? '?' : *word, stream);
    }
    fputc('"', stream);
}
