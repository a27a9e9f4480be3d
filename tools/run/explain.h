// SPDX-License-Identifier: GPL-2.0-or-later
/* What capped each layer, in a sentence, derived from what was measured. */
#ifndef RUN_EXPLAIN_H
#define RUN_EXPLAIN_H

#include "choice.h"
#include "file-map.h"
#include "job.h"
#include "layer.h"
#include "tune.h"

#define EXPLAIN_BYTES 512

struct explain_case {
    const struct layers *layers; /* of one boot, disk included */
    const struct policy *policy;
    const struct tune *tune;    /* of the kernel; NULL: it is as it comes */
    uint64_t merge_bytes;       /* the cap of a policy that has none of its own */
    const struct file_map *map; /* where the job's bytes lie */
    uint64_t nrfiles;           /* of the job */
    uint64_t device_block;      /* bytes of a block of the disk's driver; 0: not known */
    uint64_t rmw_bytes;         /* what rounding writes outward to these blocks has added */
};

/* Write what the job did to memory to TEXT. */
void explain_workload(const struct job *job, char text[EXPLAIN_BYTES]);

/*
 * Write what capped the requests of layer KIND to TEXT, or "" when there is nothing to say. It is
 * said of the file data; of everything if there is none.
 */
void explain_layer(const struct explain_case *explained, enum layer_kind kind,
                   char text[EXPLAIN_BYTES]);

#endif
