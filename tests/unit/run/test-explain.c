// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-test.h"
#include "explain.h"

static struct layers layers;
static char text[EXPLAIN_BYTES];

static int setup(void **state)
{
    (void)state;
    layers = (struct layers){0};
    return 0;
}

static void add(enum layer_kind kind, uint64_t bytes)
{
    layer_add(&layers.at[kind][LAYER_FILE], bytes);
}

static void assert_explained(enum layer_kind kind, const char *policy, const char *part)
{
    explain_layer(&layers, kind, policy_lookup(policy), text);
    assert_contains(text, part);
}

static void nothing_is_said_of_a_layer_without_requests(void **state)
{
    (void)state;
    explain_layer(&layers, LAYER_DATA_RETURN, policy_lookup("page"), text);
    assert_string_equal(text, "");
    add(LAYER_DISK_READ, 512);
    explain_layer(&layers, LAYER_DISK_READ, policy_lookup("page"), text);
    assert_string_equal(text, "");
}

static void messages_are_explained_by_their_largest(void **state)
{
    (void)state;
    add(LAYER_DATA_RETURN, 4096);
    assert_explained(LAYER_DATA_RETURN, "page", "single pages");
    add(LAYER_DATA_RETURN, 65536);
    assert_explained(LAYER_DATA_RETURN, "page", "not capped");
    add(LAYER_DATA_RETURN, 131072);
    assert_explained(LAYER_DATA_RETURN, "page", "capped by the kernel: at most 32 pages (131,072");
    add(LAYER_DATA_RETURN, 1048576);
    assert_explained(LAYER_DATA_RETURN, "page", "larger than a kernel with DATA_WRITE_MAX at 32");
}

static void calls_are_explained_by_the_policy_the_message_or_neither(void **state)
{
    (void)state;
    add(LAYER_DATA_RETURN, 131072);
    add(LAYER_STORE_WRITE, 8192);
    assert_explained(LAYER_STORE_WRITE, "chunk2", "capped by the policy: 2 pages (8,192 bytes)");
    assert_explained(LAYER_STORE_WRITE, "run128", "not capped: every run ended before");
    assert_explained(LAYER_STORE_WRITE, "page", "larger than the policy allows");
    add(LAYER_STORE_WRITE, 131072);
    assert_explained(LAYER_STORE_WRITE, "run128", "capped by the message");
    add(LAYER_STORE_WRITE, 524288);
    assert_explained(LAYER_STORE_WRITE, "run128", "capped by the policy: 128 pages (524,288");
}

static void commands_are_explained_by_the_driver_or_the_call(void **state)
{
    (void)state;
    add(LAYER_STORE_WRITE, 8192);
    add(LAYER_DISK_WRITE, 8192);
    assert_explained(LAYER_DISK_WRITE, "page", "not capped: each call is one command");
    add(LAYER_DISK_WRITE, 4096);
    assert_explained(LAYER_DISK_WRITE, "page", "as large as the largest call");
    add(LAYER_STORE_WRITE, 131072);
    assert_explained(LAYER_DISK_WRITE, "page", "at most 8,192 bytes a command, calls have up to");
    add(LAYER_DISK_WRITE, 32768);
    assert_explained(LAYER_DISK_WRITE, "page", "capped by the kernel's disk driver: 8 buffers");
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_said_of_a_layer_without_requests),
        TEST(messages_are_explained_by_their_largest),
        TEST(calls_are_explained_by_the_policy_the_message_or_neither),
        TEST(commands_are_explained_by_the_driver_or_the_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
