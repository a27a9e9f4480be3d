// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DISK=ram: the disk's partitions are handed to the guest as images that hold only blocks that hold
 * something, its stores keep them in the machine's memory, and after the run they are taken out of
 * that memory (docs/protocol.md, section 6).
 */
#ifndef RUN_RAM_H
#define RUN_RAM_H

#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "console.h"
#include "job.h"
#include "mbr.h"
#include "options.h"

/* The machine's memory, which the runner can look into. */
struct ram_memory {
    int file; /* -1: there is none */
    uint64_t bytes;
    char link[4096]; /* by which QEMU finds it; "": none */
};

/* Whether the disk is kept in memory. */
bool ram_is_chosen(const struct options *options);

/* Add to QEMU's command line what such a disk takes. */
void ram_command_add(struct command *command, const struct options *options);

/* Check that JOB with what its partitions on the image DISK hold fits into the machine's memory.
   => STATUS_BAD_INPUT says how much it needs. */
int ram_room_check(const struct options *options, const struct job *job, const char *disk,
                   const struct mbr *mbr, struct failure *failure);

/* Write the images of the partitions of MACHINE_DISK in FOLDER; those that JOB does not use are
   empty. */
int ram_images_write(const struct options *options, const struct job *job, const struct mbr *mbr,
                     const char *folder, struct failure *failure);

void ram_images_remove(const struct options *options, const char *folder);

void ram_memory_init(struct ram_memory *memory);

/* Make the machine's memory and the link to it in FOLDER. */
int ram_memory_make(struct ram_memory *memory, const struct options *options, const char *folder,
                    struct failure *failure);

/*
 * Put what the stores that CONSOLE speaks of hold at the end of the run in the place of what was in
 * their partitions on MACHINE_DISK in FOLDER. => fails when the memory is not as it should be.
 */
int ram_take_out(const struct ram_memory *memory, const struct console *console,
                 const struct mbr *mbr, const char *disk, const char *folder,
                 struct failure *failure);

void ram_memory_destroy(struct ram_memory *memory);

/* For tests: the bytes of blocks that hold something in BYTES of the file FILE from START on. */
uint64_t ram_blocks_count(int file, uint64_t start, uint64_t bytes);

#endif
