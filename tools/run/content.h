// SPDX-License-Identifier: GPL-2.0-or-later
/* The content check: the bytes on the image against the pattern of the run's seed. */
#ifndef RUN_CONTENT_H
#define RUN_CONTENT_H

#include <stdint.h>

#include "file-map.h"

#define CONTENT_RESULT_BYTES 512

/* Bytes that must be those of a job, or of one of its files. In bytes, multiples of 512. */
struct content_case {
    const char *path; /* the file that they are in */
    uint64_t start;   /* from its byte START on */
    uint64_t bytes;
    uint64_t offset; /* where they begin in the job's stream */
    uint64_t stream; /* the length of all of it */
    uint64_t seed;
    const struct file_map *map; /* where on the disk the job's bytes are */
};

/*
 * Compare the bytes of CHECKED with the pattern of its seed. Writes "ok" to RESULT, or a sentence
 * with the first byte that differs, what stands in its sector instead, and how many sectors differ.
 */
void content_check(const struct content_case *checked, char result[CONTENT_RESULT_BYTES]);

#endif
