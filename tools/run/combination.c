// SPDX-License-Identifier: GPL-2.0-or-later
#include "combination.h"

#include <stdbool.h>
#include <string.h>

/* Does not work, for REASON. What is NULL may be anything. */
struct combination {
    const char *arch;
    const char *machine;
    const char *firmware;
    const char *disk;
    const char *boot;
    const char *variant;
    const char *reason;
};

#define SMP_REASON                                                                                 \
    "the kernel's disk drivers are not made for several processors, so that this one has none"

static const struct combination combinations[] = {
    {.arch = "amd64",
     .disk = "ahci",
     .reason = "GNU Mach for amd64 has no disk driver; use DISK=ram"},
    {.arch = "amd64",
     .disk = "ide",
     .reason = "GNU Mach for amd64 has no disk driver; use DISK=ram"},
    {.arch = "amd64",
     .boot = "direct",
     .reason = "QEMU's own loader takes no 64-bit kernel; use BOOT=grub"},
    {.machine = "pc",
     .firmware = "uefi32",
     .reason = "Debian's 32-bit UEFI firmware needs system management mode, which pc does not "
               "offer; use MACHINE=q35"},
    {.machine = "q35", .disk = "ide", .reason = "q35 has no IDE controller; use DISK=ahci"},
    {.firmware = "uefi",
     .boot = "direct",
     .reason = "under UEFI QEMU's own loader starts no multiboot kernel; use BOOT=grub"},
    {.firmware = "uefi32",
     .boot = "direct",
     .reason = "under UEFI QEMU's own loader starts no multiboot kernel; use BOOT=grub"},
    {.variant = "smp",
     .boot = "direct",
     .reason = "started by QEMU's own loader, this kernel stops before it has a console; use "
               "BOOT=grub"},
    {.variant = "smp", .disk = "ahci", .reason = SMP_REASON},
    {.variant = "smp", .disk = "ide", .reason = SMP_REASON},
};
#define COMBINATIONS (sizeof(combinations) / sizeof(combinations[0]))

static bool combination_word_fits(const char *word, const char *name)
{
    return word == NULL || strcmp(word, name) == 0;
}

static bool combination_fits(const struct combination *combination, const struct options *options)
{
    return combination_word_fits(combination->arch, options->arch->name) &&
           combination_word_fits(combination->machine, options->machine->name) &&
           combination_word_fits(combination->firmware, options->firmware->name) &&
           combination_word_fits(combination->disk, options->disk->choice.name) &&
           combination_word_fits(combination->boot, options->boot->name) &&
           combination_word_fits(combination->variant, options->variant->name);
}

/* Why this cannot work, or NULL if it can. */
static const char *combination_reason(const struct options *options)
{
    for (size_t i = 0; i < COMBINATIONS; i++) {
        if (combination_fits(&combinations[i], options))
            return combinations[i].reason;
    }
    return NULL;
}

int combination_check(const struct options *options, struct failure *failure)
{
    const char *reason = combination_reason(options);

    if (reason == NULL)
        return STATUS_SUCCESS;
    return failure_set(failure, STATUS_SKIPPED,
                       "ARCH=%s MACHINE=%s FIRMWARE=%s DISK=%s BOOT=%s: %s", options->arch->name,
                       options->machine->name, options->firmware->name, options->disk->choice.name,
                       options->boot->name, reason);
}

/* The ways to boot of a combination: "grub", "grub, direct", or "" if it does not exist. */
static void combination_boots(struct options *options, char *text, size_t bytes)
{
    text[0] = '\0';
    for (options->boot = choice_boots; options->boot->name != NULL; options->boot++) {
        size_t used = strlen(text);

        if (combination_reason(options) == NULL)
            snprintf(text + used, bytes - used, "%s%s", used == 0 ? "" : ", ", options->boot->name);
    }
}

static void combination_line_print(struct options *options, FILE *stream)
{
    char boots[64];

    combination_boots(options, boots, sizeof(boots));
    if (boots[0] != '\0')
        fprintf(stream, "  %-6s %-8s %-9s %-6s %s\n", options->arch->name, options->machine->name,
                options->firmware->name, options->disk->choice.name, boots);
}

static void combination_disks_list(struct options *options, FILE *stream)
{
    for (size_t i = 0; i < disks_count; i++) {
        options->disk = &disks[i];
        combination_line_print(options, stream);
    }
}

static void combination_words_print(const struct combination *combination, FILE *stream)
{
    const char *const words[][2] = {
        {"ARCH", combination->arch},         {"MACHINE", combination->machine},
        {"FIRMWARE", combination->firmware}, {"DISK", combination->disk},
        {"BOOT", combination->boot},         {"VARIANT", combination->variant}};

    fputc(' ', stream);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i][1] != NULL)
            fprintf(stream, " %s=%s", words[i][0], words[i][1]);
    }
    fprintf(stream, ": %s\n", combination->reason);
}

void combination_list(FILE *stream)
{
    struct options options = {.variant = choice_variants};

    fprintf(stream,
            "\nmachines that exist, each with MEDIUM=iso or disk\n  %-6s %-8s %-9s %-6s %s\n",
            "ARCH", "MACHINE", "FIRMWARE", "DISK", "BOOT");
    for (options.arch = choice_archs; options.arch->name != NULL; options.arch++) {
        for (options.machine = choice_machines; options.machine->name != NULL; options.machine++) {
            for (options.firmware = choice_firmwares; options.firmware->name != NULL;
                 options.firmware++)
                combination_disks_list(&options, stream);
        }
    }
    fprintf(stream, "\nand those that do not (status 77)\n");
    for (size_t i = 0; i < COMBINATIONS; i++)
        combination_words_print(&combinations[i], stream);
}
