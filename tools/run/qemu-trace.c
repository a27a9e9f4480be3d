// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The log as QEMU 7.2 writes it, one event a line:
 *
 *   bdrv_open_common bs 0x55d0a1 filename "disk.img" flags 0x22002 format_name "raw"
 *   fw_cfg_select 0x55d0c7 key 0x3ff0 'unknown', ret: 0
 *   blk_co_pwritev blk 0x55d0b2 bs 0x55d0a1 offset 537919488 bytes 32768 flags 0x0
 *
 * A disk is a chain of nodes; the top one, with the image's format, is what requests name in `bs`.
 * So the raw node opened on the test disk's file tells its requests from those of the CD; with a
 * sector that fails the file's name is "blkdebug:blkdebug.cfg:disk.img". An
 * address may be used again after a node was closed: the latest opening counts.
 *
 * With `-msg timestamp=on` there is `PID@SECONDS.MICROS:` in front of each line: when the event
 * came about, by gettimeofday(). A line may lack it. Anything else is refused: a line that was
 * skipped silently could be the write that does not agree.
 */
#include "qemu-trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define TRACE_MARK_START 0x3ff0u
#define TRACE_MARK_STOP  0x3ff1u

const char trace_events[] = "bdrv_open_common\n"
                            "fw_cfg_select\n"
                            "blk_co_pwritev\n"
                            "blk_co_preadv\n";

struct trace_reader {
    struct trace *trace;
    const char *disk;
    uint64_t disk_node; /* address of the test disk's node, 0 before it was opened */
    enum trace_phase phase;
    uint64_t host_us; /* the line's stamp, 0: it has none */
};

typedef error_t trace_take_t(struct trace_reader *reader, const char *text);

struct trace_event {
    const char *name;
    trace_take_t *take;
};

/* Moves *TEXT behind WORD, which must stand there. */
static error_t trace_word_scan(const char **text, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(*text, word, length) != 0)
        return EINVAL;
    *text += length;
    return 0;
}

/* Reads `WORD NUMBER` in base 10 or, with 0x in front, 16. */
static error_t trace_number_scan(const char **text, const char *word, int base, uint64_t *value)
{
    char *end;
    error_t error = trace_word_scan(text, word);

    if (error == 0 && base == 16)
        error = trace_word_scan(text, "0x");
    if (error != 0 || strspn(*text, "0123456789abcdef") == 0)
        return EINVAL;
    errno = 0;
    *value = strtoull(*text, &end, base);
    if (errno != 0 || end == *text)
        return EINVAL;
    *text = end;
    return 0;
}

/* Reads `WORD "TEXT"`; the result is not ended by a zero. */
static error_t trace_string_scan(const char **text, const char *word, const char **string,
                                 size_t *length)
{
    const char *end;
    error_t error = trace_word_scan(text, word);

    if (error == 0)
        error = trace_word_scan(text, "\"");
    end = strchr(*text, '"');
    if (error != 0 || end == NULL)
        return EINVAL;
    *string = *text;
    *length = (size_t)(end - *text);
    *text = end + 1;
    return 0;
}

static bool trace_path_is(const char *path, size_t length, const char *name)
{
    size_t start = length;

    while (start > 0 && path[start - 1] != '/' && path[start - 1] != ':')
        start--;
    path += start;
    length -= start;
    return strlen(name) == length && memcmp(path, name, length) == 0;
}

static error_t trace_take_open(struct trace_reader *reader, const char *text)
{
    uint64_t node;
    uint64_t flags;
    const char *path;
    const char *format;
    size_t path_length;
    size_t format_length;
    error_t error = trace_number_scan(&text, "bs ", 16, &node);

    if (error == 0)
        error = trace_string_scan(&text, " filename ", &path, &path_length);
    if (error == 0)
        error = trace_number_scan(&text, " flags ", 16, &flags);
    if (error == 0)
        error = trace_string_scan(&text, " format_name ", &format, &format_length);
    if (error != 0 || *text != '\0')
        return EINVAL;
    if (trace_path_is(path, path_length, reader->disk) &&
        trace_path_is(format, format_length, "raw"))
        reader->disk_node = node;
    else if (node == reader->disk_node)
        reader->disk_node = 0;
    return 0;
}

