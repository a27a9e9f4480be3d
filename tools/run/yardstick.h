// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of other systems for the default job, to be set beside ours. */
#ifndef RUN_YARDSTICK_H
#define RUN_YARDSTICK_H

#include <stdio.h>

#include "result.h"

/* Print the figures for the policies and layers that RUN has, and what they are. => prints nothing
   when they do not compare: another job, size or block, or a given image. */
void yardstick_print(const struct run *run, FILE *stream);

#endif
