// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each packet names its server and its thread; those of a thread are one stream, and go to one file
 * in the order in which they come. A file is opened for each packet: there are some dozen streams,
 * and a packet holds about a hundred events.
 */
#include "ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CTF_NS_PER_S      1000000000
#define CTF_METADATA_FILE "metadata" /* the name that CTF demands */

bool ctf_is_wanted(const struct options *options)
{
    return strcmp(options->trace->name, "ctf") == 0 || strcmp(options->trace->name, "both") == 0;
}

/* FOLDER/FILE, or with a PART FOLDER/PART/FILE. */
static int ctf_path(char path[PATH_MAX], const char *folder, const char *part, const char *file,
                    struct failure *failure)
{
    int length = part == NULL ? snprintf(path, PATH_MAX, "%s/%s", folder, file)
                              : snprintf(path, PATH_MAX, "%s/%s/%s", folder, part, file);

    if (length >= PATH_MAX)
        return failure_set(failure, STATUS_BAD_INPUT, "the path %s is too long", folder);
    return STATUS_SUCCESS;
}

static int ctf_refuse(const char *path, struct failure *failure)
{
    return failure_set(failure, STATUS_BAD_INPUT, "%s cannot be written: %s", path,
                       strerror(errno));
}

int ctf_check(const struct options *options, struct failure *failure)
{
    char path[PATH_MAX];
    int status = ctf_path(path, options->build, NULL, CTF_METADATA, failure);

    if (status != STATUS_SUCCESS || !ctf_is_wanted(options) || access(path, R_OK) == 0)
        return status;
    return failure_set(failure, STATUS_BAD_INPUT, "the metadata of CTF, made by barectf: %s: %s",
                       path, strerror(errno));
}

/* --- Metadata -------------------------------------------------------------------------------- */

static int ctf_metadata_load(struct ctf *ctf, const char *build, struct failure *failure)
{
    char path[PATH_MAX];
    size_t bytes = 0;
    FILE *stream;
    ssize_t length;

    if (ctf_path(path, build, NULL, CTF_METADATA, failure) != STATUS_SUCCESS)
        return failure->status;
    stream = fopen(path, "re");
    if (stream == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
    length = getdelim(&ctf->metadata, &bytes, '\0', stream);
    fclose(stream);
    if (length <= 0 || strstr(ctf->metadata, "\toffset_s = 0;\n\toffset = 0;\n") == NULL)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "%s is not what barectf makes: its clock has no offset of 0", path);
    return STATUS_SUCCESS;
}

/* barectf's text with another offset of the clock. */
static void ctf_metadata_print(const struct ctf *ctf, int64_t offset_ns, FILE *stream)
{
    static const char offset[] = "\toffset_s = 0;\n\toffset = 0;\n";
    const char *at = strstr(ctf->metadata, offset);
    int64_t seconds = offset_ns / CTF_NS_PER_S - (offset_ns % CTF_NS_PER_S < 0);

    fwrite(ctf->metadata, 1, (size_t)(at - ctf->metadata), stream);
    fprintf(stream, "\toffset_s = %" PRId64 ";\n\toffset = %" PRId64 ";\n", seconds,
            offset_ns - seconds * CTF_NS_PER_S);
    fputs(at + sizeof(offset) - 1, stream);
}

/* There are metadata at any time: the new ones take the place of the old ones at once. */
static int ctf_metadata_write(const struct ctf *ctf, int64_t offset_ns, struct failure *failure)
{
    char path[PATH_MAX];
    char next[PATH_MAX];
    FILE *stream;
    bool failed;

    if (ctf_path(path, ctf->folder, CTF_FOLDER, CTF_METADATA_FILE, failure) != STATUS_SUCCESS ||
        ctf_path(next, ctf->folder, NULL, "ctf.metadata", failure) != STATUS_SUCCESS)
        return failure->status;
    stream = fopen(next, "we");
    if (stream == NULL)
        return ctf_refuse(next, failure);
    ctf_metadata_print(ctf, offset_ns, stream);
    failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed || rename(next, path) != 0)
        return ctf_refuse(path, failure);
    return STATUS_SUCCESS;
}

/* --- Begin ----------------------------------------------------------------------------------- */

/* A file without content, of the memory's size; QEMU and we map it. */
static int ctf_memory_make(struct ctf *ctf, struct failure *failure)
{
    char path[PATH_MAX];
    void *memory = MAP_FAILED;
    int file;

    if (ctf_path(path, ctf->folder, NULL, CTF_MEMORY, failure) != STATUS_SUCCESS)
        return failure->status;
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 && ftruncate(file, CTF_MEMORY_BYTES) == 0)
        memory = mmap(NULL, CTF_MEMORY_BYTES, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        ctf_refuse(path, failure);
    else
        ctf->memory = memory;
    if (file >= 0)
        close(file);
    return failure->status;
}

/* The machine's clock begins about when QEMU does. */
static int64_t ctf_offset_guess(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * CTF_NS_PER_S + now.tv_nsec;
}

int ctf_begin(struct ctf *ctf, const struct options *options, const char *folder,
              struct failure *failure)
{
    char path[PATH_MAX];
    int status;

