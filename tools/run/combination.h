// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which machines exist: not each ARCH, MACHINE, FIRMWARE, DISK and so on goes with each other. The
 * rules stand in one table, each with its reason.
 */
#ifndef RUN_COMBINATION_H
#define RUN_COMBINATION_H

#include <stdio.h>

#include "failure.h"
#include "options.h"

/* Refuse, with STATUS_SKIPPED and the reason, a combination that cannot work. */
int combination_check(const struct options *options, struct failure *failure);

/* Print those that exist, a line each, and those that do not with their reasons. */
void combination_list(FILE *stream);

#endif
