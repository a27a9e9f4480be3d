// SPDX-License-Identifier: GPL-2.0-or-later
/* One server with one pager that one kernel has mapped: what most tests of libpager need. */
#ifndef LIBPAGER_TESTS_FIXTURE_H
#define LIBPAGER_TESTS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backend.h"
#include "libpager/policy.h"
#include "libpager/private.h"
#include "mock/rt.h"

#define NWORKERS      4u
#define MESSAGE_PAGES ((size_t)32)

struct fixture {
    struct port_bucket *bucket;
    struct user_pager_info *upi;
    struct mock_object *object;
};

static struct fixture f __attribute__((unused));

static inline void start_with(size_t npages, bool notify)
{
    f.bucket = backend_bucket(NWORKERS);
    f.upi = backend_create(f.bucket, npages, notify);
    f.object = mock_map(pager_get_port(f.upi->pager), npages);
    backend_policy("run128");
    mock_said_clear();
}

static inline void start(size_t npages)
{
    start_with(npages, false);
}

static inline void end(void)
{
    backend_destroy(f.upi, f.object);
}

static inline void check_disk(size_t first, size_t npages, uint64_t value)
{
    for (size_t i = 0; i < npages; i++)
        assert_int_equal(backend_value(f.upi, first + i), value + i);
}

#endif
