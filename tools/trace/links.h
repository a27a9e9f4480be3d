// SPDX-License-Identifier: GPL-2.0-or-later
/* Who did what for whom, for all events of a record at once; kin.h answers for one. */
#ifndef TRACE_LINKS_H
#define TRACE_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "record.h"

/* Places in the record's events: CHILD was done for PARENT, or brought what it wrote. */
struct link {
    uint32_t parent;
    uint32_t child;
};

struct links {
    struct link *links; /* by parent, then by child; each once */
    size_t count;
    size_t *first; /* of each event, its first link as a parent; one more at the end */
};

/* Find them, in n log n. => free with links_destroy; memory that runs out ends the program. */
void links_find(struct links *links, const struct record *record);

void links_destroy(struct links *links);

#endif
