// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One step of a model test: an operation with four numbers, which mean something whatever the state
 * is. So any part of a failing sequence is a sequence too, and it can be shrunk.
 */
#ifndef TESTS_LIBEXT2_STEPS_H
#define TESTS_LIBEXT2_STEPS_H

#include "device.h"
#include "model.h"

#define STEPS_HANDLES 6u

struct step {
    uint32_t kind;
    uint32_t a;
    uint32_t b;
    uint32_t c;
};

struct handle {
    struct ext2_inode *inode; /* null: not open */
    uint32_t node;
};

/* Both worlds. */
struct world {
    struct device device;
    struct ext2_fs *fs;
    struct model model;
    struct handle handles[STEPS_HANDLES];
    uint64_t nthstep;
    uint64_t ndone; /* steps that succeeded */
};

/* Both worlds new; OPTIONS are mke2fs's. */
void world_setup(struct world *world, const char *options, uint64_t size);
void world_teardown(struct world *world);

/* Do STEP in both worlds and compare. A difference is printed and ends the program. */
void world_step(struct world *world, const struct step *step);

/* Close handles, unmount, have e2fsck and libext2fs look at the image, mount again. */
void world_check(struct world *world);

/* STEP for people. */
void step_print(const struct step *step);

#endif
