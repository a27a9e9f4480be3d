// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "machine.h"
#include "prepare.h"
#include "ram.h"
#include "size.h"
#include "tool.h"
#include "volume.h"

#define DISK_OUTPUT "make-disk.log"

/* --- Before anything starts ------------------------------------------------------------------ */

/* Takes COMMAND and runs it; WHAT could not be done if it says so. */
static int disk_command_run(struct command *command, const char *folder, const char *what,
                            struct failure *failure)
{
    char output[PATH_MAX];
    char said[256];
    int code;
    int status;

    snprintf(output, sizeof(output), "%s/%s", folder, DISK_OUTPUT);
    status = tool_run(command, ".", output, &code, failure);
    if (status == STATUS_SUCCESS && code != 0)
        status = folder_room_check(folder, failure); /* for its complaint, too */
    if (status == STATUS_SUCCESS && code != 0) {
        tool_line_read(output, said, sizeof(said));
        status = failure_set(failure, STATUS_BAD_INPUT, "the disk could not be %s (%s): %s", what,
                             command->words[0], said[0] != '\0' ? said : "it did not say why");
    }
    command_destroy(command);
    return status;
}

static int disk_recipe_run(const struct options *options, const char *disk, const char *folder,
                           struct failure *failure)
{
    struct command command;

    command_init(&command);
    command_add(&command, "%s", options->make_disk);
    command_add(&command, "%s", disk);
    command_add(&command, "%llu", (unsigned long long)options->disk_bytes);
    command_add(&command, "%llu", (unsigned long long)options->block_bytes);
    return disk_command_run(&command, folder, "made", failure);
}

static int disk_size_check(const struct mbr *mbr, const struct job *job, struct failure *failure)
{
    unsigned number = job_partition(job);
    uint64_t room = mbr->partitions[number - 1].sectors * MBR_SECTOR_BYTES;

    if (job->size > room)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "job %s is larger than its partition: %s bytes, partition %u has %s",
                           job->name, NUMBER_TEXT(job->size), number, NUMBER_TEXT(room));
    return STATUS_SUCCESS;
}

static int disk_fault_check(const struct mbr *mbr, const struct options *options,
                            struct failure *failure)
{
    uint64_t sectors = mbr->disk_bytes / MBR_SECTOR_BYTES;

    if (options->fail_sector == OPTIONS_NO_SECTOR || options->fail_sector < sectors)
        return STATUS_SUCCESS;
    return failure_set(failure, STATUS_BAD_INPUT,
                       "--fail-sector: the disk has no sector %s, but 0 to %s",
                       NUMBER_TEXT(options->fail_sector), NUMBER_TEXT(sectors - 1));
}

/* Make the disk in FOLDER and see whether the job fits: an earlier run of the same name is still
   there, and must not be lost for a job that cannot run. */
static int disk_recipe_try(const struct options *options, const struct job *job, const char *folder,
                           struct failure *failure)
{
    char disk[PATH_MAX];
    char output[PATH_MAX];
    struct mbr mbr;
    int status;

    snprintf(disk, sizeof(disk), "%s/%s", folder, MACHINE_DISK);
    snprintf(output, sizeof(output), "%s/%s", folder, DISK_OUTPUT);
    status = disk_recipe_run(options, disk, folder, failure);
    if (status == STATUS_SUCCESS)
        status = mbr_load(&mbr, disk, failure);
    if (status == STATUS_SUCCESS)
        status = disk_size_check(&mbr, job, failure);
    if (status == STATUS_SUCCESS)
        status = disk_fault_check(&mbr, options, failure);
    if (status == STATUS_SUCCESS && ram_is_chosen(options))
        status = ram_room_check(options, job, disk, &mbr, failure);
    unlink(disk);
    unlink(output);
    return status;
}

static int disk_recipe_check(const struct options *options, const struct job *job,
                             struct failure *failure)
{
    char folder[] = "/tmp/machbed-XXXXXX";
    int status;

    if (access(options->make_disk, X_OK) != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "the disk's recipe (--make-disk): %s: %s",
                           options->make_disk, strerror(errno));
    status = prepare_check(options, job, failure);
    if (status != STATUS_SUCCESS)
        return status;
    if (mkdtemp(folder) == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "no folder in /tmp: %s", strerror(errno));
    status = disk_recipe_try(options, job, folder, failure);
    rmdir(folder);
    return status;
}

