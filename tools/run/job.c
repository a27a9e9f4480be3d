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

#define SECTOR_BYTES    512u
#define BS_MAX_BYTES    (1u << 20)
#define JOB_NAMES_TEXT  256
#define JOB_VALUE_TEXT  JOB_FILE_BYTES
#define JOB_ENTRY_MAX   255u /* bytes of a name in a directory of ext2 */
#define JOB_COUNT_MAX   65536u
#define JOB_CLIENTS_MAX 64u
#define JOB_LINE_BYTES  8192u

enum job_kind { JOB_CHOICE, JOB_SIZE, JOB_BOOL, JOB_COUNT, JOB_PATH };

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
    {"ext2", "a file of the ext2 server"},
    {NULL, NULL},
};

static const struct choice job_rw[] = {
    {"write", "write every byte once"},
    {"read", "read every byte once and compare"},
    {"operations", "use every call of a file server once, then write"},
    {"resize", "extend and truncate, in a side job"},
    {"sync", "sync, in a side job"},
    {NULL, NULL},
};

static const struct choice job_engines[] = {
    {"mmap", "stores into a mapping"},
    {"rpc", "an io_write for each block"},
    {NULL, NULL},
};

static const struct choice job_faults[] = {
    {"none", NULL},       {"crash", NULL},    {"crash_pager", NULL}, {"assert", NULL},
    {"panic", NULL},      {"hang", NULL},     {"claim", NULL},       {"stop", NULL},
    {"die", NULL},        {"cut", NULL},      {"deadlock", NULL},    {"lost_reply", NULL},
    {"lock_order", NULL}, {"lock_rpc", NULL}, {"level_order", NULL}, {"no_page", NULL},
    {NULL, NULL},
};

static const struct choice job_plains[] = {
    {"0", "no plain loop"},
    {"before", "between filling and writing out"},
    {"after", "last of all"},
    {NULL, NULL},
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
    {"filename", JOB_PATH, offsetof(struct job, filename), NULL, "job.data", "the file (fs=ext2)"},
    {"nrfiles", JOB_COUNT, offsetof(struct job, nrfiles), NULL, "0",
     "so many files share the bytes; 0: one for each client (fs=ext2)"},
    {"numjobs", JOB_COUNT, offsetof(struct job, numjobs), NULL, "1",
     "so many clients at once share the files (fs=ext2)"},
    {"overwrite", JOB_BOOL, offsetof(struct job, overwrite), job_bools, "0",
     "the file is there beforehand (fs=ext2)"},
    {"fragment", JOB_COUNT, offsetof(struct job, fragment), NULL, "0",
     "free space only in holes of so many blocks (fs=ext2)"},
    {"end_fsync", JOB_BOOL, offsetof(struct job, end_fsync), job_bools, "1",
     "write out at the end, inside the clock"},
    {"unmap", JOB_BOOL, offsetof(struct job, unmap), job_bools, "0",
     "give the mapping up before that (ioengine=mmap)"},
    {"fsync_on_close", JOB_BOOL, offsetof(struct job, fsync_on_close), job_bools, "0",
     "write each file out before the next is begun"},
    {"linger", JOB_COUNT, offsetof(struct job, linger), NULL, "0",
     "seconds to wait when all is written, before what comes next"},
    {"verify", JOB_BOOL, offsetof(struct job, verify), job_bools, "0",
     "read back and compare, outside the clock"},
    {"plain", JOB_CHOICE, offsetof(struct job, plain), job_plains, "0",
     "when to write partition 3 in a plain loop, for comparison"},
    {"loops", JOB_COUNT, offsetof(struct job, loops), NULL, "0",
     "how often, in a side job; 0: as long as the job syncs"},
    {"fault", JOB_CHOICE, offsetof(struct job, fault), job_faults, "none",
     "what goes wrong on purpose (Machbed's own tests)"},
};
static const size_t job_keys_count = sizeof(job_keys) / sizeof(job_keys[0]);

/* A value of one key that makes sense only with a value of another. */
struct job_rule {
    const char *key;
    const char *value; /* NULL: all but the key's default */
    const char *needed_key;
    const char *needed_value;
};

