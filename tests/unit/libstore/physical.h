// SPDX-License-Identifier: GPL-2.0-or-later
/* The machine below a store in memory: physical memory, and an image in QEMU's fw_cfg. */
#ifndef LIBSTORE_TESTS_PHYSICAL_H
#define LIBSTORE_TESTS_PHYSICAL_H

#include <stddef.h>
#include <stdint.h>

#define PHYSICAL_HOST 0x707u /* the privileged port */

/* Make a machine with no more than NPIECES of 1 MiB to give. */
void physical_init(size_t npieces);
void physical_destroy(void);

/* What is at the physical address ADDRESS, which was given out. */
void *physical_at(uint64_t address);

/* Have fw_cfg hold SIZE bytes at BYTES, which stay the caller's, under NAME. */
void physical_image_set(const char *name, const void *bytes, size_t size);

#endif
