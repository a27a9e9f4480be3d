// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The job parser works from one table, job_keys: a key's kind, its place in struct job, its
 * values, its default. The parser, the lines for the guest and --list all read that table, so that
 * a key which is added there is known everywhere.
 *
 * A key or value that is not in the table is an error that names the file, the line and what
 * exists instead. Nothing is ignored: a misspelt key that silently fell back to its default would
 * measure something else than its author thinks.
 */
#include "job.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "choice.h"
#include "size.h"

#define SECTOR_BYTES   512u
#define BS_MAX_BYTES   (1u << 20)
#define JOB_NAMES_TEXT 256

enum job_kind { JOB_CHOICE, JOB_SIZE, JOB_BOOL };

struct job_key {
    const char *name;
    enum job_kind kind;
    size_t offset; /* in struct job */
    const struct choice *choices;
    const char *fallback; /* NULL: has none */
    const char *what;
};

static const struct choice job_fs[] = {
    {"none", "a bare memory object of the pager server"},
    {NULL, NULL},
};

static const struct choice job_rw[] = {
    {"write", "write every byte once"},
    {NULL, NULL},
};

static const struct choice job_engines[] = {
    {"mmap", "stores into a mapping"},
    {NULL, NULL},
};

static const struct choice job_faults[] = {
    {"none", NULL},  {"crash", NULL}, {"crash_pager", NULL}, {"assert", NULL},
    {"panic", NULL}, {"hang", NULL},  {"claim", NULL},       {NULL, NULL},
};

static const struct choice job_bools[] = {
    {"0", NULL},
    {"1", NULL},
    {NULL, NULL},
};

static const struct job_key job_keys[] = {
    {"fs", JOB_CHOICE, offsetof(struct job, fs), job_fs, "none", "where the bytes live"},
    {"rw", JOB_CHOICE, offsetof(struct job, rw), job_rw, "write", "what is done"},
    {"ioengine", JOB_CHOICE, offsetof(struct job, ioengine), job_engines, "mmap", "how"},
    {"bs", JOB_SIZE, offsetof(struct job, bs), NULL, "64k", "bytes at a time"},
    {"size", JOB_SIZE, offsetof(struct job, size), NULL, NULL, "bytes in all"},
    {"end_fsync", JOB_BOOL, offsetof(struct job, end_fsync), job_bools, "1",
     "write out at the end, inside the clock"},
    {"verify", JOB_BOOL, offsetof(struct job, verify), job_bools, "0",
     "read back and compare, outside the clock"},
    {"fault", JOB_CHOICE, offsetof(struct job, fault), job_faults, "none",
     "what goes wrong on purpose (Machbed's own tests)"},
};
static const size_t job_keys_count = sizeof(job_keys) / sizeof(job_keys[0]);

/* Where the parser stands. */
struct job_reader {
    struct job *job;
    const char *path;
    unsigned line;
    unsigned seen[sizeof(job_keys) / sizeof(job_keys[0])]; /* line of each key, or 0 */
    struct failure *failure;
};

static const struct job_key *job_key_lookup(const char *name)
{
    for (size_t i = 0; i < job_keys_count; i++) {
        if (strcasecmp(job_keys[i].name, name) == 0)
            return &job_keys[i];
    }
    return NULL;
}

static const char *job_key_names(char *text, size_t bytes)
{
    struct choice names[sizeof(job_keys) / sizeof(job_keys[0]) + 1] = {{NULL, NULL}};

    for (size_t i = 0; i < job_keys_count; i++)
        names[i].name = job_keys[i].name;
    return choice_names(names, text, bytes);
}

static int job_value_refuse(struct job_reader *reader, const struct job_key *key, const char *value)
{
    char names[JOB_NAMES_TEXT];

    return failure_set(reader->failure, STATUS_BAD_INPUT,
                       "%s:%u: unknown value '%s' of '%s'; there are: %s", reader->path,
                       reader->line, value, key->name,
                       choice_names(key->choices, names, sizeof(names)));
}

static int job_size_set(struct job_reader *reader, const struct job_key *key, const char *value)
{
    uint64_t *to = (uint64_t *)((char *)reader->job + key->offset);
    error_t error = size_parse(value, to);

    if (error == 0)
        return STATUS_SUCCESS;
    return failure_set(reader->failure, STATUS_BAD_INPUT, "%s:%u: %s: '%s' %s", reader->path,
                       reader->line, key->name, value, size_explain(error));
}

static int job_choice_set(struct job_reader *reader, const struct job_key *key, const char *value)
{
    const struct choice *choice = choice_lookup(key->choices, value);
    char *to = (char *)reader->job + key->offset;

    if (choice == NULL)
        return job_value_refuse(reader, key, value);
    if (key->kind == JOB_BOOL)
        *(bool *)to = choice == &key->choices[1];
    else
        *(const char **)to = choice->name;
    return STATUS_SUCCESS;
}

static int job_key_set(struct job_reader *reader, const struct job_key *key, const char *value)
{
    if (key->kind == JOB_SIZE)
        return job_size_set(reader, key, value);
    return job_choice_set(reader, key, value);
}

static int job_name_set(struct job_reader *reader, const char *name, size_t length)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (reader->job->name[0] != '\0')
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: a second section; a job file has one", reader->path,
                           reader->line);
    if (length == 0 || length >= JOB_NAME_BYTES || strspn(name, allowed) < length)
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: '%.*s' is no job name (1 to %d letters, digits, - and _)",
                           reader->path, reader->line, (int)length, name, JOB_NAME_BYTES - 1);
    memcpy(reader->job->name, name, length);
    reader->job->name[length] = '\0';
    return STATUS_SUCCESS;
}

