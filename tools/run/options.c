// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All options are long and take a value, `--name value` or `--name=value`, but for --help and
 * --list. One table says how each is read, where it goes and what --help says about it.
 */
#include "options.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "size.h"

#define OPTIONS_NAMES_BYTES 256
#define OPTIONS_NAME_MAX    64u
#define MIB                 (UINT64_C(1) << 20)
#define DISK_MIN_BYTES      (770 * MIB) /* partitions 1 and 2, and a little for the third */
#define DISK_MAX_BYTES      ((UINT64_C(1) << 41) - MIB) /* an MBR says less than 2 TiB */
#define TIMEOUT_MAX_SECONDS 86400u
#define FAIL_TIMES_MAX      UINT64_C(1000) /* QEMU gets a rule for each */
#define BLOCK_DEFAULT_BYTES 4096u
#define DISK_DEFAULT_BYTES  (1024 * MIB)
#define MERGE_MAX_BYTES     (4 * MIB) /* servers/libpager/policy.h, PAGER_MERGE_MOST */

struct options_spec;

typedef int options_read_t(struct options *options, const struct options_spec *spec,
                           const char *value, struct failure *failure);

struct options_spec {
    const char *name;
    const char *value; /* what stands for it in --help; NULL: takes none */
    options_read_t *read;
    size_t offset;                /* in struct options */
    const struct choice *choices; /* for options_read_choice */
    const char *what;
};

static int options_read_text(struct options *options, const struct options_spec *spec,
                             const char *value, struct failure *failure)
{
    if (*value == '\0')
        return failure_set(failure, STATUS_BAD_INPUT, "--%s: the value is empty", spec->name);
    *(const char **)((char *)options + spec->offset) = value;
    return STATUS_SUCCESS;
}

static int options_refuse_choice(const char *option, const char *value, const char *names,
                                 struct failure *failure)
{
    return failure_set(failure, STATUS_BAD_INPUT, "--%s: unknown value '%s'; there are: %s", option,
                       value, names);
}

static int options_read_choice(struct options *options, const struct options_spec *spec,
                               const char *value, struct failure *failure)
{
    char names[OPTIONS_NAMES_BYTES];
    const struct choice *choice = choice_lookup(spec->choices, value);

    if (choice == NULL)
        return options_refuse_choice(spec->name, value,
                                     choice_names(spec->choices, names, sizeof(names)), failure);
    *(const struct choice **)((char *)options + spec->offset) = choice;
    return STATUS_SUCCESS;
}

static int options_read_disk(struct options *options, const struct options_spec *spec,
                             const char *value, struct failure *failure)
{
    char names[OPTIONS_NAMES_BYTES];
    const struct disk *disk = disk_lookup(value);

    if (disk == NULL)
        return options_refuse_choice(spec->name, value, disk_names(names, sizeof(names)), failure);
    options->disk = disk;
    return STATUS_SUCCESS;
}

static int options_policy_add(struct options *options, const struct policy *policy,
                              struct failure *failure)
{
    for (size_t i = 0; i < options->policies_count; i++) {
        if (options->policies[i] == policy)
            return failure_set(failure, STATUS_BAD_INPUT, "--policy: '%s' is named twice",
                               policy->choice.name);
    }
    options->policies[options->policies_count++] = policy;
    return STATUS_SUCCESS;
}

static int options_read_policy(struct options *options, const char *value, size_t length,
                               struct failure *failure)
{
    char names[OPTIONS_NAMES_BYTES];
    char name[32];
    const struct policy *policy;

    snprintf(name, sizeof(name), "%.*s", (int)length, value);
    policy = policy_lookup(name);
    if (policy == NULL || length >= sizeof(name))
        return options_refuse_choice("policy", name, policy_names(names, sizeof(names)), failure);
    return options_policy_add(options, policy, failure);
}

static int options_read_policies(struct options *options, const struct options_spec *spec,
                                 const char *value, struct failure *failure)
{
    int status;

    (void)spec;
    options->policies_count = 0;
    for (;;) {
        size_t length = strcspn(value, ",");

        status = options_read_policy(options, value, length, failure);
        if (status != STATUS_SUCCESS || value[length] == '\0')
            return status;
        value += length + 1;
    }
}

