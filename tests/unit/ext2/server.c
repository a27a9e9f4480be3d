// SPDX-License-Identifier: GPL-2.0-or-later
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ext2/disk.h"
#include "ext2/file-pager.h"
#include "libpager/policy.h"
#include "librt/file_types.h"
#include "librt/thread.h"

#define SERVER_BYTES        ((uint64_t)4 << 20)
#define SERVER_DISK_WORKERS 2u
#define SERVER_FILE_WORKERS 4u
#define SERVER_HANGS        300u   /* seconds, after which a test hangs */
#define SERVER_LEAVES       60000u /* ms, after which memory was left behind */

struct server server;

static bool server_mounted;

/* --- Beginning ------------------------------------------------------------------------------- */

/* The file system that tests begin with: made when it is first needed, by cmocka's process. */
static const struct device *server_image(uint32_t block_size)
{
    static struct device images[3];
    struct device *image = &images[block_size / 2048];
    char options[64];

    if (image->bytes == NULL) {
        snprintf(options, sizeof(options), "-t ext2 -N 512 -m 0 -b %u", (unsigned int)block_size);
        image_make(image, options, SERVER_BYTES);
        content_soil(image, SERVER_SOIL);
    }
    return image;
}

void server_policy(const char *name)
{
    const struct pager_policy *policy = pager_policy_lookup(name);

    check(policy != NULL);
    pager_policy_set(policy);
}

/* As main does it. */
static void server_start(const struct device *image)
{
    struct store *store;
    struct port_bucket *bucket;
    struct ext2_inode *root;

    server.disk = content_setup(image);
    server.disk_size = image->size;
    store = memstore_create(server.disk, server.disk_size);
    server_policy("run128");
    mock_map_touchable(true);
    check_ok(disk_setup(store, SERVER_DISK_WORKERS));
    mock_map_touchable(false);
    check_ok(ext2_mount(&disk_ops, NULL, disk_size(), false, &server.fs));
    disk_set_fs(server.fs);
    check_ok(disk_sync());
    check_ok(ports_create_bucket(&bucket));
    check_ok(nodes_setup(server.fs, store, bucket, SERVER_FILE_WORKERS));
    check_ok(ext2_inode_get(server.fs, EXT2_ROOT_INO, &root));
    check_ok(node_open(root, &server.root));
    server.block_size = node_block_size();
    server_mounted = true;
    memstore_forget();
}

/* --- End ------------------------------------------------------------------------------------- */

static error_t first_error(error_t first, error_t error)
{
    return first == 0 ? error : first;
}

error_t server_unmount(void)
{
    error_t error = nodes_sync(true);

    nodes_close();
    error = first_error(error, ext2_sync(server.fs));
    error = first_error(error, disk_sync());
    disk_set_fs(NULL);
    error = first_error(error, ext2_unmount(server.fs));
    error = first_error(error, disk_sync());
    server_mounted = false;
    for (unsigned int i = 0; i < SERVER_LEAVES && mock_memory() > 0; i++)
        rt_sleep(1); /* a worker releases a page that it has supplied */
    check_equal(mock_memory(), 0);
    return error;
}

static void server_child(void (*body)(uint32_t block_size), uint32_t block_size)
{
    alarm(SERVER_HANGS);
    server_start(server_image(block_size));
    body(block_size);
    if (server_mounted) {
        check_ok(server_unmount());
        check(content_is_clean());
    }
    fflush(NULL);
    _exit(0);
}

bool server_run(void (*body)(uint32_t block_size), uint32_t block_size)
{
    pid_t child;
    int status;

    server_image(block_size);
    fflush(NULL);
    child = fork();
    if (child == 0)
        server_child(body, block_size);
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    fprintf(stderr, "# with blocks of %u bytes: status %#x\n", (unsigned int)block_size, status);
    return false;
}

void server_check_equal(long long actual, long long expected, const char *what, const char *file,
                        int line)
{
    if (actual != expected)
        mock_fail("%s:%d: %s is %lld and not %lld", file, line, what, actual, expected);
}

/* --- Clients --------------------------------------------------------------------------------- */

struct node *client_open(const char *name)
{
    struct node *node;

    check_ok(path_lookup(server.root, name, FILE_CREATE, 0644, &node));
    return node;
}

void client_write(struct node *node, uint64_t offset, const void *data, vm_size_t length)
{
    vm_size_t done = length;

    check_ok(file_write(node, offset, data, &done));
    check_equal(done, length);
}

void client_fill(uint8_t *data, uint64_t offset, vm_size_t length, unsigned int seed)
{
    for (uint64_t i = offset; i < offset + length; i++)
        data[i - offset] = (uint8_t)(1 + (i + i / 512 * 7 + seed * 41) % 200);
}

