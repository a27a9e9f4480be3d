// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disk.h"
#include "firmware.h"
#include "libpattern/pattern.h"
#include "machine.h"
#include "size.h"
#include "time-up.h"
#include "tool.h"
#include "verdict.h"

#define BOOT_KVM_SILENCE_MS  15000u
#define BOOT_PLAIN_PARTITION 3 /* servers/workload/plain.c */

void boot_init(struct boot *boot, const struct options *options, const struct job *job,
               const struct policy *policy, uint64_t seed)
{
    *boot = (struct boot){.options = options, .job = job, .policy = policy, .seed = seed};
    console_init(&boot->console);
    file_map_init(&boot->map);
    volume_init(&boot->volume);
    ram_memory_init(&boot->memory);
}

void boot_destroy(struct boot *boot)
{
    trace_destroy(&boot->trace);
    ctf_destroy(&boot->ctf);
    file_map_destroy(&boot->map);
    volume_destroy(&boot->volume);
    ram_memory_destroy(&boot->memory);
    console_destroy(&boot->console);
}

static void boot_path(const struct boot *boot, const char *file, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", boot->folder, file) >= PATH_MAX)
        errx(STATUS_BAD_INPUT, "machbed: the path %s is too long", boot->folder);
}

/* Reads what QEMU complained of last, without the time in front: "2026-11-30T20:34:26.123456Z ". */
static void boot_complaint_read(const struct boot *boot, char *text, size_t bytes)
{
    static const char stamp[] = "0123456789-T:.";
    char path[PATH_MAX];
    size_t length;

    boot_path(boot, MACHINE_ERRORS, path);
    tool_last_line_read(path, text, bytes);
    length = strspn(text, stamp);
    if (length > 0 && strncmp(text + length, "Z ", 2) == 0)
        memmove(text, text + length + 2, strlen(text + length + 2) + 1);
}

static FILE *boot_file_create(struct boot *boot, const char *file)
{
    char path[PATH_MAX];
    FILE *stream;

    boot_path(boot, file, path);
    stream = fopen(path, "we");
    if (stream == NULL)
        failure_set(&boot->failure, STATUS_BAD_INPUT, "%s cannot be written: %s", path,
                    strerror(errno));
    return stream;
}

static void boot_file_close(struct boot *boot, FILE *stream, const char *file)
{
    if (fclose(stream) != 0)
        failure_set(&boot->failure, STATUS_BAD_INPUT, "%s/%s cannot be written: %s", boot->folder,
                    file, strerror(errno));
}

static void boot_config_write(struct boot *boot)
{
    FILE *stream = boot_file_create(boot, MACHINE_CONFIG);

    if (stream == NULL)
        return;
    machine_config_print(boot->options, boot->job, boot->policy, boot->seed, stream);
    boot_file_close(boot, stream, MACHINE_CONFIG);
}

static void boot_events_write(struct boot *boot)
{
    FILE *stream = boot_file_create(boot, MACHINE_EVENTS);

    if (stream == NULL)
        return;
    fputs(trace_events, stream);
    boot_file_close(boot, stream, MACHINE_EVENTS);
}

static void boot_fault_write(struct boot *boot)
{
    FILE *stream;

    if (boot->options->fail_sector == OPTIONS_NO_SECTOR)
        return;
    stream = boot_file_create(boot, MACHINE_FAULT);
    if (stream == NULL)
        return;
    machine_fault_print(boot->options, stream);
    boot_file_close(boot, stream, MACHINE_FAULT);
}

/* The medium that QEMU wants in the boot's folder: a link, or an empty CD if there is none. */
static void boot_medium_link(struct boot *boot)
{
    const char *medium = machine_medium(boot->options);
    char target[PATH_MAX];
    char path[PATH_MAX];
    FILE *stream;

    boot_path(boot, machine_medium_name(boot->options), path);
    if (medium != NULL && realpath(medium, target) != NULL) {
        if (symlink(target, path) != 0)
            failure_set(&boot->failure, STATUS_BAD_INPUT, "the link %s cannot be made: %s", path,
                        strerror(errno));
        return;
    }
    stream = boot_file_create(boot, MACHINE_ISO);
    if (stream != NULL)
        boot_file_close(boot, stream, MACHINE_ISO);
}

static const struct mbr_partition *boot_partition(const struct boot *boot)
{
    return &boot->mbr.partitions[job_partition(boot->job) - 1];
}

