// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine's memory is a file without a name (memfd) that the runner makes and QEMU opens
 * through a link in the boot's folder, /proc/PID/fd/N of the runner. So it costs no disk, nobody
 * has to copy anything while the guest runs, and it is still there when QEMU has ended, however it
 * has.
 *
 * Physical address A is byte A of that file: the stores only take memory below 4 GiB, and what QEMU
 * moves above 4 GiB comes behind that in the file.
 */
#include "ram.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine.h"
#include "size.h"

#define RAM_MEMORY        "memory" /* in the boot's folder */
#define RAM_BLOCK_BYTES   4096u
#define RAM_BLOCK_SECTORS (RAM_BLOCK_BYTES / MBR_SECTOR_BYTES)
#define MIB               (UINT64_C(1) << 20)

/* The image (servers/libstore/ram-image.c). */
#define RAM_IMAGE_MAGIC UINT64_C(0x6567616d69626d)

struct ram_image_head {
    uint64_t magic;
    uint64_t nsectors;
    uint64_t nextents;
};

struct ram_image_extent {
    uint64_t block;
    uint64_t nblocks;
};

/* A piece of a store's memory (servers/libstore/ram.c). */
#define RAM_PIECE_BYTES  MIB
#define RAM_PIECE_BLOCKS (RAM_PIECE_BYTES / RAM_BLOCK_BYTES - 1)
#define RAM_PIECE_MAGIC  UINT64_C(0x316d61727862626d)

struct ram_piece {
    uint64_t magic;
    uint64_t next;
    uint64_t nblocks;
    uint64_t blocks[RAM_PIECE_BLOCKS];
};

bool ram_is_chosen(const struct options *options)
{
    return strcmp(options->disk->choice.name, "ram") == 0;
}

void ram_command_add(struct command *command, const struct options *options)
{
    command_add(command, "-object");
    command_add(command,
                "memory-backend-file,id=memory,share=on,mem-path=" RAM_MEMORY ",size=%" PRIu64 "M",
                options->mem_bytes / MIB);
    command_add(command, "-machine");
    command_add(command, "memory-backend=memory");
    for (unsigned i = 1; i <= MBR_PARTITIONS; i++) {
        command_add(command, "-fw_cfg");
        command_add(command, "name=opt/machbed/%ss%u,file=%ss%u.image", options->disk->device, i,
                    options->disk->device, i);
    }
}

/* --- Blocks that hold something -------------------------------------------------------------- */

/* Where a search for blocks is: in FILE from START on, up to END. */
struct ram_search {
    int file;
    uint64_t start;
    uint64_t end;
    uint64_t data_end; /* up to here there is no hole */
};

static bool ram_is_zero(const uint8_t *block)
{
    return block[0] == 0 && memcmp(block, block + 1, RAM_BLOCK_BYTES - 1) == 0;
}

/* Moves AT, a block, out of a hole of the file. */
static uint64_t ram_hole_skip(struct ram_search *search, uint64_t at)
{
    off_t data;

    if (at < search->data_end)
        return at;
    data = lseek(search->file, (off_t)at, SEEK_DATA);
    if (data < 0)
        return search->end;
    search->data_end = (uint64_t)lseek(search->file, data, SEEK_HOLE);
    return at + ((uint64_t)data - at) / RAM_BLOCK_BYTES * RAM_BLOCK_BYTES;
}

/* Reads the next block from AT on that holds something. Returns where it is, or the end. */
static uint64_t ram_block_find(struct ram_search *search, uint64_t at, uint8_t *block)
{
    for (; at < search->end; at += RAM_BLOCK_BYTES) {
        uint64_t rest;
        ssize_t got;

        at = ram_hole_skip(search, at);
        if (at >= search->end)
            break;
        rest = search->end - at;
        memset(block, 0, RAM_BLOCK_BYTES);
        got =
            pread(search->file, block, rest < RAM_BLOCK_BYTES ? rest : RAM_BLOCK_BYTES, (off_t)at);
        if (got > 0 && !ram_is_zero(block))
            return at;
    }
    return search->end;
}

uint64_t ram_blocks_count(int file, uint64_t start, uint64_t bytes)
{
    struct ram_search search = {file, start, start + bytes, 0};
    uint8_t block[RAM_BLOCK_BYTES];
    uint64_t count = 0;

    for (uint64_t at = ram_block_find(&search, start, block); at < search.end;
         at = ram_block_find(&search, at + RAM_BLOCK_BYTES, block))
        count++;
    return count;
}

