// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file server under test: all of it but main and the decoding of requests, on the mock kernel
 * and a store in memory.
 *
 * A server is set up once in a task's life, so each test is a process of its own, forked from
 * cmocka's. There a failed check ends the process, from any thread; so does a test that hangs.
 */
#ifndef EXT2_TESTS_SERVER_H
#define EXT2_TESTS_SERVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "content.h"
#include "ext2/file.h"
#include "ext2/node.h"
#include "ext2/path.h"
#include "librt/guard.h"
#include "memstore.h"
#include "mock/kernel.h"
#include "mock/rt.h"
#include "mock/task.h"

#define PAGE ((vm_size_t)4096)
#define KIB  ((vm_size_t)1024)

#define MAPPING_BYTES ((vm_size_t)16 << 20) /* of a client's mapping */

#define SERVER_SOIL         0xd1 /* what free blocks hold at first */
#define SERVER_SPARE_BLOCKS 100u /* of server_fragment, for metadata */

struct server {
    uint8_t *disk; /* its bytes */
    uint64_t disk_size;
    struct ext2_fs *fs;
    struct node *root;
    uint32_t block_size;
};

extern struct server server;

/* Unmount as main does, and require that no memory is left behind. Returns the unmount's verdict.
   => all nodes were given back. */
error_t server_unmount(void);

/* Use the policy called NAME; at first it is run128. */
void server_policy(const char *name);

/* --- What clients do. Unless it ends in _error, it must succeed. ------------------------------ */

/* The file called NAME in the root, made if it is not there; node_deref ends it. */
struct node *client_open(const char *name);

void client_write(struct node *node, uint64_t offset, const void *data, vm_size_t length);

/* Bytes that tell SEED and the place in the file; never 0 or SERVER_SOIL. */
void client_fill(uint8_t *data, uint64_t offset, vm_size_t length, unsigned int seed);
void client_write_fill(struct node *node, uint64_t offset, vm_size_t length, unsigned int seed);

/* What file_read gives is LENGTH bytes that equal DATA, or, with DATA null, are zeros. */
void client_expect(struct node *node, uint64_t offset, const void *data, vm_size_t length);

void client_sync(struct node *node);
void client_truncate(struct node *node, uint64_t size);

/* A mapping of NODE's memory for rt_guard_copy; client_unmap ends it. */
char *client_map(struct node *node);
void client_unmap(char *mapping);
void client_store(char *to, const void *data, vm_size_t length);

/* Evict COUNT pages from PAGE on, of those that are there. */
void client_evict(struct node *node, size_t page, size_t count);

/* Leave as free space only COUNT pieces of NBLOCKS blocks each, with others' data between. */
void server_fragment(unsigned int count, uint32_t nblocks);

/* --- Looking ---------------------------------------------------------------------------------- */

/* The kernel's object of NODE's memory, which must be mapped. */
struct mock_object *server_object(struct node *node);

/* Wait until the pagers of files have dealt with all that the kernel has sent. */
void server_settle(struct node *node);

/* The device block of a file block, 0 for a hole; and its first sector. */
uint32_t server_block(struct node *node, uint32_t file_block);
uint64_t server_sector(struct node *node, uint32_t file_block);
uint32_t server_sectors_per_block(void);

uint32_t server_nblocks_free(void);

/* Wait until NBLOCKS blocks are free. */
void server_await_free(uint32_t nblocks);

/* --- Tests ------------------------------------------------------------------------------------ */

#define check(condition) mock_check(condition)
#define check_ok(call)   check_equal(call, 0)
#define check_equal(actual, expected)                                                              \
    server_check_equal((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)

void server_check_equal(long long actual, long long expected, const char *what, const char *file,
                        int line);

/*
 * SERVER_TEST(NAME, BLOCK_SIZES...) { ... } defines a test for cmocka. Its body is run once for
 * each size of blocks, in a process of its own, with the server on a fresh file system with such
 * blocks, whose free ones hold SERVER_SOIL. Behind the body the file system is unmounted, unless
 * the body has done so; that must succeed, and the file system be clean.
 */
#define SERVER_TEST(name, ...)                                                                     \
    static void name##_body(uint32_t block_size);                                                  \
    static void name(void **state)                                                                 \
    {                                                                                              \
        static const uint32_t sizes[] = {__VA_ARGS__};                                             \
                                                                                                   \
        (void)state;                                                                               \
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)                              \
            assert_true(server_run(name##_body, sizes[i]));                                        \
    }                                                                                              \
    static void name##_body(uint32_t block_size __attribute__((unused)))

#define ALL_BLOCK_SIZES 1024, 2048, 4096

bool server_run(void (*body)(uint32_t block_size), uint32_t block_size);

#endif