static error_t trace_take_select(struct trace_reader *reader, const char *text)
{
    uint64_t device;
    uint64_t key;
    error_t error = trace_number_scan(&text, "", 16, &device);

    if (error == 0)
        error = trace_number_scan(&text, " key ", 16, &key);
    if (error == 0)
        error = trace_word_scan(&text, " '");
    if (error != 0)
        return error;
    if (key == TRACE_MARK_START) {
        reader->trace->starts++;
        reader->trace->start_us = reader->host_us;
        reader->phase = TRACE_COUNTED;
    } else if (key == TRACE_MARK_STOP) {
        reader->trace->stops++;
        reader->phase = TRACE_AFTER;
    }
    return 0;
}

static void trace_append(struct trace *trace, struct trace_request request)
{
    trace->requests = array_grow(trace->requests, trace->count, sizeof(request));
    trace->requests[trace->count++] = request;
}

static error_t trace_take_request(struct trace_reader *reader, const char *text, bool write)
{
    struct trace_request request = {
        .phase = reader->phase, .write = write, .host_us = reader->host_us};
    uint64_t backend;
    uint64_t node;
    uint64_t flags;
    error_t error = trace_number_scan(&text, "blk ", 16, &backend);

    if (error == 0)
        error = trace_number_scan(&text, " bs ", 16, &node);
    if (error == 0)
        error = trace_number_scan(&text, " offset ", 10, &request.offset);
    if (error == 0)
        error = trace_number_scan(&text, " bytes ", 10, &request.bytes);
    if (error == 0)
        error = trace_number_scan(&text, " flags ", 16, &flags);
    if (error != 0 || *text != '\0' || request.offset + request.bytes < request.offset)
        return EINVAL;
    if (node == reader->disk_node && request.bytes != 0)
        trace_append(reader->trace, request);
    return 0;
}

static error_t trace_take_write(struct trace_reader *reader, const char *text)
{
    return trace_take_request(reader, text, true);
}

static error_t trace_take_read(struct trace_reader *reader, const char *text)
{
    return trace_take_request(reader, text, false);
}

/* Reads `PID@SECONDS.MICROS:`, six digits for the latter, and returns what stands behind it; or the
   line, if it has no such stamp. */
static const char *trace_stamp_take(struct trace_reader *reader, const char *line)
{
    const char *at = line;
    uint64_t pid;
    uint64_t seconds;
    uint64_t micros;

    reader->host_us = 0;
    if (trace_number_scan(&at, "", 10, &pid) != 0 || trace_number_scan(&at, "@", 10, &seconds) != 0)
        return line;
    if (at[0] != '.' || strspn(at + 1, "0123456789") != 6 ||
        trace_number_scan(&at, ".", 10, &micros) != 0 || *at != ':')
        return line;
    reader->host_us = seconds * 1000000 + micros;
    return at + 1;
}

static error_t trace_line_take(struct trace_reader *reader, const char *line)
{
    static const struct trace_event events[] = {
        {"bdrv_open_common ", trace_take_open},
        {"fw_cfg_select ", trace_take_select},
        {"blk_co_pwritev ", trace_take_write},
        {"blk_co_preadv ", trace_take_read},
    };

    line = trace_stamp_take(reader, line);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        size_t length = strlen(events[i].name);

        if (strncmp(line, events[i].name, length) == 0)
            return events[i].take(reader, line + length);
    }
    return EINVAL;
}

/* Cuts off the line break. Returns whether there was one. */
static bool trace_line_chop(char *line, size_t length)
{
    if (length == 0 || line[length - 1] != '\n')
        return false;
    line[length - 1] = '\0';
    return true;
}

static int trace_line_refuse(const char *path, unsigned long number, const char *line,
                             struct failure *failure)
{
    return failure_set(failure, STATUS_FAILED,
                       "%s:%lu: QEMU's trace has a line that cannot be understood: %.120s", path,
                       number, line);
}

int trace_read(struct trace *trace, FILE *stream, const char *path, const char *disk, bool torn,
               struct failure *failure)
{
    struct trace_reader reader = {.trace = trace, .disk = disk, .phase = TRACE_BEFORE};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    unsigned long number = 0;
    int status = STATUS_SUCCESS;

    *trace = (struct trace){0};
    while (status == STATUS_SUCCESS && (length = getline(&line, &capacity, stream)) >= 0) {
        bool whole = trace_line_chop(line, (size_t)length);

        number++;
        if (!whole && torn)
            break;
        if (!whole || trace_line_take(&reader, line) != 0)
            status = trace_line_refuse(path, number, line, failure);
    }
    free(line);
    return status;
}

void trace_destroy(struct trace *trace)
{
    free(trace->requests);
}