static void boot_ram_prepare(struct boot *boot)
{
    if (ram_images_write(boot->options, boot->job, &boot->mbr, boot->folder, &boot->failure) ==
        STATUS_SUCCESS)
        ram_memory_make(&boot->memory, boot->options, boot->folder, &boot->failure);
}

static void boot_prepare(struct boot *boot, const struct folder *run)
{
    if (folder_make(run, boot->policy->choice.name, boot->folder, &boot->failure) != STATUS_SUCCESS)
        return;
    boot_config_write(boot);
    boot_events_write(boot);
    boot_fault_write(boot);
    boot_medium_link(boot);
    if (boot->failure.status == STATUS_SUCCESS)
        firmware_prepare(boot->options, boot->folder, &boot->failure);
    if (boot->failure.status == STATUS_SUCCESS)
        disk_make(&boot->mbr, boot->options, boot->job, boot->seed, boot->folder, &boot->failure);
    if (boot->failure.status == STATUS_SUCCESS)
        ctf_begin(&boot->ctf, boot->options, boot->folder, &boot->failure);
    if (boot->failure.status == STATUS_SUCCESS && ram_is_chosen(boot->options))
        boot_ram_prepare(boot);
}

static bool boot_is_kvm(const struct boot *boot)
{
    return strcmp(boot->options->accel->name, "kvm") == 0;
}

static bool boot_is_traced(const struct boot *boot)
{
    return strcmp(boot->options->trace->name, "off") != 0;
}

static void boot_qemu_run(struct boot *boot, const struct command *command)
{
    char serial[PATH_MAX];
    char errors[PATH_MAX];
    struct time_up time_up;
    struct qemu_watch watch = {
        .serial = serial,
        .console = &boot->console,
        .awaited = "workload",
        .progress = stdout,
        .time_up = &time_up,
        .ctf = &boot->ctf,
        .debugger = boot->options->debugger,
    };

    time_up_init(&time_up, boot->options, &boot->console, boot->folder);
    boot_path(boot, MACHINE_SERIAL, serial);
    boot_path(boot, MACHINE_ERRORS, errors);
    watch.timeout_ms = boot->options->timeout * 1000;
    watch.silence_ms = boot_is_kvm(boot) ? BOOT_KVM_SILENCE_MS : 0;
    boot->ran = qemu_run(&boot->ending, &watch, command->words, boot->folder, errors,
                         &boot->failure) == STATUS_SUCCESS;
}

static void boot_trace_read(struct boot *boot)
{
    char path[PATH_MAX];
    FILE *stream;

    boot_path(boot, MACHINE_TRACE, path);
    stream = fopen(path, "re");
    if (stream == NULL) {
        failure_set(&boot->failure, STATUS_FAILED, "QEMU's trace %s cannot be read: %s", path,
                    strerror(errno));
        return;
    }
    boot->traced = trace_read(&boot->trace, stream, path, MACHINE_DISK,
                              boot->ending.end != QEMU_EXITED, &boot->failure) == STATUS_SUCCESS;
    fclose(stream);
}

/* Both clocks are known at the moment of the mark. */
static void boot_ctf_end(struct boot *boot)
{
    int64_t host_ns = (int64_t)boot->trace.start_us * 1000;
    int64_t guest_ns = (int64_t)boot->console.mark_ns;

    ctf_end(&boot->ctf, host_ns == 0 || guest_ns == 0 ? 0 : host_ns - guest_ns, &boot->failure);
}

static void boot_marks_check(struct boot *boot)
{
    if (boot->traced && (boot->trace.starts != 1 || boot->trace.stops != 1))
        failure_set(&boot->failure, STATUS_FAILED,
                    "QEMU's trace has %u marks where the servers start and %u where they stop, "
                    "not one of each",
                    boot->trace.starts, boot->trace.stops);
}

const struct file_map *boot_map(const struct boot *boot)
{
    return job_is_ext2(boot->job) ? &boot->volume.map : &boot->map;
}

bool boot_knows_disk(const struct boot *boot)
{
    return boot->traced && !ram_is_chosen(boot->options);
}

uint64_t boot_block_bytes(const struct boot *boot)
{
    return job_is_ext2(boot->job) ? boot->volume.block_bytes : PAGE_BYTES;
}

