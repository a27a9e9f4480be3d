// SPDX-License-Identifier: GPL-2.0-or-later
#include "tail.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define TAIL_LAST_MAX 32u

void tail_init(struct tail *tail, const char *path)
{
    *tail = (struct tail){.path = path};
}

void tail_destroy(struct tail *tail)
{
    if (tail->stream != NULL)
        fclose(tail->stream);
}

static void tail_line_feed(struct tail *tail, struct console *console)
{
    tail->line[tail->used] = '\0';
    tail->used = 0;
    console_feed(console, text_clean(tail->line));
}

static void tail_byte_take(struct tail *tail, struct console *console, int byte)
{
    tail->bytes++;
    if (byte == '\n') {
        tail_line_feed(tail, console);
        return;
    }
    if (byte == '\r' || byte == '\0')
        return;
    if (tail->used == sizeof(tail->line) - 1)
        tail_line_feed(tail, console);
    tail->line[tail->used++] = (char)byte;
}

void tail_read(struct tail *tail, struct console *console)
{
    int byte;

    if (tail->stream == NULL)
        tail->stream = fopen(tail->path, "re");
    if (tail->stream == NULL)
        return;
    clearerr(tail->stream); /* the end of the file moves on */
    while ((byte = getc(tail->stream)) != EOF)
        tail_byte_take(tail, console, byte);
}

void tail_finish(struct tail *tail, struct console *console)
{
    tail_read(tail, console);
    if (tail->used != 0)
        tail_line_feed(tail, console);
}

/* Prints a line without what could upset a terminal. */
static void tail_line_print(const char *line, FILE *stream)
{
    fputs("  ", stream);
    for (; *line != '\0' && *line != '\n'; line++) {
        if (isprint((unsigned char)*line) || *line == '\t')
            fputc(*line, stream);
    }
    fputc('\n', stream);
}

static bool tail_line_is_empty(const char *line)
{
    return line[strspn(line, "\r\n")] == '\0';
}

/* Prints the last COUNT lines of FROM that are not empty. LINES is a ring of COUNT + 1: the entry
   that is read into next holds none of them. */
static void tail_print_ring(FILE *from, unsigned count, char **lines, size_t *capacities,
                            FILE *stream)
{
    unsigned long read = 0;
    unsigned ring = count + 1;

    while (getline(&lines[read % ring], &capacities[read % ring], from) >= 0)
        read += !tail_line_is_empty(lines[read % ring]);
    for (unsigned long i = read < count ? 0 : read - count; i < read; i++)
        tail_line_print(lines[i % ring], stream);
    if (read == 0)
        fputs("  (it is empty)\n", stream);
}

void tail_print_last(const char *path, unsigned count, FILE *stream)
{
    FILE *from = fopen(path, "re");
    char *lines[TAIL_LAST_MAX + 1] = {NULL};
    size_t capacities[TAIL_LAST_MAX + 1] = {0};

    if (from == NULL)
        return;
    tail_print_ring(from, count < TAIL_LAST_MAX ? count : TAIL_LAST_MAX, lines, capacities, stream);
    for (unsigned i = 0; i <= TAIL_LAST_MAX; i++)
        free(lines[i]);
    fclose(from);
}