static int job_section_read(struct job_reader *reader, const char *line)
{
    size_t length = strlen(line);

    if (line[length - 1] != ']')
        return failure_set(reader->failure, STATUS_BAD_INPUT, "%s:%u: '%s' lacks its ']'",
                           reader->path, reader->line, line);
    return job_name_set(reader, line + 1, length - 2);
}

static char *job_trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static int job_pair_read(struct job_reader *reader, const char *name, const char *value)
{
    const struct job_key *key = job_key_lookup(name);
    char names[JOB_NAMES_TEXT];
    unsigned *seen;

    if (key == NULL)
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: unknown key '%s'; there are: %s", reader->path, reader->line,
                           name, job_key_names(names, sizeof(names)));
    seen = &reader->seen[key - job_keys];
    if (*seen != 0)
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: '%s' again; it stands in line %u already", reader->path,
                           reader->line, key->name, *seen);
    *seen = reader->line;
    return job_key_set(reader, key, value);
}

static int job_line_read(struct job_reader *reader, char *line)
{
    char *equals;

    line = job_trim(line);
    if (*line == '\0' || *line == '#' || *line == ';')
        return STATUS_SUCCESS;
    if (*line == '[')
        return job_section_read(reader, line);
    equals = strchr(line, '=');
    if (equals == NULL)
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: '%s' is neither key=value nor [name]", reader->path,
                           reader->line, line);
    if (reader->job->name[0] == '\0')
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: a key before the job's [name]", reader->path, reader->line);
    *equals = '\0';
    return job_pair_read(reader, job_trim(line), job_trim(equals + 1));
}

static void job_init(struct job *job)
{
    struct failure ignored = {0};
    struct job_reader reader = {.job = job, .path = "defaults", .failure = &ignored};

    *job = (struct job){0};
    for (size_t i = 0; i < job_keys_count; i++) {
        if (job_keys[i].fallback != NULL)
            job_key_set(&reader, &job_keys[i], job_keys[i].fallback); /* cannot fail: ours */
    }
}

int job_read(struct job *job, FILE *stream, const char *path, struct failure *failure)
{
    struct job_reader reader = {.job = job, .path = path, .failure = failure};
    char *line = NULL;
    size_t capacity = 0;
    int status = STATUS_SUCCESS;

    job_init(job);
    while (status == STATUS_SUCCESS && getline(&line, &capacity, stream) >= 0) {
        reader.line++;
        status = job_line_read(&reader, line);
    }
    free(line);
    if (status == STATUS_SUCCESS && ferror(stream))
        status =
            failure_set(failure, STATUS_BAD_INPUT, "%s cannot be read: %s", path, strerror(errno));
    if (status == STATUS_SUCCESS && job->name[0] == '\0')
        status =
            failure_set(failure, STATUS_BAD_INPUT, "%s holds no job: a [name] is missing", path);
    return status;
}

int job_load(struct job *job, const char *path, struct failure *failure)
{
    FILE *stream = fopen(path, "re");
    int status;

    if (stream == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "job %s cannot be read: %s", path,
                           strerror(errno));
    status = job_read(job, stream, path, failure);
    fclose(stream);
    return status;
}

static int job_sizes_check(const struct job *job, const char *path, struct failure *failure)
{
    if (job->bs % SECTOR_BYTES != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: bs=%" PRIu64 " is not a multiple of %u",
                           path, job->bs, SECTOR_BYTES);
    if (job->bs > BS_MAX_BYTES)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: bs=%s is more than %s", path,
                           SIZE_TEXT(job->bs), SIZE_TEXT(BS_MAX_BYTES));
    if (job->size % PAGE_BYTES != 0)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "%s: size=%" PRIu64 " is not a multiple of the page, %" PRIu64, path,
                           job->size, PAGE_BYTES);
    if (job->size % job->bs != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: size=%s is not a multiple of bs=%s",
                           path, SIZE_TEXT(job->size), SIZE_TEXT(job->bs));
    return STATUS_SUCCESS;
}

int job_resize(struct job *job, uint64_t size, const char *path, struct failure *failure)
{
    if (size != 0)
        job->size = size;
    if (job->size == 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: 'size' is missing, it has no default",
                           path);
    return job_sizes_check(job, path, failure);
}

const char *job_servers(const struct job *job)
{
    (void)job;
    return "pager workload";
}

const char *job_server(const struct job *job)
{
    (void)job;
    return "pager";
}

unsigned job_partition(const struct job *job)
{
    (void)job;
    return 2;
}

static void job_key_print(const struct job *job, const struct job_key *key, FILE *stream)
{
    const char *from = (const char *)job + key->offset;

    switch (key->kind) {
    case JOB_CHOICE:
        fprintf(stream, "%s=%s\n", key->name, *(const char *const *)from);
        break;
    case JOB_SIZE:
        fprintf(stream, "%s=%" PRIu64 "\n", key->name, *(const uint64_t *)from);
        break;
    case JOB_BOOL:
        fprintf(stream, "%s=%d\n", key->name, *(const bool *)from);
        break;
    }
}

void job_print(const struct job *job, FILE *stream)
{
    for (size_t i = 0; i < job_keys_count; i++)
        job_key_print(job, &job_keys[i], stream);
}

void job_print_keys(FILE *stream)
{
    char names[JOB_NAMES_TEXT];

    for (size_t i = 0; i < job_keys_count; i++) {
        const struct job_key *key = &job_keys[i];

        fprintf(stream, "  %-10s %s; ", key->name, key->what);
        if (key->choices != NULL)
            fprintf(stream, "%s", choice_names(key->choices, names, sizeof(names)));
        else
            fprintf(stream, "bytes, or with K, M, G");
        fprintf(stream, key->fallback != NULL ? " (default %s)\n" : "\n", key->fallback);
    }
}
