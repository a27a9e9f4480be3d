// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file's page is one to four blocks, each of which may be a hole, fresh (allocated, and holding
 * somebody else's old data on the disk), or written. Fresh blocks and holes read as zeros. A page
 * with a hole is supplied write-locked: writing to it asks for blocks first (file_unlock_page). No
 * hole comes into being in a page that is not locked: a file that grows gets blocks for the rest of
 * the page that its end was in (file_complete_page).
 *
 * Whoever reads or writes the file's data takes the node's alloc_lock once for a run, asks libext2
 * under it where the run is, as far as it is inside the size, notes that those blocks are being
 * read or written (blocks.h), and releases it: the lock is not held during the I/O, so nobody who
 * wants to extend the file waits for the disk. The block numbers are good until the note is taken
 * back, because who frees blocks first makes the size smaller, so that nothing new begins behind
 * it, then waits until nothing behind it is noted, and then frees them (file_resize). Blocks are
 * freed in no other way as long as the file is in use. Nothing else that was found out under the
 * lock is used behind its release; the next run looks again.
 *
 * What is returned from behind the size was truncated away: it is dropped. What is returned for a
 * hole gets blocks then. A client can come to write there: if a file is truncated and extended just
 * when the kernel is told to unlock a page of it, the page is a new one, and a hole.
 */
#include "ext2/file-pager.h"

#include <stdlib.h>
#include <string.h>

#include "ext2/blocks.h"
#include "libpager/policy.h"
#include "librt/guard.h"

/* Bytes of zeros that are written at once. */
#define FILE_ZEROS ((vm_size_t)128 << 10)

static struct store *file_store;

void file_pager_setup(struct store *store)
{
    file_store = store;
}

static struct node *file_node(struct user_pager_info *upi)
{
    return (struct node *)upi; /* a node starts with it */
}

void file_set_size(struct node *node, uint64_t size)
{
    vm_size_t extent = (vm_size_t)((size + vm_page_size - 1) / vm_page_size * vm_page_size);

    node->size = size;
    __atomic_store_n(&node->extent, extent, __ATOMIC_RELAXED);
}

static vm_size_t file_extent(struct user_pager_info *upi)
{
    return __atomic_load_n(&file_node(upi)->extent, __ATOMIC_RELAXED);
}

static uint64_t file_sector(uint32_t block)
{
    return (uint64_t)block * (node_block_size() / STORE_SECTOR_BYTES);
}

/* The first byte behind what may be read or written: the size, up to whole blocks.
   => alloc_lock held. */
static uint64_t file_allocated_size(const struct node *node)
{
    uint32_t block_size = node_block_size();

    return (node->size + block_size - 1) / block_size * block_size;
}

/* --- Reading --------------------------------------------------------------------------------- */

/* What a page's blocks are. */
struct file_page {
    uint32_t blocks[4]; /* device blocks to read; 0: zeros */
    unsigned int nblocks;
    unsigned int nread; /* how many are to be read */
    bool consecutive;   /* all are to be read, and follow each other */
    bool hole;          /* at least one is a hole */
    vm_size_t inside;   /* bytes of the page that are inside the file */
    struct node_io io;
};

static void file_page_add(struct node *node, const struct ext2_run *run, struct file_page *page)
{
    page->hole |= run->block == 0;
    for (uint32_t i = 0; i < run->count; i++) {
        bool zeros = run->block == 0 || blocks_is_fresh(node, run->first + i);

        page->blocks[page->nblocks++] = zeros ? 0 : run->block + i;
        page->nread += !zeros;
    }
    page->consecutive = page->nread == page->nblocks && page->nblocks == run->count &&
                        run->count * node_block_size() == vm_page_size;
}

