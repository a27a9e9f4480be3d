// SPDX-License-Identifier: GPL-2.0-or-later
#include "choice.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct choice choice_accels[] = {
    {"tcg", "QEMU translates the guest's code; works everywhere"},
    {"kvm", "the host's processor runs the guest; where it works"},
    {NULL, NULL},
};

const struct choice choice_archs[] = {
    {"i386", "32-bit GNU Mach"},
    {"amd64", "64-bit GNU Mach; it has no disk driver"},
    {NULL, NULL},
};

const struct choice choice_boots[] = {
    {"grub", "GRUB on the boot medium loads the kernel and the servers"},
    {"direct", "QEMU loads them itself; a second faster"},
    {NULL, NULL},
};

const struct choice choice_firmwares[] = {
    {"bios", "SeaBIOS"},
    {"uefi", "64-bit OVMF; ten seconds slower"},
    {"uefi32", "32-bit OVMF, on q35; ten seconds slower"},
    {NULL, NULL},
};

const struct choice choice_machines[] = {
    {"pc", "i440FX of 1996, with IDE"},
    {"q35", "Q35 of 2007, with AHCI"},
    {NULL, NULL},
};

const struct choice choice_mediums[] = {
    {"iso", "a CD"},
    {"disk", "a hard disk with an EFI system partition"},
    {NULL, NULL},
};

const struct choice choice_origins[] = {
    {"package", "Debian's binary package"},
    {"source", "built from source"},
    {NULL, NULL},
};

const struct choice choice_traces[] = {
    {"off", "no events; counters are always on"},
    {"text", "an event for each request and layer, on the console"},
    {"ctf", "the same events as CTF, in the folder ctf: for babeltrace2 and Trace Compass"},
    {"both", "the same events in both forms"},
    {NULL, NULL},
};

const struct choice choice_variants[] = {
    {"up", "one processor"},
    {"pae", "one processor, PAE: page tables of 64-bit entries (i386)"},
    {"smp", "several processors; has no disk drivers (i386)"},
    {NULL, NULL},
};

const struct choice choice_trace_kinds[] = {
    {"op", "an operation of the workload"},
    {"io", "an RPC of a file or of the pager server"},
    {"data_request", "a page that the kernel asks for"},
    {"data_unlock", "a page that the kernel wants to write to"},
    {"data_return", "pages that the kernel returns"},
    {"lock_request", "a window of a sync, flush or return"},
    {"run", "returns that are written together"},
    {"alloc_lock", "waiting for a file's allocation lock, and holding it"},
    {"store_write", "a write to the device"},
    {"store_read", "a read from the device"},
    {"memory", "how many pages of the machine are free, every 50 ms"},
    {NULL, NULL},
};

const struct policy policies[] = {
    {{"page", "one page a store_write"}, PAGE_BYTES, "one page"},
    {{"chunk2", "runs of at most 2 pages"}, 2 * PAGE_BYTES, "2 pages"},
    {{"run128", "runs of consecutive pages, at most 128"}, 128 * PAGE_BYTES, "128 pages"},
    {{"merge", "runs of consecutive pages from all queued messages, at most MERGE_MAX"},
     0,
     "MERGE_MAX"},
    {{"adaptive", "the same, shorter while somebody waits for the file's allocation lock"},
     0,
     "MERGE_MAX"},
};
const size_t policies_count = sizeof(policies) / sizeof(policies[0]);

/* Two blanks: the kernel's parser eats one together with the word before it. Without the noprobe
   words it waits a second for drives on the legacy ports; on q35 with SeaBIOS for ever. */
const struct disk disks[] = {
    {{"ahci", "SATA disk on an ICH9 AHCI controller"}, "sd0", "ide0=noprobe  ide1=noprobe"},
    {{"ide", "IDE disk on the PIIX3 controller"}, "hd0", "ide1=noprobe"},
    {{"ram", "memory of the server's instead of a disk"}, "ram0", "noide"},
};
const size_t disks_count = sizeof(disks) / sizeof(disks[0]);

const struct choice *choice_lookup(const struct choice *table, const char *name)
{
    for (; table->name != NULL; table++) {
        if (strcasecmp(table->name, name) == 0)
            return table;
    }
    return NULL;
}

const struct policy *policy_lookup(const char *name)
{
    for (size_t i = 0; i < policies_count; i++) {
        if (strcasecmp(policies[i].choice.name, name) == 0)
            return &policies[i];
    }
    return NULL;
}

const struct disk *disk_lookup(const char *name)
{
    for (size_t i = 0; i < disks_count; i++) {
        if (strcasecmp(disks[i].choice.name, name) == 0)
            return &disks[i];
    }
    return NULL;
}

static void choice_append_name(const char *name, char *text, size_t bytes)
{
    size_t used = strlen(text);

    snprintf(text + used, bytes - used, "%s%s", used == 0 ? "" : ", ", name);
}

const char *choice_names(const struct choice *table, char *text, size_t bytes)
{
    text[0] = '\0';
    for (; table->name != NULL; table++)
        choice_append_name(table->name, text, bytes);
    return text;
}

const char *policy_names(char *text, size_t bytes)
{
    text[0] = '\0';
    for (size_t i = 0; i < policies_count; i++)
        choice_append_name(policies[i].choice.name, text, bytes);
    return text;
}

const char *disk_names(char *text, size_t bytes)
{
    text[0] = '\0';
    for (size_t i = 0; i < disks_count; i++)
        choice_append_name(disks[i].choice.name, text, bytes);
    return text;
}
