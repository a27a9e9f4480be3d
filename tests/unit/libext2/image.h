// SPDX-License-Identifier: GPL-2.0-or-later
/* Images as e2fsprogs makes and checks them; its programs share no code with libext2. */
#ifndef TESTS_LIBEXT2_IMAGE_H
#define TESTS_LIBEXT2_IMAGE_H

#include "device.h"

/* Make DEVICE one with a file system of SIZE bytes, by mke2fs with OPTIONS. */
void image_make(struct device *device, const char *options, uint64_t size);

/* Make DEVICE one with what is in the file at PATH. Returns whether that worked. */
bool image_load(struct device *device, const char *path);

/* Put what is on DEVICE into a file; image_path names it until the next call. */
const char *image_store(const struct device *device);

/* Run COMMAND (printf style; the image's path for the last %s is the caller's business) and return
   its status; what it prints goes to OUTPUT, SIZE bytes at most with the NUL. */
int image_run(char *output, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether e2fsck -fn finds nothing; what it finds goes to the standard error. */
bool image_is_clean(const struct device *device);

/* What debugfs answers to REQUEST; lives until the next call. */
const char *image_debugfs(const struct device *device, const char *request);

/* How many runs of consecutive blocks hold the data of the file that debugfs calls NAME. */
unsigned int image_count_extents(const struct device *device, const char *name);

#endif