/* Blocks behind the size may be about to be freed: they are left zeros. => alloc_lock held. */
static error_t file_page_lookup(struct node *node, vm_offset_t offset, struct file_page *page)
{
    uint32_t first = offset / node_block_size();
    uint32_t count = vm_page_size / node_block_size();
    uint64_t allocated = file_allocated_size(node);
    error_t error = 0;

    memset(page, 0, sizeof(*page));
    if (node->size > offset)
        page->inside =
            node->size - offset < vm_page_size ? (vm_size_t)(node->size - offset) : vm_page_size;
    if (allocated < (uint64_t)offset + vm_page_size)
        count = allocated > offset ? (uint32_t)((allocated - offset) / node_block_size()) : 0;
    while (page->nblocks < count && error == 0) {
        struct ext2_run run;

        error = ext2_block_map(node->inode, first + page->nblocks, count - page->nblocks, &run);
        if (error == 0)
            file_page_add(node, &run, page);
    }
    blocks_io_begin(node, &page->io, first, count);
    return error;
}

static error_t file_block_read(uint32_t block, vm_address_t to)
{
    vm_address_t data;
    error_t error =
        store_read(file_store, RT_CLASS_FILE, file_sector(block), node_block_size(), &data);

    if (error != 0)
        return error;
    memcpy((void *)to, (const void *)data, node_block_size());
    vm_deallocate(mach_task_self(), data, node_block_size());
    return 0;
}

/* Read a page whose blocks lie apart, or are partly zeros. */
static error_t file_page_assemble(const struct file_page *page, vm_address_t *buf)
{
    error_t error = 0;

    *buf = 0;
    if (vm_allocate(mach_task_self(), buf, vm_page_size, TRUE) != KERN_SUCCESS)
        return ENOMEM;
    for (unsigned int i = 0; i < page->nblocks && error == 0; i++)
        if (page->blocks[i] != 0)
            error = file_block_read(page->blocks[i], *buf + i * node_block_size());
    if (error != 0)
        vm_deallocate(mach_task_self(), *buf, vm_page_size);
    return error;
}

static error_t file_page_fetch(const struct file_page *page, vm_address_t *buf)
{
    if (page->nread == 0 && !page->hole)
        return 0; /* zeros, from the kernel; but such a page cannot have a write lock */
    if (page->consecutive)
        return store_read(file_store, RT_CLASS_FILE, file_sector(page->blocks[0]), vm_page_size,
                          buf);
    return file_page_assemble(page, buf);
}

static error_t file_read_page(struct user_pager_info *upi, vm_offset_t offset, vm_address_t *buf,
                              int *write_lock)
{
    struct node *node = file_node(upi);
    struct node_hold hold;
    struct file_page page;
    error_t error;

    node_alloc_lock(node, TRACE_READ, &hold);
    error = file_page_lookup(node, offset, &page);
    node_alloc_unlock(node, &hold);
    if (error == 0)
        error = file_page_fetch(&page, buf);
    blocks_io_end(node, &page.io);
    if (error == 0 && *buf != 0)
        memset((char *)*buf + page.inside, 0, vm_page_size - page.inside);
    *write_lock = page.hole;
    return error;
}

/* --- Allocating ------------------------------------------------------------------------------ */

/* Allocate what is missing of file blocks [*FIRST, END). *FIRST becomes the first that has none,
   END if all have. => alloc_lock held for writing. */
static error_t file_allocate(struct node *node, uint32_t *first, uint32_t end)
{
    error_t error = blocks_reserve(node, end);

    while (*first < end && error == 0) {
        struct ext2_run run;

        error = ext2_block_allocate(node->inode, *first, end - *first, &run);
        if (error != 0)
            break;
        if (run.fresh)
            blocks_mark_fresh(node, run.first, run.count);
        *first += run.count;
    }
    return error;
}

/* --- Writing --------------------------------------------------------------------------------- */

/* A stretch of a file that is to be written. */
struct file_run {
    uint64_t at; /* bytes, whole blocks; goes up as it is written */
    uint64_t end;
    vm_offset_t offset; /* of what DATA holds */
    vm_address_t data;
};

