// SPDX-License-Identifier: GPL-2.0-or-later
/* The store in memory, held against a plain array, and the chain of pieces by which the runner
   finds its blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libstore/ram.h"
#include "mock/kernel.h"
#include "mock/rt.h"
#include "mock/trace.h"
#include "physical.h"

#define SECTORS 8192u /* of most stores here: 4 MiB */
#define BYTES   (SECTORS * (size_t)STORE_SECTOR_BYTES)
#define STEPS   4000u

/* A piece's first page, as docs/protocol.md has it. */
struct piece {
    uint64_t magic;
    uint64_t next;
    uint64_t nblocks;
    uint64_t blocks[255];
};

static uint8_t model[BYTES];
static struct ram *ram;
static struct store *store;

/* A store lives as long as its task: nothing frees it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static void open_store(struct ram *made, uint64_t nsectors)
{
    struct store_geometry geometry = {.nsectors = nsectors, .block_bytes = STORE_SECTOR_BYTES};

    ram = made;
    assert_int_equal(store_create("ram0s1", &ram_store_ops, ram, &geometry, &store), 0);
}

static void make_store(size_t npieces)
{
    struct ram *made;

    physical_init(npieces);
    memset(model, 0, sizeof(model));
    assert_int_equal(ram_create(PHYSICAL_HOST, SECTORS, &made), 0);
    open_store(made, SECTORS);
}

static int teardown(void **state)
{
    (void)state;
    physical_destroy();
    mock_said_clear();
    return 0;
}

static error_t write_at(uint64_t sector, const uint8_t *data, size_t bytes)
{
    vm_size_t written;
    error_t error = store_write(store, RT_CLASS_FILE, sector, (vm_address_t)data, bytes, &written);

    if (error == 0)
        assert_int_equal(written, bytes);
    return error;
}

static void assert_reads(uint64_t sector, size_t bytes)
{
    vm_address_t data;

    assert_int_equal(store_read(store, RT_CLASS_FILE, sector, bytes, &data), 0);
    assert_memory_equal((void *)data, model + sector * STORE_SECTOR_BYTES, bytes);
    vm_deallocate(mach_task_self(), data, bytes);
}

/* The blocks of the chain: how many there are, all of them put into IMAGE. */
static size_t take_out(uint8_t *image, size_t bytes)
{
    size_t count = 0;

    memset(image, 0, bytes);
    for (uint64_t at = ram_first_piece(ram); at != 0;) {
        const struct piece *piece = physical_at(at);

        assert_int_equal(piece->magic, UINT64_C(0x316d61727862626d));
        for (size_t i = 0; i < piece->nblocks; i++) {
            size_t start = piece->blocks[i] * RAM_BLOCK_BYTES;

            assert_true(start < bytes);
            memcpy(image + start, (const uint8_t *)piece + (i + 1) * RAM_BLOCK_BYTES,
                   bytes - start < RAM_BLOCK_BYTES ? bytes - start : RAM_BLOCK_BYTES);
        }
        count += piece->nblocks;
        at = piece->next;
    }
    return count;
}

static uint64_t random_below(unsigned int *seed, uint64_t end)
{
    return ((uint64_t)rand_r(seed) << 16 ^ (uint64_t)rand_r(seed)) % end;
}