static int options_kind_add(struct options *options, const char *option, const char *value,
                            size_t length, struct failure *failure)
{
    char names[OPTIONS_NAMES_BYTES];
    char name[32];
    const struct choice *kind;

    snprintf(name, sizeof(name), "%.*s", (int)length, value);
    kind = choice_lookup(choice_trace_kinds, name);
    if (kind == NULL || length >= sizeof(name))
        return options_refuse_choice(
            option, name, choice_names(choice_trace_kinds, names, sizeof(names)), failure);
    options->kinds |= UINT32_C(1) << (kind - choice_trace_kinds);
    return STATUS_SUCCESS;
}

/* "all", or a list of kinds. */
static int options_read_kinds(struct options *options, const struct options_spec *spec,
                              const char *value, struct failure *failure)
{
    int status = STATUS_SUCCESS;

    options->kinds = 0;
    if (strcasecmp(value, "all") == 0)
        return STATUS_SUCCESS;
    while (status == STATUS_SUCCESS) {
        size_t length = strcspn(value, ",");

        status = options_kind_add(options, spec->name, value, length, failure);
        if (value[length] == '\0')
            break;
        value += length + 1;
    }
    return status;
}

static int options_read_size(struct options *options, const struct options_spec *spec,
                             const char *value, struct failure *failure)
{
    uint64_t *to = (uint64_t *)((char *)options + spec->offset);
    error_t error = size_parse(value, to);

    if (error == 0)
        return STATUS_SUCCESS;
    return failure_set(failure, STATUS_BAD_INPUT, "--%s: '%s' %s", spec->name, value,
                       size_explain(error));
}

static int options_read_block(struct options *options, const struct options_spec *spec,
                              const char *value, struct failure *failure)
{
    uint64_t bytes;

    if (size_parse(value, &bytes) != 0 || (bytes != 4096 && bytes != 2048 && bytes != 1024))
        return options_refuse_choice(spec->name, value, "4096, 2048, 1024", failure);
    options->block_bytes = bytes;
    return STATUS_SUCCESS;
}

static int options_read_number(struct options *options, const struct options_spec *spec,
                               const char *value, struct failure *failure)
{
    uint64_t *to = (uint64_t *)((char *)options + spec->offset);

    if (number_parse(value, to) != 0 || *to == 0)
        return failure_set(failure, STATUS_BAD_INPUT, "--%s: '%s' is not a number above zero",
                           spec->name, value);
    return STATUS_SUCCESS;
}

static int options_read_tune(struct options *options, const struct options_spec *spec,
                             const char *value, struct failure *failure)
{
    (void)spec;
    return tune_parse(&options->tune, value, failure);
}

/* The same, where zero means none. */
static int options_read_count(struct options *options, const struct options_spec *spec,
                              const char *value, struct failure *failure)
{
    uint64_t *to = (uint64_t *)((char *)options + spec->offset);

    if (number_parse(value, to) != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "--%s: '%s' is not a number", spec->name,
                           value);
    return STATUS_SUCCESS;
}

static int options_read_sector(struct options *options, const struct options_spec *spec,
                               const char *value, struct failure *failure)
{
    int status = options_read_count(options, spec, value, failure);

    if (status == STATUS_SUCCESS && options->fail_sector == OPTIONS_NO_SECTOR)
        return failure_set(failure, STATUS_BAD_INPUT, "--%s: no disk has a sector %s", spec->name,
                           value);
    return status;
}

static int options_read_bool(struct options *options, const struct options_spec *spec,
                             const char *value, struct failure *failure)
{
    bool *to = (bool *)((char *)options + spec->offset);

    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return options_refuse_choice(spec->name, value, "0, 1", failure);
    *to = value[0] == '1';
    return STATUS_SUCCESS;
}