/* What lies behind the size in the file's last block is zeros on the disk. => alloc_lock held. */
static void file_clear_tail(const struct node *node, const struct file_run *run)
{
    if (run->at < run->end && node->size < run->end)
        memset((char *)run->data + (node->size - run->offset), 0, (size_t)(run->end - node->size));
}

/* Give the hole of BLOCKS what it lacks, as far as it is inside the file still. */
static error_t file_fill_hole(struct node *node, const struct ext2_run *blocks)
{
    struct node_hold hold;
    uint32_t first = blocks->first;
    uint32_t end = first + blocks->count;
    uint32_t allocated;
    error_t error;

    node_alloc_lock_to_write(node, TRACE_WRITE, &hold);
    allocated = (uint32_t)(file_allocated_size(node) / node_block_size());
    error = file_allocate(node, &first, end < allocated ? end : allocated);
    node_alloc_unlock(node, &hold);
    return error;
}

/* Where the first blocks of RUN are. => takes alloc_lock; with 0, IO has begun. */
static error_t file_run_locate(struct node *node, struct file_run *run, struct ext2_run *blocks,
                               struct node_io *io)
{
    uint32_t block_size = node_block_size();
    struct node_hold hold;
    error_t error = 0;

    blocks->count = 0;
    node_alloc_lock_to_write(node, TRACE_READ, &hold);
    if (run->end > file_allocated_size(node))
        run->end = file_allocated_size(node);
    file_clear_tail(node, run);
    if (run->at < run->end)
        error = ext2_block_map(node->inode, (uint32_t)(run->at / block_size),
                               (uint32_t)((run->end - run->at) / block_size), blocks);
    if (error == 0)
        blocks_io_begin(node, io, (uint32_t)(run->at / block_size), blocks->count);
    node_alloc_unlock(node, &hold);
    return error;
}

/* Write the first run of consecutive blocks of RUN; or, when that is a hole, give it blocks. */
static error_t file_run_write(struct node *node, struct file_run *run)
{
    uint32_t block_size = node_block_size();
    struct ext2_run blocks;
    struct node_io io;
    vm_size_t done = 0;
    error_t error = file_run_locate(node, run, &blocks, &io);

    if (error != 0)
        return error;
    if (blocks.count > 0 && blocks.block == 0) {
        blocks_io_end(node, &io);
        return file_fill_hole(node, &blocks);
    }
    if (blocks.count > 0) {
        error = store_write(file_store, RT_CLASS_FILE, file_sector(blocks.block),
                            run->data + (vm_offset_t)(run->at - run->offset),
                            blocks.count * block_size, &done);
        blocks.count = done / block_size;
        blocks_mark_written(node, blocks.first, blocks.count);
        if (__atomic_load_n(&node->nwaiting, __ATOMIC_RELAXED) > 0)
            pager_policy_contended(node->pager);
    }
    blocks_io_end(node, &io);
    run->at += (uint64_t)blocks.count * block_size;
    return error;
}

static error_t file_write_pages(struct user_pager_info *upi, vm_offset_t offset, vm_address_t data,
                                vm_size_t length, vm_size_t *written)
{
    struct node *node = file_node(upi);
    struct file_run run = {
        .at = offset, .end = (uint64_t)offset + length, .offset = offset, .data = data};
    error_t error;

    rt_rwlock_rdlock(&node->write_lock);
    /* One run; with blocks smaller than a page more, until a page is complete. */
    do
        error = file_run_write(node, &run);
    while (error == 0 && run.at < run.end && (run.at == offset || run.at % vm_page_size != 0));
    rt_rwlock_rdunlock(&node->write_lock);
    if (error == 0 && run.at >= run.end)
        *written = length; /* what lies behind the end is dropped */
    else
        *written = (vm_size_t)(run.at - offset) / vm_page_size * vm_page_size;
    return error;
}

/* --- Growing --------------------------------------------------------------------------------- */

