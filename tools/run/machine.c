// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine itself stands in qemu.cfg, which QEMU reads. The command line adds only what a
 * choice changes, and what the runner needs for itself:
 *
 *   -m, -machine, -set device.disk.bus=          when they are not what qemu.cfg says
 *   -set drive.d0.file=                          a disk that fails, between QEMU and the image
 *   -drive if=pflash, -global                    other firmware (firmware.c)
 *   -set drive.medium.…, device.medium.…         a hard disk as boot medium
 *   -smbios type=11                              the kernel's command line, for GRUB to read
 *   -kernel, -append, -initrd                    direct boot; each module is a line of the
 *                                                kernel's boot script, commas between
 *   -object, -device                             memory for the trace as CTF
 *   -trace, -D, -msg                             what the disk was asked to do, and when
 *   -qmp                                         the runner's questions when the time is up, and
 *                                                where a debugger asks to be let in
 *   -S                                           with a debugger, which is to say when to begin
 */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "combination.h"
#include "ctf.h"
#include "firmware.h"
#include "ram.h"
#include "tool.h"

#define MACHINE_KVM_VERSION 12 /* the only one there ever was, says KVM's documentation */
#define MIB                 (UINT64_C(1) << 20)

static const uint64_t machine_config_mem_bytes = 512 * MIB; /* what qemu.cfg says */

static bool machine_is(const struct choice *choice, const char *name)
{
    return strcmp(choice->name, name) == 0;
}

static int machine_file_check(const char *path, const char *what, int mode, struct failure *failure)
{
    if (path == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "%s is needed, but was not given", what);
    if (access(path, mode) != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: %s: %s", what, path, strerror(errno));
    return STATUS_SUCCESS;
}

static const char *machine_program(const struct options *options)
{
    return options->qemu != NULL ? options->qemu : firmware_qemu(options);
}

static int machine_qemu_check(const char *program, struct failure *failure)
{
    if (tool_is_there(program))
        return STATUS_SUCCESS;
    if (strchr(program, '/') != NULL)
        return machine_file_check(program, "QEMU", X_OK, failure);
    return failure_set(failure, STATUS_BAD_INPUT,
                       "QEMU is missing: there is no %s (Debian package qemu-system-x86)", program);
}

static const char *machine_module_path(const struct options *options, const char *name)
{
    for (size_t i = 0; i < options->modules_count; i++) {
        if (strcmp(options->modules[i].name, name) == 0)
            return options->modules[i].path;
    }
    return NULL;
}

static int machine_module_check(const struct options *options, const char *name,
                                struct failure *failure)
{
    char what[64];

    snprintf(what, sizeof(what), "the server %s (--module %s=FILE)", name, name);
    return machine_file_check(machine_module_path(options, name), what, R_OK, failure);
}

static int machine_modules_check(const struct options *options, const struct job *job,
                                 struct failure *failure)
{
    int status = machine_module_check(options, "startup", failure);
    const char *servers = job_servers(job);

    while (status == STATUS_SUCCESS && *servers != '\0') {
        size_t length = strcspn(servers, " ");
        char name[32];

        snprintf(name, sizeof(name), "%.*s", (int)length, servers);
        status = machine_module_check(options, name, failure);
        servers += length + (servers[length] == ' ');
    }
    return status;
}

static int machine_kvm_check(struct failure *failure)
{
    int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
    int version;

    if (kvm < 0)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "KVM is not usable: /dev/kvm: %s; use "
                           "ACCEL=tcg",
                           strerror(errno));
    version = ioctl(kvm, KVM_GET_API_VERSION, 0);
    close(kvm);
    if (version != MACHINE_KVM_VERSION)
        return failure_set(
            failure, STATUS_BAD_INPUT,
            "KVM is not usable: /dev/kvm does not answer as KVM does; use ACCEL=tcg");
    return STATUS_SUCCESS;
}

static bool machine_medium_is_disk(const struct options *options)
{
    return machine_is(options->medium, "disk");
}

