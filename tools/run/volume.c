// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One run of debugfs answers `stats -h` (the super block), `stat` of each of the job's files (its
 * length and blocks) and, if wanted, `dump`. Of what it prints these lines are read:
 *
 *   Filesystem state:         clean
 *   Block size:               4096
 *   debugfs: stat "/job.data"
 *   User:     0   Group:     0   Project:     0   Size: 134217728
 *   BLOCKS:
 *   (0-11):555-566, (IND):567, (12-1035):568-1591
 *   TOTAL: 1037
 *   /job.data: File not found by ext2_lookup
 *
 * e2fsck -fn exits with 0 also when it found counts that are wrong, so its status alone is not
 * enough: every line but those of a clean check is a complaint. With -f it does not look at how the
 * super block is marked, so that is asked of debugfs.
 */
#include "volume.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "libpattern/pattern.h"
#include "machine.h"
#include "tool.h"

#define VOLUME_COMMANDS    "check.debugfs"
#define VOLUME_REPORT      "debugfs.log"
#define VOLUME_FSCK_OUTPUT "e2fsck.log"

int volume_check(struct failure *failure)
{
    static const char *const programs[] = {"debugfs", "e2fsck"};

    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (!tool_is_there(programs[i]))
            return failure_set(failure, STATUS_BAD_INPUT,
                               "there is no %s (Debian package e2fsprogs)", programs[i]);
    }
    return STATUS_SUCCESS;
}

void volume_init(struct volume *volume)
{
    *volume = (struct volume){0};
    file_map_init(&volume->map);
}

void volume_destroy(struct volume *volume)
{
    file_map_destroy(&volume->map);
    free(volume->files);
}

/* --- What debugfs says ----------------------------------------------------------------------- */

/* Reads `NUMBER` or `NUMBER-NUMBER` at *TEXT and moves behind it. */
static error_t volume_range_scan(const char **text, uint64_t *first, uint64_t *last)
{
    char *end;

    if (**text < '0' || **text > '9')
        return EINVAL;
    *first = strtoull(*text, &end, 10);
    *last = *first;
    if (*end == '-')
        *last = strtoull(end + 1, &end, 10);
    *text = end;
    return *last < *first ? EINVAL : 0;
}

/* Where the lines of `stat` put what they say. */
struct volume_reader {
    struct volume *volume;
    const struct job *job;
    uint64_t start;           /* of the partition */
    struct volume_file *file; /* that the lines are about; NULL before the first */
    uint64_t offset;          /* where it begins in the job's bytes */
};

/* Reads `(0-11):555-566` or `(IND):567` at *TEXT, and the comma behind it. */
static error_t volume_piece_scan(const struct volume_reader *reader, const char **text)
{
    struct volume *volume = reader->volume;
    uint64_t in_file[2];
    uint64_t on_disk[2];
    bool is_data = (*text)[0] == '(' && (*text)[1] >= '0' && (*text)[1] <= '9';
    const char *at = *text + 1;
    error_t error = is_data ? volume_range_scan(&at, &in_file[0], &in_file[1]) : 0;

    at = strstr(at, "):");
    if (error != 0 || at == NULL)
        return EINVAL;
    at += 2;
    error = volume_range_scan(&at, &on_disk[0], &on_disk[1]);
    if (error == 0 && is_data)
        file_map_add(&volume->map, (struct file_piece){
                                       .offset = reader->offset + in_file[0] * volume->block_bytes,
                                       .start = reader->start + on_disk[0] * volume->block_bytes,
                                       .bytes = (on_disk[1] - on_disk[0] + 1) * volume->block_bytes,
                                   });
    *text = at + strspn(at, ", \n");
    return error;
}

static void volume_blocks_read(const struct volume_reader *reader, const char *line)
{
    while (*line == '(') {
        if (volume_piece_scan(reader, &line) != 0)
            return;
    }
}

/* The value behind NAME, if the line starts with it, or NULL. */
static const char *volume_value(const char *line, const char *name)
{
    size_t length = strlen(name);

    if (strncmp(line, name, length) != 0)
        return NULL;
    return line + length + strspn(line + length, " \t");
}