static const struct job_rule job_rules[] = {
    {"rw", "read", "fs", "ext2"},
    {"rw", "operations", "fs", "ext2"},
    {"ioengine", "rpc", "fs", "ext2"},
    {"filename", NULL, "fs", "ext2"},
    {"overwrite", "1", "fs", "ext2"},
    {"fragment", NULL, "fs", "ext2"},
    {"numjobs", NULL, "fs", "ext2"},
    {"nrfiles", NULL, "fs", "ext2"},
    {"overwrite", "1", "rw", "write"}, /* what is read is there anyway */
    {"verify", "1", "rw", "write"},    /* reading compares anyway */
    {"unmap", "1", "ioengine", "mmap"},
    {"unmap", "1", "verify", "0"}, /* nothing is mapped any more */
    {"fsync_on_close", "1", "rw", "write"},
    {"fault", "crash_pager", "fs", "none"},
    {"fault", "claim", "fs", "none"},
    {"fault", "die", "fs", "none"},
    {"fault", "deadlock", "fs", "none"},
    {"fault", "lost_reply", "fs", "none"},
    {"fault", "lock_order", "fs", "none"},
    {"fault", "lock_rpc", "fs", "none"},
    {"fault", "level_order", "fs", "none"},
    {"fault", "no_page", "fs", "none"},
};

/* The keys of a side job. */
static const char *const job_side_keys[] = {"rw", "ioengine", "bs", "size", "filename", "loops"};
#define JOB_SIDE_KEYS (sizeof(job_side_keys) / sizeof(job_side_keys[0]))

/* Where the parser stands. */
struct job_reader {
    struct job *job;  /* of the section */
    struct job *main; /* of the first section */
    bool global;      /* there was [global], which comes before it */
    unsigned section; /* line of the section's name */
    const char *path;
    unsigned line;
    unsigned seen[sizeof(job_keys) / sizeof(job_keys[0])]; /* last line of each key, or 0 */
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

/* Writes the value that JOB has for KEY to TEXT, as the guest gets it. Returns TEXT. */
static const char *job_value_text(const struct job *job, const struct job_key *key,
                                  char text[JOB_VALUE_TEXT])
{
    const char *from = (const char *)job + key->offset;

    switch (key->kind) {
    case JOB_CHOICE:
        snprintf(text, JOB_VALUE_TEXT, "%s", *(const char *const *)from);
        break;
    case JOB_SIZE:
    case JOB_COUNT:
        snprintf(text, JOB_VALUE_TEXT, "%" PRIu64, *(const uint64_t *)from);
        break;
    case JOB_BOOL:
        snprintf(text, JOB_VALUE_TEXT, "%d", *(const bool *)from);
        break;
    case JOB_PATH:
        snprintf(text, JOB_VALUE_TEXT, "%s", from);
        break;
    }
    return text;
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

static int job_count_set(struct job_reader *reader, const struct job_key *key, const char *value)
{
    uint64_t *to = (uint64_t *)((char *)reader->job + key->offset);

    if (number_parse(value, to) == 0 && *to <= JOB_COUNT_MAX)
        return STATUS_SUCCESS;
    return failure_set(reader->failure, STATUS_BAD_INPUT,
                       "%s:%u: %s: '%s' is no number from 0 to %u", reader->path, reader->line,
                       key->name, value, JOB_COUNT_MAX);
}

/* What is wrong with a path, for the end of a sentence, or NULL. Quotes would end the word in what
   debugfs is told, and backslashes are easily meant for a shell. */
static const char *job_path_explain(const char *path)
{
    if (strlen(path) >= JOB_FILE_BYTES)
        return "is too long";
    for (const char *at = path; *at != '\0'; at++) {
        if (iscntrl((unsigned char)*at) || *at == '"' || *at == '\\')
            return "holds a quote, a backslash or a control character";
    }
    for (;;) {
        size_t length = strcspn(path, "/");

        if (length == 0)
            return "has an empty part: no slash in front, none at the end, no two in a row";
        if (length > JOB_ENTRY_MAX)
            return "has a part of more than 255 bytes";
        if (strncmp(path, "..", length) == 0 && length <= 2)
            return "has a part that is . or ..";
        if (path[length] == '\0')
            return NULL;
        path += length + 1;
    }
}

static int job_path_set(struct job_reader *reader, const struct job_key *key, const char *value)
{
    const char *wrong = job_path_explain(value);

    if (wrong != NULL)
        return failure_set(reader->failure, STATUS_BAD_INPUT, "%s:%u: %s: '%.80s' %s", reader->path,
                           reader->line, key->name, value, wrong);
    memcpy((char *)reader->job + key->offset, value, strlen(value) + 1);
    return STATUS_SUCCESS;
}

static int job_key_set(struct job_reader *reader, const struct job_key *key, const char *value)
{
    switch (key->kind) {
    case JOB_SIZE:
        return job_size_set(reader, key, value);
    case JOB_COUNT:
        return job_count_set(reader, key, value);
    case JOB_PATH:
        return job_path_set(reader, key, value);
    default:
        return job_choice_set(reader, key, value);
    }
}

static int job_rules_check(const struct job_reader *reader);
static int job_side_check(const struct job_reader *reader);

static int job_name_set(struct job_reader *reader, const char *name, size_t length)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (length == 0 || length >= JOB_NAME_BYTES || strspn(name, allowed) < length)
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: '%.*s' is no job name (1 to %d letters, digits, - and _)",
                           reader->path, reader->line, (int)length, name, JOB_NAME_BYTES - 1);
    memcpy(reader->job->name, name, length);
    reader->job->name[length] = '\0';
    return STATUS_SUCCESS;
}

