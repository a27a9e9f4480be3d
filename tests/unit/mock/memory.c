// SPDX-License-Identifier: GPL-2.0-or-later
/* The task's memory: every page is known, so that one that is released twice ends the test, and one
   that is used after that does too (address sanitizer). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/asan_interface.h>

#include "mock/kernel.h"
#include "mock/kernel-private.h"
#include "mock/rt.h"

#define PAGE    ((size_t)4096)
#define BUCKETS 4096 /* of the table of pages */

/* A page of memory that vm_allocate or a message has given, and that is not released. */
struct memory_page {
    struct memory_page *next;
    vm_address_t address;
    struct memory_block *block;
};

/* What was allocated at once; it may be released page by page. */
struct memory_block {
    vm_address_t address;
    size_t nall;
    size_t nleft; /* that are not released */
    struct memory_page pages[];
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_page *memory_pages[BUCKETS];
static size_t memory_bytes;
static struct memory_block *adjacent; /* what comes next is taken from it */
static vm_address_t adjacent_next;
static size_t adjacent_left; /* pages */
static size_t nmoves;
static bool no_room;
static int nfree = MOCK_FREE;

static struct memory_page **memory_bucket(vm_address_t address)
{
    return &memory_pages[address / PAGE % BUCKETS];
}

static struct memory_block *memory_block_create(size_t npages, vm_address_t *address)
{
    struct memory_block *block = malloc(sizeof(*block) + npages * sizeof(block->pages[0]));

    *address = (vm_address_t)aligned_alloc(PAGE, npages * PAGE);
    mock_check(block != NULL && *address != 0);
    block->address = *address;
    block->nall = npages;
    block->nleft = npages;
    return block;
}

/* COUNT pages of BLOCK are not in use, or no longer. => memory_lock held. */
static void memory_block_put(struct memory_block *block, size_t count)
{
    block->nleft -= count;
    if (block->nleft > 0)
        return;
    ASAN_UNPOISON_MEMORY_REGION((void *)block->address, block->nall * PAGE);
    free((void *)block->address);
    free(block);
}

/* The NPAGES pages of BLOCK at ADDRESS are given out. => memory_lock held. */
static void memory_block_take(struct memory_block *block, vm_address_t address, size_t npages)
{
    struct memory_page *page = &block->pages[(address - block->address) / PAGE];

    for (size_t i = 0; i < npages; i++, page++) {
        struct memory_page **bucket = memory_bucket(address + i * PAGE);

        *page = (struct memory_page){*bucket, address + i * PAGE, block};
        *bucket = page;
    }
    memory_bytes += npages * PAGE;
}

vm_address_t mock_memory_alloc(vm_size_t size)
{
    size_t npages = (size + PAGE - 1) / PAGE;
    struct memory_block *block;
    vm_address_t address;

    pthread_mutex_lock(&memory_lock);
    if (npages <= adjacent_left) {
        block = adjacent;
        address = adjacent_next;
        adjacent_next += npages * PAGE;
        adjacent_left -= npages;
    } else {
        block = memory_block_create(npages, &address);
    }
    memory_block_take(block, address, npages);
    pthread_mutex_unlock(&memory_lock);
    return address;
}

void mock_memory_adjacent(size_t npages)
{
    pthread_mutex_lock(&memory_lock);
    if (adjacent_left > 0)
        memory_block_put(adjacent, adjacent_left);
    adjacent_left = npages;
    if (npages > 0)
        adjacent = memory_block_create(npages, &adjacent_next);
    pthread_mutex_unlock(&memory_lock);
}

/* Release one page. => memory_lock held. */
static void memory_page_free(vm_address_t address)
{
    struct memory_page **link = memory_bucket(address);
    struct memory_block *block;

    while (*link != NULL && (*link)->address != address)
        link = &(*link)->next;
    if (*link == NULL)
        mock_fail("release of a page at %#zx, where there is none", (size_t)address);
    block = (*link)->block;
    *link = (*link)->next;
    memory_bytes -= PAGE;
    ASAN_POISON_MEMORY_REGION((void *)address, PAGE);
    memory_block_put(block, 1);
}

void mock_memory_free(vm_address_t address, vm_size_t size)
{
    mock_check(address % PAGE == 0);
    pthread_mutex_lock(&memory_lock);
    for (vm_size_t done = 0; done < size; done += PAGE)
        memory_page_free(address + done);
    pthread_mutex_unlock(&memory_lock);
}

kern_return_t vm_allocate(mach_port_t task, vm_address_t *address, vm_size_t size,
                          boolean_t anywhere)
{
    mock_check(task == mach_task_self() && anywhere && size > 0);
    if (__atomic_load_n(&no_room, __ATOMIC_RELAXED))
        return KERN_NO_SPACE;
    *address = mock_memory_alloc(size);
    memset((void *)*address, 0, size);
    return KERN_SUCCESS;
}

kern_return_t vm_deallocate(mach_port_t task, vm_address_t address, vm_size_t size)
{
    mock_check(task == mach_task_self());
    if (!mock_task_unmap(address, size))
        mock_memory_free(address, size);
    return KERN_SUCCESS;
}

kern_return_t vm_copy(mach_port_t task, vm_address_t from, vm_size_t size, vm_address_t to)
{
    mock_check(task == mach_task_self() && from % PAGE == 0 && size % PAGE == 0 && to % PAGE == 0);
    memcpy((void *)to, (const void *)from, size);
    return KERN_SUCCESS;
}

kern_return_t vm_move(mach_port_t task, vm_address_t to, vm_address_t from,
                      mach_msg_type_number_t size)
{
    kern_return_t kr = vm_copy(task, from, size, to);

    mock_memory_free(from, size);
    __atomic_add_fetch(&nmoves, 1, __ATOMIC_RELAXED);
    return kr;
}

size_t mock_nmoves(void)
{
    return __atomic_load_n(&nmoves, __ATOMIC_RELAXED);
}

kern_return_t vm_statistics(mach_port_t task, vm_statistics_data_t *statistics)
{
    mock_check(task == mach_task_self());
    *statistics = (vm_statistics_data_t){
        .free_count = __atomic_load_n(&nfree, __ATOMIC_RELAXED),
        .active_count = MOCK_PAGES / 2,
        .inactive_count = MOCK_PAGES / 4,
        .wire_count = MOCK_PAGES / 4,
    };
    return KERN_SUCCESS;
}

void mock_set_free(int npages)
{
    __atomic_store_n(&nfree, npages, __ATOMIC_RELAXED);
}

void mock_set_no_room(bool on)
{
    __atomic_store_n(&no_room, on, __ATOMIC_RELAXED);
}

size_t mock_memory(void)
{
    size_t bytes;

    pthread_mutex_lock(&memory_lock);
    bytes = memory_bytes;
    pthread_mutex_unlock(&memory_lock);
    return bytes;
}
