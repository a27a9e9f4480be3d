// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files come from debugfs, which copies them from some of the host that hold the pattern and
 * are removed afterwards. debugfs exits with 0 whatever happens; so each line is looked at that it
 * prints, and one that it does not print when all is well is the error.
 */
#include "prepare.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpattern/pattern.h"
#include "machine.h"
#include "tool.h"

#define PREPARE_DATA         "prepare.data"
#define PREPARE_COMMANDS     "prepare.debugfs"
#define PREPARE_OUTPUT       "prepare.log"
#define PREPARE_CUT_OUTPUT   "fragment.log"
#define PREPARE_FOLDER       "lost+found"  /* mke2fs makes it */
#define PREPARE_TIME         "@1196467200" /* the time of mke2fs in disk-images/make-disk.sh */
#define PREPARE_WINDOW_BYTES (1u << 20)
#define PREPARE_NAME_BYTES   48

struct prepare {
    const struct options *options;
    const struct job *job;
    const char *folder;
    uint64_t seed;
    char image[64]; /* as e2fsprogs wants it */
    struct failure *failure;
};

static const char *prepare_fragment_path(const struct options *options, char path[PATH_MAX])
{
    if (options->fragment != NULL)
        return options->fragment;
    snprintf(path, PATH_MAX, "%s/host/machbed-fragment", options->build);
    return path;
}

static bool prepare_has_files(const struct job *job)
{
    return job->overwrite || job_is_read(job);
}

int prepare_check(const struct options *options, const struct job *job, struct failure *failure)
{
    char path[PATH_MAX];
    const char *fragment = prepare_fragment_path(options, path);

    if (job->fragment != 0 && !tool_is_there(fragment))
        return failure_set(failure, STATUS_BAD_INPUT,
                           "the tool that cuts free space (--fragment): %s: %s", fragment,
                           strerror(errno));
    return STATUS_SUCCESS;
}

static int prepare_path(const struct prepare *prepare, const char *file, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", prepare->folder, file) >= PATH_MAX)
        return failure_set(prepare->failure, STATUS_BAD_INPUT, "the path %s is too long",
                           prepare->folder);
    return STATUS_SUCCESS;
}

/* A file in the boot's folder; NULL: the failure is noted. */
static FILE *prepare_file_create(const struct prepare *prepare, const char *file)
{
    char path[PATH_MAX];
    FILE *stream;

    if (prepare_path(prepare, file, path) != STATUS_SUCCESS)
        return NULL;
    stream = fopen(path, "we");
    if (stream == NULL)
        failure_set(prepare->failure, STATUS_BAD_INPUT, "%s cannot be written: %s", path,
                    strerror(errno));
    return stream;
}

static int prepare_file_close(const struct prepare *prepare, FILE *stream, const char *file)
{
    bool failed = ferror(stream) != 0;

    if (fclose(stream) != 0 || failed)
        return failure_set(prepare->failure, STATUS_BAD_INPUT, "%s/%s cannot be written: %s",
                           prepare->folder, file, strerror(errno));
    return STATUS_SUCCESS;
}

/* --- Free space ------------------------------------------------------------------------------ */

static int prepare_cut_run(const struct prepare *prepare, struct command *command,
                           const char *output)
{
    char said[256];
    int code;
    int status = tool_run(command, prepare->folder, output, &code, prepare->failure);

    if (status != STATUS_SUCCESS || code == 0)
        return status;
    tool_line_read(output, said, sizeof(said));
    return failure_set(prepare->failure, STATUS_BAD_INPUT, "free space could not be cut: %s",
                       said[0] != '\0' ? said : "the tool did not say why");
}

static int prepare_free_cut(const struct prepare *prepare)
{
    char path[PATH_MAX];
    char program[PATH_MAX];
    struct command command;
    int status;

    if (realpath(prepare_fragment_path(prepare->options, path), program) == NULL)
        return failure_set(prepare->failure, STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
    status = prepare_path(prepare, PREPARE_CUT_OUTPUT, path);
    if (status != STATUS_SUCCESS)
        return status;
    command_init(&command);
    command_add(&command, "%s", program);
    command_add(&command, "%s", prepare->image);
    command_add(&command, "%llu", (unsigned long long)prepare->job->fragment);
    status = prepare_cut_run(prepare, &command, path);
    command_destroy(&command);
    return status;
}

/* --- The files ------------------------------------------------------------------------------- */

/* The name of the host's file that holds file INDEX. */
static const char *prepare_data_name(uint64_t index, char name[PREPARE_NAME_BYTES])
{
    snprintf(name, PREPARE_NAME_BYTES, "%s.%" PRIu64, PREPARE_DATA, index);
    return name;
}

static void prepare_pattern_print(const struct prepare *prepare, const struct pattern *pattern,
                                  uint64_t index, uint8_t *window, FILE *stream)
{
    const struct job *job = prepare->job;
    uint64_t offset;
    uint64_t end = pattern_part(job->size, job->nrfiles, index, &offset);

    for (end += offset; offset < end; offset += PREPARE_WINDOW_BYTES) {
        uint64_t rest = end - offset;
        size_t length = rest < PREPARE_WINDOW_BYTES ? rest : PREPARE_WINDOW_BYTES;

        pattern_fill(pattern, offset, window, length);
        fwrite(window, 1, length, stream);
    }
}

static int prepare_data_write(const struct prepare *prepare, const struct pattern *pattern,
                              uint64_t index, uint8_t *window)
{
    char name[PREPARE_NAME_BYTES];
    FILE *stream = prepare_file_create(prepare, prepare_data_name(index, name));

    if (stream == NULL)
        return prepare->failure->status;
    prepare_pattern_print(prepare, pattern, index, window, stream);
    return prepare_file_close(prepare, stream, name);
}

static int prepare_all_data_write(const struct prepare *prepare)
{
    uint8_t *memory = malloc(PATTERN_BASE_BYTES + PREPARE_WINDOW_BYTES);
    struct pattern pattern;
    int status = STATUS_SUCCESS;

    if (memory == NULL)
        return failure_set(prepare->failure, STATUS_BAD_INPUT, "out of memory");
    pattern_init(&pattern, prepare->seed + prepare->job->overwrite, memory);
    for (uint64_t i = 0; i < prepare->job->nrfiles && status == STATUS_SUCCESS; i++)
        status = prepare_data_write(prepare, &pattern, i, memory + PATTERN_BASE_BYTES);
    free(memory);
    return status;
}

static void prepare_all_data_remove(const struct prepare *prepare)
{
    for (uint64_t i = 0; i < prepare->job->nrfiles; i++) {
        char name[PREPARE_NAME_BYTES];
        char path[PATH_MAX];

        if (prepare_path(prepare, prepare_data_name(i, name), path) == STATUS_SUCCESS)
            unlink(path);
    }
}

/* The folders of PATH, each behind those that it is in. */
static void prepare_folders_print(const char *path, FILE *stream)
{
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        int length = (int)(slash - path);

        if (strncmp(path, PREPARE_FOLDER "/", (size_t)length + 1) != 0)
            fprintf(stream, "mkdir \"/%.*s\"\n", length, path);
    }
}

