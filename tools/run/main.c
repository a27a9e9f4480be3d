// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * machbed-run: boots the machine once for each policy, watches, checks, and reports.
 *
 *   options.c  what the user wants            machine.c  what QEMU is told
 *   job.c      what the workload does         boot.c     one boot, from its disk to its checks
 *   qemu.c     QEMU, watched and ended        verdict.c  how a boot went
 *   console.c  what the guest said            claims.c   disk_agrees
 *   ctf.c      the trace as CTF
 *   disk.c     the disk of a boot             prepare.c  what an ext2 job finds on it
 *   volume.c   e2fsprogs, after the run       content.c  the bytes that were written
 *   result.c   result.json                    table.c    the table
 *
 * Its exit status is the run's (failure.h). Everything that it writes is in BUILD/runs/NAME.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "boot.h"
#include "disk.h"
#include "machine.h"
#include "process.h"
#include "result.h"
#include "list.h"
#include "size.h"
#include "table.h"
#include "tail.h"
#include "tool.h"

#define MAIN_CONSOLE_LINES 12
#define MAIN_SEED_BITS     53 /* a number that every reader of JSON can hold exactly */

static uint64_t main_seed_make(const struct options *options)
{
    uint64_t seed = options->seed;

    while (seed == 0) {
        if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
            seed = 0;
        seed >>= 64 - MAIN_SEED_BITS;
    }
    return seed;
}

static int main_kernel_hash(struct run *run)
{
    const char *path = run->options->kernel;
    FILE *stream;
    error_t error;

    if (path == NULL)
        return STATUS_SUCCESS;
    stream = fopen(path, "re");
    if (stream == NULL)
        return failure_set(&run->failure, STATUS_BAD_INPUT, "the kernel %s: %s", path,
                           strerror(errno));
    error = sha256_stream(stream, run->kernel_sha256);
    fclose(stream);
    if (error != 0)
        return failure_set(&run->failure, STATUS_BAD_INPUT, "the kernel %s: %s", path,
                           strerror(error));
    return STATUS_SUCCESS;
}

/* The run's status is the first boot's that is not 0. */
static void main_boot_conclude(struct run *run, const struct boot *boot)
{
    if (boot->failure.status == STATUS_SUCCESS)
        return;
    if (run->options->policies_count == 1)
        failure_set(&run->failure, boot->failure.status, "%s", boot->failure.reason);
    else
        failure_set(&run->failure, boot->failure.status, "policy %s: %s", boot->policy->choice.name,
                    boot->failure.reason);
}

/* Whether there is another boot, and the last one did not end in a way that makes it pointless. */
static bool main_is_going_on(const struct run *run)
{
    int last =
        run->boots_count == 0 ? STATUS_SUCCESS : run->boots[run->boots_count - 1].failure.status;

    return run->boots_count < run->options->policies_count && last != STATUS_BAD_INPUT &&
           last < STATUS_SIGNALLED;
}

static void main_boot(struct run *run, const struct folder *folder, const struct command *command)
{
    const struct options *options = run->options;
    const struct policy *policy = options->policies[run->boots_count];
    struct boot *boot = &run->boots[run->boots_count++];

    printf("machbed: boot %zu of %zu, policy %s\n", run->boots_count, options->policies_count,
           policy->choice.name);
    fflush(stdout);
    boot_init(boot, options, run->job, policy, main_seed_make(options));
    boot_run(boot, folder, command);
    if (boot->ran)
        printf("  status %d after %.1f s\n", boot->failure.status,
               (double)boot->ending.end_ms / 1000);
    main_boot_conclude(run, boot);
}

static void main_boots(struct run *run, const struct folder *folder)
{
    struct command command;

    if (machine_command(&command, run->options, &run->failure) == STATUS_SUCCESS) {
        while (main_is_going_on(run))
            main_boot(run, folder, &command);
    }
    command_destroy(&command);
}

/* With one policy its files are reachable from the run's folder as well. */
static void main_links_make(struct run *run, const struct folder *folder)
{
    static const char *const files[] = {MACHINE_SERIAL, MACHINE_TRACE, MACHINE_CONFIG,
                                        MACHINE_ERRORS, MACHINE_DISK,  CTF_FOLDER};

    if (run->options->policies_count != 1 || run->boots_count == 0)
        return;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        folder_link(folder, run->boots[0].policy->choice.name, files[i], &run->failure);
}

