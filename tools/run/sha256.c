// SPDX-License-Identifier: GPL-2.0-or-later
#include "sha256.h"

#include <stdint.h>
#include <string.h>

#define SHA256_BLOCK_BYTES  64u
#define SHA256_LENGTH_BYTES 8u

struct sha256 {
    uint32_t state[8];
};

/* FIPS 180-4, 4.2.2 */
static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t sha256_rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

/* The message schedule (6.2.2, step 1). */
static void sha256_schedule(uint32_t w[64], const uint8_t block[SHA256_BLOCK_BYTES])
{
    for (unsigned t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (unsigned t = 16; t < 64; t++) {
        uint32_t a = w[t - 15];
        uint32_t b = w[t - 2];

        w[t] = (sha256_rotate(b, 17) ^ sha256_rotate(b, 19) ^ b >> 10) + w[t - 7] +
               (sha256_rotate(a, 7) ^ sha256_rotate(a, 18) ^ a >> 3) + w[t - 16];
    }
}

/* One of the 64 rounds (6.2.2, step 3) on the variables a to h. */
static void sha256_round(uint32_t v[8], uint32_t constant, uint32_t word)
{
    uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
    uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    uint32_t t1 = v[7] + choose + constant + word +
                  (sha256_rotate(v[4], 6) ^ sha256_rotate(v[4], 11) ^ sha256_rotate(v[4], 25));
    uint32_t t2 =
        majority + (sha256_rotate(v[0], 2) ^ sha256_rotate(v[0], 13) ^ sha256_rotate(v[0], 22));

    memmove(v + 1, v, 7 * sizeof(*v));
    v[4] += t1;
    v[0] = t1 + t2;
}

static void sha256_block(struct sha256 *sha, const uint8_t block[SHA256_BLOCK_BYTES])
{
    uint32_t w[64];
    uint32_t v[8];

    sha256_schedule(w, block);
    memcpy(v, sha->state, sizeof(v));
    for (unsigned t = 0; t < 64; t++)
        sha256_round(v, sha256_constants[t], w[t]);
    for (unsigned i = 0; i < 8; i++)
        sha->state[i] += v[i];
}

/* The last one or two blocks: the LENGTH bytes left over, a one bit, zeros, the bits in all. */
static void sha256_finish(struct sha256 *sha, const uint8_t *rest, size_t length, uint64_t total)
{
    uint8_t last[2 * SHA256_BLOCK_BYTES] = {0};
    size_t end = length + 1 + SHA256_LENGTH_BYTES <= SHA256_BLOCK_BYTES ? SHA256_BLOCK_BYTES
                                                                        : 2 * SHA256_BLOCK_BYTES;

    memcpy(last, rest, length);
    last[length] = 0x80;
    for (unsigned i = 0; i < SHA256_LENGTH_BYTES; i++)
        last[end - 1 - i] = (uint8_t)(total * 8 >> 8 * i);
    for (size_t at = 0; at < end; at += SHA256_BLOCK_BYTES)
        sha256_block(sha, last + at);
}

error_t sha256_stream(FILE *stream, char text[SHA256_TEXT_BYTES])
{
    struct sha256 sha = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                          0x1f83d9ab, 0x5be0cd19}}; /* FIPS 180-4, 5.3.3 */
    uint8_t block[SHA256_BLOCK_BYTES];
    uint64_t total = 0;
    size_t length;

    while ((length = fread(block, 1, sizeof(block), stream)) == sizeof(block)) {
        sha256_block(&sha, block);
        total += length;
    }
    if (ferror(stream))
        return EIO;
    sha256_finish(&sha, block, length, total + length);
    for (unsigned i = 0; i < 8; i++)
        snprintf(text + 8 * i, 9, "%08x", sha.state[i]);
    return 0;
}
