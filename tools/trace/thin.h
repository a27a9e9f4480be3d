// SPDX-License-Identifier: GPL-2.0-or-later
/* Leave events out where there are more than can be shown, so that what is left belongs together.
 */
#ifndef TRACE_THIN_H
#define TRACE_THIN_H

#include <stdbool.h>

#include "links.h"

/*
 * Choose some of the record's events: of each kind and operation that nothing is known to have
 * asked for, one of EVERY, with all that was done for it. => by event, whether it is kept; with an
 * EVERY of 1 all are. Free it with free; memory that runs out ends the program.
 */
bool *thin_choose(const struct record *record, const struct links *links, size_t every);

#endif