/* A bare object lies at its partition's start, in one piece. */
static void boot_object_locate(struct boot *boot)
{
    file_map_add(&boot->map,
                 (struct file_piece){.start = boot_partition(boot)->sector * MBR_SECTOR_BYTES,
                                     .bytes = boot->job->size});
    file_map_finish(&boot->map);
}

/* Finds out where the job's bytes lie. With COPY, the job's files are copied from the disk as well.
 */
static void boot_disk_examine(struct boot *boot, bool copy)
{
    if (job_is_ext2(boot->job))
        volume_examine(&boot->volume, boot->job, boot_partition(boot), boot->folder, copy,
                       &boot->failure);
    else
        boot_object_locate(boot);
}

/* Whether a request is for the job's bytes. Where the disk's block is larger than the file
   system's, a request may hold both: it is for what most of it is. */
static bool boot_request_is_file(const struct boot *boot, const struct trace_request *request)
{
    return 2 * file_map_inside(boot_map(boot), request->offset, request->bytes) > request->bytes;
}

/* Whether a request belongs to the plain loop of a job with a plain loop: no layer of the job's. */
static bool boot_request_is_plain(const struct boot *boot, const struct trace_request *request)
{
    const struct mbr_partition *partition = &boot->mbr.partitions[BOOT_PLAIN_PARTITION - 1];
    uint64_t sector = request->offset / MBR_SECTOR_BYTES;

    return job_has_plain(boot->job) && sector >= partition->sector &&
           sector - partition->sector < partition->sectors;
}

static void boot_layers_collect(struct boot *boot)
{
    const struct console_server *server =
        console_server_lookup(&boot->console, job_server(boot->job));

    if (server != NULL)
        boot->layers = server->layers;
    for (size_t i = 0; i < boot->trace.count && boot_knows_disk(boot); i++) {
        const struct trace_request *request = &boot->trace.requests[i];
        enum layer_kind kind = request->write ? LAYER_DISK_WRITE : LAYER_DISK_READ;
        enum layer_class class = boot_request_is_file(boot, request) ? LAYER_FILE : LAYER_META;

        if (request->phase == TRACE_COUNTED && !boot_request_is_plain(boot, request))
            layer_add(&boot->layers.at[kind][class], request->bytes);
    }
}

/* Compare file INDEX, called NAME, as debugfs read it out to PATH. */
static void boot_file_compare(struct boot *boot, uint64_t index, const char *name, const char *path)
{
    const struct job *job = boot->job;
    struct content_case checked = {
        .path = path, .stream = job->size, .seed = boot->seed, .map = &boot->volume.map};
    char result[CONTENT_RESULT_BYTES];

    checked.bytes = pattern_part(job->size, job->nrfiles, index, &checked.offset);
    content_check(&checked, result);
    if (job->nrfiles == 1 || strcmp(result, "ok") == 0)
        snprintf(boot->content, sizeof(boot->content), "%s", result);
    else
        snprintf(boot->content, sizeof(boot->content), "%.64s: %.400s", name, result);
}

static void boot_file_check(struct boot *boot, uint64_t index, const char *path)
{
    static const struct volume_file none = {0};
    const struct job *job = boot->job;
    const struct volume *volume = &boot->volume;
    const struct volume_file *file = index < volume->files_count ? &volume->files[index] : &none;
    uint64_t offset;
    uint64_t bytes = pattern_part(job->size, job->nrfiles, index, &offset);
    char name[JOB_FILE_BYTES];

    (void)job_file_name(job, index, name); /* job_resize has made sure that it has room */
    if (!file->found)
        snprintf(boot->content, sizeof(boot->content), "the file %.64s is not there: %s", name,
                 volume->said[0] != '\0' ? volume->said : "no reason given");
    else if (file->size != bytes)
        snprintf(boot->content, sizeof(boot->content),
                 "the file %.64s has %s bytes and should have %s", name, NUMBER_TEXT(file->size),
                 NUMBER_TEXT(bytes));
    else
        boot_file_compare(boot, index, name, path);
}

