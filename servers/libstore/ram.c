// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A block takes memory when it is first written; one that has none reads as zeros. Memory comes in
 * pieces of 1 MiB, each consecutive in physical memory and wired, so that the store depends on no
 * pager. The first page of a piece says which blocks its other pages hold, and where the next piece
 * is: by that chain the runner finds the blocks in the machine's memory (docs/protocol.md, section
 * 6), whatever became of the system.
 *
 * Writing copies, as a disk does. The lock guards the table of blocks; what is in a block is copied
 * without it.
 */
#include "libstore/ram.h"

#include <stdlib.h>
#include <string.h>

#include "librt/log.h"
#include "librt/sync.h"
#include "librt/x86/arch.h"

#define RAM_PIECE_BYTES  ((vm_size_t)1 << 20)
#define RAM_PIECE_BLOCKS (RAM_PIECE_BYTES / RAM_BLOCK_BYTES - 1)
#define RAM_PIECE_MAGIC  UINT64_C(0x316d61727862626d) /* "mbbxram1" */
#define RAM_LEAF_BLOCKS  512u

/* The first page of a piece. */
struct ram_piece {
    uint64_t magic;
    uint64_t next;    /* the next piece's physical address, or 0 */
    uint64_t nblocks; /* of the pages behind this one, so many hold a block */
    uint64_t blocks[RAM_PIECE_BLOCKS];
};

_Static_assert(sizeof(struct ram_piece) <= RAM_BLOCK_BYTES, "a piece's head is one page");

struct ram_leaf {
    uint8_t *blocks[RAM_LEAF_BLOCKS]; /* null: not written yet */
};

struct ram {
    mach_port_t host;
    uint64_t nblocks;
    uint64_t first;       /* physical addresses */
    uint64_t last;        /* of the piece that is being filled */
    struct rt_mutex lock; /* guards what follows */
    struct ram_piece *piece;
    bool full; /* the last attempt to get memory failed, and that was said */
    struct ram_leaf **leaves;
};

/* --- Memory ---------------------------------------------------------------------------------- */

/* Take a new piece and make it the last one of the chain. => locked, or nobody else knows RAM. */
static error_t ram_piece_add(struct ram *ram)
{
    rpc_phys_addr_t physical;
    struct ram_piece *piece;
    vm_address_t memory;

    if (vm_allocate_contiguous(ram->host, mach_task_self(), &memory, &physical, RAM_PIECE_BYTES, 0,
                               RT_ARCH_PHYSICAL_MAX, 0) != KERN_SUCCESS)
        return ENOSPC;
    piece = (struct ram_piece *)memory;
    *piece = (struct ram_piece){.magic = RAM_PIECE_MAGIC};
    if (ram->piece != NULL)
        ram->piece->next = physical;
    else
        ram->first = physical;
    ram->piece = piece;
    ram->last = physical;
    return 0;
}

static size_t ram_nleaves(const struct ram *ram)
{
    return (size_t)((ram->nblocks + RAM_LEAF_BLOCKS - 1) / RAM_LEAF_BLOCKS);
}

error_t ram_create(mach_port_t host, uint64_t nsectors, struct ram **ram)
{
    struct ram *created = calloc(1, sizeof(*created));
    uint64_t sectors_a_block = RAM_BLOCK_BYTES / STORE_SECTOR_BYTES;

    if (created == NULL)
        return ENOMEM;
    created->host = host;
    created->nblocks = (nsectors + sectors_a_block - 1) / sectors_a_block;
    rt_mutex_init(&created->lock, "ram");
    created->leaves = calloc(ram_nleaves(created), sizeof(struct ram_leaf *));
    if (created->leaves == NULL || ram_piece_add(created) != 0) {
        free(created->leaves);
        free(created);
        return ENOMEM;
    }
    *ram = created;
    return 0;
}

uint64_t ram_first_piece(const struct ram *ram)
{
    return ram->first;
}

/* --- Blocks ---------------------------------------------------------------------------------- */

/* The leaf of BLOCK; with MAKE it is made if need be, else null says that there is none.
   => locked. */
static struct ram_leaf *ram_leaf_of(struct ram *ram, uint64_t block, bool make)
{
    struct ram_leaf **leaf = &ram->leaves[block / RAM_LEAF_BLOCKS];

    if (*leaf == NULL && make)
        *leaf = calloc(1, sizeof(**leaf));
    return *leaf;
}