static void volume_super_line_read(struct volume *volume, const char *line)
{
    const char *value = volume_value(line, "Block size:");

    if (value != NULL)
        volume->block_bytes = strtoull(value, NULL, 10);
    value = volume_value(line, "Filesystem state:");
    if (value != NULL)
        snprintf(volume->state, sizeof(volume->state), "%.*s", (int)strcspn(value, "\n"), value);
}

/* debugfs repeats each command: behind it stands the answer about the next file. */
static void volume_command_line_read(struct volume_reader *reader, const char *line)
{
    struct volume *volume = reader->volume;

    if (strncmp(line, "debugfs: stat ", 14) != 0 || volume->files_count == reader->job->nrfiles)
        return;
    pattern_part(reader->job->size, reader->job->nrfiles, volume->files_count, &reader->offset);
    reader->file = &volume->files[volume->files_count++];
}

static void volume_file_line_read(const struct volume_reader *reader, const char *line)
{
    const char *size = strstr(line, " Size: ");

    if (strncmp(line, "User:", 5) != 0 || size == NULL || reader->file == NULL)
        return;
    reader->file->found = true;
    reader->file->size = strtoull(size + strlen(" Size: "), NULL, 10);
}

/* debugfs starts its complaints with what they are about: the path, or one of its commands. */
static void volume_complaint_read(struct volume *volume, const char *line)
{
    static const char *const subjects[] = {"/", "stats: ", "stat: ", "dump", "disk.img"};

    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]) && volume->said[0] == '\0'; i++) {
        if (strncmp(line, subjects[i], strlen(subjects[i])) == 0)
            snprintf(volume->said, sizeof(volume->said), "%.*s", (int)strcspn(line, "\n"), line);
    }
}

void volume_report_read(struct volume *volume, const struct job *job, FILE *stream, uint64_t start)
{
    struct volume_reader reader = {.volume = volume, .job = job, .start = start};
    char *line = NULL;
    size_t capacity = 0;
    bool blocks = false;

    volume->files = calloc(job->nrfiles, sizeof(*volume->files));
    if (volume->files == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    while (getline(&line, &capacity, stream) >= 0) {
        if (blocks)
            volume_blocks_read(&reader, line);
        blocks = strcmp(line, "BLOCKS:\n") == 0;
        volume_super_line_read(volume, line);
        volume_command_line_read(&reader, line);
        volume_file_line_read(&reader, line);
        volume_complaint_read(volume, line);
    }
    free(line);
    file_map_finish(&volume->map);
}

/* --- What e2fsck says ------------------------------------------------------------------------ */

static bool volume_fsck_line_is_usual(const char *line)
{
    static const char *const usual[] = {"e2fsck ", "Pass ", MACHINE_DISK ": "};

    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (strncmp(line, usual[i], strlen(usual[i])) == 0)
            return true;
    }
    return line[strspn(line, " \n")] == '\0';
}

/* Notes the complaint, without the question whether to repair it. */
static void volume_fsck_line_note(struct volume *volume, const char *line)
{
    const char *question = strstr(line, "  ");
    size_t length = question != NULL ? (size_t)(question - line) : strcspn(line, "\n");

    snprintf(volume->fsck, sizeof(volume->fsck), "%.*s", (int)length, line);
}

void volume_fsck_read(struct volume *volume, FILE *stream, int code)
{
    char *line = NULL;
    size_t capacity = 0;

    while (volume->fsck[0] == '\0' && getline(&line, &capacity, stream) >= 0) {
        if (!volume_fsck_line_is_usual(line))
            volume_fsck_line_note(volume, line);
    }
    free(line);
    if (volume->fsck[0] != '\0')
        return;
    if (code != 0)
        snprintf(volume->fsck, sizeof(volume->fsck), "e2fsck exited with %d and did not say why",
                 code);
    else if (strcmp(volume->state, "clean") != 0)
        snprintf(volume->fsck, sizeof(volume->fsck),
                 "nothing is wrong, but the super block is marked as '%s', not 'clean'",
                 volume->state);
    else
        snprintf(volume->fsck, sizeof(volume->fsck), "ok");
}

