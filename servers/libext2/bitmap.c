// SPDX-License-Identifier: GPL-2.0-or-later
/* Bits in memory, a word at a time. Bitmaps are blocks, so they are aligned to words and made of
   whole ones. */
#include "libext2/private.h"

typedef unsigned long word_t;

#define WORD_BITS (8u * (uint32_t)sizeof(word_t))

/* The first bit of the word at FROM, or after it, that is 1 in BITS ^ FLIP. */
static uint32_t ext2_bits_next(const word_t *words, uint32_t from, uint32_t end, word_t flip)
{
    if (from >= end)
        return end;
    uint32_t i = from / WORD_BITS;
    word_t word = (words[i] ^ flip) & (~(word_t)0 << from % WORD_BITS);
    while (word == 0 && ++i * WORD_BITS < end)
        word = words[i] ^ flip;
    if (word == 0)
        return end;
    uint32_t bit = i * WORD_BITS + (uint32_t)__builtin_ctzl(word);
    return bit < end ? bit : end;
}

uint32_t ext2_bits_next_zero(const void *bits, uint32_t from, uint32_t end)
{
    return ext2_bits_next(bits, from, end, ~(word_t)0);
}

uint32_t ext2_bits_next_one(const void *bits, uint32_t from, uint32_t end)
{
    return ext2_bits_next(bits, from, end, 0);
}

/* The bits of word I that lie in FROM to END. */
static word_t ext2_bits_mask(uint32_t i, uint32_t from, uint32_t end)
{
    word_t mask = ~(word_t)0;
    if (i == from / WORD_BITS)
        mask &= ~(word_t)0 << from % WORD_BITS;
    if (i == (end - 1) / WORD_BITS)
        mask &= ~(word_t)0 >> (WORD_BITS - 1 - (end - 1) % WORD_BITS);
    return mask;
}

void ext2_bits_set(void *bits, uint32_t from, uint32_t count)
{
    word_t *words = bits;
    uint32_t end = from + count;
    for (uint32_t i = from / WORD_BITS; count > 0 && i * WORD_BITS < end; i++)
        words[i] |= ext2_bits_mask(i, from, end);
}

void ext2_bits_clear(void *bits, uint32_t from, uint32_t count)
{
    word_t *words = bits;
    uint32_t end = from + count;
    for (uint32_t i = from / WORD_BITS; count > 0 && i * WORD_BITS < end; i++)
        words[i] &= ~ext2_bits_mask(i, from, end);
}