static int options_read_flag(struct options *options, const struct options_spec *spec,
                             const char *value, struct failure *failure)
{
    (void)value;
    (void)failure;
    *(bool *)((char *)options + spec->offset) = true;
    return STATUS_SUCCESS;
}

/* Splits the argument in place: it is NAME=FILE. */
static int options_read_module(struct options *options, const struct options_spec *spec,
                               const char *value, struct failure *failure)
{
    char *equals = strchr(value, '=');

    if (equals == NULL || equals == value || equals[1] == '\0')
        return failure_set(failure, STATUS_BAD_INPUT, "--%s: '%s' is not NAME=FILE", spec->name,
                           value);
    if (options->modules_count == OPTIONS_MODULES_MAX)
        return failure_set(failure, STATUS_BAD_INPUT, "--%s: more than %d modules", spec->name,
                           OPTIONS_MODULES_MAX);
    *equals = '\0';
    options->modules[options->modules_count++] = (struct options_module){value, equals + 1};
    return STATUS_SUCCESS;
}

#define FIELD(name) offsetof(struct options, name)

static const struct options_spec options_specs[] = {
    {"job", "FILE", options_read_text, FIELD(job), NULL, "what to run (jobs/default.job)"},
    {"policy", "P,P,...", options_read_policies, 0, NULL,
     "how pages become writes, a boot each (page,chunk2,run128,merge)"},
    {"merge-max", "BYTES", options_read_size, FIELD(merge_bytes), NULL,
     "largest write of policies that merge messages, to 4M (1M)"},
    {"sync-every", "SECONDS", options_read_count, FIELD(sync_every), NULL,
     "write out what was changed every so often, 0: only when asked (0)"},
    {"size", "BYTES", options_read_size, FIELD(size), NULL, "bytes, instead of what the job says"},
    {"disk", "KIND", options_read_disk, 0, NULL, "ahci, ide or ram (ahci; on amd64 ram)"},
    {"disk-size", "BYTES", options_read_size, FIELD(disk_bytes), NULL, "size of the disk (1G)"},
    {"block", "BYTES", options_read_block, FIELD(block_bytes), NULL,
     "blocks of the ext2 file system: 4096, 2048 or 1024 (4096)"},
    {"fail-sector", "NUMBER", options_read_sector, FIELD(fail_sector), NULL,
     "have reading and writing this sector of the disk fail (none)"},
    {"fail-times", "NUMBER", options_read_count, FIELD(fail_times), NULL,
     "that sector fails so often and then works again, 0: never (0)"},
    {"image", "FILE", options_read_text, FIELD(image), NULL,
     "run on copies of this disk image, instead of fresh disks"},
    {"boot", "WAY", options_read_choice, FIELD(boot), choice_boots, "grub or direct (grub)"},
    {"mem", "BYTES", options_read_size, FIELD(mem_bytes), NULL, "the guest's memory (512M)"},
    {"accel", "KIND", options_read_choice, FIELD(accel), choice_accels, "tcg or kvm (tcg)"},
    {"arch", "ARCH", options_read_choice, FIELD(arch), choice_archs, "i386 or amd64 (i386)"},
    {"machine", "KIND", options_read_choice, FIELD(machine), choice_machines, "pc or q35 (pc)"},
    {"firmware", "KIND", options_read_choice, FIELD(firmware), choice_firmwares,
     "bios, uefi or uefi32 (bios)"},
    {"medium", "KIND", options_read_choice, FIELD(medium), choice_mediums,
     "what GRUB is on: iso or disk (iso)"},
    {"timeout", "SECONDS", options_read_number, FIELD(timeout), NULL, "for each boot (300)"},
    {"name", "NAME", options_read_text, FIELD(name), NULL,
     "the run's folder in BUILD/runs (the job's name)"},
    {"seed", "NUMBER", options_read_number, FIELD(seed), NULL,
     "the data's seed, to repeat a run (a new one)"},
    {"watchdog", "SECONDS", options_read_count, FIELD(watchdog), NULL,
     "report a hang when nothing gets done for so long, 0: never (20)"},
    {"trace", "FORM", options_read_choice, FIELD(trace), choice_traces,
     "events of each request: off, text, ctf or both (off)"},
    {"trace-events", "K,K,...", options_read_kinds, 0, NULL, "kinds of event to record (all)"},
    {"keep", "0|1", options_read_bool, FIELD(keep), NULL, "keep the disks of boots that went well"},
    {"dry", "0|1", options_read_bool, FIELD(dry), NULL, "print QEMU's command lines and stop"},
    {"build", "FOLDER", options_read_text, FIELD(build), NULL, "what was built (build)"},
    {"jobs", "FOLDER", options_read_text, FIELD(jobs), NULL, "job files, for --list (jobs)"},
    {"kernel", "FILE", options_read_text, FIELD(kernel), NULL, "GNU Mach, unpacked"},
    {"kernel-version", "TEXT", options_read_text, FIELD(kernel_version), NULL, "its version"},
    {"kernel-origin", "KIND", options_read_choice, FIELD(origin), choice_origins,
     "package or source (package)"},
    {"kernel-variant", "KIND", options_read_choice, FIELD(variant), choice_variants,
     "up, pae or smp (up)"},
    {"tune", "N=V N=V...", options_read_tune, 0, NULL, "which of its limits were changed (none)"},
    {"iso", "FILE", options_read_text, FIELD(iso), NULL, "the boot CD"},
    {"boot-disk", "FILE", options_read_text, FIELD(boot_disk), NULL,
     "the boot disk, for --medium disk"},
    {"module", "NAME=FILE", options_read_module, 0, NULL,
     "a server, for --boot direct; once for each, startup too"},
    {"make-disk", "PROGRAM", options_read_text, FIELD(make_disk), NULL,
     "makes a disk: PROGRAM IMAGE BYTES BLOCK (disk-images/make-disk.sh)"},
    {"fragment", "PROGRAM", options_read_text, FIELD(fragment), NULL,
     "cuts free space: PROGRAM IMAGE BLOCKS (BUILD/host/machbed-fragment)"},
    {"qemu", "PROGRAM", options_read_text, FIELD(qemu), NULL,
     "QEMU (qemu-system-i386; for amd64 and 64-bit firmware qemu-system-x86_64)"},
    {"qemu-cfg", "FILE", options_read_text, FIELD(qemu_config), NULL, "the machine (qemu.cfg)"},
    {"debugger", "PROGRAM", options_read_text, FIELD(debugger), NULL,
     "stop the machine before it begins, run PROGRAM FOLDER, end when that ends"},
    {"end-with-parent", "0|1", options_read_bool, FIELD(end_with_parent), NULL,
     "end the run when the process that has started it is gone (0)"},
    {"skip-status", "NUMBER", options_read_count, FIELD(skip_status), NULL,
     "what to exit with when the run is skipped, instead of 77"},
    {"list", NULL, options_read_flag, FIELD(list), NULL, "print what there is to choose from"},
    {"help", NULL, options_read_flag, FIELD(help), NULL, "print this"},
};
#define OPTIONS_SPECS (sizeof(options_specs) / sizeof(options_specs[0]))

