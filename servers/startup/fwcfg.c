// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU's firmware configuration device: select an item by writing its number to port 0x510, then
 * read its bytes from port 0x511 (QEMU, docs/specs/fw_cfg). Item 0x19 lists the named ones: a count
 * of 32 bits, then entries of 64 bytes, numbers big-endian.
 */
#include <string.h>

#include "librt/x86/arch.h"
#include "startup/startup.h"

#define FWCFG_SELECTOR  0x510
#define FWCFG_DATA      0x511
#define FWCFG_SIGNATURE 0x0000 /* reads "QEMU" */
#define FWCFG_DIRECTORY 0x0019

struct fwcfg_file {
    uint8_t size[4];
    uint8_t select[2];
    uint8_t reserved[2];
    char name[56];
};

static void startup_fwcfg_bytes(void *data, size_t size)
{
    uint8_t *bytes = data;

    for (size_t i = 0; i < size; i++)
        bytes[i] = rt_arch_in8(FWCFG_DATA);
}

static uint32_t startup_fwcfg_number(const uint8_t *bytes, size_t size)
{
    uint32_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | bytes[i];
    return number;
}

static bool startup_fwcfg_present(void)
{
    char signature[4];

    rt_arch_out16(FWCFG_SELECTOR, FWCFG_SIGNATURE);
    startup_fwcfg_bytes(signature, sizeof(signature));
    return memcmp(signature, "QEMU", sizeof(signature)) == 0;
}

static error_t startup_fwcfg_find(const char *name, struct fwcfg_file *file)
{
    uint8_t count[4];

    rt_arch_out16(FWCFG_SELECTOR, FWCFG_DIRECTORY);
    startup_fwcfg_bytes(count, sizeof(count));
    for (uint32_t left = startup_fwcfg_number(count, sizeof(count)); left > 0; left--) {
        startup_fwcfg_bytes(file, sizeof(*file));
        if (strncmp(file->name, name, sizeof(file->name)) == 0)
            return 0;
    }
    return ENOENT;
}

error_t startup_fwcfg_read(const char *name, char *text, size_t size)
{
    struct fwcfg_file file;
    uint32_t length;

    if (!startup_fwcfg_present() || startup_fwcfg_find(name, &file) != 0)
        return ENOENT;
    length = startup_fwcfg_number(file.size, sizeof(file.size));
    if (length >= size)
        return EMSGSIZE;
    rt_arch_out16(FWCFG_SELECTOR, (uint16_t)startup_fwcfg_number(file.select, 2));
    startup_fwcfg_bytes(text, length);
    text[length] = '\0';
    return 0;
}

void startup_fwcfg_mark(unsigned int mark)
{
    rt_arch_out16(FWCFG_SELECTOR, (uint16_t)mark);
}
