// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Orders that keep a server from waiting for itself (docs/servers.md, "Locks"), checked always:
 *
 *   - of locks, by their names. Which may be taken while which is held is learned from what is
 *     done: the other way round is a violation, also when nothing has come of it this time;
 *   - of levels: a thread that serves a level waits for the levels below it only;
 *   - no lock is held across an RPC to another server.
 *
 * A violation ends the run with status 99, and a sentence that names both places.
 */
#ifndef LIBRT_ORDER_H
#define LIBRT_ORDER_H

/* The level of threads that handle RPCs. Those of pagers count from 1, the lowest, on; a thread of
   level 0 serves nobody and may wait for all. */
#define RT_LEVEL_RPC 255u

/* Locks called NAME (not copied) are taken one inside another, in an order that the caller sees to.
   => does not block. */
void rt_order_nests(const char *name);

/* The calling thread serves LEVEL from now on. => does not block. */
void rt_level_enter(unsigned int level);

/* The calling thread is going to wait for LEVEL, in CALL: that must be below its own.
   => does not block. */
void rt_level_check(unsigned int level, const char *call);

#endif
