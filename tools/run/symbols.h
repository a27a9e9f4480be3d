// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions of a program, from its ELF file, to say what an address is. */
#ifndef RUN_SYMBOLS_H
#define RUN_SYMBOLS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "failure.h"

#define SYMBOLS_TEXT_BYTES 160

struct symbols_function {
    uint64_t address;
    char *name;
};

struct symbols {
    const char *program; /* its name, for people; not copied */
    uint64_t start;      /* of its code; empty when both are equal */
    uint64_t end;
    struct symbols_function *functions; /* ascending */
    size_t count;                       /* 0: the file has no symbols */
};

/* Read the ELF file PATH, of 32 or 64 bits. => ENOEXEC: it is none; or another errno value. */
error_t symbols_init(struct symbols *symbols, const char *program, const char *path);
void symbols_destroy(struct symbols *symbols);

/* Whether ADDRESS lies in the program's code. */
bool symbols_has(const struct symbols *symbols, uint64_t address);

/* Write what ADDRESS, in the program's code, is: "pager: pager_sync+0x1f"; without symbols how far
   it is from the code's start. Returns TEXT. */
const char *symbols_print(const struct symbols *symbols, uint64_t address,
                          char text[SYMBOLS_TEXT_BYTES]);

#endif
