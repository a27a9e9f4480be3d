// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "options.h"

#define WORDS_MAX 16

static struct options options;
static struct failure options_failure;
static char storage[WORDS_MAX][256];

/* Parses the words of LINE, blanks between. */
static int parse(const char *line)
{
    char *words[WORDS_MAX + 2] = {(char *)"machbed-run"};
    size_t count = 0;

    while (*line != '\0') {
        size_t length = strcspn(line, " ");

        snprintf(storage[count], sizeof(storage[count]), "%.*s", (int)length, line);
        words[count + 1] = storage[count];
        count++;
        line += length + (line[length] == ' ');
    }
    options_failure = (struct failure){0};
    return options_parse(&options, (int)count + 1, words, &options_failure);
}

static void assert_refused(const char *line, const char *says)
{
    assert_int_equal(parse(line), STATUS_BAD_INPUT);
    assert_contains(options_failure.reason, says);
}

static void defaults_are_those_of_the_readme(void **state)
{
    (void)state;
    assert_int_equal(parse(""), STATUS_SUCCESS);
    assert_string_equal(options.disk->choice.name, "ahci");
    assert_string_equal(options.boot->name, "grub");
    assert_string_equal(options.accel->name, "tcg");
    assert_string_equal(options.job, "jobs/default.job");
    assert_int_equal(options.block_bytes, 4096);
    assert_null(options.image);
    assert_int_equal(options.mem_bytes, 512u << 20);
    assert_int_equal(options.disk_bytes, 1u << 30);
    assert_int_equal(options.timeout, 300);
    assert_int_equal(options.policies_count, 4);
    assert_string_equal(options.policies[0]->choice.name, "page");
    assert_string_equal(options.policies[2]->choice.name, "run128");
    assert_string_equal(options.policies[3]->choice.name, "merge");
    assert_int_equal(options.merge_bytes, 1u << 20);
    assert_false(options.keep || options.dry || options.help || options.list);
}

static void largest_merged_write_is_a_number_of_pages_up_to_4_mib(void **state)
{
    (void)state;
    assert_int_equal(parse("--merge-max 4m"), STATUS_SUCCESS);
    assert_int_equal(options.merge_bytes, 4u << 20);
    assert_int_equal(parse("--merge-max 4096"), STATUS_SUCCESS);
    assert_refused("--merge-max 6k", "--merge-max: 6K is not a number of pages");
    assert_refused("--merge-max 4100K", "--merge-max");
    assert_refused("--merge-max 0", "is zero");
}

static void write_behind_is_off_unless_seconds_are_given(void **state)
{
    (void)state;
    assert_int_equal(parse(""), STATUS_SUCCESS);
    assert_int_equal(options.sync_every, 0);
    assert_int_equal(parse("--sync-every 5"), STATUS_SUCCESS);
    assert_int_equal(options.sync_every, 5);
    assert_refused("--sync-every often", "--sync-every: 'often' is not a number");
    assert_refused("--sync-every 86401", "--sync-every: 86401 seconds are more than a day");
}

static void a_sector_that_fails_is_a_number_and_fails_for_good_or_so_often(void **state)
{
    (void)state;
    assert_int_equal(parse(""), STATUS_SUCCESS);
    assert_true(options.fail_sector == OPTIONS_NO_SECTOR);
    assert_int_equal(parse("--fail-sector 0"), STATUS_SUCCESS);
    assert_int_equal(options.fail_sector, 0);
    assert_int_equal(options.fail_times, 0);
    assert_int_equal(parse("--fail-sector 7651 --fail-times 9"), STATUS_SUCCESS);
    assert_int_equal(options.fail_times, 9);
    assert_refused("--fail-sector last", "--fail-sector: 'last' is not a number");
    assert_refused("--fail-sector -1", "--fail-sector: '-1' is not a number");
    assert_refused("--fail-sector 18446744073709551615", "no disk has a sector 184467440737095");
    assert_refused("--fail-times 1", "--fail-times: no sector fails without --fail-sector");
    assert_refused("--fail-sector 1 --fail-times 1001", "--fail-times: 1,001 is more than 1,000");
}

static void blocks_have_one_of_three_sizes(void **state)
{
    (void)state;
    assert_int_equal(parse("--block 1k"), STATUS_SUCCESS);
    assert_int_equal(options.block_bytes, 1024);
    assert_refused("--block 512", "--block: unknown value '512'; there are: 4096, 2048, 1024");
    assert_refused("--block small", "there are: 4096, 2048, 1024");
}