/* --- Room ------------------------------------------------------------------------------------ */

/* What of the machine's memory can be used, in thousandths. The kernel begins to write pages out
   when 6 % of it are left (vm/vm_page.c of GNU Mach), and keeps 44 bytes about each page, on
   amd64 80. */
#define RAM_USABLE_I386  929u
#define RAM_USABLE_AMD64 920u

/* The kernel and the servers: the default job of 16 and of 128 MiB runs with run128 as it does with
   more memory when this is 15 MiB. The rest is for what policies copy, and for messages on their
   way. */
#define RAM_SYSTEM_BYTES (32 * MIB)

/* So much of a file's size its indirect blocks have, rounded up: those of 1 KiB have most. */
#define RAM_INDIRECT_SHARE 250u

/* Each file has an inode, a page that it fills in part, perhaps an indirect block, all of it twice,
   and what the server knows of it. */
#define RAM_FILE_BYTES (16u << 10)

/* With a trace a sixteenth of the memory is set aside (servers/libtrace). */
#define RAM_TRACE_SHARE 62u

static uint64_t ram_usable(const struct options *options)
{
    uint64_t usable =
        strcmp(options->arch->name, "amd64") == 0 ? RAM_USABLE_AMD64 : RAM_USABLE_I386;

    return strcmp(options->trace->name, "off") == 0 ? usable : usable - RAM_TRACE_SHARE;
}

/* Partition 3 is the plain loop's (servers/workload/plain.c). */
static bool ram_is_opened(const struct job *job, unsigned number)
{
    return number == job_partition(job) || (job_has_plain(job) && number == 3);
}

/* What the job's stores hold before it runs. */
static uint64_t ram_image_bytes(const struct job *job, int file, const struct mbr *mbr)
{
    uint64_t blocks = 0;

    for (unsigned i = 0; i < MBR_PARTITIONS; i++)
        if (ram_is_opened(job, i + 1))
            blocks += ram_blocks_count(file, mbr->partitions[i].sector * MBR_SECTOR_BYTES,
                                       mbr->partitions[i].sectors * MBR_SECTOR_BYTES);
    return blocks * RAM_BLOCK_BYTES;
}

/* What the job adds to that, wherever its file comes from: a given image that has it already is
   counted too high. The file is held twice: in the store, and by the kernel. */
static uint64_t ram_job_bytes(const struct job *job)
{
    uint64_t bytes = 2 * job->size + job->size / RAM_INDIRECT_SHARE + job->nrfiles * RAM_FILE_BYTES;

    return job_has_plain(job) ? bytes + job->size : bytes;
}

int ram_room_check(const struct options *options, const struct job *job, const char *disk,
                   const struct mbr *mbr, struct failure *failure)
{
    int file = open(disk, O_RDONLY | O_CLOEXEC);
    uint64_t used, needed;

    if (file < 0)
        return failure_set(failure, STATUS_BAD_INPUT, "%s: %s", disk, strerror(errno));
    used = RAM_SYSTEM_BYTES + ram_image_bytes(job, file, mbr) + ram_job_bytes(job);
    close(file);
    needed = used / ram_usable(options) * 1000 / MIB + 1;
    if (needed * MIB <= options->mem_bytes)
        return STATUS_SUCCESS;
    return failure_set(failure, STATUS_BAD_INPUT,
                       "--mem: with its disk in memory, job %s does not fit into %s; it needs "
                       "MEM=%" PRIu64 "M",
                       job->name, SIZE_TEXT(options->mem_bytes), needed);
}

/* --- Images ---------------------------------------------------------------------------------- */

struct ram_extents {
    struct ram_image_extent *at;
    size_t count;
};

static error_t ram_extents_add(struct ram_extents *extents, uint64_t block)
{
    struct ram_image_extent *last = extents->count == 0 ? NULL : &extents->at[extents->count - 1];

    if (last != NULL && last->block + last->nblocks == block) {
        last->nblocks++;
        return 0;
    }
    if ((extents->count & (extents->count - 1)) == 0) {
        size_t room = extents->count == 0 ? 1 : 2 * extents->count;
        void *grown = reallocarray(extents->at, room, sizeof(*extents->at));

        if (grown == NULL)
            return ENOMEM;
        extents->at = grown;
    }
    extents->at[extents->count++] = (struct ram_image_extent){block, 1};
    return 0;
}

