/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server's symbol table: RT_SYMBOLS_FILE is what nm said of the first link. */
        .section .rt_symbols, "a"
        .incbin RT_SYMBOLS_FILE
        .section .note.GNU-stack, "", @progbits
