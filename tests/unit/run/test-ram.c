// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "ram.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK  4096u
#define PIECE  (UINT64_C(1) << 20)
#define START  2048u /* partition 1's first sector */
#define BLOCKS 200u  /* in it, and one sector more */

static const struct mbr mbr = {
    .partitions = {{START, 8 * BLOCKS + 1}, {4096, 1024}, {0, 0}, {0, 0}},
    .disk_bytes = 4u << 20,
};
static const struct job ext2_job = {.fs = "ext2", .plain = "0"};
static struct options options;
static struct failure problem;
static char folder[] = "/tmp/machbed-test-ram-XXXXXX";
static char path[128];

static int group_setup(void **state)
{
    (void)state;
    options.disk = disk_lookup("ram");
    options.mem_bytes = 32 * PIECE;
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "%s/disk.img", folder);
    unlink(path);
    ram_images_remove(&options, folder);
    return rmdir(folder);
}

/* A file NAME in the folder; the next call's takes its name's place in `path`. */
static int open_file(const char *name, int flags)
{
    int file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = open(path, flags | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    return file;
}

static void put(int file, uint64_t at, int byte, size_t count)
{
    uint8_t bytes[8 * BLOCK];

    memset(bytes, byte, sizeof(bytes));
    assert_true(count <= sizeof(bytes));
    assert_int_equal(pwrite(file, bytes, count, (off_t)at), count);
}

static void make_disk(void)
{
    int file = open_file("disk.img", O_RDWR | O_CREAT | O_TRUNC);

    problem = (struct failure){0};
    assert_int_equal(ftruncate(file, (off_t)mbr.disk_bytes), 0);
    close(file);
}

static uint64_t at_block(uint64_t block)
{
    return START * UINT64_C(512) + block * BLOCK;
}

/* --- Images ---------------------------------------------------------------------------------- */

static void blocks_that_hold_something_are_found_in_holes_and_zeros(void **state)
{
    int file;

    (void)state;
    make_disk();
    file = open_file("disk.img", O_RDWR);
    put(file, at_block(0) - 512, 1, 512); /* not in the partition */
    put(file, at_block(1), 0, 8 * BLOCK); /* written, but zeros */
    put(file, at_block(3) + 4000, 1, 1);
    put(file, at_block(100), 2, 3 * BLOCK);
    put(file, at_block(BLOCKS), 3, 1024); /* the last sector, and one that is another's */
    assert_int_equal(ram_blocks_count(file, at_block(0), (8 * BLOCKS + 1) * 512), 5);
    assert_int_equal(ram_blocks_count(file, at_block(4), 96 * BLOCK), 0);
    close(file);
}

static void an_image_has_the_blocks_of_its_partition_in_extents(void **state)
{
    uint64_t expected[] = {UINT64_C(0x6567616d69626d), 8 * BLOCKS + 1, 2, 7, 2};
    uint64_t head[5], extent[2];
    uint8_t blocks[2 * BLOCK];
    uint8_t block[BLOCK];
    int file;

    (void)state;
    make_disk();
    file = open_file("disk.img", O_RDWR);
    put(file, at_block(7), 5, 2 * BLOCK);
    put(file, at_block(BLOCKS), 6, 512);
    close(file);
    assert_int_equal(ram_images_write(&options, &ext2_job, &mbr, folder, &problem), STATUS_SUCCESS);

    file = open_file("ram0s1.image", O_RDONLY);
    assert_int_equal(read(file, head, sizeof(head)), sizeof(head));
    assert_memory_equal(head, expected, sizeof(head));
    assert_int_equal(read(file, blocks, sizeof(blocks)), sizeof(blocks));
    assert_int_equal(blocks[0], 5);
    assert_int_equal(blocks[2 * BLOCK - 1], 5);
    assert_int_equal(read(file, extent, sizeof(extent)), sizeof(extent));
    assert_int_equal(extent[0], BLOCKS);
    assert_int_equal(extent[1], 1);
    assert_int_equal(read(file, block, sizeof(block)), BLOCK);
    assert_int_equal(block[511], 6);
    assert_int_equal(read(file, block, 1), 0);
    close(file);
}

static void a_partition_that_the_job_does_not_use_is_handed_over_empty(void **state)
{
    uint64_t expected[] = {UINT64_C(0x6567616d69626d), 1024, 0};
    uint64_t head[4];
    int file;

    (void)state;
    make_disk();
    file = open_file("disk.img", O_RDWR);
    put(file, 4096 * 512, 1, BLOCK);
    close(file);
    assert_int_equal(ram_images_write(&options, &ext2_job, &mbr, folder, &problem), STATUS_SUCCESS);
    file = open_file("ram0s2.image", O_RDONLY);
    assert_int_equal(read(file, head, sizeof(head)), sizeof(expected));
    assert_memory_equal(head, expected, sizeof(expected));
    close(file);
}

static void a_partition_that_is_not_there_is_an_image_of_nothing(void **state)
{
    uint64_t expected[] = {UINT64_C(0x6567616d69626d), 0, 0};
    uint64_t head[4];
    int file;

    (void)state;
    make_disk();
    assert_int_equal(ram_images_write(&options, &ext2_job, &mbr, folder, &problem), STATUS_SUCCESS);
    file = open_file("ram0s4.image", O_RDONLY);
    assert_int_equal(read(file, head, sizeof(head)), sizeof(expected));
    assert_memory_equal(head, expected, sizeof(expected));
    close(file);
}

/* --- Room ------------------------------------------------------------------------------------ */

/* What the refusal of a machine with 32 MiB says that JOB needs, in MiB; that much is enough. */
static unsigned needed(const struct job *job)
{
    struct options machine = {.disk = disk_lookup("ram"),
                              .arch = &choice_archs[0],
                              .trace = &choice_traces[0],
                              .mem_bytes = 32 * PIECE};
    unsigned need = 0;

    snprintf(path, sizeof(path), "%s/disk.img", folder);
    problem = (struct failure){0};
    assert_int_equal(ram_room_check(&machine, job, path, &mbr, &problem), STATUS_BAD_INPUT);
    assert_int_equal(sscanf(strstr(problem.reason, "needs MEM="), "needs MEM=%uM", &need), 1);
    machine.mem_bytes = need * PIECE;
    problem = (struct failure){0};
    assert_int_equal(ram_room_check(&machine, job, path, &mbr, &problem), STATUS_SUCCESS);
    machine.mem_bytes = (need - 1) * PIECE;
    assert_int_equal(ram_room_check(&machine, job, path, &mbr, &problem), STATUS_BAD_INPUT);
    return need;
}

static void a_job_needs_its_bytes_twice_and_what_its_partitions_hold(void **state)
{
    struct job job = {.name = "j", .fs = "ext2", .plain = "0", .size = 64 * PIECE, .nrfiles = 1};
    int file;

    (void)state;
    make_disk();
    /* 32 MiB and twice 64, 1/250 of 64, 16 KiB; 929 of 1,000 bytes can be used */
    assert_int_equal(needed(&job), 173);
    job.plain = "after";
    assert_int_equal(needed(&job), 242);
    job.plain = "0";
    job.nrfiles = 1000;
    assert_int_equal(needed(&job), 190);
    job.nrfiles = 1;
    file = open_file("disk.img", O_RDWR);
    for (uint64_t i = 0; i < BLOCKS; i += 8)
        put(file, at_block(i), 1, 8 * BLOCK);
    close(file);
    assert_int_equal(needed(&job), 174); /* 200 blocks */
}

/* --- Taking out ------------------------------------------------------------------------------ */

struct piece {
    uint64_t magic;
    uint64_t next;
    uint64_t nblocks;
    uint64_t blocks[255];
};

/* The machine's memory, seen as the guest sees it: through the link that QEMU opens. */
static struct ram_memory memory;
static uint8_t *guest;
static struct console console;

static int memory_setup(void **state)
{
    int file;

    (void)state;
    make_disk();
    console_init(&console);
    ram_memory_init(&memory);
    assert_int_equal(ram_memory_make(&memory, &options, folder, &problem), STATUS_SUCCESS);
    file = open_file("memory", O_RDWR);
    guest = mmap(NULL, options.mem_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_ptr_not_equal(guest, MAP_FAILED);
    close(file);
    return 0;
}

static int memory_teardown(void **state)
{
    (void)state;
    munmap(guest, options.mem_bytes);
    ram_memory_destroy(&memory);
    console_destroy(&console);
    snprintf(path, sizeof(path), "%s/memory", folder);
    return access(path, F_OK) == 0;
}

static struct piece *piece_make(uint64_t address, uint64_t next)
{
    struct piece *piece = (struct piece *)(guest + address);

    *piece = (struct piece){.magic = UINT64_C(0x316d61727862626d), .next = next};
    return piece;
}

static void piece_add(struct piece *piece, uint64_t block, int byte)
{
    memset((uint8_t *)piece + (piece->nblocks + 1) * BLOCK, byte, BLOCK);
    piece->blocks[piece->nblocks++] = block;
}

static void say(const char *line)
{
    console_feed(&console, line);
    assert_string_equal(console.broken, "");
}

static int take(void)
{
    return ram_take_out(&memory, &console, &mbr, "ram0", folder, &problem);
}

static void assert_byte(uint64_t at, int byte)
{
    int file = open_file("disk.img", O_RDONLY);
    uint8_t found = 0xee;

    assert_int_equal(pread(file, &found, 1, (off_t)at), 1);
    assert_int_equal(found, byte);
    close(file);
}

static void blocks_of_all_pieces_come_back_to_their_places(void **state)
{
    struct piece *piece = piece_make(20 * PIECE, 3 * PIECE + 8 * BLOCK);

    (void)state;
    say("machbed ram server=ext2 device=ram0s1 piece=20971520");
    piece_add(piece, 9, 1);
    piece_add(piece, 4, 2);
    piece = piece_make(3 * PIECE + 8 * BLOCK, 0);
    piece_add(piece, BLOCKS, 3);
    assert_int_equal(take(), STATUS_SUCCESS);
    assert_byte(at_block(9), 1);
    assert_byte(at_block(4) + BLOCK - 1, 2);
    assert_byte(at_block(5), 0);
    assert_byte(at_block(BLOCKS) + 511, 3);
    assert_byte(at_block(BLOCKS) + 512, 0); /* not the partition's */
}

static void each_store_comes_back_to_its_partition(void **state)
{
    (void)state;
    say("machbed ram server=ext2 device=ram0s1 piece=1048576");
    say("machbed ram server=workload device=ram0s2 piece=2097152");
    piece_add(piece_make(PIECE, 0), 0, 1);
    piece_add(piece_make(2 * PIECE, 0), 1, 2);
    assert_int_equal(take(), STATUS_SUCCESS);
    assert_byte(at_block(0), 1);
    assert_byte(4096 * 512 + BLOCK, 2);
}

static void assert_refused(const char *says)
{
    assert_int_equal(take(), STATUS_FAILED);
    assert_contains(problem.reason, says);
}

static void a_block_outside_the_partition_is_refused(void **state)
{
    (void)state;
    say("machbed ram server=ext2 device=ram0s1 piece=1048576");
    piece_add(piece_make(PIECE, 0), BLOCKS + 1, 1);
    assert_refused("the store ram0s1 cannot be taken out of the machine's memory");
    assert_byte(at_block(BLOCKS + 1), 0);
}

static void a_block_number_that_overflows_is_refused(void **state)
{
    (void)state;
    say("machbed ram server=ext2 device=ram0s1 piece=1048576");
    piece_add(piece_make(PIECE, 0), UINT64_MAX / BLOCK + 2, 1);
    assert_refused("ram0s1");
}

static void what_is_no_piece_is_refused(void **state)
{
    (void)state;
    say("machbed ram server=ext2 device=ram0s1 piece=4096");
    assert_refused("ram0s1");
}

static void a_piece_outside_the_memory_is_refused(void **state)
{
    (void)state;
    say("machbed ram server=ext2 device=ram0s1 piece=32508416"); /* reaches a block too far */
    assert_refused("ram0s1");
}

static void a_chain_without_an_end_is_refused(void **state)
{
    (void)state;
    say("machbed ram server=ext2 device=ram0s1 piece=1048576");
    piece_make(PIECE, 2 * PIECE);
    piece_make(2 * PIECE, PIECE);
    assert_refused("ram0s1");
}

static void a_store_without_a_partition_is_refused(void **state)
{
    (void)state;
    say("machbed ram server=ext2 device=ram0s3 piece=1048576");
    assert_refused("the store ram0s3");
}

#define MEMORY_TEST(test) cmocka_unit_test_setup_teardown(test, memory_setup, memory_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_hold_something_are_found_in_holes_and_zeros),
        cmocka_unit_test(an_image_has_the_blocks_of_its_partition_in_extents),
        cmocka_unit_test(a_partition_that_the_job_does_not_use_is_handed_over_empty),
        cmocka_unit_test(a_partition_that_is_not_there_is_an_image_of_nothing),
        cmocka_unit_test(a_job_needs_its_bytes_twice_and_what_its_partitions_hold),
        MEMORY_TEST(blocks_of_all_pieces_come_back_to_their_places),
        MEMORY_TEST(each_store_comes_back_to_its_partition),
        MEMORY_TEST(a_block_outside_the_partition_is_refused),
        MEMORY_TEST(a_block_number_that_overflows_is_refused),
        MEMORY_TEST(what_is_no_piece_is_refused),
        MEMORY_TEST(a_piece_outside_the_memory_is_refused),
        MEMORY_TEST(a_chain_without_an_end_is_refused),
        MEMORY_TEST(a_store_without_a_partition_is_refused),
    };

    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