/* An image in the folder of the run would be removed before it is copied. */
static int disk_place_check(const struct options *options, const char *name,
                            struct failure *failure)
{
    char image[PATH_MAX];
    char folder[PATH_MAX];
    char runs[PATH_MAX];
    size_t length;

    snprintf(runs, sizeof(runs), "%s/runs/%s", options->build, name);
    if (realpath(options->image, image) == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "--image: %s: %s", options->image,
                           strerror(errno));
    if (realpath(runs, folder) == NULL)
        return STATUS_SUCCESS;
    length = strlen(folder);
    if (strncmp(image, folder, length) == 0 && image[length] == '/')
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--image: %s lies in the folder of the run %s, which is emptied; choose "
                           "another NAME",
                           options->image, name);
    return STATUS_SUCCESS;
}

static int disk_partition_check(const struct mbr *mbr, const struct options *options,
                                const struct job *job, struct failure *failure)
{
    unsigned number = job_partition(job);
    const struct mbr_partition *partition = &mbr->partitions[number - 1];
    uint64_t end = (partition->sector + partition->sectors) * MBR_SECTOR_BYTES;

    if (mbr->disk_bytes % MBR_SECTOR_BYTES != 0)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--image: %s has %s bytes, which are no whole sectors", options->image,
                           NUMBER_TEXT(mbr->disk_bytes));
    if (partition->sectors == 0)
        return failure_set(failure, STATUS_BAD_INPUT, "--image: %s has no partition %u",
                           options->image, number);
    if (end > mbr->disk_bytes)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--image: %s is cut short: partition %u ends at byte %s, the file has "
                           "%s",
                           options->image, number, NUMBER_TEXT(end), NUMBER_TEXT(mbr->disk_bytes));
    return STATUS_SUCCESS;
}

static int disk_image_check(const struct options *options, const struct job *job, const char *name,
                            struct failure *failure)
{
    struct mbr mbr;
    int status = disk_place_check(options, name, failure);

    if (status == STATUS_SUCCESS)
        status = mbr_load(&mbr, options->image, failure);
    if (status == STATUS_SUCCESS)
        status = disk_partition_check(&mbr, options, job, failure);
    if (status == STATUS_SUCCESS)
        status = disk_fault_check(&mbr, options, failure);
    if (status == STATUS_SUCCESS && ram_is_chosen(options))
        status = ram_room_check(options, job, options->image, &mbr, failure);
    return status;
}

int disk_check(const struct options *options, const struct job *job, const char *name,
               struct failure *failure)
{
    int status = job_is_ext2(job) ? volume_check(failure) : STATUS_SUCCESS;

    if (status != STATUS_SUCCESS)
        return status;
    if (options->image != NULL)
        return disk_image_check(options, job, name, failure);
    return disk_recipe_check(options, job, failure);
}

/* --- For one boot ---------------------------------------------------------------------------- */

/* A copy with the holes of the image, and made anew so that it can be written. */
static int disk_image_copy(const struct options *options, const char *disk, const char *folder,
                           struct failure *failure)
{
    struct command command;

    command_init(&command);
    command_add(&command, "cp");
    command_add(&command, "--sparse=always");
    command_add(&command, "--reflink=auto");
    command_add(&command, "--no-preserve=mode");
    command_add(&command, "--");
    command_add(&command, "%s", options->image);
    command_add(&command, "%s", disk);
    return disk_command_run(&command, folder, "copied", failure);
}

int disk_make(struct mbr *mbr, const struct options *options, const struct job *job, uint64_t seed,
              const char *folder, struct failure *failure)
{
    char disk[PATH_MAX];
    int status;

    if (snprintf(disk, sizeof(disk), "%s/%s", folder, MACHINE_DISK) >= (int)sizeof(disk))
        return failure_set(failure, STATUS_BAD_INPUT, "the path %s is too long", folder);
    if (options->image != NULL)
        status = disk_image_copy(options, disk, folder, failure);
    else
        status = disk_recipe_run(options, disk, folder, failure);
    if (status == STATUS_SUCCESS)
        status = mbr_load(mbr, disk, failure);
    if (status == STATUS_SUCCESS)
        status = disk_size_check(mbr, job, failure);
    if (status == STATUS_SUCCESS && options->image == NULL && job_is_ext2(job))
        status = prepare_run(options, job, seed, &mbr->partitions[0], folder, failure);
    return status;
}