/* Where BLOCK lies, or null. => locked. */
static uint8_t *ram_block_lookup(struct ram *ram, uint64_t block)
{
    struct ram_leaf *leaf = ram_leaf_of(ram, block, false);

    return leaf == NULL ? NULL : leaf->blocks[block % RAM_LEAF_BLOCKS];
}

/* Give BLOCK, which has no memory, the next page. => locked. */
static error_t ram_block_add(struct ram *ram, uint64_t block)
{
    struct ram_leaf *leaf = ram_leaf_of(ram, block, true);
    struct ram_piece *piece;
    uint8_t *data;

    if (leaf == NULL)
        return ENOSPC;
    if (ram->piece->nblocks == RAM_PIECE_BLOCKS && ram_piece_add(ram) != 0)
        return ENOSPC;
    piece = ram->piece;
    data = (uint8_t *)piece + (piece->nblocks + 1) * RAM_BLOCK_BYTES;
    memset(data, 0, RAM_BLOCK_BYTES);
    piece->blocks[piece->nblocks++] = block;
    leaf->blocks[block % RAM_LEAF_BLOCKS] = data;
    return 0;
}

/* Say it once: whoever writes will say so for each write that fails. => locked. */
static void ram_full_log(struct ram *ram, uint64_t block)
{
    if (!ram->full)
        rt_log("the RAM store has no memory for block %llu of %llu", (unsigned long long)block,
               (unsigned long long)ram->nblocks);
    ram->full = true;
}

/* Where BLOCK lies; it has memory afterwards. */
static error_t ram_block_need(struct ram *ram, uint64_t block, uint8_t **data)
{
    error_t error = 0;

    rt_mutex_lock(&ram->lock);
    *data = ram_block_lookup(ram, block);
    if (*data == NULL) {
        error = ram_block_add(ram, block);
        if (error != 0)
            ram_full_log(ram, block);
        else
            *data = ram_block_lookup(ram, block);
    }
    rt_mutex_unlock(&ram->lock);
    return error;
}

error_t ram_block_next(struct ram *ram, uint64_t block, uint64_t *physical)
{
    uint8_t *data;
    error_t error = ram_block_need(ram, block, &data);

    if (error == 0)
        *physical = ram->last + (uint64_t)(data - (uint8_t *)ram->piece);
    return error;
}

/* --- For the store --------------------------------------------------------------------------- */

/* The part of [AT, END), in bytes, that is in one block. */
static vm_size_t ram_step(uint64_t at, uint64_t end)
{
    uint64_t stop = (at / RAM_BLOCK_BYTES + 1) * RAM_BLOCK_BYTES;

    return (vm_size_t)((stop < end ? stop : end) - at);
}

static error_t ram_read(void *hook, uint64_t sector, vm_size_t bytes, vm_address_t *data)
{
    uint64_t start = sector * STORE_SECTOR_BYTES;
    uint64_t end = start + bytes;
    struct ram *ram = hook;
    vm_size_t length;

    if (vm_allocate(mach_task_self(), data, bytes, TRUE) != KERN_SUCCESS)
        return ENOMEM;
    for (uint64_t at = start; at < end; at += length) {
        const uint8_t *block;

        length = ram_step(at, end);
        rt_mutex_lock(&ram->lock);
        block = ram_block_lookup(ram, at / RAM_BLOCK_BYTES);
        rt_mutex_unlock(&ram->lock);
        if (block != NULL)
            memcpy((uint8_t *)*data + (at - start), block + at % RAM_BLOCK_BYTES, length);
    }
    return 0;
}

static error_t ram_write(void *hook, uint64_t sector, vm_address_t data, vm_size_t bytes,
                         vm_size_t *written)
{
    uint64_t start = sector * STORE_SECTOR_BYTES;
    struct ram *ram = hook;

    *written = 0;
    while (*written < bytes) {
        uint64_t at = start + *written;
        vm_size_t length = ram_step(at, start + bytes);
        uint8_t *block;
        error_t error = ram_block_need(ram, at / RAM_BLOCK_BYTES, &block);

        if (error != 0)
            return error;
        memcpy(block + at % RAM_BLOCK_BYTES, (const uint8_t *)data + *written, length);
        *written += length;
    }
    return 0;
}

const struct store_ops ram_store_ops = {
    .read = ram_read,
    .write = ram_write,
};
