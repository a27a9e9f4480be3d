// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which request was made for which: some events say so (`by`), for the others it follows from what
 * they are about and when they were. docs/trace.md, "How a write is followed", has the rules.
 */
#ifndef TRACE_KIN_H
#define TRACE_KIN_H

#include <stddef.h>

#include "record.h"

/* Places in a record's events, by time. */
struct kin {
    size_t *at;
    size_t count;
};

/* What was done for the event at PARENT, right below it. => free with kin_destroy. */
void kin_children(const struct record *record, size_t parent, struct kin *children);

/*
 * What the event at CHILD was done for, right above it: one event, or none. For a data_return that
 * is nothing: see kin_writers and kin_window. => SIZE_MAX: none is known.
 */
size_t kin_parent(const struct record *record, size_t child);

/* Who wrote the bytes that the data_return at CHILD brings, and that no other brought in between:
   io events, or ops for a mapping. => free with kin_destroy. */
void kin_writers(const struct record *record, size_t child, struct kin *writers);

/* The lock_request that the data_return at CHILD is an answer to. => SIZE_MAX: none is known. */
size_t kin_window(const struct record *record, size_t child);

/* Add a place, in any order, and put all in order. */
void kin_add(struct kin *kin, size_t at);
void kin_sort(struct kin *kin);

void kin_destroy(struct kin *kin);

#endif
