// SPDX-License-Identifier: GPL-2.0-or-later
/* The folder of a run, BUILD/runs/NAME, and the lock beside it. */
#ifndef RUN_FOLDER_H
#define RUN_FOLDER_H

#include "failure.h"

#define FOLDER_PATH_BYTES 4096

struct folder {
    char path[FOLDER_PATH_BYTES]; /* BUILD/runs/NAME */
    int lock;
};

/*
 * Make the run's folder anew: what an earlier run of that NAME left there is removed.
 * => fails, touching nothing, while another run of that name still goes on.
 */
int folder_open(struct folder *folder, const char *build, const char *name,
                struct failure *failure);

/* Let the next run of that name go on; the files stay. */
void folder_close(struct folder *folder);

/* Make the folder NAME in the run's folder and write its path to PATH. */
int folder_make(const struct folder *folder, const char *name, char path[FOLDER_PATH_BYTES],
                struct failure *failure);

/*
 * There is room for a little more in FOLDER. If not, files in it, and what was read from them, may
 * lack something.
 */
int folder_room_check(const char *folder, struct failure *failure);

/* Make NAME/FILE reachable as FILE of the run's folder, if it exists. */
int folder_link(const struct folder *folder, const char *name, const char *file,
                struct failure *failure);

#endif
