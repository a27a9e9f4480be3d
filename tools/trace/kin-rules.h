// SPDX-License-Identifier: GPL-2.0-or-later
/* What makes one event another's parent (docs/trace.md, "How a write is followed"): kin.c asks for
   one event, links.c for all. */
#ifndef TRACE_KIN_RULES_H
#define TRACE_KIN_RULES_H

#include "event.h"

/* The event is of that kind and operation. */
bool kin_is(const struct event *event, enum event_kind kind, const char *what);

/* A data_request or a data_unlock. */
bool kin_is_fault(const struct event *event);

/* A data_return of pages that were written to. */
bool kin_is_dirty(const struct event *event);

/* EVENT is the RPC of the operation OP: of the same bytes, or the sync that was asked for. */
bool kin_is_rpc_of(const struct event *op, const struct event *event);

/* EVENT is a page fault that PARENT ran into: an RPC, or an operation on a mapping. */
bool kin_is_fault_of(const struct event *parent, const struct event *event);

/* EVENT is a data_return that answers the lock_request WINDOW. */
bool kin_is_return_of(const struct event *window, const struct event *event);

/* EVENT is a run of several returns, and BROUGHT one of them. */
bool kin_is_run_of(const struct event *brought, const struct event *event);

#endif