void client_write_fill(struct node *node, uint64_t offset, vm_size_t length, unsigned int seed)
{
    void *data = NULL;

    check_ok(posix_memalign(&data, PAGE, length)); /* so that each page is copied at once */
    client_fill(data, offset, length, seed);
    client_write(node, offset, data, length);
    free(data);
}

void client_expect(struct node *node, uint64_t offset, const void *data, vm_size_t length)
{
    vm_size_t found = length;
    vm_address_t got;
    vm_size_t at = 0;

    check_ok(file_read(node, offset, &got, &found));
    check_equal(found, length);
    while (at < length && ((uint8_t *)got)[at] == (data == NULL ? 0 : ((const uint8_t *)data)[at]))
        at++;
    if (at < length)
        mock_fail("byte %llu is read as %#x", (unsigned long long)(offset + at),
                  ((uint8_t *)got)[at]);
    if (length > 0)
        vm_deallocate(mach_task_self(), got, length);
}

void client_sync(struct node *node)
{
    check_ok(file_sync(node, true));
}

void client_truncate(struct node *node, uint64_t size)
{
    check_ok(file_truncate(node, size));
}

char *client_map(struct node *node)
{
    vm_address_t address = 0;
    mach_port_t port;

    check_ok(file_map(node, &port));
    check_ok(vm_map(mach_task_self(), &address, MAPPING_BYTES, 0, TRUE, port, 0, FALSE,
                    VM_PROT_READ | VM_PROT_WRITE, VM_PROT_READ | VM_PROT_WRITE, VM_INHERIT_NONE));
    return (char *)address;
}

void client_unmap(char *mapping)
{
    check_ok(vm_deallocate(mach_task_self(), (vm_address_t)mapping, MAPPING_BYTES));
}

void client_store(char *to, const void *data, vm_size_t length)
{
    size_t done;

    check_ok(rt_guard_copy(to, data, length, &done));
}

void client_evict(struct node *node, size_t page, size_t count)
{
    struct mock_object *object = server_object(node);

    for (size_t i = page; i < page + count; i++)
        mock_pageout(object, i);
}

/* --- The disk -------------------------------------------------------------------------------- */

/* Make a file of NBLOCKS blocks, or as many as there are; returns how many. Its data is soil. */
static uint32_t filler_create(const char *name, uint32_t nblocks)
{
    struct ext2_inode *inode;
    uint32_t first = 0;
    struct ext2_run run;

    check_ok(ext2_create(server.root->inode, name, 0100644, 0, 0, &inode));
    for (; first < nblocks; first += run.count)
        if (ext2_block_allocate(inode, first, nblocks - first, &run) != 0)
            break;
    check_ok(ext2_inode_resize(inode, (uint64_t)first * server.block_size));
    ext2_inode_put(inode);
    return first;
}

static void filler_name(char *name, size_t size, const char *kind, unsigned int i)
{
    snprintf(name, size, "filler-%s-%u", kind, i);
}

void server_fragment(unsigned int count, uint32_t nblocks)
{
    uint32_t wanted = count * (nblocks + 1) + SERVER_SPARE_BLOCKS;
    char name[40];

    filler_create("filler", server_nblocks_free() - wanted);
    for (unsigned int i = 0; i < count; i++) {
        filler_name(name, sizeof(name), "hole", i);
        check_equal(filler_create(name, nblocks), nblocks);
        filler_name(name, sizeof(name), "wall", i);
        check_equal(filler_create(name, 1), 1);
    }
    filler_create("filler-rest", server_nblocks_free());
    for (unsigned int i = 0; i < count; i++) {
        filler_name(name, sizeof(name), "hole", i);
        check_ok(ext2_unlink(server.root->inode, name));
    }
}

/* --- Looking --------------------------------------------------------------------------------- */

struct mock_object *server_object(struct node *node)
{
    check(node->window_size > 0);
    return mock_object_at(node->window);
}

void server_settle(struct node *node)
{
    mock_pagers_wait(mock_bucket(server_object(node)));
}

uint32_t server_block(struct node *node, uint32_t file_block)
{
    struct node_hold hold;
    struct ext2_run run;

    node_alloc_lock(node, TRACE_READ, &hold);
    check_ok(ext2_block_map(node->inode, file_block, 1, &run));
    node_alloc_unlock(node, &hold);
    return run.block;
}

uint64_t server_sector(struct node *node, uint32_t file_block)
{
    return (uint64_t)server_block(node, file_block) * server_sectors_per_block();
}

uint32_t server_sectors_per_block(void)
{
    return server.block_size / STORE_SECTOR_BYTES;
}

uint32_t server_nblocks_free(void)
{
    struct ext2_statfs statfs;

    ext2_statfs(server.fs, &statfs);
    return statfs.nblocks_free;
}

void server_await_free(uint32_t nblocks)
{
    while (server_nblocks_free() != nblocks)
        rt_sleep(1);
}
