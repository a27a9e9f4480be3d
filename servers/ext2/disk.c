// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Five sets of bits describe the disk's mapping.
 *
 * OWNED, one for each 1,024 bytes: metadata lives there. Set when libext2 first asks for a block,
 * cleared when it gives the block up (disk_forget). Only owned bytes are ever written out: with
 * blocks smaller than a page a page also holds blocks of files, which the file pagers write, and
 * whose copy here is old. A block that was given up may become a file's at once; a return of its
 * page that is still queued finds the bit cleared and leaves it alone.
 *
 * DIRTY, one for each page: changed since the last disk_sync began. It only says where to look.
 *
 * BAD, one for each page: could not be read. The mapping shows zeros there, since an error would be
 * an exception in libext2; disk_get looks at the bit after touching the page and returns EIO. A bad
 * page is not written. It is good again when it was evicted and could be read.
 *
 * LOST, one for each page: could not be written, so the disk has something older. As long as memory
 * has it, it is good, and each sync tries to write it again; when it has to be read again, it is
 * bad. libpager is told that it was written: it would answer the next request for it with an error.
 * Who syncs is told of the error, and the file system is marked as damaged.
 *
 * FRESH, one for each page: all of it will be overwritten, and nothing was written out yet: it is
 * not read from the disk but is zeros.
 *
 * Syncs come in groups. Who calls disk_sync joins the group that begins next, which is when no
 * other is at work; one member does the work for all of them. So two syncs are never at work at
 * once, and however many wait, one more group is enough for all.
 *
 * Why what a member has changed is on the disk when its call returns: libext2 marks a page DIRTY
 * (disk_put) before the call that changed it returns, and so before the member asks. When the
 * member's group begins, the page is DIRTY still, or an earlier group has taken it. If it is, the
 * group takes it, and pager_sync_some returns when all of its dirty data is on the disk, also what
 * the kernel had returned by itself before. If it is not, the earlier group was over when this one
 * began, and so was its write. What a group could not write is LOST: each member is told that was
 * not told before, and what it was told is noted when it asks, not when its group begins; so one
 * that waits while an earlier group loses its page is told, too.
 *
 * What is changed while a group is at work is DIRTY again, and the next group's. A page of it that
 * lies in a gap of what this group asks for (DISK_SYNC_GAP) is written by this one; the next finds
 * it clean, and writes nothing.
 */
#include "ext2/disk.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ext2/backend.h"
#include "librt/log.h"
#include "librt/ports.h"
#include "librt/rt.h"
#include "librt/sync.h"

#define DISK_FRAGMENT 1024u /* the smallest block of ext2 */

#define DISK_REPORT_MAX 256

/* Dirty pages at most this far apart are written with one request to the kernel. */
#define DISK_SYNC_GAP 32u

/* A call of disk_sync. */
struct disk_member {
    struct disk_member *next;
    uint64_t nreported; /* when it asked */
    error_t error;
    bool done;
};

static struct {
    struct user_pager_info info;
    struct store *store;
    struct pager *pager;
    mach_port_t host;  /* to ask for the time */
    vm_address_t base; /* of the mapping */
    uint64_t size;     /* bytes, whole pages */
    uint32_t block_size;
    struct ext2_fs *fs; /* to be marked as damaged; null outside a mount */

    struct rt_mutex fs_lock; /* libext2's */
    struct rt_mutex lock;    /* guards what follows */
    struct rt_cond written;
    uint64_t writing_start; /* what is being written, in bytes; empty when both are equal */
    uint64_t writing_end;
    uint8_t *owned;
    uint8_t *dirty;
    uint8_t *bad;
    uint8_t *fresh;
    uint8_t *lost;
    uint64_t nlost;               /* pages that could not be written, so far */
    uint64_t nreported;           /* of them, so many are known to who syncs */
    error_t error;                /* of the last one */
    bool syncing;                 /* a group is at work, or disk_write_behind */
    struct disk_member *members;  /* of the next group */
    struct rt_cond synced;        /* a group has ended */
    char report[DISK_REPORT_MAX]; /* libext2's last sentence */
} disk = {.block_size = DISK_FRAGMENT};

