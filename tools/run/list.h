// SPDX-License-Identifier: GPL-2.0-or-later
/* What there is to choose from, for `make list`. */
#ifndef RUN_LIST_H
#define RUN_LIST_H

#include <stdio.h>

/* Print policies, disks, ways to boot, job keys, and the jobs in the folder JOBS. */
void list_print(const char *jobs, FILE *stream);

#endif