/* A side job does as the first section says, but for what its own section says. */
static int job_side_begin(struct job_reader *reader)
{
    struct job *job = reader->main;

    if (job->sides == NULL)
        job->sides = calloc(JOB_SIDES_MAX, sizeof(*job->sides));
    if (job->sides == NULL)
        return failure_set(reader->failure, STATUS_BAD_INPUT, "out of memory");
    if (job->sides_count == JOB_SIDES_MAX)
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: more than %d sections behind the first", reader->path,
                           reader->line, JOB_SIDES_MAX);
    reader->job = &job->sides[job->sides_count++];
    *reader->job = *job;
    reader->job->sides = NULL;
    reader->job->sides_count = 0;
    return STATUS_SUCCESS;
}

/* The section that has been read makes sense. */
static int job_section_end(struct job_reader *reader)
{
    if (reader->job->name[0] == '\0')
        return STATUS_SUCCESS; /* [global], or nothing yet */
    return reader->job == reader->main ? job_rules_check(reader) : job_side_check(reader);
}

static int job_global_begin(struct job_reader *reader)
{
    if (reader->global || reader->main->name[0] != '\0')
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: [global] stands in front of all other sections, once",
                           reader->path, reader->line);
    reader->global = true;
    reader->section = reader->line;
    return STATUS_SUCCESS;
}

/* What [global] says is said for the first section too, which may say something else. */
static int job_section_begin(struct job_reader *reader, const char *name, size_t length)
{
    int status = job_section_end(reader);

    if (length == 6 && strncasecmp(name, "global", length) == 0)
        return status != STATUS_SUCCESS ? status : job_global_begin(reader);
    if (status == STATUS_SUCCESS && reader->main->name[0] != '\0')
        status = job_side_begin(reader);
    reader->section = reader->line;
    return status != STATUS_SUCCESS ? status : job_name_set(reader, name, length);
}

static int job_section_read(struct job_reader *reader, const char *line)
{
    size_t length = strlen(line);

    if (line[length - 1] != ']')
        return failure_set(reader->failure, STATUS_BAD_INPUT, "%s:%u: '%s' lacks its ']'",
                           reader->path, reader->line, line);
    return job_section_begin(reader, line + 1, length - 2);
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

static bool job_key_is_side(const struct job_key *key)
{
    for (size_t i = 0; i < JOB_SIDE_KEYS; i++)
        if (strcmp(job_side_keys[i], key->name) == 0)
            return true;
    return false;
}

/* Whether KEY may stand in the section. */
static int job_key_place_check(const struct job_reader *reader, const struct job_key *key)
{
    bool side = reader->job != reader->main;

    if (side && !job_key_is_side(key))
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: '%s' stands in the first section only", reader->path,
                           reader->line, key->name);
    if (!side && strcmp(key->name, "loops") == 0)
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: 'loops' stands in sections behind the first only", reader->path,
                           reader->line);
    return STATUS_SUCCESS;
}