const char *machine_medium(const struct options *options)
{
    return machine_medium_is_disk(options) ? options->boot_disk : options->iso;
}

const char *machine_medium_name(const struct options *options)
{
    return machine_medium_is_disk(options) ? MACHINE_BOOT_DISK : MACHINE_ISO;
}

/* QEMU takes an empty CD for one that cannot be booted, but no empty hard disk. */
static int machine_medium_check(const struct options *options, struct failure *failure)
{
    if (machine_medium_is_disk(options))
        return machine_file_check(options->boot_disk, "the boot disk (--boot-disk)", R_OK, failure);
    if (machine_is(options->boot, "grub"))
        return machine_file_check(options->iso, "the boot CD (--iso)", R_OK, failure);
    return STATUS_SUCCESS;
}

static int machine_boot_check(const struct options *options, const struct job *job,
                              struct failure *failure)
{
    int status = machine_medium_check(options, failure);

    if (status != STATUS_SUCCESS || machine_is(options->boot, "grub"))
        return status;
    status = machine_file_check(options->kernel, "the kernel (--kernel)", R_OK, failure);
    if (status == STATUS_SUCCESS)
        status = machine_modules_check(options, job, failure);
    return status;
}

int machine_check(const struct options *options, const struct job *job, struct failure *failure)
{
    int status = combination_check(options, failure);

    if (status == STATUS_SUCCESS)
        status = machine_qemu_check(machine_program(options), failure);
    if (status == STATUS_SUCCESS)
        status = firmware_check(options, failure);
    if (status == STATUS_SUCCESS)
        status =
            machine_file_check(options->qemu_config, "the machine (--qemu-cfg)", R_OK, failure);
    if (status == STATUS_SUCCESS)
        status = machine_boot_check(options, job, failure);
    if (status == STATUS_SUCCESS)
        status = ctf_check(options, failure);
    if (status == STATUS_SUCCESS && options->kernel != NULL)
        status = machine_file_check(options->kernel, "the kernel (--kernel)", R_OK, failure);
    if (status == STATUS_SUCCESS && machine_is(options->accel, "kvm"))
        status = machine_kvm_check(failure);
    return status;
}

static int machine_path_absolute(char absolute[PATH_MAX], const char *path, struct failure *failure)
{
    if (realpath(path, absolute) == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
    return STATUS_SUCCESS;
}

/* The words that the kernel's boot script wants behind a module's file name. */
static void machine_module_words(const struct options *options, const char *name, FILE *stream)
{
    if (strcmp(name, "startup") != 0) {
        fprintf(stream, " $(%s-task=task-create)", name);
        return;
    }
    fputs(" host=${host-port} dev=${device-port}", stream);
    for (size_t i = 0; i < options->modules_count; i++) {
        const char *server = options->modules[i].name;

        if (strcmp(server, "startup") != 0)
            fprintf(stream, " %s=${%s-task}", server, server);
    }
    fputs(" $(task-create) $(task-resume)", stream);
}

/* QEMU ends a file name at the first blank, and wants each comma in it twice. */
static int machine_module_print(const struct options *options, const struct options_module *module,
                                FILE *stream, struct failure *failure)
{
    char path[PATH_MAX];
    int status = machine_path_absolute(path, module->path, failure);

    if (status != STATUS_SUCCESS)
        return status;
    if (strchr(path, ' ') != NULL)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "%s: QEMU cannot boot a file with a blank in its path; use BOOT=grub",
                           path);
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == ',')
            fputc(',', stream);
        fputc(*at, stream);
    }
    machine_module_words(options, module->name, stream);
    return STATUS_SUCCESS;
}

static int machine_initrd_add(struct command *command, const struct options *options,
                              struct failure *failure)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    int status = STATUS_SUCCESS;

    if (stream == NULL)
        return failure_set(failure, STATUS_BAD_INPUT, "out of memory");
    for (size_t i = 0; i < options->modules_count && status == STATUS_SUCCESS; i++) {
        if (i > 0)
            fputc(',', stream);
        status = machine_module_print(options, &options->modules[i], stream, failure);
    }
    fclose(stream);
    command_add(command, "-initrd");
    command_add(command, "%s", text);
    free(text);
    return status;
}

