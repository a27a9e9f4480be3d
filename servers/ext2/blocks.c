// SPDX-License-Identifier: GPL-2.0-or-later
#include "ext2/blocks.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS_ROOM_FIRST 256u

void blocks_io_begin(struct node *node, struct node_io *io, uint32_t first, uint32_t count)
{
    io->first = first;
    io->end = first + count;
    rt_mutex_lock(&node->blocks_lock);
    io->next = node->ios;
    node->ios = io;
    rt_mutex_unlock(&node->blocks_lock);
}

void blocks_io_end(struct node *node, const struct node_io *io)
{
    struct node_io **link = &node->ios;

    rt_mutex_lock(&node->blocks_lock);
    while (*link != io)
        link = &(*link)->next;
    *link = io->next;
    rt_cond_broadcast(&node->io_done);
    rt_mutex_unlock(&node->blocks_lock);
}

/* => blocks_lock held. */
static bool blocks_io_reaches(const struct node *node, uint32_t first)
{
    const struct node_io *io = node->ios;

    while (io != NULL && io->end <= first)
        io = io->next;
    return io != NULL;
}

void blocks_io_wait(struct node *node, uint32_t first)
{
    uint64_t start = node_wait_begin(node);

    rt_mutex_lock(&node->blocks_lock);
    while (blocks_io_reaches(node, first))
        rt_cond_wait(&node->io_done, &node->blocks_lock);
    rt_mutex_unlock(&node->blocks_lock);
    node_wait_end(node, start);
}

bool blocks_is_fresh(struct node *node, uint32_t file_block)
{
    bool fresh;

    rt_mutex_lock(&node->blocks_lock);
    fresh = file_block < node->nfresh && node->fresh[file_block] != 0;
    rt_mutex_unlock(&node->blocks_lock);
    return fresh;
}

static void blocks_mark(struct node *node, uint32_t first, uint32_t count, bool fresh)
{
    rt_mutex_lock(&node->blocks_lock);
    for (uint32_t i = first; i < first + count && i < node->nfresh; i++)
        node->fresh[i] = fresh;
    rt_mutex_unlock(&node->blocks_lock);
}

void blocks_mark_fresh(struct node *node, uint32_t first, uint32_t count)
{
    blocks_mark(node, first, count, true);
}

void blocks_mark_written(struct node *node, uint32_t first, uint32_t count)
{
    blocks_mark(node, first, count, false);
}

/* => blocks_lock held. */
static error_t blocks_reserve_locked(struct node *node, size_t nblocks)
{
    size_t room = node->nfresh == 0 ? BLOCKS_ROOM_FIRST : node->nfresh;
    uint8_t *fresh;

    if (nblocks <= node->nfresh)
        return 0;
    while (room < nblocks)
        room *= 2;
    fresh = realloc(node->fresh, room);
    if (fresh == NULL)
        return ENOMEM;
    memset(fresh + node->nfresh, 0, room - node->nfresh);
    node->fresh = fresh;
    node->nfresh = room;
    return 0;
}

error_t blocks_reserve(struct node *node, size_t nblocks)
{
    error_t error;

    rt_mutex_lock(&node->blocks_lock);
    error = blocks_reserve_locked(node, nblocks);
    rt_mutex_unlock(&node->blocks_lock);
    return error;
}

uint32_t blocks_next_fresh(struct node *node, uint32_t *first)
{
    uint32_t count = 0;

    rt_mutex_lock(&node->blocks_lock);
    while (*first < node->nfresh && node->fresh[*first] == 0)
        ++*first;
    while (*first + count < node->nfresh && node->fresh[*first + count] != 0)
        count++;
    rt_mutex_unlock(&node->blocks_lock);
    return count;
}
