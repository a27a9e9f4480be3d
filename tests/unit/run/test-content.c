// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "content.h"

#include <unistd.h>

#include "libpattern/pattern.h"

#define SEED  UINT64_C(0x123456789abcdef)
#define START (4 * UINT64_C(512))
#define BYTES ((2u << 20) + 4096u) /* longer than the pattern's base, and no whole window */

static uint64_t base[PATTERN_BASE_BYTES / sizeof(uint64_t)];
static uint64_t other_base[PATTERN_BASE_BYTES / sizeof(uint64_t)];
static uint64_t data[BYTES / sizeof(uint64_t)];
static struct pattern pattern;
static char path[] = "/tmp/machbed-test-content-XXXXXX";
static int image;
static struct file_map map;
static char result[CONTENT_RESULT_BYTES];

static int setup(void **state)
{
    (void)state;
    pattern_init(&pattern, SEED, (uint8_t *)base);
    pattern_fill(&pattern, 0, data, BYTES);
    strcpy(path + sizeof(path) - 7, "XXXXXX");
    image = mkstemp(path);
    assert_true(image >= 0);
    assert_int_equal(pwrite(image, data, BYTES, START), BYTES);
    file_map_init(&map);
    file_map_add(&map, (struct file_piece){0, START, BYTES});
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    file_map_destroy(&map);
    close(image);
    unlink(path);
    return 0;
}

/* All of the stream, in the image from START on. */
static struct content_case whole(void)
{
    return (struct content_case){
        .path = path, .start = START, .bytes = BYTES, .stream = BYTES, .seed = SEED, .map = &map};
}

static void check(void)
{
    const struct content_case checked = whole();

    content_check(&checked, result);
}

static void the_pattern_of_the_seed_is_ok(void **state)
{
    (void)state;
    check();
    assert_string_equal(result, "ok");
}

static void another_seeds_pattern_is_not(void **state)
{
    struct content_case checked = whole();

    (void)state;
    checked.seed = SEED + 1;
    content_check(&checked, result);
    assert_contains(result, "byte 0 (sector 0; sector 4 of the disk)");
    assert_contains(result, "; 4,104 of 4,104 sectors differ");
}

static void a_byte_that_changed_is_named_with_what_it_is_and_should_be(void **state)
{
    uint8_t byte = ((const uint8_t *)data)[1050001] ^ 0x40;
    char want[64];

    (void)state;
    assert_int_equal(pwrite(image, &byte, 1, START + 1050001), 1);
    check();
    snprintf(want, sizeof(want), "is 0x%02x and should be 0x%02x", byte, byte ^ 0x40);
    assert_contains(result, "byte 1,050,001 (sector 2,050; sector 2,054 of the disk)");
    assert_contains(result, want);
    assert_contains(result, "other data; 1 of 4,104 sectors differ");
}

static void the_last_byte_counts_and_the_next_does_not(void **state)
{
    uint8_t byte = ((const uint8_t *)data)[BYTES - 1] ^ 1;

    (void)state;
    assert_int_equal(pwrite(image, &byte, 1, START + BYTES), 1);
    assert_int_equal(pwrite(image, &byte, 1, START - 1), 1);
    check();
    assert_string_equal(result, "ok");
    assert_int_equal(pwrite(image, &byte, 1, START + BYTES - 1), 1);
    check();
    assert_contains(result, "byte 2,101,247 ");
}

static void a_sector_that_was_never_written_is_recognised(void **state)
{
    static const char zeros[1024];

    (void)state;
    assert_int_equal(pwrite(image, zeros, 1024, START + 512), 1024);
    check();
    assert_contains(result, "the sector is all zeros; 2 of 4,104 sectors differ");
}

static void a_sector_in_the_wrong_place_is_recognised(void **state)
{
    (void)state;
    assert_int_equal(pwrite(image, (const char *)data + 512 * 2048, 512, START), 512);
    check();
    assert_contains(result, "the sector holds what belongs into sector 2,048");
}

static void a_sector_that_was_not_overwritten_is_recognised(void **state)
{
    struct pattern old;
    uint64_t sector[512 / sizeof(uint64_t)];

    (void)state;
    pattern_init(&old, SEED + 1, (uint8_t *)other_base);
    pattern_fill(&old, 512 * 7, sector, 512);
    assert_int_equal(pwrite(image, sector, 512, START + 512 * 7), 512);
    check();
    assert_contains(result, "the sector was not overwritten; 1 of 4,104 sectors differ");
}