/* All files, up to the first that is not right. */
static void boot_files_check(struct boot *boot)
{
    snprintf(boot->content, sizeof(boot->content), "ok");
    for (uint64_t i = 0; i < boot->job->nrfiles; i++) {
        char file[sizeof(VOLUME_DATA) + 24];
        char path[PATH_MAX];

        snprintf(file, sizeof(file), "%s.%" PRIu64, VOLUME_DATA, i);
        boot_path(boot, file, path);
        if (strcmp(boot->content, "ok") == 0)
            boot_file_check(boot, i, path);
        unlink(path);
    }
    snprintf(boot->fsck, sizeof(boot->fsck), "%s", boot->volume.fsck);
}

static void boot_object_check(struct boot *boot)
{
    char disk[PATH_MAX];
    const struct content_case checked = {
        .path = disk,
        .start = boot_partition(boot)->sector * MBR_SECTOR_BYTES,
        .bytes = boot->job->size,
        .stream = boot->job->size,
        .seed = boot->seed,
        .map = &boot->map,
    };

    boot_path(boot, MACHINE_DISK, disk);
    content_check(&checked, boot->content);
}

/* The check NAME came to RESULT; "" is one that was not made. */
static void boot_result_note(struct boot *boot, const char *name, const char *result)
{
    if (result[0] != '\0' && strcmp(result, "ok") != 0)
        failure_set(&boot->failure, STATUS_FAILED, "%s: %s", name, result);
}

static void boot_disk_check(struct boot *boot)
{
    if (job_is_ext2(boot->job))
        boot_files_check(boot);
    else
        boot_object_check(boot);
    if (boot_knows_disk(boot))
        claims_check(&boot->console, &boot->trace, &boot->mbr, boot->options->disk->device,
                     boot->disk_agrees);
    boot_result_note(boot, "disk_agrees", boot->disk_agrees);
    boot_result_note(boot, "fsck", boot->fsck);
    boot_result_note(boot, "content", boot->content);
}

/* On a full disk the guest's word, QEMU's trace and copies of files end somewhere: nothing that
   they seem to say would be true. */
static void boot_room_check(struct boot *boot)
{
    if (boot->ending.end != QEMU_INTERRUPTED)
        folder_room_check(boot->folder, &boot->failure);
}

static void boot_judge(struct boot *boot)
{
    char qemu_error[256];
    struct verdict_case verdict = {&boot->console, &boot->ending,     boot->job,
                                   qemu_error,     boot_is_kvm(boot), boot_is_traced(boot)};

    boot_complaint_read(boot, qemu_error, sizeof(qemu_error));
    boot_room_check(boot);
    verdict_judge(&verdict, &boot->failure);
    boot_trace_read(boot);
    boot_ctf_end(boot);
    if (ram_is_chosen(boot->options))
        ram_take_out(&boot->memory, &boot->console, &boot->mbr, boot->options->disk->device,
                     boot->folder, &boot->failure);
    boot_disk_examine(boot, verdict_is_checkable(&verdict));
    boot_room_check(boot);
    boot_layers_collect(boot);
    if (!verdict_is_checkable(&verdict))
        return;
    boot_marks_check(boot);
    boot_disk_check(boot);
    verdict_claims_judge(&verdict, &boot->failure);
    verdict_fault_judge(&verdict, &boot->failure);
}

/* Whether something can be learned from the disk: not after bad input, nor when a debugger has had
   enough. */
static bool boot_disk_tells(const struct boot *boot)
{
    int status = boot->failure.status;

    return status != STATUS_SUCCESS && status != STATUS_BAD_INPUT && boot->ending.end != QEMU_LEFT;
}

static void boot_disk_dispose(struct boot *boot)
{
    char disk[PATH_MAX];

    boot_path(boot, MACHINE_DISK, disk);
    boot->disk_kept = boot->ran && (boot->options->keep || boot_disk_tells(boot));
    ram_memory_destroy(&boot->memory);
    if (!boot->disk_kept && ram_is_chosen(boot->options))
        ram_images_remove(boot->options, boot->folder);
    if (!boot->disk_kept && unlink(disk) != 0 && errno != ENOENT)
        failure_set(&boot->failure, STATUS_BAD_INPUT, "%s cannot be removed: %s", disk,
                    strerror(errno));
}

void boot_run(struct boot *boot, const struct folder *run, const struct command *command)
{
    boot_prepare(boot, run);
    if (boot->failure.status == STATUS_SUCCESS)
        boot_qemu_run(boot, command);
    if (boot->ran)
        boot_judge(boot);
    boot_disk_dispose(boot);
    firmware_remove(boot->options, boot->folder);
}
