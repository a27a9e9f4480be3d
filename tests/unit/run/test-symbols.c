// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <unistd.h>

#include "run-test.h"
#include "symbols.h"

/* A program of 32 bits: code at 0xc1000000, and, if SYMBOLS, the functions first and second. */
struct program {
    Elf32_Ehdr head;
    Elf32_Shdr sections[4];
    Elf32_Sym symbols[4];
    char names[32];
};

static struct program sample_program(void)
{
    struct program p = {.names = "\0first\0second\0outside"};

    memcpy(p.head.e_ident, ELFMAG, SELFMAG);
    p.head.e_ident[EI_CLASS] = ELFCLASS32;
    p.head.e_shoff = offsetof(struct program, sections);
    p.head.e_shnum = 4;
    p.sections[1] = (Elf32_Shdr){.sh_type = SHT_PROGBITS,
                                 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                 .sh_addr = 0xc1000000,
                                 .sh_size = 0x1000};
    p.sections[2] = (Elf32_Shdr){.sh_type = SHT_SYMTAB,
                                 .sh_offset = offsetof(struct program, symbols),
                                 .sh_size = sizeof(p.symbols),
                                 .sh_link = 3};
    p.sections[3] = (Elf32_Shdr){.sh_type = SHT_STRTAB,
                                 .sh_offset = offsetof(struct program, names),
                                 .sh_size = sizeof(p.names)};
    p.symbols[1] = (Elf32_Sym){.st_name = 7,
                               .st_value = 0xc1000100,
                               .st_shndx = 1,
                               .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC)};
    p.symbols[2] = (Elf32_Sym){.st_name = 1,
                               .st_value = 0xc1000010,
                               .st_shndx = 1,
                               .st_info = ELF32_ST_INFO(STB_LOCAL, STT_FUNC)};
    p.symbols[3] = (Elf32_Sym){.st_name = 14,
                               .st_value = 0xc2000000,
                               .st_shndx = 1,
                               .st_info = ELF32_ST_INFO(STB_LOCAL, STT_FUNC)};
    return p;
}

/* Reads SIZE bytes at DATA as a program called "kernel". */
static error_t read_program(struct symbols *symbols, const void *data, size_t size)
{
    char path[] = "/tmp/machbed-symbols-XXXXXX";
    int file = mkstemp(path);
    error_t error;

    assert_true(file >= 0);
    assert_int_equal(write(file, data, size), size);
    close(file);
    error = symbols_init(symbols, "kernel", path);
    unlink(path);
    return error;
}

static void an_address_is_named_by_the_function_it_is_in(void **state)
{
    struct program p = sample_program();
    char text[SYMBOLS_TEXT_BYTES];
    struct symbols symbols;

    (void)state;
    assert_int_equal(read_program(&symbols, &p, sizeof(p)), 0);
    assert_int_equal(symbols.count, 2);
    assert_string_equal(symbols_print(&symbols, 0xc10000ff, text), "kernel: first+0xef");
    assert_string_equal(symbols_print(&symbols, 0xc1000100, text), "kernel: second+0x0");
    assert_true(symbols_has(&symbols, 0xc1000fff));
    assert_false(symbols_has(&symbols, 0xc1001000));
    symbols_destroy(&symbols);
}

static void an_address_before_all_functions_is_counted_from_the_codes_start(void **state)
{
    struct program p = sample_program();
    char text[SYMBOLS_TEXT_BYTES];
    struct symbols symbols;

    (void)state;
    assert_int_equal(read_program(&symbols, &p, sizeof(p)), 0);
    assert_contains(symbols_print(&symbols, 0xc1000004, text), "+0x4");
    symbols_destroy(&symbols);
}

static void a_program_without_symbols_still_has_its_code(void **state)
{
    struct program p = sample_program();
    char text[SYMBOLS_TEXT_BYTES];
    struct symbols symbols;

    (void)state;
    p.sections[2].sh_type = SHT_NULL;
    assert_int_equal(read_program(&symbols, &p, sizeof(p)), 0);
    assert_int_equal(symbols.count, 0);
    assert_true(symbols_has(&symbols, 0xc1000004));
    assert_string_equal(symbols_print(&symbols, 0xc1000004, text), "kernel, no symbols: +0x4");
    symbols_destroy(&symbols);
}

static void a_program_of_64_bits_is_read_too(void **state)
{
    char text[SYMBOLS_TEXT_BYTES];
    struct symbols symbols;

    (void)state;
    /* This program itself; where it lies in memory is another matter. */
    assert_int_equal(symbols_init(&symbols, "test", "/proc/self/exe"), 0);
    assert_true(symbols.count > 100);
    for (size_t i = 0; i < symbols.count; i++)
        if (strcmp(symbols.functions[i].name, "symbols_init") == 0)
            assert_string_equal(symbols_print(&symbols, symbols.functions[i].address, text),
                                "test: symbols_init+0x0");
    symbols_destroy(&symbols);
}

static void a_damaged_file_gives_what_is_there(void **state)
{
    struct program whole = sample_program();
    struct symbols symbols;

    (void)state;
    for (size_t size = 0; size < sizeof(whole); size++)
        if (read_program(&symbols, &whole, size) == 0)
            symbols_destroy(&symbols);
    for (size_t at = 0; at < sizeof(whole); at++) {
        struct program p = whole;

        ((unsigned char *)&p)[at] ^= 0xff;
        if (read_program(&symbols, &p, sizeof(p)) == 0)
            symbols_destroy(&symbols);
    }
}

static void what_is_no_program_is_refused(void **state)
{
    static const char text[] = "#!/bin/sh\nexit 0\n# and a little more, to be long enough\n";
    struct symbols symbols;

    (void)state;
    assert_int_equal(read_program(&symbols, text, sizeof(text)), ENOEXEC);
    assert_int_equal(read_program(&symbols, "", 0), ENOEXEC);
    assert_int_equal(symbols_init(&symbols, "none", "/tmp/machbed-none"), ENOENT);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_named_by_the_function_it_is_in),
        cmocka_unit_test(an_address_before_all_functions_is_counted_from_the_codes_start),
        cmocka_unit_test(a_program_without_symbols_still_has_its_code),
        cmocka_unit_test(a_program_of_64_bits_is_read_too),
        cmocka_unit_test(a_damaged_file_gives_what_is_there),
        cmocka_unit_test(what_is_no_program_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