/* How many of the file blocks [FIRST, END) are no holes. => alloc_lock held. */
static error_t file_count_blocks(struct node *node, uint32_t first, uint32_t end, uint32_t *count)
{
    struct ext2_run run;
    error_t error = 0;

    *count = 0;
    for (; first < end && error == 0; first += run.count) {
        run.count = 0;
        error = ext2_block_map(node->inode, first, end - first, &run);
        if (error == 0 && run.block != 0)
            *count += run.count;
    }
    return error;
}

/* The size is about to become SIZE, which is larger. Unless the page that the end is in has a hole,
   it may be in memory without a lock: allocate the blocks of it that come inside the size.
   => alloc_lock held for writing; after an error the size must be set again. */
static error_t file_complete_page(struct node *node, uint64_t size)
{
    uint32_t block_size = node_block_size();
    uint64_t allocated = file_allocated_size(node);
    uint64_t start = allocated / vm_page_size * vm_page_size;
    uint64_t end = start + vm_page_size;
    uint32_t first = (uint32_t)(allocated / block_size);
    uint32_t count;
    error_t error;

    if (node->pager == NULL || start == allocated || size <= allocated)
        return 0;
    if (size < end)
        end = (size + block_size - 1) / block_size * block_size;
    error = file_count_blocks(node, (uint32_t)(start / block_size), first, &count);
    if (error != 0 || count < (allocated - start) / block_size)
        return error;
    return file_allocate(node, &first, (uint32_t)(end / block_size));
}

/* Make the size reach to SIZE, or set it again after blocks were allocated behind it.
   => alloc_lock held for writing. */
static error_t file_extend(struct node *node, uint64_t size)
{
    error_t error;

    if (size < node->size)
        size = node->size;
    error = ext2_inode_resize(node->inode, size);
    if (error == 0)
        file_set_size(node, size);
    return error;
}

static error_t file_unlock_page(struct user_pager_info *upi, vm_offset_t address)
{
    struct node_hold hold;
    struct node *node = file_node(upi);
    uint32_t block_size = node_block_size();
    uint32_t first = address / block_size;
    uint64_t end = (uint64_t)address + vm_page_size;
    error_t error = 0;

    node_alloc_lock(node, TRACE_WRITE, &hold);
    if (end > file_allocated_size(node))
        end = file_allocated_size(node);
    if (address < end)
        error = file_allocate(node, &first, (uint32_t)(end / block_size));
    else
        error = EIO; /* truncated meanwhile */
    node_alloc_unlock(node, &hold);
    return error;
}

/* --- Size ------------------------------------------------------------------------------------ */

/* Whether the page that the end is in has a block before the end. */
static error_t file_end_has_blocks(struct node *node, bool *blocks)
{
    struct node_hold hold;
    uint32_t first = (uint32_t)(node->size / vm_page_size * (vm_page_size / node_block_size()));
    uint32_t count;
    error_t error;

    node_alloc_lock(node, TRACE_READ, &hold);
    error = file_count_blocks(node, first,
                              (uint32_t)(file_allocated_size(node) / node_block_size()), &count);
    node_alloc_unlock(node, &hold);
    *blocks = count > 0;
    return error;
}

/* Make the bytes from the end to its page's end zero in memory, and so on the disk.
   => io_lock held for writing, alloc_lock not: this may fault. */
static error_t file_zero_tail(struct node *node)
{
    error_t error = node_map(node, (vm_size_t)node->size);

    if (error != 0)
        return error;
    error =
        rt_guard_zero((char *)node->window + node->size, vm_page_size - node->size % vm_page_size);
    node_note_change(node);
    return error;
}

/* An error of a write-out that has come to light is kept for the next sync. */
static void file_keep_error(struct node *node, error_t error)
{
    if (error != 0)
        __atomic_store_n(&node->write_error, error, __ATOMIC_RELAXED);
}

/* Drop the pages from the end to OLD_EXTENT, which no data is in that is still the file's. */
static void file_drop_behind(struct node *node, vm_size_t old_extent)
{
    if (node->pager != NULL && node->extent < old_extent)
        file_keep_error(node,
                        pager_flush_some(node->pager, node->extent, old_extent - node->extent, 1));
}

