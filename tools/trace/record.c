// SPDX-License-Identifier: GPL-2.0-or-later
#include "record.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "babeltrace.h"
#include "match.h"
#include "run/ctf.h"
#include "run/machine.h"
#include "run/size.h"

#define RECORD_LINE_BYTES 1024
#define RECORD_ALL        ((UINT32_C(1) << EVENT_GUEST_KINDS) - 1)

void record_warn(struct record *record, const char *format, ...)
{
    va_list arguments;

    if (record->warnings_count == RECORD_WARNINGS)
        return;
    va_start(arguments, format);
    vsnprintf(record->warnings[record->warnings_count++], RECORD_WARNING_BYTES, format, arguments);
    va_end(arguments);
}

uint64_t record_number(const json_t *object, const char *name, uint64_t fallback)
{
    const json_t *value = json_object_get(object, name);

    return json_is_integer(value) ? (uint64_t)json_integer_value(value) : fallback;
}

uint64_t record_missing(const struct console_server *server)
{
    return server->trace.said ? server->trace.dropped : UINT64_MAX;
}

static int record_path(char path[PATH_MAX], const char *folder, const char *file,
                       struct failure *failure)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, file) >= PATH_MAX)
        return failure_set(failure, STATUS_BAD_INPUT, "the path %s is too long", folder);
    return STATUS_SUCCESS;
}

/* The bits of the kinds in a list, "op,io". */
static uint32_t record_kinds_parse(const char *list)
{
    uint32_t kinds = 0;

    for (;;) {
        size_t length = strcspn(list, ",");

        for (unsigned i = 0; i < EVENT_GUEST_KINDS; i++) {
            const char *name = event_kind_name((enum event_kind)i);

            if (strncmp(name, list, length) == 0 && name[length] == '\0')
                kinds |= UINT32_C(1) << i;
        }
        if (list[length] == '\0')
            return kinds;
        list += length + 1;
    }
}

/* What stands behind KEY in LINE, or NULL. */
static const char *record_value(const char *line, const char *key)
{
    size_t length = strlen(key);

    return strncmp(line, key, length) == 0 && line[length] == '=' ? line + length + 1 : NULL;
}

static void record_config_take(struct record *record, const char *line)
{
    const char *kinds = record_value(line, "trace_events");
    const char *fs = record_value(line, "fs");

    if (kinds != NULL && strcmp(kinds, "all") != 0)
        record->kinds = record_kinds_parse(kinds);
    if (fs != NULL)
        record->config.fs = names_get(&record->log.names, fs, strlen(fs));
}

