// SPDX-License-Identifier: GPL-2.0-or-later
/* The files of a trace in CTF, looked through before they are read: what is cut off or damaged. */
#ifndef TRACE_PACKETS_H
#define TRACE_PACKETS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "run/failure.h"

#define PACKETS_NAMES_BYTES 160

struct packets {
    char folder[PATH_MAX]; /* what can be read: the folder itself, or a copy of what is whole */
    bool copied;
    uint64_t nbad;                 /* packets that do not begin as packets do, or go back in time */
    uint64_t ncut;                 /* files that end inside a packet */
    char bad[PACKETS_NAMES_BYTES]; /* the names of the files, as many as fit */
    char cut[PACKETS_NAMES_BYTES];
};

/*
 * Look through the files in FOLDER. If something is wrong with some, a folder of its own is made of
 * what is not. => fails when the folder or its metadata are not there. Free with packets_close,
 * also after a failure.
 */
int packets_open(struct packets *packets, const char *folder, struct failure *failure);

void packets_close(struct packets *packets);

#endif
