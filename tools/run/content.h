// SPDX-License-Identifier: GPL-2.0-or-later
/* The content check: the bytes on the image against the pattern of the run's seed. */
#ifndef RUN_CONTENT_H
#define RUN_CONTENT_H

#include <stdint.h>

#include "file-map.h"

#define CONTENT_RESULT_BYTES 512

/*
 * Compare BYTES (a multiple of 512) of the file at PATH, from its byte START (one as well) on, with
 * the pattern of SEED. Writes "ok" to RESULT, or a sentence with the first byte that differs, what
 * stands in its sector instead, and how many sectors differ. MAP says where on the disk the bytes
 * are.
 */
void content_check(const char *path, uint64_t start, uint64_t bytes, uint64_t seed,
                   const struct file_map *map, char result[CONTENT_RESULT_BYTES]);

#endif
