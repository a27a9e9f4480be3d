// SPDX-License-Identifier: GPL-2.0-or-later
/* SHA-256 of a file (FIPS 180-4), to say in result.json which kernel ran. */
#ifndef RUN_SHA256_H
#define RUN_SHA256_H

#include <errno.h>
#include <stdio.h>

#define SHA256_TEXT_BYTES 65

/* Write the digest of what is left in STREAM as hexadecimal digits. => EIO: cannot be read. */
error_t sha256_stream(FILE *stream, char text[SHA256_TEXT_BYTES]);

#endif