static int machine_direct_add(struct command *command, const struct options *options,
                              const char *kernel_words, struct failure *failure)
{
    char kernel[PATH_MAX];
    int status = machine_path_absolute(kernel, options->kernel, failure);

    if (status != STATUS_SUCCESS)
        return status;
    command_add(command, "-kernel");
    command_add(command, "%s", kernel);
    command_add(command, "-append");
    command_add(command, "%s", kernel_words);
    return machine_initrd_add(command, options, failure);
}

static int machine_boot_add(struct command *command, const struct options *options,
                            struct failure *failure)
{
    char kernel_words[128];

    snprintf(kernel_words, sizeof(kernel_words), "console=com0 %s", options->disk->kernel_words);
    if (machine_is(options->boot, "direct"))
        return machine_direct_add(command, options, kernel_words, failure);
    command_add(command, "-smbios");
    command_add(command, "type=11,value=%s", kernel_words);
    return STATUS_SUCCESS;
}

static int machine_config_add(struct command *command, const struct options *options,
                              struct failure *failure)
{
    char config[PATH_MAX];
    int status = machine_path_absolute(config, options->qemu_config, failure);

    if (status != STATUS_SUCCESS)
        return status;
    command_add(command, "-readconfig");
    command_add(command, "%s", config);
    return STATUS_SUCCESS;
}

static void machine_set_add(struct command *command, const char *setting)
{
    command_add(command, "-set");
    command_add(command, "%s", setting);
}

static bool machine_is_q35(const struct options *options)
{
    return machine_is(options->machine, "q35");
}

/*
 * On q35 the medium must not be on AHCI, like the test disk: SeaBIOS leaves a CD there in a state
 * in which the kernel hangs when it asks the drive what it is, and UEFI counts the built-in
 * controller's drives first, so that the test disk would be sd1. The kernel knows no virtio.
 * => a device's bus must stand on the command line before it: before qemu.cfg.
 */
static void machine_controller_add(struct command *command, const struct options *options)
{
    if (!machine_is_q35(options))
        return;
    command_add(command, "-device");
    command_add(command, "virtio-scsi-pci,id=scsi");
}

static void machine_medium_add(struct command *command, const struct options *options)
{
    bool disk = machine_medium_is_disk(options);

    if (disk) {
        machine_set_add(command, "drive.medium.file=" MACHINE_BOOT_DISK);
        machine_set_add(command, "drive.medium.media=disk");
        /* All runs share the image: what a boot writes to it, as UEFI may, is dropped. */
        machine_set_add(command, "drive.medium.snapshot=on");
    }
    if (machine_is_q35(options)) {
        machine_set_add(command,
                        disk ? "device.medium.driver=scsi-hd" : "device.medium.driver=scsi-cd");
        machine_set_add(command, "device.medium.bus=scsi.0");
    } else if (disk) {
        machine_set_add(command, "device.medium.driver=ide-hd");
    }
}

static void machine_changes_add(struct command *command, const struct options *options)
{
    if (options->mem_bytes != machine_config_mem_bytes) {
        command_add(command, "-m");
        command_add(command, "%" PRIu64 "M", options->mem_bytes / MIB);
    }
    if (machine_is(options->accel, "kvm") || machine_is_q35(options)) {
        command_add(command, "-machine");
        command_add(command, "%s%s,accel=%s", options->machine->name,
                    firmware_machine_words(options), options->accel->name);
    }
    if (ram_is_chosen(options))
        ram_command_add(command, options);
    if (options->fail_sector != OPTIONS_NO_SECTOR) {
        command_add(command, "-set");
        command_add(command, "drive.d0.file=blkdebug:%s:%s", MACHINE_FAULT, MACHINE_DISK);
    }
    if (machine_is(&options->disk->choice, "ide"))
        machine_set_add(command, "device.disk.bus=ide.0");
    machine_medium_add(command, options);
}

