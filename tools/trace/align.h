// SPDX-License-Identifier: GPL-2.0-or-later
/* From the host's clock, which stamps QEMU's trace, to the guest's, which stamps the events. */
#ifndef TRACE_ALIGN_H
#define TRACE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something that the host saw at one moment, and that the guest saw begin and end. */
struct align_pair {
    uint64_t host_us;
    uint64_t begin_ns;
    uint64_t end_ns;
};

struct align {
    bool known;
    size_t pairs;
    uint64_t host_us; /* a moment of the host's clock ... */
    double guest_ns;  /* ... and what the guest's clock showed */
    double drift;     /* by how much the guest's clock is faster: 1e-6 is a second in 11 days */
    double uncertainty_ns;  /* no clock that satisfies all pairs is off by more between them */
    double drift_tolerance; /* nor drifts otherwise by more */
    double miss_ns;         /* 0, or by how much the worst pair contradicts the best clock */
};

/* Find the clock from COUNT pairs, in any order. => unknown if there are none. */
void align_find(struct align *align, const struct align_pair *pairs, size_t count);

/* What the guest's clock showed, never below 0. => ALIGN is known. */
uint64_t align_guest_ns(const struct align *align, uint64_t host_us);

#endif