static const struct options_spec *options_spec_lookup(const char *name, size_t length)
{
    for (size_t i = 0; i < OPTIONS_SPECS; i++) {
        const char *candidate = options_specs[i].name;

        if (strncmp(candidate, name, length) == 0 && candidate[length] == '\0')
            return &options_specs[i];
    }
    return NULL;
}

static void options_init(struct options *options)
{
    *options = (struct options){
        .accel = &choice_accels[0],
        .arch = &choice_archs[0],
        .boot = &choice_boots[0],
        .firmware = &choice_firmwares[0],
        .machine = &choice_machines[0],
        .medium = &choice_mediums[0],
        .origin = &choice_origins[0],
        .trace = &choice_traces[0],
        .variant = &choice_variants[0],
        .build = "build",
        .fail_sector = OPTIONS_NO_SECTOR,
        .job = "jobs/default.job",
        .jobs = "jobs",
        .kernel_version = "unknown",
        .make_disk = "disk-images/make-disk.sh",
        .qemu_config = "qemu.cfg",
        .mem_bytes = 512 * MIB,
        .merge_bytes = MIB,
        .skip_status = STATUS_SKIPPED,
        .timeout = 300,
        .watchdog = 20,
    };
    for (; options->policies_count < OPTIONS_POLICIES_DEFAULT; options->policies_count++)
        options->policies[options->policies_count] = &policies[options->policies_count];
}