static bool disk_bit(const uint8_t *bits, uint64_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void disk_bit_set(uint8_t *bits, uint64_t i, bool value)
{
    if (value)
        bits[i / 8] |= (uint8_t)(1u << i % 8);
    else
        bits[i / 8] &= (uint8_t) ~(1u << i % 8);
}

/* The first bit from I on, before END, that is set; or END. */
static uint64_t disk_bit_next(const uint8_t *bits, uint64_t i, uint64_t end)
{
    while (i < end && !disk_bit(bits, i))
        i += i % 8 == 0 && bits[i / 8] == 0 ? 8 : 1;
    return i < end ? i : end;
}

static void disk_own(uint64_t offset, uint64_t length, bool own)
{
    uint64_t start = offset / disk.block_size * disk.block_size;
    uint64_t end = (offset + length + disk.block_size - 1) / disk.block_size * disk.block_size;

    for (uint64_t i = start / DISK_FRAGMENT; i < end / DISK_FRAGMENT; i++)
        disk_bit_set(disk.owned, i, own);
}

uint64_t disk_size(void)
{
    return disk.size;
}

void disk_set_fs(struct ext2_fs *fs)
{
    rt_mutex_lock(&disk.lock);
    disk.fs = fs;
    if (fs != NULL)
        disk.block_size = ext2_block_size(fs);
    for (uint64_t offset = 0; offset < disk.size; offset += DISK_FRAGMENT)
        if (disk_bit(disk.owned, offset / DISK_FRAGMENT))
            disk_own(offset, DISK_FRAGMENT, true);
    rt_mutex_unlock(&disk.lock);
}

/* --- For libext2 ----------------------------------------------------------------------------- */

static error_t disk_get(void *hook, uint64_t offset, uint32_t length, enum ext2_how how,
                        void **data)
{
    uint64_t page = offset / vm_page_size;
    bool bad;

    (void)hook;
    if (offset + length > disk.size)
        return EIO;
    *data = (void *)(disk.base + (vm_offset_t)offset);
    pager_level_check(disk.pager, "a touch of metadata");
    rt_mutex_lock(&disk.lock);
    disk_own(offset, length, true);
    if (how == EXT2_NEW && length == vm_page_size) {
        disk_bit_set(disk.bad, page, false);
        disk_bit_set(disk.fresh, page, true);
        disk_bit_set(disk.lost, page, false);
    }
    rt_mutex_unlock(&disk.lock);

    (void)*(volatile char *)*data; /* have it read in, if it must be */
    rt_mutex_lock(&disk.lock);
    bad = disk_bit(disk.bad, page);
    rt_mutex_unlock(&disk.lock);
    return bad ? EIO : 0;
}

static void disk_put(void *hook, uint64_t offset, uint32_t length, void *data, bool dirty)
{
    (void)hook;
    (void)length;
    (void)data;
    if (!dirty)
        return;
    rt_mutex_lock(&disk.lock);
    disk_bit_set(disk.dirty, offset / vm_page_size, true);
    rt_mutex_unlock(&disk.lock);
}

static void disk_forget(void *hook, uint64_t offset, uint32_t length)
{
    (void)hook;
    rt_mutex_lock(&disk.lock);
    disk_own(offset, length, false);
    while (offset < disk.writing_end && disk.writing_start < offset + length)
        rt_cond_wait(&disk.written, &disk.lock);
    rt_mutex_unlock(&disk.lock);
}

static void disk_lock(void *hook)
{
    (void)hook;
    rt_mutex_lock(&disk.fs_lock);
}

static void disk_unlock(void *hook)
{
    (void)hook;
    rt_mutex_unlock(&disk.fs_lock);
}

static uint32_t disk_now(void *hook)
{
    time_value64_t now;

    (void)hook;
    if (host_get_time64(disk.host, &now) != KERN_SUCCESS)
        return 0;
    return (uint32_t)now.seconds;
}

static void disk_report(void *hook, const char *sentence)
{
    (void)hook;
    rt_log("%s", sentence);
    rt_mutex_lock(&disk.lock);
    snprintf(disk.report, sizeof(disk.report), "%s", sentence);
    rt_mutex_unlock(&disk.lock);
}

const char *disk_last_report(void)
{
    return disk.report[0] == '\0' ? NULL : disk.report;
}

const struct ext2_ops disk_ops = {
    .get = disk_get,
    .put = disk_put,
    .forget = disk_forget,
    .lock = disk_lock,
    .unlock = disk_unlock,
    .now = disk_now,
    .report = disk_report,
};

/* --- For libpager ---------------------------------------------------------------------------- */

static error_t disk_read_page(struct user_pager_info *upi, vm_offset_t page, vm_address_t *buf,
                              int *write_lock)
{
    bool fresh, lost;
    error_t error = EIO;

    (void)upi;
    (void)write_lock;
    rt_mutex_lock(&disk.lock);
    fresh = disk_bit(disk.fresh, page / vm_page_size);
    lost = disk_bit(disk.lost, page / vm_page_size);
    rt_mutex_unlock(&disk.lock);
    if (fresh && !lost)
        return 0;
    if (!lost)
        error = store_read(disk.store, RT_CLASS_META, page / STORE_SECTOR_BYTES, vm_page_size, buf);
    if (error != 0)
        *buf = 0;
    rt_mutex_lock(&disk.lock);
    disk_bit_set(disk.bad, page / vm_page_size, error != 0);
    rt_mutex_unlock(&disk.lock);
    return 0;
}

static bool disk_writable(uint64_t offset)
{
    return disk_bit(disk.owned, offset / DISK_FRAGMENT) &&
           !disk_bit(disk.bad, offset / vm_page_size);
}

/* The first stretch at or behind OFFSET, before END, that is to be written. Returns its end; *START
   is its start, END when there is none. => with the disk's lock. */
static uint64_t disk_next_stretch(uint64_t offset, uint64_t end, uint64_t *start)
{
    while (offset < end && !disk_writable(offset))
        offset += DISK_FRAGMENT;
    *start = offset;
    while (offset < end && disk_writable(offset))
        offset += DISK_FRAGMENT;
    return offset;
}

/* Announce the first stretch within [OFFSET, END) as being written. */
static uint64_t disk_write_begin(uint64_t offset, uint64_t end, uint64_t *start)
{
    rt_mutex_lock(&disk.lock);
    end = disk_next_stretch(offset, end, start);
    disk.writing_start = *start;
    disk.writing_end = end;
    rt_mutex_unlock(&disk.lock);
    return end;
}

static void disk_write_end(uint64_t start, uint64_t end, bool success)
{
    rt_mutex_lock(&disk.lock);
    disk.writing_start = disk.writing_end = 0;
    for (uint64_t page = start / vm_page_size; success && page * vm_page_size < end; page++)
        disk_bit_set(disk.fresh, page, false);
    rt_cond_broadcast(&disk.written);
    rt_mutex_unlock(&disk.lock);
}

/* Write what is to be written of LENGTH bytes, up to the first error. *WRITTEN is how far that is,
   in whole pages. */
static error_t disk_write(vm_offset_t offset, vm_address_t data, vm_size_t length,
                          vm_size_t *written)
{
    uint64_t at = offset;
    uint64_t end = at + length;
    error_t error = 0;

    while (at < end && error == 0) {
        uint64_t start;
        uint64_t stop = disk_write_begin(at, end, &start);
        vm_size_t done = 0;

        if (start < stop)
            error =
                store_write(disk.store, RT_CLASS_META, start / STORE_SECTOR_BYTES,
                            data + (vm_offset_t)(start - offset), (vm_size_t)(stop - start), &done);
        disk_write_end(start, stop, error == 0);
        at = error == 0 ? stop : start + done;
    }
    *written = (vm_size_t)(at - offset) / vm_page_size * vm_page_size;
    return error;
}

/* LENGTH bytes from OFFSET, whole pages, are lost, or have been written; bad ones are not written.
 */
static void disk_mark_lost(vm_offset_t offset, vm_size_t length, bool lost)
{
    rt_mutex_lock(&disk.lock);
    for (uint64_t page = offset / vm_page_size; page < (offset + length) / vm_page_size; page++)
        if (lost || !disk_bit(disk.bad, page))
            disk_bit_set(disk.lost, page, lost);
    rt_mutex_unlock(&disk.lock);
}

/* The page at OFFSET could not be written, with ERROR. */
static void disk_lose(vm_offset_t offset, error_t error)
{
    struct ext2_fs *fs;

    disk_mark_lost(offset, vm_page_size, true);
    rt_mutex_lock(&disk.lock);
    disk.nlost++;
    disk.error = error;
    fs = disk.fs;
    rt_mutex_unlock(&disk.lock);
    if (fs != NULL)
        ext2_damaged(fs, "metadata could not be written");
}

static error_t disk_write_pages(struct user_pager_info *upi, vm_offset_t offset, vm_address_t data,
                                vm_size_t length, vm_size_t *written)
{
    error_t error = disk_write(offset, data, length, written);

    (void)upi;
    disk_mark_lost(offset, *written, false);
    if (error == 0 || length > vm_page_size) /* libpager tries again page by page */
        return error;
    disk_lose(offset, error);
    *written = length;
    return 0;
}

static error_t disk_unlock_page(struct user_pager_info *upi, vm_offset_t address)
{
    (void)upi;
    (void)address;
    return 0; /* no page is supplied with a write lock */
}

static vm_size_t disk_pager_size(struct user_pager_info *upi)
{
    (void)upi;
    return (vm_size_t)disk.size;
}

static void disk_pager_gone(struct user_pager_info *upi)
{
    (void)upi;
    rt_panic("the disk's pager was shut down");
}

static const struct backend_ops disk_backend_ops = {
    .read_page = disk_read_page,
    .write_pages = disk_write_pages,
    .unlock_page = disk_unlock_page,
    .size = disk_pager_size,
    .gone = disk_pager_gone,
};

/* --- Set-up and sync ------------------------------------------------------------------------- */

/* Take the pages from *PAGE on that are dirty, or less than DISK_SYNC_GAP from the next that is.
   Their bits are cleared. Returns how many; *PAGE is the first. */
static uint64_t disk_take_dirty(uint64_t *page)
{
    uint64_t npages = disk.size / vm_page_size;
    uint64_t end;
    uint64_t next;

    rt_mutex_lock(&disk.lock);
    *page = end = next = disk_bit_next(disk.dirty, *page, npages);
    while (next < npages && next < end + DISK_SYNC_GAP) {
        disk_bit_set(disk.dirty, next, false);
        end = next + 1;
        next = disk_bit_next(disk.dirty, end, npages);
    }
    rt_mutex_unlock(&disk.lock);
    return end - *page;
}

/* What libpager could not write for want of memory is lost as well. */
static void disk_note_error(error_t error)
{
    rt_mutex_lock(&disk.lock);
    disk.nlost++;
    disk.error = error;
    rt_mutex_unlock(&disk.lock);
}

/* Have the kernel take a page for changed without changing it. If it is not in memory any more,
   this makes it bad. Others may be changing it: nothing of theirs is lost, or seen. */
__attribute__((no_sanitize("thread"))) static void disk_touch(uint64_t page)
{
    uint8_t *byte = (uint8_t *)(disk.base + (vm_offset_t)(page * vm_page_size));
    uint8_t value = *(volatile uint8_t *)byte;

    __atomic_compare_exchange_n(byte, &value, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* The first page from PAGE on that is lost and not bad, or the end. It is dirty from now on. */
static uint64_t disk_take_lost(uint64_t page)
{
    uint64_t npages = disk.size / vm_page_size;

    rt_mutex_lock(&disk.lock);
    page = disk_bit_next(disk.lost, disk.nlost == 0 ? npages : page, npages);
    while (page < npages && disk_bit(disk.bad, page))
        page = disk_bit_next(disk.lost, page + 1, npages);
    if (page < npages)
        disk_bit_set(disk.dirty, page, true);
    rt_mutex_unlock(&disk.lock);
    return page;
}

/* Have pages that are lost be written again. */
static void disk_retry_lost(void)
{
    for (uint64_t page = disk_take_lost(0); page < disk.size / vm_page_size;
         page = disk_take_lost(page + 1))
        disk_touch(page);
}

/* Write what is dirty. => disk.syncing is the caller's; blocks. */
static void disk_write_dirty(void)
{
    uint64_t page = 0;
    uint64_t count;

    disk_retry_lost();
    while ((count = disk_take_dirty(&page)) > 0) {
        error_t error = pager_sync_some(disk.pager, (vm_address_t)(page * vm_page_size),
                                        (vm_size_t)(count * vm_page_size), 1);

        if (error != 0)
            disk_note_error(error);
        page += count;
    }
}

/* Begin to work, the disk's lock held, which is released. */
static void disk_sync_begin(void)
{
    disk.syncing = true;
    rt_mutex_unlock(&disk.lock);
}

/* Take the lock, and let others begin. */
static void disk_sync_end(void)
{
    rt_mutex_lock(&disk.lock);
    disk.syncing = false;
    rt_cond_broadcast(&disk.synced);
}

/* Work for all who have asked until now. => the disk's lock held, but not meanwhile. */
static void disk_group_sync(void)
{
    struct disk_member *group = disk.members;

    disk.members = NULL;
    disk_sync_begin();
    disk_write_dirty();
    disk_sync_end();
    for (struct disk_member *member = group; member != NULL; member = member->next) {
        member->error = disk.nlost > member->nreported ? disk.error : 0;
        member->done = true;
    }
    disk.nreported = disk.nlost;
}

error_t disk_sync(void)
{
    struct disk_member self = {.done = false};

    pager_level_check(disk.pager, "a sync of metadata");
    rt_mutex_lock(&disk.lock);
    self.nreported = disk.nreported;
    self.next = disk.members;
    disk.members = &self;
    while (!self.done && disk.syncing)
        rt_cond_wait(&disk.synced, &disk.lock);
    if (!self.done)
        disk_group_sync();
    rt_mutex_unlock(&disk.lock);
    return self.error;
}

bool disk_write_behind(void)
{
    bool idle;

    rt_mutex_lock(&disk.lock);
    idle = !disk.syncing && disk.members == NULL;
    if (idle) {
        disk_sync_begin();
        disk_write_dirty();
        disk_sync_end();
    }
    rt_mutex_unlock(&disk.lock);
    return idle;
}

static error_t disk_bits_create(void)
{
    size_t npages = (size_t)(disk.size / vm_page_size);

    disk.owned = calloc(1, (size_t)(disk.size / DISK_FRAGMENT / 8 + 1));
    disk.dirty = calloc(1, npages / 8 + 1);
    disk.bad = calloc(1, npages / 8 + 1);
    disk.fresh = calloc(1, npages / 8 + 1);
    disk.lost = calloc(1, npages / 8 + 1);
    if (disk.owned == NULL || disk.dirty == NULL || disk.bad == NULL || disk.fresh == NULL ||
        disk.lost == NULL)
        return ENOMEM;
    return 0;
}

static error_t disk_map(void)
{
    mach_port_t port = pager_get_port(disk.pager);

    if (mach_port_insert_right(mach_task_self(), port, port, MACH_MSG_TYPE_MAKE_SEND) !=
        KERN_SUCCESS)
        return ENOMEM;
    disk.base = 0;
    return error_from_mach(vm_map(mach_task_self(), &disk.base, (vm_size_t)disk.size, 0, TRUE, port,
                                  0, FALSE, VM_PROT_READ | VM_PROT_WRITE,
                                  VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_NONE));
}

error_t disk_setup(struct store *store, unsigned int nworkers)
{
    struct pager_requests *requests;
    struct port_bucket *bucket;
    error_t error = ports_create_bucket(&bucket);

    if (error != 0)
        return error;
    disk.info.ops = &disk_backend_ops;
    disk.store = store;
    disk.host = mach_host_self();
    disk.size = store_size(store) * STORE_SECTOR_BYTES / vm_page_size * vm_page_size;
    rt_mutex_init(&disk.fs_lock, "ext2_fs");
    rt_mutex_init(&disk.lock, "disk");
    rt_cond_init(&disk.written, "disk_written");
    rt_cond_init(&disk.synced, "disk_synced");
    if ((vm_size_t)disk.size != disk.size)
        return ENOMEM;
    error = disk_bits_create();
    if (error == 0)
        error = pager_start_workers_named(bucket, "disk", nworkers, &requests);
    if (error != 0)
        return error;
    disk.pager = pager_create(&disk.info, bucket, TRUE, MEMORY_OBJECT_COPY_NONE, FALSE);
    if (disk.pager == NULL)
        return ENOMEM;
    pager_set_class(disk.pager, RT_CLASS_META);
    return disk_map();
}
