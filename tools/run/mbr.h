// SPDX-License-Identifier: GPL-2.0-or-later
/* The partition table of a disk image (a master boot record). */
#ifndef RUN_MBR_H
#define RUN_MBR_H

#include <errno.h>
#include <stdint.h>

#include "failure.h"

#define MBR_PARTITIONS   4
#define MBR_SECTOR_BYTES 512u

struct mbr_partition {
    uint64_t sector;  /* first one, counted from the disk's start */
    uint64_t sectors; /* 0: there is no such partition */
};

struct mbr {
    struct mbr_partition partitions[MBR_PARTITIONS];
    uint64_t disk_bytes;
};

/* Read the table of the image at PATH. */
int mbr_load(struct mbr *mbr, const char *path, struct failure *failure);

/*
 * Find the sectors that a device of Mach stands for: DEVICE is the disk's own name DISK, such as
 * "sd0", or that and a partition, such as "sd0s2". Returns EINVAL when it is neither, or when
 * there is no such partition.
 */
error_t mbr_device_lookup(const struct mbr *mbr, const char *device, const char *disk,
                          struct mbr_partition *partition);

#endif
