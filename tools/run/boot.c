// SPDX-License-Identifier: GPL-2.0-or-later
#include "boot.h"

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine.h"
#include "process.h"
#include "size.h"
#include "verdict.h"

#define BOOT_KVM_SILENCE_MS 15000u
#define BOOT_RECIPE_STEP_MS 50u
#define BOOT_RECIPE_OUTPUT  "make-disk.log"

void boot_init(struct boot *boot, const struct options *options, const struct job *job,
               const struct policy *policy, uint64_t seed)
{
    *boot = (struct boot){.options = options, .job = job, .policy = policy, .seed = seed};
    console_init(&boot->console);
}

void boot_destroy(struct boot *boot)
{
    trace_destroy(&boot->trace);
    console_destroy(&boot->console);
}

static void boot_path(const struct boot *boot, const char *file, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/%s", boot->folder, file) >= PATH_MAX)
        errx(STATUS_BAD_INPUT, "machbed: the path %s is too long", boot->folder);
}

/* Writes the first line of a file that is not empty to TEXT, without its line break. */
static void boot_line_read(const struct boot *boot, const char *file, char *text, size_t bytes)
{
    char path[PATH_MAX];
    FILE *stream;

    boot_path(boot, file, path);
    text[0] = '\0';
    stream = fopen(path, "re");
    if (stream == NULL)
        return;
    if (fgets(text, (int)bytes, stream) == NULL)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    fclose(stream);
}