static void the_place_on_the_disk_is_that_of_the_piece(void **state)
{
    (void)state;
    file_map_destroy(&map);
    file_map_init(&map);
    file_map_add(&map, (struct file_piece){0, 512 * 100, 512 * 3});
    file_map_add(&map, (struct file_piece){512 * 3, 512 * 50, 512 * 3});
    assert_int_equal(pwrite(image, "", 1, START + 512 * 4 + 3), 1);
    check();
    assert_contains(result, " (sector 4; sector 51 of the disk) ");
    assert_int_equal(pwrite(image, (const char *)data + 512 * 4, 512, START + 512 * 4), 512);
    assert_int_equal(pwrite(image, "", 1, START + 512 * 6 + 3), 1);
    check();
    assert_contains(result, " (sector 6) is ");
}

static void a_file_holds_its_part_of_the_stream(void **state)
{
    struct content_case checked = whole();

    (void)state;
    checked.bytes = pattern_part(BYTES, 2, 1, &checked.offset);
    checked.start += checked.offset;
    content_check(&checked, result);
    assert_string_equal(result, "ok");
    assert_int_equal(
        pwrite(image, (const char *)data + checked.offset + 512 * 5, 512, (off_t)checked.start),
        512);
    content_check(&checked, result);
    assert_contains(result, "byte 0 (sector 0; sector 2,060 of the disk)");
    assert_contains(result, "the sector holds what belongs into sector 5; 1 of 2,048 sectors");
    assert_int_equal(pwrite(image, data, 512, (off_t)checked.start), 512);
    content_check(&checked, result);
    assert_contains(result, "the sector holds what belongs into another file");
}

static void parts_are_whole_pages_and_all_of_the_stream(void **state)
{
    uint64_t offset;
    uint64_t sum = 0;

    (void)state;
    for (uint64_t i = 0; i < 1500; i++) {
        uint64_t bytes = pattern_part(4000 * UINT64_C(4096), 1500, i, &offset);

        assert_int_equal(offset, sum);
        assert_int_equal(bytes, i < 1000 ? 3 * 4096 : 2 * 4096);
        sum += bytes;
    }
    assert_int_equal(sum, 4000 * UINT64_C(4096));
    assert_int_equal(pattern_part(12288, 1, 0, &offset), 12288);
    assert_int_equal(offset, 0);
}

static void an_image_that_is_too_short_is_reported(void **state)
{
    (void)state;
    assert_int_equal(ftruncate(image, START + BYTES - 1), 0);
    check();
    assert_contains(result, "it ends before");
}

static void an_image_that_is_missing_is_reported(void **state)
{
    struct content_case checked = whole();

    (void)state;
    checked.path = "/nonexistent/disk.img";
    content_check(&checked, result);
    assert_contains(result, "No such file");
}

static void no_two_sectors_and_no_two_seeds_look_alike(void **state)
{
    struct pattern other;

    (void)state;
    for (size_t i = 1; i < BYTES / 512; i++)
        assert_memory_not_equal(data, (const char *)data + 512 * i, 512);
    pattern_init(&other, SEED + 1, (uint8_t *)other_base);
    assert_int_equal(pattern_compare(&other, 0, data, 512), 0);
}

static void a_part_of_the_pattern_is_the_same_from_wherever_it_is_made(void **state)
{
    uint64_t part[512 / sizeof(uint64_t)];

    (void)state;
    for (uint64_t at = 0; at < BYTES; at += 65536) {
        pattern_fill(&pattern, at, part, 512);
        assert_memory_equal(part, (const char *)data + at, 512);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_pattern_of_the_seed_is_ok),
        TEST(another_seeds_pattern_is_not),
        TEST(a_byte_that_changed_is_named_with_what_it_is_and_should_be),
        TEST(the_last_byte_counts_and_the_next_does_not),
        TEST(a_sector_that_was_never_written_is_recognised),
        TEST(a_sector_in_the_wrong_place_is_recognised),
        TEST(a_sector_that_was_not_overwritten_is_recognised),
        TEST(the_place_on_the_disk_is_that_of_the_piece),
        TEST(a_file_holds_its_part_of_the_stream),
        TEST(parts_are_whole_pages_and_all_of_the_stream),
        TEST(an_image_that_is_too_short_is_reported),
        TEST(an_image_that_is_missing_is_reported),
        TEST(no_two_sectors_and_no_two_seeds_look_alike),
        TEST(a_part_of_the_pattern_is_the_same_from_wherever_it_is_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