/* Reads the option at *ARGUMENT, and its value, and moves *ARGUMENT behind both. */
static int options_argument_read(struct options *options, char ***argument, struct failure *failure)
{
    const char *text = *(*argument)++;
    const char *name = text + 2;
    size_t length = strncmp(text, "--", 2) == 0 ? strcspn(name, "=") : 0;
    const struct options_spec *spec = length == 0 ? NULL : options_spec_lookup(name, length);
    const char *value = NULL;

    if (spec == NULL)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "unknown option '%s'; machbed-run --help lists what there is", text);
    if (name[length] == '=')
        value = name + length + 1;
    else if (spec->value != NULL)
        value = **argument == NULL ? NULL : *(*argument)++;
    if ((value == NULL) != (spec->value == NULL))
        return failure_set(failure, STATUS_BAD_INPUT, "--%s: %s", spec->name,
                           value == NULL ? "its value is missing" : "takes no value");
    return spec->read(options, spec, value, failure);
}

/* The kernel for amd64 has no disk driver: there is memory instead. */
static const struct disk *options_disk_default(const struct options *options)
{
    return strcmp(options->arch->name, "amd64") == 0 ? disk_lookup("ram") : &disks[0];
}

static int options_sizes_check(const struct options *options, struct failure *failure)
{
    if (options->mem_bytes % MIB != 0 || options->mem_bytes < 32 * MIB ||
        options->mem_bytes > 4096 * MIB)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--mem: %s is not a number of MiB from 32M to 4G",
                           SIZE_TEXT(options->mem_bytes));
    if (options->disk_bytes % MIB != 0 || options->disk_bytes < DISK_MIN_BYTES ||
        options->disk_bytes > DISK_MAX_BYTES)
        return failure_set(
            failure, STATUS_BAD_INPUT, "--disk-size: %s is not a number of MiB from %s to %s",
            SIZE_TEXT(options->disk_bytes), SIZE_TEXT(DISK_MIN_BYTES), SIZE_TEXT(DISK_MAX_BYTES));
    if (options->watchdog > TIMEOUT_MAX_SECONDS)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--watchdog: %" PRIu64 " seconds are more than a day",
                           options->watchdog);
    if (options->merge_bytes % PAGE_BYTES != 0 || options->merge_bytes > MERGE_MAX_BYTES)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--merge-max: %s is not a number of pages (4,096 bytes) up to %s",
                           SIZE_TEXT(options->merge_bytes), SIZE_TEXT(MERGE_MAX_BYTES));
    if (options->sync_every > TIMEOUT_MAX_SECONDS)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--sync-every: %" PRIu64 " seconds are more than a day",
                           options->sync_every);
    if (options->timeout > TIMEOUT_MAX_SECONDS)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--timeout: %" PRIu64 " seconds are more than a day", options->timeout);
    if (options->seed > INT64_MAX)
        return failure_set(failure, STATUS_BAD_INPUT, "--seed: %" PRIu64 " is more than %" PRId64,
                           options->seed, INT64_MAX);
    return STATUS_SUCCESS;
}

static int options_trace_check(const struct options *options, struct failure *failure)
{
    if (options->kinds != 0 && options->trace == &choice_traces[0])
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--trace-events: nothing is recorded with --trace off");
    return STATUS_SUCCESS;
}