/* "write" makes a file in the current folder only. */
static void prepare_writes_print(const struct job *job, FILE *stream)
{
    const char *slash = strrchr(job->filename, '/');

    if (slash != NULL)
        fprintf(stream, "cd \"/%.*s\"\n", (int)(slash - job->filename), job->filename);
    for (uint64_t i = 0; i < job->nrfiles; i++) {
        char data[PREPARE_NAME_BYTES];
        char path[JOB_FILE_BYTES];

        (void)job_file_name(job, i, path); /* job_resize has made sure that it has room */
        fprintf(stream, "write %s \"%s\"\n", prepare_data_name(i, data),
                slash != NULL ? path + (slash + 1 - job->filename) : path);
    }
}

static int prepare_commands_write(const struct prepare *prepare)
{
    const struct job *job = prepare->job;
    FILE *stream = prepare_file_create(prepare, PREPARE_COMMANDS);

    if (stream == NULL)
        return prepare->failure->status;
    fprintf(stream, "set_current_time %s\n", PREPARE_TIME);
    prepare_folders_print(job->filename, stream);
    if (prepare_has_files(job))
        prepare_writes_print(job, stream);
    return prepare_file_close(prepare, stream, PREPARE_COMMANDS);
}

/* Whether debugfs prints the line when all is well. */
static bool prepare_line_is_usual(const char *line)
{
    static const char *const usual[] = {"debugfs", "Setting current time ", "Allocated inode: "};

    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (strncmp(line, usual[i], strlen(usual[i])) == 0)
            return true;
    }
    return *line == '\0';
}

static int prepare_output_judge(const struct prepare *prepare, const char *path)
{
    char line[512];
    FILE *stream = fopen(path, "re");
    int status = STATUS_SUCCESS;

    if (stream == NULL)
        return failure_set(prepare->failure, STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
    while (status == STATUS_SUCCESS && fgets(line, sizeof(line), stream) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (!prepare_line_is_usual(line))
            status =
                failure_set(prepare->failure, STATUS_BAD_INPUT,
                            "the job's file could not be prepared, debugfs says: %.200s", line);
    }
    fclose(stream);
    return status;
}

static int prepare_debugfs_run(const struct prepare *prepare)
{
    char path[PATH_MAX];
    struct command command;
    int code;
    int status = prepare_path(prepare, PREPARE_OUTPUT, path);

    if (status != STATUS_SUCCESS)
        return status;
    command_init(&command);
    command_add(&command, "debugfs");
    command_add(&command, "-w");
    command_add(&command, "-f");
    command_add(&command, PREPARE_COMMANDS);
    command_add(&command, "%s", prepare->image);
    status = tool_run(&command, prepare->folder, path, &code, prepare->failure);
    command_destroy(&command);
    return status != STATUS_SUCCESS ? status : prepare_output_judge(prepare, path);
}

static int prepare_files_make(const struct prepare *prepare)
{
    int status = STATUS_SUCCESS;

    if (prepare_has_files(prepare->job))
        status = prepare_all_data_write(prepare);
    if (status == STATUS_SUCCESS)
        status = prepare_commands_write(prepare);
    if (status == STATUS_SUCCESS)
        status = prepare_debugfs_run(prepare);
    if (prepare_has_files(prepare->job))
        prepare_all_data_remove(prepare);
    return status;
}

int prepare_run(const struct options *options, const struct job *job, uint64_t seed,
                const struct mbr_partition *partition, const char *folder, struct failure *failure)
{
    struct prepare prepare = {options, job, folder, seed, "", failure};
    int status = STATUS_SUCCESS;

    snprintf(prepare.image, sizeof(prepare.image), "%s?offset=%llu", MACHINE_DISK,
             (unsigned long long)partition->sector * MBR_SECTOR_BYTES);
    if (job->fragment != 0)
        status = prepare_free_cut(&prepare);
    if (status == STATUS_SUCCESS && (prepare_has_files(job) || strchr(job->filename, '/') != NULL))
        status = prepare_files_make(&prepare);
    return status;
}