static void main_boot_report(const struct boot *boot)
{
    char serial[PATH_MAX];

    if (boot->disk_kept)
        printf("kept: %s/%s\n", boot->folder, MACHINE_DISK);
    if (boot->failure.status == STATUS_SUCCESS || !boot->ran || boot->ending.end == QEMU_LEFT)
        return;
    snprintf(serial, sizeof(serial), "%.*s/%s", PATH_MAX - 32, boot->folder, MACHINE_SERIAL);
    printf("policy %s, status %d, the last lines of %s:\n", boot->policy->choice.name,
           boot->failure.status, serial);
    tail_print_last(serial, MAIN_CONSOLE_LINES, stdout);
}

static bool main_has_layers(const struct run *run)
{
    for (size_t i = 0; i < run->boots_count; i++) {
        if (run->boots[i].console.job.said)
            return true;
    }
    return false;
}

static void main_report(struct run *run, const struct folder *folder)
{
    char path[PATH_MAX];

    main_links_make(run, folder);
    if (main_has_layers(run)) {
        printf("\n");
        table_print(run, stdout);
        printf("\n");
    }
    for (size_t i = 0; i < run->boots_count; i++)
        main_boot_report(&run->boots[i]);
    snprintf(path, sizeof(path), "%.*s/result.json", PATH_MAX - 32, folder->path);
    if (result_write(run, path, &run->failure) == STATUS_SUCCESS)
        printf("files: %s; beside it, for each policy, serial.log and qemu.trace\n", path);
}

static const char *main_name(const struct run *run)
{
    return run->options->name != NULL ? run->options->name : run->job->name;
}

static void main_run(struct run *run)
{
    const char *name = main_name(run);
    struct folder folder;

    if (folder_open(&folder, run->options->build, name, &run->failure) != STATUS_SUCCESS)
        return;
    main_boots(run, &folder);
    main_report(run, &folder);
    for (size_t i = 0; i < run->boots_count; i++)
        boot_destroy(&run->boots[i]);
    folder_close(&folder);
}

static void main_dry(struct run *run)
{
    const struct options *options = run->options;
    const char *name = main_name(run);
    struct command command;

    if (machine_command(&command, options, &run->failure) == STATUS_SUCCESS) {
        for (size_t i = 0; i < options->policies_count; i++) {
            printf("cd %s/runs/%s/%s && ", options->build, name, options->policies[i]->choice.name);
            command_print(&command, stdout);
            printf("\n");
        }
    }
    command_destroy(&command);
}

static int main_check(struct run *run, struct job *job)
{
    const struct options *options = run->options;
    int status = job_load(job, options->job, &run->failure);

    if (status == STATUS_SUCCESS)
        status = job_resize(job, options->size, options->job, &run->failure);
    if (status == STATUS_SUCCESS)
        status = machine_check(options, job, &run->failure);
    if (status == STATUS_SUCCESS)
        status = disk_check(options, job, main_name(run), &run->failure);
    if (status == STATUS_SUCCESS)
        status = main_kernel_hash(run);
    return status;
}

/* The last line, which says it all. */
static void main_conclude(const struct run *run)
{
    if (run->failure.status != STATUS_SUCCESS)
        printf("machbed: status %d: %s\n", run->failure.status, run->failure.reason);
    else
        printf("machbed: status 0: %zu %s, every check passed\n", run->boots_count,
               run->boots_count == 1 ? "boot" : "boots");
}

/* What is printed is what was asked for: a run whose table nobody could read did not go well. */
static void main_output_check(struct run *run)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return;
    if (run->failure.status == STATUS_SUCCESS)
        failure_set(&run->failure, STATUS_BAD_INPUT, "the standard output cannot be written");
    fprintf(stderr, "machbed: status %d: %s\n", run->failure.status, run->failure.reason);
}

static void main_execute(struct run *run, struct job *job)
{
    bool dry = run->options->dry;

    process_setup();
    if (run->options->end_with_parent)
        process_follow_parent();
    tool_setup();
    if (main_check(run, job) == STATUS_SUCCESS) {
        if (dry)
            main_dry(run);
        else
            main_run(run);
    }
    if (!dry || run->failure.status != STATUS_SUCCESS)
        main_conclude(run);
}

int main(int argc, char **argv)
{
    static struct options options;
    static struct job job;
    static struct run run = {.options = &options, .job = &job};

    if (options_parse(&options, argc, argv, &run.failure) != STATUS_SUCCESS)
        main_conclude(&run);
    else if (options.help)
        options_print_help(stdout);
    else if (options.list)
        list_print(options.jobs, stdout);
    else
        main_execute(&run, &job);
    main_output_check(&run);
    return run.failure.status == STATUS_SKIPPED ? (int)options.skip_status : run.failure.status;
}
