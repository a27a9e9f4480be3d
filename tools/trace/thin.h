// SPDX-License-Identifier: GPL-2.0-or-later
/* Leave events out where there are more than can be shown, so that what is left belongs together.
 */
#ifndef TRACE_THIN_H
#define TRACE_THIN_H

#include <stdbool.h>

#include "links.h"

/*
 * Choose about MAX of the record's events: of each kind and operation that nothing is known to have
 * asked for, one of EVERY, with all that was done for it. KEPT, by event, says which.
 * => EVERY is 1, and all are kept, where there are no more than MAX. Free KEPT with free; memory
 * that runs out ends the program.
 */
bool *thin_choose(const struct record *record, const struct links *links, size_t max,
                  size_t *every);

#endif
