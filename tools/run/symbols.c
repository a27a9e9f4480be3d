// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two ELF formats differ in where fields stand and in how wide addresses are: a table says that
 * for each, from <elf.h>'s structures. A file is read whole, and what lies outside of it reads as
 * 0.
 */
#include "symbols.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_FILE_MAX (UINT64_C(1) << 28)

/* Where fields stand. Those that are as wide as an address are marked with (w). */
struct symbols_layout {
    unsigned word;        /* bytes of an address */
    size_t head_sections; /* (w) in the file's head, 2 bytes each: */
    size_t head_count;
    size_t section_bytes; /* of a section's head; in it, 4 bytes each: */
    size_t section_type;
    size_t section_link;
    size_t section_flags;  /* (w) */
    size_t section_addr;   /* (w) */
    size_t section_offset; /* (w) */
    size_t section_size;   /* (w) */
    size_t symbol_bytes;   /* of a symbol; in it: */
    size_t symbol_name;    /* 4 bytes */
    size_t symbol_info;    /* 1 byte */
    size_t symbol_section; /* 2 bytes */
    size_t symbol_value;   /* (w) */
};

#define SYMBOLS_LAYOUT(bits)                                                                       \
    {                                                                                              \
        .word = (bits) / 8, .head_sections = offsetof(Elf##bits##_Ehdr, e_shoff),                  \
        .head_count = offsetof(Elf##bits##_Ehdr, e_shnum),                                         \
        .section_bytes = sizeof(Elf##bits##_Shdr),                                                 \
        .section_type = offsetof(Elf##bits##_Shdr, sh_type),                                       \
        .section_link = offsetof(Elf##bits##_Shdr, sh_link),                                       \
        .section_flags = offsetof(Elf##bits##_Shdr, sh_flags),                                     \
        .section_addr = offsetof(Elf##bits##_Shdr, sh_addr),                                       \
        .section_offset = offsetof(Elf##bits##_Shdr, sh_offset),                                   \
        .section_size = offsetof(Elf##bits##_Shdr, sh_size),                                       \
        .symbol_bytes = sizeof(Elf##bits##_Sym),                                                   \
        .symbol_name = offsetof(Elf##bits##_Sym, st_name),                                         \
        .symbol_info = offsetof(Elf##bits##_Sym, st_info),                                         \
        .symbol_section = offsetof(Elf##bits##_Sym, st_shndx),                                     \
        .symbol_value = offsetof(Elf##bits##_Sym, st_value),                                       \
    }

static const struct symbols_layout symbols_layouts[] = {
    [ELFCLASS32] = SYMBOLS_LAYOUT(32),
    [ELFCLASS64] = SYMBOLS_LAYOUT(64),
};

struct symbols_file {
    const struct symbols_layout *layout;
    const unsigned char *data;
    uint64_t bytes;
};

struct symbols_section {
    uint64_t type;
    uint64_t link;
    uint64_t flags;
    uint64_t address;
    uint64_t offset;
    uint64_t bytes;
};

static uint64_t symbols_number(const struct symbols_file *file, uint64_t offset, unsigned width)
{
    uint64_t number = 0;

    if (offset > file->bytes || width > file->bytes - offset)
        return 0;
    while (width-- > 0)
        number = number << 8 | file->data[offset + width];
    return number;
}

static uint64_t symbols_sections(const struct symbols_file *file)
{
    return symbols_number(file, file->layout->head_count, 2);
}

static struct symbols_section symbols_section(const struct symbols_file *file, uint64_t index)
{
    const struct symbols_layout *layout = file->layout;
    uint64_t at =
        symbols_number(file, layout->head_sections, layout->word) + index * layout->section_bytes;

    return (struct symbols_section){
        .type = symbols_number(file, at + layout->section_type, 4),
        .link = symbols_number(file, at + layout->section_link, 4),
        .flags = symbols_number(file, at + layout->section_flags, layout->word),
        .address = symbols_number(file, at + layout->section_addr, layout->word),
        .offset = symbols_number(file, at + layout->section_offset, layout->word),
        .bytes = symbols_number(file, at + layout->section_size, layout->word),
    };
}

/* The string at OFFSET of the section NAMES, or NULL. */
static const char *symbols_string(const struct symbols_file *file,
                                  const struct symbols_section *names, uint64_t offset)
{
    uint64_t at = names->offset + offset;

    if (offset >= names->bytes || at < offset || at >= file->bytes ||
        memchr(file->data + at, '\0', file->bytes - at) == NULL)
        return NULL;
    return (const char *)file->data + at;
}

static error_t symbols_add(struct symbols *symbols, uint64_t address, const char *name)
{
    struct symbols_function *grown = symbols->functions;

    if ((symbols->count & (symbols->count - 1)) == 0)
        grown = reallocarray(grown, symbols->count == 0 ? 1 : 2 * symbols->count, sizeof(*grown));
    if (grown == NULL)
        return ENOMEM;
    symbols->functions = grown;
    grown[symbols->count] = (struct symbols_function){address, strdup(name)};
    if (grown[symbols->count].name == NULL)
        return ENOMEM;
    symbols->count++;
    return 0;
}

/* Take the symbol at offset AT of the file if it is a place in the program's code. */
static error_t symbols_take(struct symbols *symbols, const struct symbols_file *file,
                            const struct symbols_section *names, uint64_t at)
{
    const struct symbols_layout *layout = file->layout;
    uint64_t value = symbols_number(file, at + layout->symbol_value, layout->word);
    unsigned type = ELF32_ST_TYPE(symbols_number(file, at + layout->symbol_info, 1));
    const char *name =
        symbols_string(file, names, symbols_number(file, at + layout->symbol_name, 4));

    if (name == NULL || *name == '\0' || (type != STT_FUNC && type != STT_NOTYPE) ||
        symbols_number(file, at + layout->symbol_section, 2) == SHN_UNDEF ||
        !symbols_has(symbols, value))
        return 0;
    return symbols_add(symbols, value, name);
}

static error_t symbols_table_read(struct symbols *symbols, const struct symbols_file *file,
                                  const struct symbols_section *table)
{
    struct symbols_section names = symbols_section(file, table->link);
    uint64_t step = file->layout->symbol_bytes;
    error_t error = 0;

    if (table->offset > file->bytes || table->bytes > file->bytes - table->offset)
        return ENOEXEC;
    for (uint64_t at = 0; at + step <= table->bytes && error == 0; at += step)
        error = symbols_take(symbols, file, &names, table->offset + at);
    return error;
}

static void symbols_code_read(struct symbols *symbols, const struct symbols_file *file)
{
    for (uint64_t i = 0; i < symbols_sections(file); i++) {
        struct symbols_section section = symbols_section(file, i);

        if ((section.flags & SHF_EXECINSTR) == 0)
            continue;
        if (symbols->start == symbols->end)
            symbols->start = section.address;
        symbols->end = section.address + section.bytes;
    }
}

static int symbols_compare(const void *a, const void *b)
{
    const struct symbols_function *left = a;
    const struct symbols_function *right = b;

    return (left->address > right->address) - (left->address < right->address);
}

static error_t symbols_read(struct symbols *symbols, struct symbols_file *file)
{
    unsigned class = file->bytes < EI_NIDENT ? ELFCLASSNONE : file->data[EI_CLASS];
    error_t error = 0;

    if ((class != ELFCLASS32 && class != ELFCLASS64) || memcmp(file->data, ELFMAG, SELFMAG) != 0)
        return ENOEXEC;
    file->layout = &symbols_layouts[class];
    symbols_code_read(symbols, file);
    for (uint64_t i = 0; i < symbols_sections(file) && error == 0; i++) {
        struct symbols_section section = symbols_section(file, i);

        if (section.type == SHT_SYMTAB)
            error = symbols_table_read(symbols, file, &section);
    }
    if (symbols->count > 0)
        qsort(symbols->functions, symbols->count, sizeof(*symbols->functions), symbols_compare);
    return error;
}

static error_t symbols_file_read(FILE *stream, unsigned char **data, uint64_t *bytes)
{
    long end = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : -1;

    if (end < 0 || (uint64_t)end > SYMBOLS_FILE_MAX)
        return ENOEXEC;
    rewind(stream);
    *data = malloc((size_t)end + 1);
    if (*data == NULL)
        return ENOMEM;
    *bytes = fread(*data, 1, (size_t)end, stream);
    return 0;
}

error_t symbols_init(struct symbols *symbols, const char *program, const char *path)
{
    FILE *stream = fopen(path, "re");
    unsigned char *data = NULL;
    struct symbols_file file = {0};
    error_t error;

    *symbols = (struct symbols){.program = program};
    if (stream == NULL)
        return errno;
    error = symbols_file_read(stream, &data, &file.bytes);
    fclose(stream);
    file.data = data;
    if (error == 0)
        error = symbols_read(symbols, &file);
    free(data);
    if (error != 0)
        symbols_destroy(symbols);
    return error;
}

void symbols_destroy(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->count; i++)
        free(symbols->functions[i].name);
    free(symbols->functions);
    *symbols = (struct symbols){.program = symbols->program};
}

bool symbols_has(const struct symbols *symbols, uint64_t address)
{
    return address >= symbols->start && address < symbols->end;
}

/* The last function at or below ADDRESS, or NULL. */
static const struct symbols_function *symbols_lookup(const struct symbols *symbols,
                                                     uint64_t address)
{
    size_t low = 0;
    size_t high = symbols->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (symbols->functions[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : &symbols->functions[low - 1];
}

const char *symbols_print(const struct symbols *symbols, uint64_t address,
                          char text[SYMBOLS_TEXT_BYTES])
{
    const struct symbols_function *function = symbols_lookup(symbols, address);

    if (function != NULL)
        snprintf(text, SYMBOLS_TEXT_BYTES, "%s: %.100s+0x%" PRIx64, symbols->program,
                 function->name, address - function->address);
    else
        snprintf(text, SYMBOLS_TEXT_BYTES, "%s, no symbols: +0x%" PRIx64, symbols->program,
                 address - symbols->start);
    return text;
}