/* The memory by which packets of CTF come (libtrace/ctf-packet.h). */
static void machine_ctf_add(struct command *command, const struct options *options)
{
    if (!ctf_is_wanted(options))
        return;
    command_add(command, "-object");
    command_add(command, "memory-backend-file,id=ctf,share=on,size=%u,mem-path=%s",
                CTF_MEMORY_BYTES, CTF_MEMORY);
    command_add(command, "-device");
    command_add(command, "ivshmem-plain,memdev=ctf,addr=%#x", CTF_MEMORY_SLOT);
}

static int machine_program_add(struct command *command, const struct options *options,
                               struct failure *failure)
{
    const char *program = machine_program(options);
    char absolute[PATH_MAX];

    if (strchr(program, '/') == NULL) {
        command_add(command, "%s", program);
        return STATUS_SUCCESS;
    }
    if (machine_path_absolute(absolute, program, failure) != STATUS_SUCCESS)
        return failure->status;
    command_add(command, "%s", absolute);
    return STATUS_SUCCESS;
}

int machine_command(struct command *command, const struct options *options, struct failure *failure)
{
    static const char *const fixed[] = {"-nodefaults", "-display", "none", "-no-reboot",
                                        "-no-user-config"};
    int status;

    command_init(command);
    status = machine_program_add(command, options, failure);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        command_add(command, "%s", fixed[i]);
    machine_controller_add(command, options);
    if (status == STATUS_SUCCESS)
        status = machine_config_add(command, options, failure);
    machine_changes_add(command, options);
    firmware_add(command, options);
    machine_ctf_add(command, options);
    if (status == STATUS_SUCCESS)
        status = machine_boot_add(command, options, failure);
    if (options->debugger != NULL)
        command_add(command, "-S");
    command_add(command, "-trace");
    command_add(command, "events=%s", MACHINE_EVENTS);
    command_add(command, "-D");
    command_add(command, "%s", MACHINE_TRACE);
    command_add(command, "-msg");
    command_add(command, "timestamp=on");
    command_add(command, "-qmp");
    command_add(command, "unix:%s,server=on,wait=off", MACHINE_MONITOR);
    return status;
}

static void machine_kinds_print(uint32_t kinds, FILE *stream)
{
    const char *separator = "";

    for (unsigned i = 0; choice_trace_kinds[i].name != NULL; i++) {
        if ((kinds >> i & 1) == 0)
            continue;
        fprintf(stream, "%s%s", separator, choice_trace_kinds[i].name);
        separator = ",";
    }
    fputs(kinds == 0 ? "all\n" : "\n", stream);
}

void machine_config_print(const struct options *options, const struct job *job,
                          const struct policy *policy, uint64_t seed, FILE *stream)
{
    fprintf(stream,
            "job=%s\npolicy=%s\nmerge_max=%" PRIu64 "\nsync_every=%" PRIu64 "\nseed=%" PRIu64
            "\ndisk=%s\nservers=%s\n",
            job->name, policy->choice.name, options->merge_bytes, options->sync_every, seed,
            options->disk->device, job_servers(job));
    job_print(job, stream);
    fprintf(stream, "watchdog=%" PRIu64 "\ntrace=%s\ntrace_events=", options->watchdog,
            options->trace->name);
    machine_kinds_print(options->kinds, stream);
}

/* A request that touches the sector fails whole, and nothing of it is done. A rule is good for
   ever, or for once. */
void machine_fault_print(const struct options *options, FILE *stream)
{
    uint64_t rules = options->fail_times == 0 ? 1 : options->fail_times;

    for (uint64_t i = 0; i < rules; i++)
        fprintf(stream,
                "[inject-error]\nevent = \"none\"\nerrno = \"%d\"\nsector = \"%" PRIu64
                "\"\nonce = \"%s\"\n",
                EIO, options->fail_sector, options->fail_times == 0 ? "off" : "on");
}