static error_t ram_extents_find(struct ram_extents *extents, int file,
                                const struct mbr_partition *partition)
{
    uint64_t start = partition->sector * MBR_SECTOR_BYTES;
    struct ram_search search = {file, start, start + partition->sectors * MBR_SECTOR_BYTES, 0};
    uint8_t block[RAM_BLOCK_BYTES];
    error_t error = 0;

    for (uint64_t at = ram_block_find(&search, start, block); at < search.end && error == 0;
         at = ram_block_find(&search, at + RAM_BLOCK_BYTES, block))
        error = ram_extents_add(extents, (at - start) / RAM_BLOCK_BYTES);
    return error;
}

/* Copies the blocks of EXTENT, which start at byte START of FILE, to STREAM. The last block of a
   partition may be cut short by the file's end. */
static error_t ram_extent_copy(const struct ram_image_extent *extent, int file, uint64_t start,
                               FILE *stream)
{
    uint8_t block[RAM_BLOCK_BYTES];

    fwrite(extent, sizeof(*extent), 1, stream);
    for (uint64_t i = 0; i < extent->nblocks; i++) {
        memset(block, 0, sizeof(block));
        if (pread(file, block, sizeof(block),
                  (off_t)(start + (extent->block + i) * RAM_BLOCK_BYTES)) < 0)
            return errno;
        fwrite(block, sizeof(block), 1, stream);
    }
    return 0;
}

/* FILE -1: of nothing. */
static error_t ram_image_print(const struct mbr_partition *partition, int file, FILE *stream)
{
    struct ram_image_head head = {RAM_IMAGE_MAGIC, partition->sectors, 0};
    struct ram_extents extents = {NULL, 0};
    error_t error = file < 0 ? 0 : ram_extents_find(&extents, file, partition);

    head.nextents = extents.count;
    fwrite(&head, sizeof(head), 1, stream);
    for (size_t i = 0; i < extents.count && error == 0; i++)
        error = ram_extent_copy(&extents.at[i], file, partition->sector * MBR_SECTOR_BYTES, stream);
    free(extents.at);
    return error != 0 ? error : ferror(stream) ? EIO : 0;
}

static int ram_image_write(const struct mbr_partition *partition, int file, const char *path,
                           struct failure *failure)
{
    FILE *stream = fopen(path, "we");
    error_t error = stream == NULL ? errno : ram_image_print(partition, file, stream);

    if (stream != NULL && fclose(stream) != 0 && error == 0)
        error = errno;
    if (error != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "the image %s cannot be written: %s", path,
                           strerror(error));
    return STATUS_SUCCESS;
}

/* Opens MACHINE_DISK in FOLDER; -1: FAILURE says why not. */
static int ram_disk_open(const char *folder, int flags, struct failure *failure)
{
    char path[PATH_MAX];
    int file;

    snprintf(path, sizeof(path), "%s/%s", folder, MACHINE_DISK);
    file = open(path, flags | O_CLOEXEC);
    if (file < 0)
        failure_set(failure, STATUS_BAD_INPUT, "%s: %s", path, strerror(errno));
    return file;
}

static void ram_image_path(const struct options *options, unsigned number, const char *folder,
                           char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%ss%u.image", folder, options->disk->device, number);
}

void ram_images_remove(const struct options *options, const char *folder)
{
    char path[PATH_MAX];

    for (unsigned i = 1; i <= MBR_PARTITIONS; i++) {
        ram_image_path(options, i, folder, path);
        unlink(path);
    }
}

int ram_images_write(const struct options *options, const struct job *job, const struct mbr *mbr,
                     const char *folder, struct failure *failure)
{
    int file = ram_disk_open(folder, O_RDONLY, failure);
    int status = failure->status;

    for (unsigned i = 0; i < MBR_PARTITIONS && status == STATUS_SUCCESS; i++) {
        char path[PATH_MAX];

        ram_image_path(options, i + 1, folder, path);
        status = ram_image_write(&mbr->partitions[i], ram_is_opened(job, i + 1) ? file : -1, path,
                                 failure);
    }
    if (file >= 0)
        close(file);
    return status;
}

/* --- The machine's memory -------------------------------------------------------------------- */

void ram_memory_init(struct ram_memory *memory)
{
    *memory = (struct ram_memory){.file = -1};
}

int ram_memory_make(struct ram_memory *memory, const struct options *options, const char *folder,
                    struct failure *failure)
{
    char target[64];