/* Have the page that the end is in, which had no blocks, leave memory. A client may have stored
   into it since, and before the end: then it is written out, without what is behind the end. */
static void file_return_end(struct node *node)
{
    vm_size_t start = (vm_size_t)(node->size / vm_page_size * vm_page_size);

    if (node->pager != NULL && start < node->extent)
        file_keep_error(node, pager_return_some(node->pager, start, vm_page_size, 1));
}

/* Have what memory holds of the file behind its end be gone, so that growing over it shows zeros.
   In the page of the end it is overwritten; but if that page is all holes it leaves memory too.
   => io_lock held for writing, alloc_lock not. */
static error_t file_clear_behind(struct node *node, vm_size_t old_extent)
{
    bool blocks;
    error_t error = file_end_has_blocks(node, &blocks);

    file_drop_behind(node, old_extent);
    if (error == 0 && blocks)
        return file_zero_tail(node);
    file_return_end(node);
    return error;
}

/* The file is about to grow from its end. Clients that map it may have written behind it.
   => as file_clear_behind. */
static error_t file_clear_before_growth(struct node *node)
{
    return node->handed_out ? file_clear_behind(node, node->extent) : 0;
}

error_t file_grow(struct node *node, uint64_t offset, vm_size_t *length)
{
    struct node_hold hold;
    uint32_t block_size = node_block_size();
    uint64_t end = offset + *length;
    uint32_t first = (uint32_t)(offset / block_size);
    error_t error = 0;
    error_t extend_error = 0;

    if (end > NODE_SIZE_MAX)
        return EFBIG;
    if (offset > node->size)
        error = file_clear_before_growth(node);
    if (error != 0)
        return error;
    node_alloc_lock(node, TRACE_WRITE, &hold);
    error = file_complete_page(node, end);
    if (error == 0)
        error = file_allocate(node, &first, (uint32_t)((end + block_size - 1) / block_size));
    if ((uint64_t)first * block_size < end)
        end = (uint64_t)first * block_size;
    if (error != 0 || end > node->size) /* else nothing was allocated behind the size */
        extend_error = file_extend(node, end > offset ? end : node->size);
    node_alloc_unlock(node, &hold);
    if (extend_error != 0)
        return extend_error;
    if (end <= offset)
        return error;
    *length = (vm_size_t)(end - offset);
    return 0;
}

/* Make the size SIZE. => alloc_lock held for writing. */
static error_t file_resize_locked(struct node *node, uint64_t size)
{
    error_t grow_error = size > node->size ? file_complete_page(node, size) : 0;
    error_t error = ext2_inode_resize(node->inode, grow_error == 0 ? size : node->size);

    if (grow_error != 0)
        return grow_error;
    if (error == 0)
        file_set_size(node, size);
    return error;
}

/* Have nothing begin behind SIZE, which is smaller than the size, and what has begun end. */
static void file_retreat(struct node *node, uint64_t size)
{
    uint32_t block_size = node_block_size();
    struct node_hold hold;

    node_alloc_lock(node, TRACE_WRITE, &hold);
    file_set_size(node, size);
    node_alloc_unlock(node, &hold);
    blocks_io_wait(node, (uint32_t)((size + block_size - 1) / block_size));
}

error_t file_resize(struct node *node, uint64_t size)
{
    vm_size_t old_extent = node->extent;
    bool shrinks = size < node->size;
    struct node_hold hold;
    error_t error = 0;
    error_t clear_error;

    if (size > NODE_SIZE_MAX)
        return EFBIG;
    if (shrinks)
        file_retreat(node, size);
    else if (size > node->size)
        error = file_clear_before_growth(node);
    if (error != 0)
        return error;
    node_alloc_lock(node, TRACE_WRITE, &hold);
    error = file_resize_locked(node, size);
    node_alloc_unlock(node, &hold);
    if (!shrinks)
        return error;
    clear_error = file_clear_behind(node, old_extent);
    return error != 0 ? error : clear_error;
}

