// SPDX-License-Identifier: GPL-2.0-or-later
/* The image as libext2fs sees it, compared with the model. */
#ifndef TESTS_LIBEXT2_READBACK_H
#define TESTS_LIBEXT2_READBACK_H

#include "model.h"

/* Open the image at PATH and compare every node that has a name, and the counts of free blocks and
   inodes with NBLOCKS_FREE and NINODES_FREE. Returns false after printing the first difference. */
bool readback_compare(const struct model *model, const char *path, uint32_t nblocks_free,
                      uint32_t ninodes_free);

#endif
