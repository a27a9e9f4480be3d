// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * OVMF as Debian packages it: code in one flash chip, variables in a second one. Each has a quirk:
 *
 *   disable_s3    Ready to wake up from S3, and with 512 MiB of RAM or more, OVMF leaves too little
 *                 memory below its ACPI tables: GNU Mach dies before it has a console.
 *   smm, secure   The 32-bit OVMF exists in a build for secure boot alone. That one runs only in
 *                 a machine with system management mode, and wants its flash reachable from there
 *                 alone.
 */
#include "firmware.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

struct firmware {
    const char *name;
    const char *qemu;
    const char *code;      /* NULL: QEMU brings it */
    const char *variables; /* as they are at first */
    const char *package;
    bool smm;
};

static const struct firmware firmwares[] = {
    {"bios", "qemu-system-i386", NULL, NULL, NULL, false},
    {"uefi", "qemu-system-x86_64", "/usr/share/OVMF/OVMF_CODE_4M.fd",
     "/usr/share/OVMF/OVMF_VARS_4M.fd", "ovmf", false},
    {"uefi32", "qemu-system-i386", "/usr/share/OVMF/OVMF32_CODE_4M.secboot.fd",
     "/usr/share/OVMF/OVMF32_VARS_4M.fd", "ovmf-ia32", true},
};

static const struct firmware *firmware_lookup(const struct options *options)
{
    const struct firmware *firmware = firmwares;

    while (strcmp(firmware->name, options->firmware->name) != 0)
        firmware++;
    return firmware;
}

const char *firmware_qemu(const struct options *options)
{
    if (strcmp(options->arch->name, "amd64") == 0)
        return "qemu-system-x86_64";
    return firmware_lookup(options)->qemu;
}

static int firmware_file_check(const struct firmware *firmware, const char *path,
                               struct failure *failure)
{
    if (path == NULL || access(path, R_OK) == 0)
        return STATUS_SUCCESS;
    return failure_set(failure, STATUS_BAD_INPUT, "the firmware %s: %s (Debian package %s)", path,
                       strerror(errno), firmware->package);
}

int firmware_check(const struct options *options, struct failure *failure)
{
    const struct firmware *firmware = firmware_lookup(options);

    if (firmware_file_check(firmware, firmware->code, failure) != STATUS_SUCCESS)
        return failure->status;
    return firmware_file_check(firmware, firmware->variables, failure);
}

const char *firmware_machine_words(const struct options *options)
{
    return firmware_lookup(options)->smm ? ",smm=on" : "";
}

void firmware_add(struct command *command, const struct options *options)
{
    const struct firmware *firmware = firmware_lookup(options);
    const char *power = strcmp(options->machine->name, "q35") == 0 ? "ICH9-LPC" : "PIIX4_PM";

    if (firmware->code == NULL)
        return;
    command_add(command, "-drive");
    command_add(command, "if=pflash,unit=0,format=raw,readonly=on,file=%s", firmware->code);
    command_add(command, "-drive");
    command_add(command, "if=pflash,unit=1,format=raw,file=%s", FIRMWARE_VARIABLES);
    command_add(command, "-global");
    command_add(command, "%s.disable_s3=1", power);
    if (firmware->smm) {
        command_add(command, "-global");
        command_add(command, "driver=cfi.pflash01,property=secure,value=on");
    }
}

static void firmware_path(const char *folder, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 32, folder, FIRMWARE_VARIABLES);
}

static int firmware_copy(const char *from, const char *to, const char *folder,
                         struct failure *failure)
{
    struct command command;
    char output[PATH_MAX];
    int code = 0;
    int status;

    snprintf(output, sizeof(output), "%.*s/firmware.log", PATH_MAX - 32, folder);
    command_init(&command);
    command_add(&command, "cp");
    command_add(&command, "%s", from);
    command_add(&command, "%s", to);
    status = tool_run(&command, folder, output, &code, failure);
    command_destroy(&command);
    if (status == STATUS_SUCCESS && code != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s cannot be copied to %s/%s", from, folder,
                           to);
    unlink(output);
    return status;
}

int firmware_prepare(const struct options *options, const char *folder, struct failure *failure)
{
    const struct firmware *firmware = firmware_lookup(options);

    if (firmware->variables == NULL)
        return STATUS_SUCCESS;
    return firmware_copy(firmware->variables, FIRMWARE_VARIABLES, folder, failure);
}

void firmware_remove(const struct options *options, const char *folder)
{
    char path[PATH_MAX];

    if (firmware_lookup(options)->variables == NULL)
        return;
    firmware_path(folder, path);
    unlink(path); /* one that was never made is as good as removed */
}