static int options_fail_check(const struct options *options, struct failure *failure)
{
    if (options->fail_times != 0 && options->fail_sector == OPTIONS_NO_SECTOR)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--fail-times: no sector fails without --fail-sector");
    if (options->fail_sector != OPTIONS_NO_SECTOR && strcmp(options->disk->choice.name, "ram") == 0)
        return failure_set(
            failure, STATUS_BAD_INPUT,
            "--fail-sector: no sector of a disk in memory fails; choose ahci or ide");
    if (options->fail_times > FAIL_TIMES_MAX)
        return failure_set(failure, STATUS_BAD_INPUT, "--fail-times: %s is more than %s",
                           NUMBER_TEXT(options->fail_times), NUMBER_TEXT(FAIL_TIMES_MAX));
    return STATUS_SUCCESS;
}

/* A given image has its own size and blocks, so that one or the other may be asked for. */
static int options_image_check(struct options *options, struct failure *failure)
{
    if (options->image != NULL && (options->disk_bytes != 0 || options->block_bytes != 0))
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--image: a given image has its own size and blocks; leave --%s away",
                           options->disk_bytes != 0 ? "disk-size" : "block");
    if (options->disk_bytes == 0)
        options->disk_bytes = DISK_DEFAULT_BYTES;
    if (options->block_bytes == 0)
        options->block_bytes = BLOCK_DEFAULT_BYTES;
    return STATUS_SUCCESS;
}

int options_name_check(const char *name, struct failure *failure)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);

    if (length == 0 || length > OPTIONS_NAME_MAX || name[0] == '.' ||
        strspn(name, allowed) != length)
        return failure_set(failure, STATUS_BAD_INPUT,
                           "--name: '%s' is no name for a run (1 to %u letters, digits, '.', '_' "
                           "and '-', no '.' in front)",
                           name, OPTIONS_NAME_MAX);
    return STATUS_SUCCESS;
}

static int options_debugger_check(const struct options *options, struct failure *failure)
{
    if (options->debugger == NULL || options->policies_count == 1)
        return STATUS_SUCCESS;
    return failure_set(failure, STATUS_BAD_INPUT, "--policy: with a debugger there is one, not %zu",
                       options->policies_count);
}

int options_parse(struct options *options, int argc, char **argv, struct failure *failure)
{
    char **argument = argv + (argc > 0);
    int status = STATUS_SUCCESS;

    options_init(options);
    while (status == STATUS_SUCCESS && *argument != NULL)
        status = options_argument_read(options, &argument, failure);
    if (status == STATUS_SUCCESS && options->name != NULL)
        status = options_name_check(options->name, failure);
    if (options->disk == NULL)
        options->disk = options_disk_default(options);
    if (status == STATUS_SUCCESS)
        status = options_image_check(options, failure);
    if (status == STATUS_SUCCESS)
        status = options_sizes_check(options, failure);
    if (status == STATUS_SUCCESS)
        status = options_trace_check(options, failure);
    if (status == STATUS_SUCCESS)
        status = options_fail_check(options, failure);
    if (status == STATUS_SUCCESS)
        status = options_debugger_check(options, failure);
    return status;
}

void options_print_help(FILE *stream)
{
    fprintf(stream,
            "usage: machbed-run [--OPTION VALUE]...\n\n"
            "Boots GNU Mach and the servers of a job in QEMU, once for each policy, and\n"
            "checks and prints what was written at each layer.\n\n"
            "Sizes are bytes, or have K, M or G behind them. Defaults stand in brackets.\n\n");
    for (size_t i = 0; i < OPTIONS_SPECS; i++) {
        const struct options_spec *spec = &options_specs[i];
        char left[64];

        snprintf(left, sizeof(left), "--%s %s", spec->name, spec->value ? spec->value : "");
        fprintf(stream, "  %-24s %s\n", left, spec->what);
    }
    fprintf(
        stream,
        "\nStatus: 0 all is well; 77 skipped; 10 no end in time, or a hang; 99 a check failed\n"
        "or a task crashed; 12 the kernel panicked or stopped silently; 2 bad input, a missing\n"
        "file or tool, or QEMU did not start; 128 and the signal's number if one ended the run.\n"
        "Over several boots it is the first that is not 0.\n");
}