static int job_pair_read(struct job_reader *reader, const char *name, const char *value)
{
    const struct job_key *key = job_key_lookup(name);
    char names[JOB_NAMES_TEXT];
    unsigned *seen;
    int status;

    if (key == NULL)
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: unknown key '%s'; there are: %s", reader->path, reader->line,
                           name, job_key_names(names, sizeof(names)));
    status = job_key_place_check(reader, key);
    if (status != STATUS_SUCCESS)
        return status;
    seen = &reader->seen[key - job_keys];
    if (*seen > reader->section)
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
    if (reader->job->name[0] == '\0' && !reader->global)
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: a key before the job's [name]", reader->path, reader->line);
    *equals = '\0';
    return job_pair_read(reader, job_trim(line), job_trim(equals + 1));
}

static void job_init(struct job *job)
{
    struct failure ignored = {0};
    struct job_reader reader = {.job = job, .main = job, .path = "defaults", .failure = &ignored};

    *job = (struct job){0};
    for (size_t i = 0; i < job_keys_count; i++) {
        if (job_keys[i].fallback != NULL)
            job_key_set(&reader, &job_keys[i], job_keys[i].fallback); /* cannot fail: ours */
    }
}

static bool job_value_is(const struct job *job, const char *name, const char *value)
{
    char text[JOB_VALUE_TEXT];

    return strcmp(job_value_text(job, job_key_lookup(name), text), value) == 0;
}

static bool job_rule_applies(const struct job *job, const struct job_rule *rule)
{
    if (rule->value == NULL)
        return !job_value_is(job, rule->key, job_key_lookup(rule->key)->fallback);
    return job_value_is(job, rule->key, rule->value);
}

/* The line in which KEY stood last. */
static unsigned job_line_of(const struct job_reader *reader, const char *key)
{
    return reader->seen[job_key_lookup(key) - job_keys];
}

/* Whether RW is what side jobs do: else the first section's job does it. */
static bool job_rw_is_side(const char *rw)
{
    return strcmp(rw, "resize") == 0 || strcmp(rw, "sync") == 0;
}

/* Every rule is about a value that is no default, so that its key stands in some line, of the
   section, or of [global]. */
static int job_rules_check(const struct job_reader *reader)
{
    if (job_rw_is_side(reader->job->rw))
        return failure_set(reader->failure, STATUS_BAD_INPUT,
                           "%s:%u: rw=%s stands in sections behind the first only", reader->path,
                           job_line_of(reader, "rw"), reader->job->rw);
    for (size_t i = 0; i < sizeof(job_rules) / sizeof(job_rules[0]); i++) {
        const struct job_rule *rule = &job_rules[i];
        const struct job_key *key = job_key_lookup(rule->key);
        char text[JOB_VALUE_TEXT];

        if (job_rule_applies(reader->job, rule) &&
            !job_value_is(reader->job, rule->needed_key, rule->needed_value))
            return failure_set(reader->failure, STATUS_BAD_INPUT, "%s:%u: %s=%.80s needs %s=%s",
                               reader->path, reader->seen[key - job_keys], key->name,
                               job_value_text(reader->job, key, text), rule->needed_key,
                               rule->needed_value);
    }
    return STATUS_SUCCESS;
}

static int job_side_refuse(const struct job_reader *reader, const char *why)
{
    return failure_set(reader->failure, STATUS_BAD_INPUT, "%s: side job [%s]: %s", reader->path,
                       reader->job->name, why);
}

static int job_side_check(const struct job_reader *reader)
{
    const struct job *job = reader->main;
    struct job *side = reader->job;

    side->own_size = job_line_of(reader, "size") > reader->section;
    if (job_line_of(reader, "rw") < reader->section)
        return job_side_refuse(reader, "its section lacks rw=resize, rw=sync or rw=write");
    if (!job_rw_is_side(side->rw) && strcmp(side->rw, "write") != 0)
        return job_side_refuse(reader, "rw is resize, sync or write");
    if (!job_is_ext2(job) || strcmp(job->rw, "write") != 0)
        return job_side_refuse(reader, "the first section needs fs=ext2 and rw=write");
    if (side->loops == 0 && !job->end_fsync)
        return job_side_refuse(reader, "without end_fsync=1 in the first section it needs loops=");
    return STATUS_SUCCESS;
}