    memory->bytes = options->mem_bytes;
    memory->file = memfd_create("machbed", MFD_CLOEXEC);
    if (memory->file < 0 || ftruncate(memory->file, (off_t)memory->bytes) != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "no memory for the machine: %s",
                           strerror(errno));
    snprintf(memory->link, sizeof(memory->link), "%s/" RAM_MEMORY, folder);
    snprintf(target, sizeof(target), "/proc/%ld/fd/%d", (long)getpid(), memory->file);
    if (symlink(target, memory->link) != 0)
        return failure_set(failure, STATUS_BAD_INPUT, "the link %s cannot be made: %s",
                           memory->link, strerror(errno));
    return STATUS_SUCCESS;
}

void ram_memory_destroy(struct ram_memory *memory)
{
    if (memory->link[0] != '\0')
        unlink(memory->link);
    if (memory->file >= 0)
        close(memory->file);
    ram_memory_init(memory);
}

/* --- Taking out ------------------------------------------------------------------------------ */

/* A store that is taken out. */
struct ram_store {
    const uint8_t *memory; /* the machine's */
    uint64_t memory_bytes;
    const struct console_ram *said;
    struct mbr_partition partition;
    int disk;
};

/* The piece at physical address ADDRESS, or NULL: there is none. */
static const struct ram_piece *ram_piece_at(const struct ram_store *store, uint64_t address)
{
    const struct ram_piece *piece = (const struct ram_piece *)(store->memory + address);

    if (address % RAM_BLOCK_BYTES != 0 || store->memory_bytes < RAM_PIECE_BYTES ||
        address > store->memory_bytes - RAM_PIECE_BYTES || piece->magic != RAM_PIECE_MAGIC ||
        piece->nblocks > RAM_PIECE_BLOCKS)
        return NULL;
    return piece;
}

/* Writes number I of PIECE's blocks to the disk. */
static error_t ram_block_take(const struct ram_store *store, const struct ram_piece *piece,
                              size_t i)
{
    uint64_t start = piece->blocks[i] * RAM_BLOCK_BYTES;
    uint64_t room = store->partition.sectors * MBR_SECTOR_BYTES;
    uint64_t bytes = RAM_BLOCK_BYTES;

    if (piece->blocks[i] > room / RAM_BLOCK_BYTES || start >= room)
        return ERANGE;
    if (bytes > room - start)
        bytes = room - start;
    if (pwrite(store->disk, (const uint8_t *)piece + (i + 1) * RAM_BLOCK_BYTES, bytes,
               (off_t)(store->partition.sector * MBR_SECTOR_BYTES + start)) != (ssize_t)bytes)
        return errno == 0 ? EIO : errno;
    return 0;
}

/* Follows the chain of pieces. No piece comes twice: there are at most as many as fit. */
static error_t ram_store_take(const struct ram_store *store)
{
    uint64_t left = store->memory_bytes / RAM_PIECE_BYTES;
    uint64_t address = store->said->piece;
    error_t error = 0;

    while (address != 0 && error == 0) {
        const struct ram_piece *piece = ram_piece_at(store, address);

        if (piece == NULL || left-- == 0)
            return EBADMSG;
        for (size_t i = 0; i < piece->nblocks && error == 0; i++)
            error = ram_block_take(store, piece, i);
        address = piece->next;
    }
    return error;
}

static int ram_stores_take(struct ram_store *store, const struct console *console,
                           const struct mbr *mbr, const char *disk, struct failure *failure)
{
    for (size_t i = 0; i < console->rams_count; i++) {
        error_t error;

        store->said = &console->rams[i];
        error = mbr_device_lookup(mbr, store->said->device, disk, &store->partition);
        if (error == 0)
            error = ram_store_take(store);
        if (error != 0)
            return failure_set(failure, STATUS_FAILED,
                               "the store %s cannot be taken out of the machine's memory: %s",
                               store->said->device, strerror(error));
    }
    return STATUS_SUCCESS;
}

int ram_take_out(const struct ram_memory *memory, const struct console *console,
                 const struct mbr *mbr, const char *disk, const char *folder,
                 struct failure *failure)
{
    struct ram_store store = {.memory_bytes = memory->bytes};
    void *map = mmap(NULL, memory->bytes, PROT_READ, MAP_SHARED, memory->file, 0);
    int status;

    if (map == MAP_FAILED)
        return failure_set(failure, STATUS_FAILED, "the machine's memory cannot be read: %s",
                           strerror(errno));
    store.memory = map;
    store.disk = ram_disk_open(folder, O_WRONLY, failure);
    status = failure->status;
    if (store.disk >= 0) {
        status = ram_stores_take(&store, console, mbr, disk, failure);
        close(store.disk);
    }
    munmap(map, memory->bytes);
    return status;
}