static void an_image_has_its_own_size_and_blocks(void **state)
{
    (void)state;
    assert_int_equal(parse("--image disk.img"), STATUS_SUCCESS);
    assert_string_equal(options.image, "disk.img");
    assert_refused("--image disk.img --block 1024", "leave --block away");
    assert_refused("--disk-size 1G --image disk.img", "leave --disk-size away");
}

static void a_value_stands_behind_a_blank_or_an_equals_sign(void **state)
{
    (void)state;
    assert_int_equal(parse("--disk ide --boot=direct --keep=1 --dry 1 --mem 256m --seed 7"),
                     STATUS_SUCCESS);
    assert_string_equal(options.disk->choice.name, "ide");
    assert_string_equal(options.boot->name, "direct");
    assert_true(options.keep && options.dry);
    assert_int_equal(options.mem_bytes, 256u << 20);
    assert_int_equal(options.seed, 7);
}

static void the_last_of_several_values_counts(void **state)
{
    (void)state;
    assert_int_equal(parse("--disk ide --disk ahci --policy page --policy run128,page"),
                     STATUS_SUCCESS);
    assert_string_equal(options.disk->choice.name, "ahci");
    assert_int_equal(options.policies_count, 2);
    assert_string_equal(options.policies[0]->choice.name, "run128");
    assert_string_equal(options.policies[1]->choice.name, "page");
}

static void kinds_of_event_are_a_list_or_all(void **state)
{
    (void)state;
    assert_int_equal(parse("--trace text"), STATUS_SUCCESS);
    assert_string_equal(options.trace->name, "text");
    assert_int_equal(options.kinds, 0);
    assert_int_equal(parse("--trace-events op,Data_Request --trace TEXT"), STATUS_SUCCESS);
    assert_int_equal(options.kinds, 5);
    assert_int_equal(parse("--trace text --trace-events op --trace-events all"), STATUS_SUCCESS);
    assert_int_equal(options.kinds, 0);
    assert_refused("--trace xml", "'xml'; there are: off, text, ctf, both");
    assert_refused("--trace text --trace-events op,disk_write",
                   "'disk_write'; there are: op, io, data_request, data_unlock, data_return,");
    assert_refused("--trace text --trace-events op,", "''; there are: op");
    assert_refused("--trace-events op", "nothing is recorded with --trace off");
}

static void modules_add_up(void **state)
{
    (void)state;
    assert_int_equal(parse("--module startup=a/b --module pager=c=d"), STATUS_SUCCESS);
    assert_int_equal(options.modules_count, 2);
    assert_string_equal(options.modules[0].name, "startup");
    assert_string_equal(options.modules[0].path, "a/b");
    assert_string_equal(options.modules[1].path, "c=d");
    assert_refused("--module startup", "is not NAME=FILE");
    assert_refused("--module startup=", "is not NAME=FILE");
    assert_refused("--module =x", "is not NAME=FILE");
}

static void the_disk_of_amd64_is_memory_unless_another_is_asked_for(void **state)
{
    (void)state;
    assert_int_equal(parse("--arch amd64"), STATUS_SUCCESS);
    assert_string_equal(options.disk->choice.name, "ram");
    assert_int_equal(parse("--disk ahci --arch amd64"), STATUS_SUCCESS);
    assert_string_equal(options.disk->choice.name, "ahci");
    assert_int_equal(parse("--arch i386"), STATUS_SUCCESS);
    assert_string_equal(options.disk->choice.name, "ahci");
}

static void no_sector_of_a_disk_in_memory_fails(void **state)
{
    (void)state;
    assert_refused("--disk ram --fail-sector 5000", "no sector of a disk in memory fails");
}

static void what_is_unknown_is_refused_with_what_exists(void **state)
{
    (void)state;
    assert_refused("--fast", "unknown option '--fast'");
    assert_refused("fast", "unknown option 'fast'");
    assert_refused("--", "unknown option '--'");
    assert_refused("-h", "unknown option '-h'");
    assert_refused("--dis ide", "unknown option '--dis'");
    assert_refused("--policy fast", "'fast'; there are: page, chunk2, run128");
    assert_refused("--policy page,", "unknown value ''");
    assert_refused("--policy run128run128run128run128run128run128", "unknown value");
    assert_refused("--disk scsi", "there are: ahci, ide, ram");
    assert_refused("--boot net", "there are: grub, direct");
    assert_refused("--accel hvf", "there are: tcg, kvm");
    assert_refused("--arch vax", "there are: i386, amd64");
    assert_refused("--machine vax", "there are: pc, q35");
    assert_refused("--firmware efi", "there are: bios, uefi, uefi32");
    assert_refused("--kernel-origin attic", "there are: package, source");
    assert_refused("--keep yes", "there are: 0, 1");
}

