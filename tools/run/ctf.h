// SPDX-License-Identifier: GPL-2.0-or-later
/* The trace as CTF: from the memory that the machine shares with us to the folder `ctf`. */
#ifndef RUN_CTF_H
#define RUN_CTF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "failure.h"
#include "libtrace/ctf-packet.h"
#include "options.h"

/* In a boot's folder: what readers of CTF open, and the memory, while QEMU lives. */
#define CTF_FOLDER "ctf"
#define CTF_MEMORY "ctf.memory"

/* What has to be there before a run: made by barectf, in BUILD. */
#define CTF_METADATA "barectf/metadata"

struct ctf {
    char folder[PATH_MAX]; /* the boot's */
    const uint8_t *memory; /* NULL: nothing is to be taken */
    uint32_t first;        /* the first slot that was not taken yet */
    bool taken[CTF_MEMORY_SLOTS];
    char *metadata; /* barectf's */
    struct failure failure;
};

/* Whether the options ask for it. */
bool ctf_is_wanted(const struct options *options);

/* Check that what it needs is there, if the options ask for it. */
int ctf_check(const struct options *options, struct failure *failure);

/*
 * Make the memory, and the folder with metadata in it: from here on it can be read at any time. The
 * clock's offset is a guess until the end. Does nothing if the options do not ask for it.
 * => CTF is the caller's to destroy, also after a failure.
 */
int ctf_begin(struct ctf *ctf, const struct options *options, const char *folder,
              struct failure *failure);

/* Append the packets that have come to the files of their streams. => a failure is kept. */
void ctf_take(struct ctf *ctf);

/*
 * Take the last packets, write what the clock's offset really is (nanoseconds from 1970 to the
 * clock's zero; 0: it is not known), and remove the memory.
 * => fails for what was ever kept.
 */
int ctf_end(struct ctf *ctf, int64_t offset_ns, struct failure *failure);

void ctf_destroy(struct ctf *ctf);

#endif
