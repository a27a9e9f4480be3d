// SPDX-License-Identifier: GPL-2.0-or-later
#include "mbr.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MBR_TABLE_OFFSET  446u /* of four entries of 16 bytes; 0x55 0xaa follows */
#define MBR_ENTRY_BYTES   16u
#define MBR_ENTRY_SECTOR  8u /* little endian, 32 bits, as is the number of sectors after it */
#define MBR_ENTRY_SECTORS 12u

static uint64_t mbr_le32(const uint8_t *bytes)
{
    return bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24;
}

static void mbr_decode(struct mbr *mbr, const uint8_t sector[MBR_SECTOR_BYTES])
{
    for (unsigned i = 0; i < MBR_PARTITIONS; i++) {
        const uint8_t *entry = sector + MBR_TABLE_OFFSET + i * MBR_ENTRY_BYTES;

        mbr->partitions[i].sector = mbr_le32(entry + MBR_ENTRY_SECTOR);
        mbr->partitions[i].sectors = mbr_le32(entry + MBR_ENTRY_SECTORS);
    }
}

static int mbr_read(struct mbr *mbr, int fd, const char *path, struct failure *failure)
{
    uint8_t sector[MBR_SECTOR_BYTES] = {0};
    struct stat stat;

    if (fstat(fd, &stat) != 0 || pread(fd, sector, sizeof(sector), 0) < 0)
        return failure_set(failure, STATUS_BAD_INPUT, "disk image %s cannot be read: %s", path,
                           strerror(errno));
    if (sector[510] != 0x55 || sector[511] != 0xaa)
        return failure_set(failure, STATUS_BAD_INPUT, "%s has no partition table", path);
    mbr->disk_bytes = (uint64_t)stat.st_size;
    mbr_decode(mbr, sector);
    return STATUS_SUCCESS;
}

int mbr_load(struct mbr *mbr, const char *path, struct failure *failure)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int status;

    if (fd < 0)
        return failure_set(failure, STATUS_BAD_INPUT, "disk image %s cannot be read: %s", path,
                           strerror(errno));
    status = mbr_read(mbr, fd, path, failure);
    close(fd);
    return status;
}

error_t mbr_device_lookup(const struct mbr *mbr, const char *device, const char *disk,
                          struct mbr_partition *partition)
{
    size_t length = strlen(disk);

    if (strncmp(device, disk, length) != 0)
        return EINVAL;
    device += length;
    if (*device == '\0') {
        *partition = (struct mbr_partition){0, mbr->disk_bytes / MBR_SECTOR_BYTES};
        return 0;
    }
    if (device[0] != 's' || device[1] < '1' || device[1] > '4' || device[2] != '\0')
        return EINVAL;
    *partition = mbr->partitions[device[1] - '1'];
    return partition->sectors == 0 ? EINVAL : 0;
}
