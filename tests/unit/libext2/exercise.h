// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What can be done with an image of which nothing is known: it may be sound or damaged in any way.
 * Results do not matter, only that there is no crash, no hang and no broken rule of the device.
 */
#ifndef TESTS_LIBEXT2_EXERCISE_H
#define TESTS_LIBEXT2_EXERCISE_H

#include <stddef.h>

#include "device.h"

struct exercise_counts {
    unsigned int ninodes; /* met on a walk through all directories */
    unsigned int nruns;   /* of their data */
};

/* Mount what is on DEVICE, walk through it and read all maps, change things all over it, remove
   what can be removed, unmount. Returns mount's result. */
error_t exercise_all(struct device *device, struct exercise_counts *counts);

/* Mount what is on DEVICE and do as SCRIPT says, LENGTH bytes of any kind. Returns mount's result.
 */
error_t exercise_script(struct device *device, const uint8_t *script, size_t length);

#endif