static void values_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_refused("--disk", "--disk: its value is missing");
    assert_refused("--list=1", "--list: takes no value");
    assert_refused("--job=", "--job: the value is empty");
    assert_refused("--size 0", "--size: '0' is zero");
    assert_refused("--size 1x", "is not a size");
    assert_refused("--mem 1G1", "is not a size");
    assert_refused("--mem 1M", "--mem: 1M is not a number of MiB from 32M to 4G");
    assert_refused("--mem 8G", "--mem");
    assert_refused("--mem 536870913", "--mem");
    assert_refused("--disk-size 769M", "--disk-size");
    assert_refused("--disk-size 4096G", "--disk-size");
    assert_refused("--timeout 0", "--timeout");
    assert_refused("--timeout 1h", "--timeout");
    assert_refused("--timeout 86401", "more than a day");
    assert_refused("--seed 0", "--seed");
    assert_refused("--seed 9223372036854775808", "--seed");
    assert_refused("--policy page,run128,page", "'page' is named twice");
}

static void a_debugger_sees_one_policy(void **state)
{
    (void)state;
    assert_int_equal(parse("--debugger gdb.sh --policy merge"), STATUS_SUCCESS);
    assert_string_equal(options.debugger, "gdb.sh");
    assert_refused("--debugger gdb.sh", "with a debugger there is one, not 4");
}

static void a_name_cannot_leave_the_folder_of_runs(void **state)
{
    static const char *const names[] = {".",    "..",  ".x", "a/b",     "/",
                                        "a\\b", "a b", "\n", "\xc3\xa4"};
    char longest[66];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        options_failure = (struct failure){0};
        assert_int_equal(options_name_check(names[i], &options_failure), STATUS_BAD_INPUT);
    }
    memset(longest, 'a', sizeof(longest));
    longest[65] = '\0';
    options_failure = (struct failure){0};
    assert_int_equal(options_name_check(longest, &options_failure), STATUS_BAD_INPUT);
    longest[64] = '\0';
    options_failure = (struct failure){0};
    assert_int_equal(options_name_check(longest, &options_failure), STATUS_SUCCESS);
    assert_int_equal(options_name_check("A-z_0.9", &options_failure), STATUS_SUCCESS);
}

static void help_names_every_option(void **state)
{
    static const char *const names[] = {"--job",     "--policy", "--size",    "--disk",   "--boot",
                                        "--mem",     "--accel",  "--name",    "--module", "--seed",
                                        "--timeout", "--list",   "--qemu-cfg"};
    static char text[8192];
    FILE *stream = fmemopen(text, sizeof(text), "w");

    (void)state;
    options_print_help(stream);
    fclose(stream);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_contains(text, names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_readme),
        cmocka_unit_test(largest_merged_write_is_a_number_of_pages_up_to_4_mib),
        cmocka_unit_test(write_behind_is_off_unless_seconds_are_given),
        cmocka_unit_test(a_sector_that_fails_is_a_number_and_fails_for_good_or_so_often),
        cmocka_unit_test(blocks_have_one_of_three_sizes),
        cmocka_unit_test(an_image_has_its_own_size_and_blocks),
        cmocka_unit_test(a_value_stands_behind_a_blank_or_an_equals_sign),
        cmocka_unit_test(the_last_of_several_values_counts),
        cmocka_unit_test(kinds_of_event_are_a_list_or_all),
        cmocka_unit_test(modules_add_up),
        cmocka_unit_test(the_disk_of_amd64_is_memory_unless_another_is_asked_for),
        cmocka_unit_test(no_sector_of_a_disk_in_memory_fails),
        cmocka_unit_test(what_is_unknown_is_refused_with_what_exists),
        cmocka_unit_test(values_that_make_no_sense_are_refused),
        cmocka_unit_test(a_debugger_sees_one_policy),
        cmocka_unit_test(a_name_cannot_leave_the_folder_of_runs),
        cmocka_unit_test(help_names_every_option),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