static void step(unsigned int *seed)
{
    static uint8_t data[64 * STORE_SECTOR_BYTES];
    uint64_t sector = random_below(seed, SECTORS);
    uint64_t room = SECTORS - sector;
    size_t bytes = (1 + random_below(seed, room < 64 ? room : 64)) * STORE_SECTOR_BYTES;

    if (random_below(seed, 2) == 0) {
        assert_reads(sector, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)rand_r(seed);
    assert_int_equal(write_at(sector, data, bytes), 0);
    memcpy(model + sector * STORE_SECTOR_BYTES, data, bytes);
}

static void random_reads_and_writes_are_those_of_an_array(void **state)
{
    static uint8_t image[BYTES];

    (void)state;
    for (unsigned int seed = 1; seed <= 4; seed++) {
        unsigned int at = seed;

        make_store(16);
        for (unsigned int i = 0; i < STEPS; i++)
            step(&at);
        assert_reads(0, BYTES);
        take_out(image, BYTES);
        assert_memory_equal(image, model, BYTES);
        physical_destroy();
    }
}

static void what_was_not_written_reads_as_zeros_and_takes_no_memory(void **state)
{
    static uint8_t image[BYTES];

    (void)state;
    make_store(1);
    assert_reads(0, BYTES);
    assert_int_equal(take_out(image, BYTES), 0);
}

static void a_sector_takes_one_block_and_the_rest_of_that_is_zeros(void **state)
{
    static uint8_t image[BYTES];

    (void)state;
    make_store(1);
    memset(model + 13 * STORE_SECTOR_BYTES, 7, STORE_SECTOR_BYTES);
    assert_int_equal(write_at(13, model + 13 * STORE_SECTOR_BYTES, STORE_SECTOR_BYTES), 0);
    assert_reads(8, RAM_BLOCK_BYTES);
    assert_int_equal(take_out(image, BYTES), 1);
    assert_memory_equal(image, model, BYTES);
}

static void a_block_that_is_written_again_takes_no_more(void **state)
{
    static uint8_t image[BYTES];

    (void)state;
    make_store(1);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(write_at(0, model, 16 * STORE_SECTOR_BYTES), 0);
    assert_int_equal(take_out(image, BYTES), 2);
}

static void without_memory_a_write_fails_and_what_is_there_stays(void **state)
{
    uint8_t *data = malloc(255 * RAM_BLOCK_BYTES);
    vm_size_t written;

    (void)state;
    make_store(1);
    for (size_t i = 0; i < 255 * (size_t)RAM_BLOCK_BYTES; i++)
        data[i] = model[i] = (uint8_t)(i / 512 + 1);
    assert_int_equal(write_at(0, data, 254 * RAM_BLOCK_BYTES), 0);
    assert_int_equal(store_write(store, RT_CLASS_FILE, 254 * 8, (vm_address_t)data,
                                 2 * RAM_BLOCK_BYTES, &written),
                     ENOSPC);
    assert_int_equal(written, RAM_BLOCK_BYTES);
    assert_int_equal(write_at(4096, data, STORE_SECTOR_BYTES), ENOSPC);
    assert_int_equal(mock_said("the RAM store has no memory for block 255 of 1024"), 1);
    assert_int_equal(mock_said("no memory"), 1);
    memcpy(model, data, 254 * RAM_BLOCK_BYTES);
    memcpy(model + 254 * RAM_BLOCK_BYTES, data, RAM_BLOCK_BYTES);
    assert_reads(0, 255 * RAM_BLOCK_BYTES);
    free(data);
}

static void a_write_that_fails_half_way_is_recorded_as_it_is_counted(void **state)
{
    uint8_t *data = calloc(256, RAM_BLOCK_BYTES);
    struct mock_trace_count events;

    (void)state;
    make_store(1);
    mock_trace_reset();
    assert_int_equal(write_at(0, data, 256 * RAM_BLOCK_BYTES), ENOSPC);
    store_report(store, "t", 0);
    assert_int_equal(mock_said("layer=store_write class=file count=1 bytes=1044480"), 1);
    assert_int_equal(mock_said("failed server=t device=ram0s1 sector=2040 sectors=8 times=1"), 1);
    events = mock_trace_count(TRACE_STORE_WRITE, RT_CLASS_FILE);
    assert_int_equal(events.count, 1);
    assert_int_equal(events.bytes, 255 * RAM_BLOCK_BYTES);
    assert_int_equal(events.failed_bytes, RAM_BLOCK_BYTES);
    free(data);
}

static void a_store_may_end_within_a_block(void **state)
{
    struct ram *made;
    vm_address_t data;

    (void)state;
    physical_init(1);
    assert_int_equal(ram_create(PHYSICAL_HOST, 9, &made), 0);
    open_store(made, 9);
    memset(model, 9, 9 * STORE_SECTOR_BYTES);
    assert_int_equal(write_at(0, model, 9 * STORE_SECTOR_BYTES), 0);
    assert_reads(0, 9 * STORE_SECTOR_BYTES);
    assert_int_equal(store_read(store, RT_CLASS_FILE, 9, STORE_SECTOR_BYTES, &data), EINVAL);
}

/* --- Images ---------------------------------------------------------------------------------- */

#define IMAGE_MAGIC UINT64_C(0x6567616d69626d)

struct image {
    uint64_t magic;
    uint64_t nsectors;
    uint64_t nextents;
    struct {
        uint64_t block;
        uint64_t nblocks;
        uint8_t data[2 * RAM_BLOCK_BYTES];
    } first;
    struct {
        uint64_t block;
        uint64_t nblocks;
        uint8_t data[RAM_BLOCK_BYTES];
    } second;
};

static struct image image = {IMAGE_MAGIC, SECTORS, 2, {3, 2, {0}}, {1000, 1, {0}}};

static error_t load(const void *bytes, size_t size, uint64_t *nsectors)
{
    physical_init(2);
    physical_image_set("opt/machbed/ram0s1", bytes, size);
    return ram_image_load(PHYSICAL_HOST, "ram0s1", &ram, nsectors);
}

static void an_image_is_in_the_store_that_is_made_of_it(void **state)
{
    uint64_t nsectors;

    (void)state;
    memset(image.first.data, 5, sizeof(image.first.data));
    memset(image.second.data, 6, sizeof(image.second.data));
    assert_int_equal(load(&image, sizeof(image), &nsectors), 0);
    assert_int_equal(nsectors, SECTORS);
    open_store(ram, nsectors);
    memset(model, 0, sizeof(model));
    memset(model + 3 * RAM_BLOCK_BYTES, 5, 2 * RAM_BLOCK_BYTES);
    memset(model + 1000 * RAM_BLOCK_BYTES, 6, RAM_BLOCK_BYTES);
    assert_reads(0, BYTES);
}

static void an_image_of_nothing_is_no_store(void **state)
{
    static const uint64_t nothing[3] = {IMAGE_MAGIC, 0, 0};
    uint64_t nsectors;

    (void)state;
    assert_int_equal(load(nothing, sizeof(nothing), &nsectors), ENXIO);
    physical_image_set("opt/machbed/ram0s2", nothing, sizeof(nothing));
    assert_int_equal(ram_image_load(PHYSICAL_HOST, "ram0s1", &ram, &nsectors), ENXIO);
}

static void a_torn_image_is_an_error(void **state)
{
    static const uint64_t other[3] = {IMAGE_MAGIC + 1, SECTORS, 0};
    uint64_t nsectors;

    (void)state;
    assert_int_equal(load(other, sizeof(other), &nsectors), EIO);
    assert_int_equal(load(&image, sizeof(image) - 1, &nsectors), EIO);
    physical_destroy();
    assert_int_equal(load(&image, 8, &nsectors), EIO);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(random_reads_and_writes_are_those_of_an_array, teardown),
        cmocka_unit_test_teardown(what_was_not_written_reads_as_zeros_and_takes_no_memory,
                                  teardown),
        cmocka_unit_test_teardown(a_sector_takes_one_block_and_the_rest_of_that_is_zeros, teardown),
        cmocka_unit_test_teardown(a_block_that_is_written_again_takes_no_more, teardown),
        cmocka_unit_test_teardown(without_memory_a_write_fails_and_what_is_there_stays, teardown),
        cmocka_unit_test_teardown(a_write_that_fails_half_way_is_recorded_as_it_is_counted,
                                  teardown),
        cmocka_unit_test_teardown(a_store_may_end_within_a_block, teardown),
        cmocka_unit_test_teardown(an_image_is_in_the_store_that_is_made_of_it, teardown),
        cmocka_unit_test_teardown(an_image_of_nothing_is_no_store, teardown),
        cmocka_unit_test_teardown(a_torn_image_is_an_error, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