/* Reads the next line, without its end. Returns false at the end of the file and after an error. */
static bool job_line_get(struct job_reader *reader, FILE *stream, char line[JOB_LINE_BYTES])
{
    size_t used = 0;
    int byte;

    reader->line++;
    while ((byte = getc(stream)) != EOF && byte != '\n') {
        if (byte == '\0')
            failure_set(reader->failure, STATUS_BAD_INPUT, "%s:%u: a byte of value 0 is no text",
                        reader->path, reader->line);
        else if (used == JOB_LINE_BYTES - 1)
            failure_set(reader->failure, STATUS_BAD_INPUT, "%s:%u: the line has more than %u bytes",
                        reader->path, reader->line, JOB_LINE_BYTES - 1);
        else
            line[used++] = (char)byte;
        if (reader->failure->status != STATUS_SUCCESS)
            return false;
    }
    line[used] = '\0';
    return byte != EOF || used != 0;
}

int job_read(struct job *job, FILE *stream, const char *path, struct failure *failure)
{
    struct job_reader reader = {.job = job, .main = job, .path = path, .failure = failure};
    char line[JOB_LINE_BYTES];
    int status = STATUS_SUCCESS;

    job_init(job);
    while (status == STATUS_SUCCESS && job_line_get(&reader, stream, line))
        status = job_line_read(&reader, line);
    if (ferror(stream))
        failure_set(failure, STATUS_BAD_INPUT, "job %s cannot be read: %s", path, strerror(errno));
    if (failure->status == STATUS_SUCCESS && job->name[0] == '\0')
        failure_set(failure, STATUS_BAD_INPUT, "%s holds no job: a [name] is missing", path);
    return failure->status != STATUS_SUCCESS ? failure->status : job_section_end(&reader);
}

void job_destroy(struct job *job)
{
    free(job->sides);
    job->sides = NULL;
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
    return STATUS_SUCCESS;
}

/* What is written is written in whole blocks. */
static int job_blocks_check(const struct job *job, const char *path, struct failure *failure)
{
    if (job->nrfiles == 1 && job->size % job->bs != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: size=%s is not a multiple of bs=%s",
                           path, SIZE_TEXT(job->size), SIZE_TEXT(job->bs));
    return STATUS_SUCCESS;
}

/* The last file's name must be one. */
static int job_names_check(const struct job *job, const char *path, struct failure *failure)
{
    char name[JOB_FILE_BYTES];
    const char *last;

    if (job_file_name(job, job->nrfiles - 1, name) != 0)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "%s: filename=%.80s is too long for a number behind it", path,
                           job->filename);
    last = strrchr(name, '/');
    last = last == NULL ? name : last + 1;
    if (strlen(last) > JOB_ENTRY_MAX)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "%s: filename: '%.80s' has a part of more than 255 bytes", path, name);
    return STATUS_SUCCESS;
}

static int job_counts_check(const struct job *job, const char *path, struct failure *failure)
{
    if (job->numjobs == 0 || job->numjobs > JOB_CLIENTS_MAX)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "%s: numjobs=%" PRIu64 " is no number from 1 to %u", path, job->numjobs,
                           JOB_CLIENTS_MAX);
    if (job->nrfiles < job->numjobs)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "%s: nrfiles=%" PRIu64
                           " is less than a file for each of numjobs=%" PRIu64 " clients",
                           path, job->nrfiles, job->numjobs);
    if (job->size / PAGE_BYTES < job->nrfiles)
        return failure_set(
            failure, STATUS_BAD_INPUT,
            "%s: size=%s is less than a page (%s bytes) for each of nrfiles=%s files", path,
            SIZE_TEXT(job->size), NUMBER_TEXT(PAGE_BYTES), NUMBER_TEXT(job->nrfiles));
    return job_names_check(job, path, failure);
}