/* --- Running both ---------------------------------------------------------------------------- */

struct volume_run {
    struct volume *volume;
    const struct job *job;
    const char *folder;
    bool copy;
    uint64_t start; /* of the partition */
    char image[64]; /* as e2fsprogs wants it */
    struct failure *failure;
};

static void volume_path(const struct volume_run *run, const char *file, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 32, run->folder, file);
}

/* A file in the boot's folder; NULL: the failure is noted. */
static FILE *volume_file_open(const struct volume_run *run, const char *file, const char *mode)
{
    char path[PATH_MAX];
    FILE *stream;

    volume_path(run, file, path);
    stream = fopen(path, mode);
    if (stream == NULL)
        failure_set(run->failure, STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
    return stream;
}

/* Takes COMMAND and runs it. Returns what it printed, which is kept in OUTPUT, or NULL. */
static FILE *volume_command_run(const struct volume_run *run, struct command *command,
                                const char *output, int *code)
{
    char path[PATH_MAX];
    int status;

    volume_path(run, output, path);
    status = tool_run(command, run->folder, path, code, run->failure);
    command_destroy(command);
    return status == STATUS_SUCCESS ? volume_file_open(run, output, "re") : NULL;
}

static void volume_file_commands_print(const struct volume_run *run, uint64_t index, FILE *stream)
{
    char name[JOB_FILE_BYTES];

    (void)job_file_name(run->job, index, name); /* job_resize has made sure that it has room */
    fprintf(stream, "stat \"/%s\"\n", name);
    if (run->copy)
        fprintf(stream, "dump \"/%s\" %s.%" PRIu64 "\n", name, VOLUME_DATA, index);
}

static int volume_commands_write(const struct volume_run *run)
{
    FILE *stream = volume_file_open(run, VOLUME_COMMANDS, "we");

    if (stream == NULL)
        return run->failure->status;
    fprintf(stream, "stats -h\n");
    for (uint64_t i = 0; i < run->job->nrfiles; i++)
        volume_file_commands_print(run, i, stream);
    if (fclose(stream) != 0)
        return failure_set(run->failure, STATUS_BAD_INPUT, "%s/%s cannot be written: %s",
                           run->folder, VOLUME_COMMANDS, strerror(errno));
    return STATUS_SUCCESS;
}

static int volume_debugfs_run(const struct volume_run *run)
{
    struct command command;
    FILE *stream;
    int code;
    int status = volume_commands_write(run);

    if (status != STATUS_SUCCESS)
        return status;
    command_init(&command);
    command_add(&command, "debugfs");
    command_add(&command, "-f");
    command_add(&command, VOLUME_COMMANDS);
    command_add(&command, "%s", run->image);
    stream = volume_command_run(run, &command, VOLUME_REPORT, &code);
    if (stream == NULL)
        return run->failure->status;
    volume_report_read(run->volume, run->job, stream, run->start);
    fclose(stream);
    return STATUS_SUCCESS;
}

static int volume_fsck_run(const struct volume_run *run)
{
    struct command command;
    FILE *stream;
    int code;

    command_init(&command);
    command_add(&command, "e2fsck");
    command_add(&command, "-fn");
    command_add(&command, "%s", run->image);
    stream = volume_command_run(run, &command, VOLUME_FSCK_OUTPUT, &code);
    if (stream == NULL)
        return run->failure->status;
    volume_fsck_read(run->volume, stream, code);
    fclose(stream);
    return STATUS_SUCCESS;
}

int volume_examine(struct volume *volume, const struct job *job,
                   const struct mbr_partition *partition, const char *folder, bool copy,
                   struct failure *failure)
{
    struct volume_run run = {volume, job,    folder, copy, partition->sector * MBR_SECTOR_BYTES,
                             "",     failure};
    int status;

    snprintf(run.image, sizeof(run.image), "%s?offset=%llu", MACHINE_DISK,
             (unsigned long long)run.start);
    status = volume_debugfs_run(&run);
    if (status == STATUS_SUCCESS)
        status = volume_fsck_run(&run);
    return status;
}
