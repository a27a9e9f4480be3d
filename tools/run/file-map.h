// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the bytes of the job's file lie on the disk. */
#ifndef RUN_FILE_MAP_H
#define RUN_FILE_MAP_H

#include <stddef.h>
#include <stdint.h>

/* A stretch that is consecutive both in the file and on the disk. In bytes. */
struct file_piece {
    uint64_t offset; /* from the file's start */
    uint64_t start;  /* from the disk's start */
    uint64_t bytes;
};

struct file_map {
    struct file_piece *pieces; /* in the order in which they were added: the file's */
    size_t count;
    size_t *by_start; /* indices of pieces, in the order of the disk; file_map_finish makes it */
};

void file_map_init(struct file_map *map);
void file_map_destroy(struct file_map *map);

/* Add what comes next in the file. What goes on where the last piece ends, in both, is made one
   with it. => memory that runs out ends the program. */
void file_map_add(struct file_map *map, struct file_piece piece);

/* Once, when all is added: now MAP can be asked. */
void file_map_finish(struct file_map *map);

/* How many of BYTES on the disk from START on are the file's. */
uint64_t file_map_inside(const struct file_map *map, uint64_t start, uint64_t bytes);

/* Where on the disk the file's byte OFFSET lies, or UINT64_MAX: nowhere. */
uint64_t file_map_locate(const struct file_map *map, uint64_t offset);

/* Bytes of the longest piece. */
uint64_t file_map_longest(const struct file_map *map);

#endif