/* A side job that does not say its size has the job's. */
static int job_side_resize(const struct job *job, struct job *side, const char *path,
                           struct failure *failure)
{
    if (!side->own_size)
        side->size = job->size;
    side->nrfiles = 1;
    if (job_sizes_check(side, path, failure) != STATUS_SUCCESS || job_rw_is_side(side->rw))
        return failure->status;
    return job_blocks_check(side, path, failure);
}

int job_resize(struct job *job, uint64_t size, const char *path, struct failure *failure)
{
    int status;

    if (size != 0)
        job->size = size;
    if (job->nrfiles == 0)
        job->nrfiles = job->numjobs;
    if (job->size == 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: 'size' is missing, it has no default",
                           path);
    status = job_sizes_check(job, path, failure);
    if (status == STATUS_SUCCESS)
        status = job_blocks_check(job, path, failure);
    if (status == STATUS_SUCCESS)
        status = job_counts_check(job, path, failure);
    for (size_t i = 0; i < job->sides_count && status == STATUS_SUCCESS; i++)
        status = job_side_resize(job, &job->sides[i], path, failure);
    return status;
}

error_t job_file_name(const struct job *job, uint64_t index, char name[JOB_FILE_BYTES])
{
    int length;

    if (job->nrfiles == 1)
        length = snprintf(name, JOB_FILE_BYTES, "%s", job->filename);
    else
        length = snprintf(name, JOB_FILE_BYTES, "%s.%" PRIu64, job->filename, index);
    return length < JOB_FILE_BYTES ? 0 : ENAMETOOLONG;
}

bool job_is_ext2(const struct job *job)
{
    return strcmp(job->fs, "ext2") == 0;
}

bool job_is_read(const struct job *job)
{
    return strcmp(job->rw, "read") == 0;
}

bool job_has_plain(const struct job *job)
{
    return strcmp(job->plain, "0") != 0;
}

bool job_is_rpc(const struct job *job)
{
    return strcmp(job->ioengine, "rpc") == 0;
}

const char *job_servers(const struct job *job)
{
    return job_is_ext2(job) ? "ext2 workload" : "pager workload";
}

const char *job_server(const struct job *job)
{
    return job_is_ext2(job) ? "ext2" : "pager";
}

unsigned job_partition(const struct job *job)
{
    return job_is_ext2(job) ? 1 : 2;
}

static void job_side_print(const struct job *side, size_t number, FILE *stream)
{
    char text[JOB_VALUE_TEXT];

    fprintf(stream, "side%zu.name=%s\n", number, side->name);
    for (size_t i = 0; i < JOB_SIDE_KEYS; i++)
        fprintf(stream, "side%zu.%s=%s\n", number, job_side_keys[i],
                job_value_text(side, job_key_lookup(job_side_keys[i]), text));
}

void job_print(const struct job *job, FILE *stream)
{
    for (size_t i = 0; i < job_keys_count; i++) {
        char text[JOB_VALUE_TEXT];

        fprintf(stream, "%s=%s\n", job_keys[i].name, job_value_text(job, &job_keys[i], text));
    }
    fprintf(stream, "sides=%zu\n", job->sides_count);
    for (size_t i = 0; i < job->sides_count; i++)
        job_side_print(&job->sides[i], i, stream);
}

static const char *job_kind_text(enum job_kind kind)
{
    switch (kind) {
    case JOB_COUNT:
        return "a number";
    case JOB_PATH:
        return "a path from the root";
    default:
        return "bytes, or with K, M, G";
    }
}

void job_print_keys(FILE *stream)
{
    char names[JOB_NAMES_TEXT];

    for (size_t i = 0; i < job_keys_count; i++) {
        const struct job_key *key = &job_keys[i];

        fprintf(stream, "  %-14s %s; ", key->name, key->what);
        if (key->choices != NULL)
            fprintf(stream, "%s", choice_names(key->choices, names, sizeof(names)));
        else
            fprintf(stream, "%s", job_kind_text(key->kind));
        fprintf(stream, key->fallback != NULL ? " (default %s)\n" : "\n", key->fallback);
    }
}
