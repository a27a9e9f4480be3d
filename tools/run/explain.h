// SPDX-License-Identifier: GPL-2.0-or-later
/* What capped each layer, in a sentence, derived from what was measured. */
#ifndef RUN_EXPLAIN_H
#define RUN_EXPLAIN_H

#include "job.h"
#include "layer.h"
#include "choice.h"

#define EXPLAIN_BYTES 256

/* Write what the job did to memory to TEXT. */
void explain_workload(const struct job *job, char text[EXPLAIN_BYTES]);

/*
 * Write what capped the requests of layer KIND to TEXT, or "" when there is nothing to say.
 * LAYERS are those of a boot with POLICY, disk included.
 */
void explain_layer(const struct layers *layers, enum layer_kind kind, const struct policy *policy,
                   char text[EXPLAIN_BYTES]);

#endif