/* Reads what QEMU complained of, without the time in front: "2026-11-30T20:34:26.123456Z ". */
static void boot_complaint_read(const struct boot *boot, char *text, size_t bytes)
{
    static const char stamp[] = "0123456789-T:.";
    size_t length;

    boot_line_read(boot, MACHINE_ERRORS, text, bytes);
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

/* The CD, which qemu.cfg wants in the boot's folder: a link, or an empty one if there is none. */
static void boot_iso_link(struct boot *boot)
{
    char target[PATH_MAX];
    char path[PATH_MAX];
    FILE *stream;

    boot_path(boot, MACHINE_ISO, path);
    if (boot->options->iso != NULL && realpath(boot->options->iso, target) != NULL) {
        if (symlink(target, path) != 0)
            failure_set(&boot->failure, STATUS_BAD_INPUT, "the link %s cannot be made: %s", path,
                        strerror(errno));
        return;
    }
    stream = boot_file_create(boot, MACHINE_ISO);
    if (stream != NULL)
        boot_file_close(boot, stream, MACHINE_ISO);
}

static void boot_recipe_judge(struct boot *boot, const struct process *process)
{
    char said[256];

    if (process->interrupt != 0)
        failure_set(&boot->failure, STATUS_SIGNALLED + process->interrupt,
                    "ended by signal %d (%s)", process->interrupt, strsignal(process->interrupt));
    if (process->code == 0)
        return;
    boot_line_read(boot, BOOT_RECIPE_OUTPUT, said, sizeof(said));
    failure_set(&boot->failure, STATUS_BAD_INPUT, "the disk could not be made (%s): %s",
                boot->options->make_disk, said[0] != '\0' ? said : "it did not say why");
}

static void boot_recipe_run(struct boot *boot, const struct command *command)
{
    char output[PATH_MAX];
    struct process process;
    enum process_event event;

    boot_path(boot, BOOT_RECIPE_OUTPUT, output);
    if (process_start(&process, command->words, ".", output, &boot->failure) != STATUS_SUCCESS)
        return;
    do {
        event = process_wait(&process, BOOT_RECIPE_STEP_MS);
    } while (event == PROCESS_IDLE);
    process_end(&process);
    boot_recipe_judge(boot, &process);
}

static void boot_disk_make(struct boot *boot)
{
    char disk[PATH_MAX];
    struct command command;

    boot_path(boot, MACHINE_DISK, disk);
    command_init(&command);
    command_add(&command, "%s", boot->options->make_disk);
    command_add(&command, "%s", disk);
    command_add(&command, "%llu", (unsigned long long)boot->options->disk_bytes);
    boot_recipe_run(boot, &command);
    command_destroy(&command);
    if (boot->failure.status == STATUS_SUCCESS)
        mbr_load(&boot->mbr, disk, &boot->failure);
}

static const struct mbr_partition *boot_partition(const struct boot *boot)
{
    return &boot->mbr.partitions[job_partition(boot->job) - 1];
}

static void boot_size_check(struct boot *boot)
{
    const struct mbr_partition *partition = boot_partition(boot);
    uint64_t room = partition->sectors * MBR_SECTOR_BYTES;

    if (boot->job->size > room)
        failure_set(&boot->failure, STATUS_BAD_INPUT,
                    "job %s is larger than its partition: %s bytes, partition %u has %s",
                    boot->job->name, NUMBER_TEXT(boot->job->size), job_partition(boot->job),
                    NUMBER_TEXT(room));
}

static void boot_prepare(struct boot *boot, const struct folder *run)
{
    if (folder_make(run, boot->policy->choice.name, boot->folder, &boot->failure) != STATUS_SUCCESS)
        return;
    boot_config_write(boot);
    boot_events_write(boot);
    boot_iso_link(boot);
    if (boot->failure.status == STATUS_SUCCESS)
        boot_disk_make(boot);
    if (boot->failure.status == STATUS_SUCCESS)
        boot_size_check(boot);
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
    struct qemu_watch watch = {
        .serial = serial,
        .console = &boot->console,
        .awaited = "workload",
        .progress = stdout,
    };

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

static void boot_marks_check(struct boot *boot)
{
    if (boot->traced && (boot->trace.starts != 1 || boot->trace.stops != 1))
        failure_set(&boot->failure, STATUS_FAILED,
                    "QEMU's trace has %u marks where the servers start and %u where they stop, "
                    "not one of each",
                    boot->trace.starts, boot->trace.stops);
}

/* Whether a request touches nothing but the job's bytes. */
static bool boot_request_is_file(const struct boot *boot, const struct trace_request *request)
{
    uint64_t start = boot_partition(boot)->sector * MBR_SECTOR_BYTES;

    return request->offset >= start && request->offset + request->bytes <= start + boot->job->size;
}

static void boot_layers_collect(struct boot *boot)
{
    const struct console_server *server =
        console_server_lookup(&boot->console, job_server(boot->job));

    if (server != NULL)
        boot->layers = server->layers;
    for (size_t i = 0; i < boot->trace.count; i++) {
        const struct trace_request *request = &boot->trace.requests[i];
        enum layer_kind kind = request->write ? LAYER_DISK_WRITE : LAYER_DISK_READ;
        enum layer_class class = boot_request_is_file(boot, request) ? LAYER_FILE : LAYER_META;

        if (request->phase == TRACE_COUNTED)
            layer_add(&boot->layers.at[kind][class], request->bytes);
    }
}

static void boot_disk_check(struct boot *boot)
{
    char disk[PATH_MAX];

    boot_path(boot, MACHINE_DISK, disk);
    content_check(disk, boot_partition(boot)->sector * MBR_SECTOR_BYTES, boot->job->size,
                  boot->seed, boot->content);
    if (boot->traced)
        claims_check(&boot->console, &boot->trace, &boot->mbr, boot->options->disk->device,
                     boot->disk_agrees);
    if (boot->traced && strcmp(boot->disk_agrees, "ok") != 0)
        failure_set(&boot->failure, STATUS_FAILED, "disk_agrees: %s", boot->disk_agrees);
    if (strcmp(boot->content, "ok") != 0)
        failure_set(&boot->failure, STATUS_FAILED, "content: %s", boot->content);
}

static void boot_judge(struct boot *boot)
{
    char qemu_error[256];
    struct verdict_case verdict = {&boot->console, &boot->ending,     boot->job,
                                   qemu_error,     boot_is_kvm(boot), boot_is_traced(boot)};

    boot_complaint_read(boot, qemu_error, sizeof(qemu_error));
    verdict_judge(&verdict, &boot->failure);
    boot_trace_read(boot);
    boot_layers_collect(boot);
    if (!verdict_is_checkable(&verdict))
        return;
    boot_marks_check(boot);
    boot_disk_check(boot);
    verdict_claims_judge(&verdict, &boot->failure);
    verdict_fault_judge(&verdict, &boot->failure);
}

static void boot_disk_dispose(struct boot *boot)
{
    char disk[PATH_MAX];

    boot_path(boot, MACHINE_DISK, disk);
    boot->disk_kept = boot->ran && (boot->options->keep || boot->failure.status != STATUS_SUCCESS);
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
}
