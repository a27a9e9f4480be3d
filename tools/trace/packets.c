// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All packets have the same size (libtrace/ctf-packet.h), so behind a damaged one the next can be
 * found. The copy consists of links to what is whole, and of the whole packets of the other files.
 */
#include "packets.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libtrace/ctf-packet.h"

#define PACKETS_METADATA "metadata"
#define PACKETS_FDS      16

/* A file, as far as it was looked through. */
struct packets_file {
    const char *name;
    FILE *from;
    FILE *to; /* NULL: nothing is copied */
    uint64_t end_ns;
    uint64_t nbad;
    bool cut;
};

static int packets_path(char path[PATH_MAX], const char *folder, const char *name,
                        struct failure *failure)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        return failure_set(failure, STATUS_BAD_INPUT, "the path %s is too long", folder);
    return STATUS_SUCCESS;
}

static bool packets_packet_is_whole(const struct packets_file *file,
                                    const struct ctf_packet_head *head)
{
    return head->magic == CTF_MAGIC && head->stream_type == 0 &&
           head->packet_bits == CTF_PACKET_BYTES * 8 && head->content_bits <= head->packet_bits &&
           head->content_bits >= sizeof(*head) * 8 && head->begin_ns >= file->end_ns &&
           head->end_ns >= head->begin_ns;
}

static void packets_file_scan(struct packets_file *file)
{
    uint8_t packet[CTF_PACKET_BYTES];
    size_t length;

    while ((length = fread(packet, 1, sizeof(packet), file->from)) == sizeof(packet)) {
        const struct ctf_packet_head *head = (const struct ctf_packet_head *)(const void *)packet;

        if (!packets_packet_is_whole(file, head)) {
            file->nbad++;
            continue;
        }
        file->end_ns = head->end_ns;
        if (file->to != NULL)
            fwrite(packet, 1, sizeof(packet), file->to);
    }
    file->cut = length != 0;
}

static void packets_name_add(char names[PACKETS_NAMES_BYTES], const char *name)
{
    size_t used = strlen(names);

    snprintf(names + used, PACKETS_NAMES_BYTES - used, "%s%s", used == 0 ? "" : ", ", name);
}

static void packets_file_note(struct packets *packets, const struct packets_file *file)
{
    packets->nbad += file->nbad;
    packets->ncut += file->cut;
    if (file->nbad != 0)
        packets_name_add(packets->bad, file->name);
    if (file->cut)
        packets_name_add(packets->cut, file->name);
}

/* Makes the file of PACKETS' folder from the one in FOLDER. */
static int packets_file_copy(const struct packets *packets, const char *folder, const char *name,
                             struct failure *failure)
{
    struct packets_file file = {.name = name};
    char from[PATH_MAX];
    char to[PATH_MAX];
    bool failed;

    if (packets_path(from, folder, name, failure) != STATUS_SUCCESS ||
        packets_path(to, packets->folder, name, failure) != STATUS_SUCCESS)
        return failure->status;
    file.from = fopen(from, "re");
    if (file.from != NULL)
        file.to = fopen(to, "we");
    if (file.to != NULL)
        packets_file_scan(&file);
    failed = file.to == NULL || ferror(file.to) != 0;
    if (file.to == NULL || fclose(file.to) != 0 || failed)
        failure_set(failure, STATUS_BAD_INPUT, "%s cannot be copied to %s: %s", from, to,
                    strerror(errno));
    if (file.from != NULL)
        fclose(file.from);
    return failure->status;
}

static int packets_file_link(const struct packets *packets, const char *folder, const char *name,
                             struct failure *failure)
{
    char from[PATH_MAX];
    char target[PATH_MAX];
    char to[PATH_MAX];

    if (packets_path(from, folder, name, failure) != STATUS_SUCCESS ||
        packets_path(to, packets->folder, name, failure) != STATUS_SUCCESS)
        return failure->status;
    if (realpath(from, target) == NULL || symlink(target, to) != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "the link %s cannot be made: %s", to,
                           strerror(errno));
    return STATUS_SUCCESS;
}

static int packets_is_stream(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, PACKETS_METADATA) != 0;
}

typedef int packets_visit_t(struct packets *packets, const char *folder, const char *name,
                            struct failure *failure);

/* Has VISIT see each stream's file in FOLDER, by name. */
static int packets_visit(struct packets *packets, const char *folder, packets_visit_t *visit,
                         struct failure *failure)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, packets_is_stream, alphasort);
    int status = STATUS_SUCCESS;

    if (count < 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (status == STATUS_SUCCESS)
            status = visit(packets, folder, entries[i]->d_name, failure);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int packets_file_check(struct packets *packets, const char *folder, const char *name,
                              struct failure *failure)
{
    struct packets_file file = {.name = name};
    char path[PATH_MAX];

    if (packets_path(path, folder, name, failure) != STATUS_SUCCESS)
        return failure->status;
    file.from = fopen(path, "re");
    if (file.from == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
    packets_file_scan(&file);
    fclose(file.from);
    packets_file_note(packets, &file);
    return STATUS_SUCCESS;
}

static int packets_file_take(struct packets *packets, const char *folder, const char *name,
                             struct failure *failure)
{
    struct packets before = {0};
    int status = packets_file_check(&before, folder, name, failure);

    if (status != STATUS_SUCCESS)
        return status;
    return before.nbad == 0 && before.ncut == 0 ? packets_file_link(packets, folder, name, failure)
                                                : packets_file_copy(packets, folder, name, failure);
}

static int packets_copy(struct packets *packets, const char *folder, struct failure *failure)
{
    const char *tmp = getenv("TMPDIR");
    int status;

    snprintf(packets->folder, sizeof(packets->folder), "%.*s/machbed-ctf-XXXXXX", PATH_MAX - 32,
             tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(packets->folder) == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "no folder like %s can be made: %s",
                           packets->folder, strerror(errno));
    packets->copied = true;
    status = packets_file_link(packets, folder, PACKETS_METADATA, failure);
    if (status == STATUS_SUCCESS)
        status = packets_visit(packets, folder, packets_file_take, failure);
    return status;
}

int packets_open(struct packets *packets, const char *folder, struct failure *failure)
{
    char metadata[PATH_MAX];
    int status = packets_path(metadata, folder, PACKETS_METADATA, failure);

    *packets = (struct packets){0};
    snprintf(packets->folder, sizeof(packets->folder), "%s", folder);
    if (status == STATUS_SUCCESS && access(metadata, R_OK) != 0)
        status = failure_set(failure, STATUS_BAD_INPUT, "the metadata of CTF: %s: %s", metadata,
                             strerror(errno));
    if (status == STATUS_SUCCESS)
        status = packets_visit(packets, folder, packets_file_check, failure);
    if (status == STATUS_SUCCESS && (packets->nbad != 0 || packets->ncut != 0))
        status = packets_copy(packets, folder, failure);
    return status;
}

static int packets_entry_remove(const char *path, const struct stat *stat, int type,
                                struct FTW *where)
{
    (void)stat;
    (void)type;
    (void)where;
    return remove(path);
}

void packets_close(struct packets *packets)
{
    if (packets->copied)
        nftw(packets->folder, packets_entry_remove, PACKETS_FDS, FTW_DEPTH | FTW_PHYS);
}
