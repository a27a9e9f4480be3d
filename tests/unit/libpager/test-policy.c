// SPDX-License-Identifier: GPL-2.0-or-later
/* How many writes each policy makes of a default job. */
#include "fixture.h"

#include "mock/trace.h"

#define JOB_PAGES ((size_t)32768) /* 128 MiB */

/* The trace knows as many requests as the counters. */
static void check_trace(const struct pager_requests *level)
{
    struct mock_trace_count returns = mock_trace_count(TRACE_DATA_RETURN, RT_CLASS_FILE);
    struct mock_trace_count requests = mock_trace_count(TRACE_DATA_REQUEST, RT_CLASS_FILE);
    struct mock_trace_count runs = mock_trace_count(TRACE_RUN, RT_CLASS_FILE);

    assert_int_equal(returns.count, level->data_return[RT_CLASS_FILE].count);
    assert_int_equal(returns.bytes, level->data_return[RT_CLASS_FILE].bytes);
    assert_int_equal(requests.count, level->data_request[RT_CLASS_FILE].count);
    assert_int_equal(requests.bytes, level->data_request[RT_CLASS_FILE].bytes);
    assert_int_equal(runs.bytes, returns.bytes);
}

/* Dirty the 128 MiB of a default job and sync them with POLICY: so many bulk calls, so many single
   pages. */
static void check_job(const char *policy, size_t nbulk, size_t nsingle)
{
    const struct pager_requests *level;

    mock_trace_reset();
    start(JOB_PAGES);
    backend_policy(policy);
    mock_fill(f.object, 0, JOB_PAGES, 1);
    assert_int_equal(pager_sync(f.upi->pager, 1), 0);
    level = pager_level_lookup(f.bucket);
    assert_int_equal(level->data_return[RT_CLASS_FILE].count, JOB_PAGES / MESSAGE_PAGES);
    assert_int_equal(level->data_return[RT_CLASS_FILE].bytes, JOB_PAGES * PAGE);
    assert_int_equal(level->data_return[RT_CLASS_FILE].max, MESSAGE_PAGES * PAGE);
    check_trace(level);
    assert_int_equal(f.upi->nbulk, nbulk);
    assert_int_equal(f.upi->nsingle, nsingle);
    check_disk(0, JOB_PAGES, 1);
    end();
}

static void policy_page_makes_32768_writes_of_1024_messages(void **state)
{
    (void)state;
    check_job("page", 0, 32768);
}

static void policy_chunk2_makes_16384_writes_of_1024_messages(void **state)
{
    (void)state;
    check_job("chunk2", 16384, 0);
}

static void policy_run128_makes_1024_writes_of_1024_messages(void **state)
{
    (void)state;
    check_job("run128", 1024, 0);
}

static void policies_are_found_by_name_and_unknown_ones_are_not(void **state)
{
    (void)state;
    for (size_t i = 0; pager_policy_at(i) != NULL; i++)
        assert_ptr_equal(pager_policy_lookup(pager_policy_at(i)->name), pager_policy_at(i));
    assert_null(pager_policy_lookup("merg"));
    assert_null(pager_policy_lookup(""));
    assert_string_equal(pager_policy_names(), "page,chunk2,run128,merge,adaptive");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy_page_makes_32768_writes_of_1024_messages),
        cmocka_unit_test(policy_chunk2_makes_16384_writes_of_1024_messages),
        cmocka_unit_test(policy_run128_makes_1024_writes_of_1024_messages),
        cmocka_unit_test(policies_are_found_by_name_and_unknown_ones_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