/* What the guest was told; where that is not said, all kinds, and a bare object. */
static void record_config_read(struct record *record, const char *folder)
{
    char path[PATH_MAX];
    char line[RECORD_LINE_BYTES];
    struct failure ignored = {0}; /* a boot without its configuration can be read all the same */
    FILE *stream;

    record->kinds = RECORD_ALL;
    record->config.fs = "none";
    if (record_path(path, folder, MACHINE_CONFIG, &ignored) != STATUS_SUCCESS)
        return;
    stream = fopen(path, "re");
    while (stream != NULL && fgets(line, sizeof(line), stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        record_config_take(record, line);
    }
    if (stream != NULL)
        fclose(stream);
}

static void record_disk_read(struct record *record, const char *folder)
{
    struct failure damage = {0};
    char path[PATH_MAX];
    FILE *stream;

    if (record_path(path, folder, MACHINE_TRACE, &damage) != STATUS_SUCCESS)
        return;
    stream = fopen(path, "re");
    if (stream == NULL) {
        record_warn(record, "%s cannot be read: the disk's commands are missing", MACHINE_TRACE);
        return;
    }
    trace_read(&record->disk, stream, MACHINE_TRACE, MACHINE_DISK, true, &damage);
    fclose(stream);
    record->disk_known = damage.status == STATUS_SUCCESS && record->disk.stops == 1;
    if (damage.status != STATUS_SUCCESS)
        record_warn(record, "%s; what follows is missing", damage.reason);
    else if (!record->disk_known)
        record_warn(record, "%s ends before the servers had stopped", MACHINE_TRACE);
}

/* The partitions as result.json names them: by the last character of their device's name. */
static bool record_partitions_take(struct record *record)
{
    const json_t *partitions = json_object_get(record->job, "partitions");
    const char *name;
    json_t *value;
    bool any = false;

    json_object_foreach((json_t *)partitions, name, value)
    {
        size_t length = strlen(name);
        unsigned number = length == 0 ? 0 : (unsigned)(name[length - 1] - '0');

        if (number < 1 || number > MBR_PARTITIONS)
            continue;
        record->mbr.partitions[number - 1].sector = record_number(value, "sector", 0);
        record->mbr.partitions[number - 1].sectors = record_number(value, "sectors", 0);
        any = true;
    }
    return any;
}

/* Without result.json, a kept disk knows. */
static void record_partitions_find(struct record *record, const char *folder)
{
    struct failure failure = {0};
    char path[PATH_MAX];

    if (record_partitions_take(record))
        return;
    if (record_path(path, folder, MACHINE_DISK, &failure) != STATUS_SUCCESS ||
        mbr_load(&record->mbr, path, &failure) != STATUS_SUCCESS)
        record_warn(record, "where the disk's partitions begin is not known: neither result.json "
                            "nor a kept disk says so; the disk's commands belong to nobody");
}

static void record_damage_warn(struct record *record)
{
    const struct log *log = &record->log;
    char numbers[LOG_DAMAGED_MAX * 24] = "";
    size_t used = 0;

    for (size_t i = 0; i < log->damaged_count && i < LOG_DAMAGED_MAX; i++)
        used += (size_t)snprintf(numbers + used, sizeof(numbers) - used, "%s%" PRIu64,
                                 i == 0 ? "" : ", ", log->damaged[i]);
    if (log->damaged_count != 0)
        record_warn(record, "%zu damaged line%s left out: %s %s%s", log->damaged_count,
                    log->damaged_count == 1 ? " is" : "s are", MACHINE_SERIAL, numbers,
                    log->damaged_count > LOG_DAMAGED_MAX ? ", ..." : "");
}

static void record_server_warn(struct record *record, const struct console_server *server)
{
    const struct console_trace *trace = &server->trace;
    uint64_t here = log_count(&record->log, server->name);

    if (!trace->said && here != 0)
        record_warn(record,
                    "%s never said how many events it recorded: %s are here, the rest is missing",
                    server->name, NUMBER_TEXT(here));
    else if (trace->said && trace->events != here)
        record_warn(record, "%s printed %s events, %s are here", server->name,
                    NUMBER_TEXT(trace->events), NUMBER_TEXT(here));
    if (trace->said && trace->dropped != 0)
        record_warn(record, "%s dropped %s events for want of memory", server->name,
                    NUMBER_TEXT(trace->dropped));
}

static void record_log_warn(struct record *record)
{
    const struct log *log = &record->log;

    record_damage_warn(record);
    for (size_t i = 0; i < log->console.servers_count; i++)
        record_server_warn(record, &log->console.servers[i]);
    if (!log->console.end.said)
        record_warn(record, "%s is cut off: the guest's end line is missing", MACHINE_SERIAL);
}

/* The times of the disk's commands follow from a clock that fits them all, if there is one. */
static void record_clock_warn(struct record *record)
{
    if (record->align.known && record->align.miss_ns != 0)
        record_warn(
            record,
            "the disk's commands came at times that contradict their calls: what is said of "
            "their times can be wrong by %.1f us or more",
            record->align.miss_ns / 1000);
}

static uint64_t record_block_find(const struct record *record)
{
    const struct console *console = &record->log.console;
    uint64_t block = console->stores_count != 0
                         ? console->stores[0].block
                         : record_number(record->job, "device_block", MBR_SECTOR_BYTES);

    return block == 0 || block % MBR_SECTOR_BYTES != 0 ? MBR_SECTOR_BYTES : block;
}

/* The events are the log's, unless there is a folder of CTF. */
static int record_events_load(struct record *record, const char *folder, struct failure *failure)
{
    char path[PATH_MAX];
    int status = record_path(path, folder, CTF_FOLDER, failure);

    record->is_ctf = status == STATUS_SUCCESS && access(path, F_OK) == 0;
    if (!record->is_ctf)
        return status;
    record->log.count = 0;
    return babeltrace_load(record, path, failure);
}

int record_load(struct record *record, const char *run, const struct policy *policy, json_t *job,
                struct failure *failure)
{
    char folder[PATH_MAX];
    char path[PATH_MAX];
    int status = record_path(folder, run, policy->choice.name, failure);

    *record = (struct record){.policy = policy, .job = job};
    if (status == STATUS_SUCCESS)
        status = record_path(path, folder, MACHINE_SERIAL, failure);
    if (status == STATUS_SUCCESS)
        status = log_load(&record->log, path, failure);
    if (status == STATUS_SUCCESS)
        status = record_events_load(record, folder, failure);
    if (status != STATUS_SUCCESS)
        return status;
    if (record->log.count == 0)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "%s holds no events; was the run made with TRACE=text or TRACE=ctf?",
                           record->is_ctf ? CTF_FOLDER : path);
    record_config_read(record, folder);
    record_log_warn(record);
    record_disk_read(record, folder);
    record_partitions_find(record, folder);
    record->device_block = record_block_find(record);
    match_disk(record);
    record_clock_warn(record);
    return STATUS_SUCCESS;
}

void record_destroy(struct record *record)
{
    log_destroy(&record->log);
    trace_destroy(&record->disk);
    free(record->events);
}