static void file_pager_gone(struct user_pager_info *upi)
{
    node_pager_gone(file_node(upi));
}

/* --- Blocks that nobody wrote to ------------------------------------------------------------- */

/* Where the first fresh blocks from *FIRST on are, at most MOST of them, none behind the size:
   there is nothing to keep there. *FIRST goes up to them. => write_lock held for writing; takes
   alloc_lock; with 0, IO has begun. */
static error_t file_fresh_locate(struct node *node, uint32_t *first, uint32_t most,
                                 struct ext2_run *blocks, struct node_io *io)
{
    struct node_hold hold;
    uint32_t end, count;
    error_t error = 0;

    blocks->count = 0;
    node_alloc_lock_to_write(node, TRACE_READ, &hold);
    end = (uint32_t)(file_allocated_size(node) / node_block_size());
    count = blocks_next_fresh(node, first);
    if (count > most)
        count = most;
    if (count > 0 && *first < end)
        error = ext2_block_map(node->inode, *first, count < end - *first ? count : end - *first,
                               blocks);
    if (error == 0)
        blocks_io_begin(node, io, *first, blocks->count);
    node_alloc_unlock(node, &hold);
    return error;
}

/* Write zeros to COUNT of BLOCKS. *DONE is how many are dealt with: in a hole there is nothing to
   do. => IO has begun. */
static error_t file_zeros_write(struct node *node, const struct ext2_run *blocks, uint32_t count,
                                vm_address_t zeros, uint32_t *done)
{
    uint32_t block_size = node_block_size();
    vm_size_t written = count * block_size;
    error_t error = 0;

    if (blocks->block != 0)
        error = store_write(file_store, RT_CLASS_FILE, file_sector(blocks->block), zeros,
                            count * block_size, &written);
    *done = (uint32_t)(written / block_size);
    blocks_mark_written(node, blocks->first, *done);
    return error;
}

/* Deal with the first fresh blocks from *FIRST on, as many as one run and FILE_ZEROS hold, so that
   one bad block costs one block: it is passed over, and stays fresh. *FIRST goes behind them.
   Returns false when there were none. => write_lock held for writing. */
static bool file_settle_some(struct node *node, uint32_t *first, vm_address_t zeros, error_t *error)
{
    struct ext2_run blocks;
    struct node_io io;
    uint32_t done = 0;

    *error = file_fresh_locate(node, first, FILE_ZEROS / node_block_size(), &blocks, &io);
    if (*error == 0) {
        if (blocks.count > 0)
            *error = file_zeros_write(node, &blocks, blocks.count, zeros, &done);
        if (*error != 0 && done == 0 && blocks.count > 1)
            *error = file_zeros_write(node, &blocks, 1, zeros, &done);
        blocks_io_end(node, &io);
    }
    *first += done > 0 ? done : 1;
    return *error != 0 || blocks.count > 0;
}

static error_t file_settle_with(struct node *node, vm_address_t zeros)
{
    uint32_t first = 0;
    error_t error, first_error = 0;
    bool more;

    do {
        rt_rwlock_wrlock(&node->write_lock);
        more = file_settle_some(node, &first, zeros, &error);
        rt_rwlock_wrunlock(&node->write_lock);
        if (first_error == 0)
            first_error = error;
    } while (more);
    return first_error;
}

error_t file_settle(struct node *node)
{
    vm_address_t zeros = 0;
    uint32_t first = 0;
    error_t error;

    if (blocks_next_fresh(node, &first) == 0)
        return 0;
    if (vm_allocate(mach_task_self(), &zeros, FILE_ZEROS, TRUE) != KERN_SUCCESS)
        return ENOMEM;
    error = file_settle_with(node, zeros);
    vm_deallocate(mach_task_self(), zeros, FILE_ZEROS);
    return error;
}

const struct backend_ops file_backend_ops = {
    .read_page = file_read_page,
    .write_pages = file_write_pages,
    .unlock_page = file_unlock_page,
    .size = file_extent,
    .gone = file_pager_gone,
};