    *ctf = (struct ctf){.first = 1};
    if (!ctf_is_wanted(options))
        return STATUS_SUCCESS;
    snprintf(ctf->folder, sizeof(ctf->folder), "%s", folder);
    status = ctf_path(path, folder, NULL, CTF_FOLDER, failure);
    if (status == STATUS_SUCCESS)
        status = ctf_metadata_load(ctf, options->build, failure);
    if (status == STATUS_SUCCESS && mkdir(path, 0777) != 0)
        status = ctf_refuse(path, failure);
    if (status == STATUS_SUCCESS)
        status = ctf_metadata_write(ctf, ctf_offset_guess(), failure);
    if (status == STATUS_SUCCESS)
        status = ctf_memory_make(ctf, failure);
    return status;
}

/* --- Packets --------------------------------------------------------------------------------- */

/* The name of the file for the packet's stream, "ext2-file-2". => false: it names none. */
static bool ctf_stream_name(const uint8_t *packet, char name[CTF_PACKET_BYTES])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const char *names = ((const struct ctf_packet_head *)(const void *)packet)->names;
    size_t room = CTF_PACKET_BYTES - sizeof(struct ctf_packet_head);
    size_t server = strnlen(names, room);
    size_t thread = server >= room ? room : strnlen(names + server + 1, room - server - 1);

    if (server + 1 + thread >= room || server == 0 || thread == 0 || server + thread > NAME_MAX - 1)
        return false;
    snprintf(name, CTF_PACKET_BYTES, "%s-%s", names, names + server + 1);
    for (char *at = name + strspn(name, plain); *at != '\0'; at += strspn(at, plain))
        *at = '-';
    return name[0] != '.';
}

static void ctf_packet_append(struct ctf *ctf, const char *name, const uint8_t *packet)
{
    char path[PATH_MAX];
    int file;

    if (ctf_path(path, ctf->folder, CTF_FOLDER, name, &ctf->failure) != STATUS_SUCCESS)
        return;
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 || write(file, packet, CTF_PACKET_BYTES) != CTF_PACKET_BYTES)
        ctf_refuse(path, &ctf->failure);
    if (file >= 0)
        close(file);
}

static bool ctf_slot_is_filled(const struct ctf *ctf, uint32_t slot)
{
    const void *packet = ctf->memory + (size_t)slot * CTF_PACKET_BYTES;

    return __atomic_load_n((const uint32_t *)packet, __ATOMIC_ACQUIRE) == CTF_MAGIC;
}

static void ctf_slot_take(struct ctf *ctf, uint32_t slot)
{
    const uint8_t *packet = ctf->memory + (size_t)slot * CTF_PACKET_BYTES;
    char name[CTF_PACKET_BYTES];

    ctf->taken[slot] = true;
    if (ctf_stream_name(packet, name))
        ctf_packet_append(ctf, name, packet);
    else
        failure_set(&ctf->failure, STATUS_FAILED,
                    "a packet of CTF does not say of which server and thread it is");
}

/* How many slots were asked for so far, but not more than there are. */
static uint32_t ctf_slots_asked(const struct ctf *ctf)
{
    const struct ctf_memory *head = (const struct ctf_memory *)(const void *)ctf->memory;
    uint32_t asked = __atomic_load_n(&head->taken, __ATOMIC_RELAXED);

    return asked >= CTF_MEMORY_SLOTS ? CTF_MEMORY_SLOTS - 1 : asked;
}

void ctf_take(struct ctf *ctf)
{
    uint32_t asked;

    if (ctf->memory == NULL)
        return;
    asked = ctf_slots_asked(ctf);
    for (uint32_t slot = ctf->first; slot <= asked; slot++) {
        if (!ctf->taken[slot] && ctf_slot_is_filled(ctf, slot))
            ctf_slot_take(ctf, slot);
    }
    while (ctf->first <= asked && ctf->taken[ctf->first])
        ctf->first++;
}

/* --- End ------------------------------------------------------------------------------------- */

static void ctf_memory_remove(struct ctf *ctf)
{
    char path[PATH_MAX];

    if (ctf->memory == NULL)
        return;
    munmap((void *)ctf->memory, CTF_MEMORY_BYTES);
    ctf->memory = NULL;
    if (ctf_path(path, ctf->folder, NULL, CTF_MEMORY, &ctf->failure) == STATUS_SUCCESS)
        unlink(path);
}

int ctf_end(struct ctf *ctf, int64_t offset_ns, struct failure *failure)
{
    if (ctf->memory == NULL)
        return STATUS_SUCCESS;
    ctf_take(ctf);
    if (offset_ns != 0)
        ctf_metadata_write(ctf, offset_ns, &ctf->failure);
    ctf_memory_remove(ctf);
    if (ctf->failure.status != STATUS_SUCCESS)
        return failure_set(failure, ctf->failure.status, "%s", ctf->failure.reason);
    return STATUS_SUCCESS;
}

void ctf_destroy(struct ctf *ctf)
{
    ctf_memory_remove(ctf);
    free(ctf->metadata);
}
