// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Receive rights and the objects behind them. A bucket is a port set with a table from port names
 * to objects. Who receives on it differs: RPC handlers use ports_manage (below), libpager has a
 * receiver of its own.
 *
 * The bucket does not own the objects: destroy the port first, then free the object, from the
 * thread that receives on the bucket or when no thread does.
 */
#ifndef LIBRT_PORTS_H
#define LIBRT_PORTS_H

#include "librt/mach.h"
#include "librt/error.h"

struct port_bucket;

/* Create an empty bucket. => may block; ENOMEM. */
error_t ports_create_bucket(struct port_bucket **bucket);

/* Create a receive right in BUCKET that stands for OBJECT (not null). No send right exists yet.
   => may block; ENOMEM. */
error_t ports_create_port(struct port_bucket *bucket, void *object, mach_port_t *port);

/* The object that PORT stands for in BUCKET, or null. => takes the bucket's own lock only. */
void *ports_lookup_port(struct port_bucket *bucket, mach_port_t port);

/* Destroy the receive right PORT of BUCKET. Messages still queued are lost. => may block. */
void ports_destroy_port(struct port_bucket *bucket, mach_port_t port);

/* The port set's name, for mach_msg. */
mach_port_t ports_bucket_set(const struct port_bucket *bucket);

/* A MIG server function: looks at REQUEST, fills REPLY, returns whether it knew the request. */
typedef boolean_t (*ports_demuxer_t)(mach_msg_header_t *request, mach_msg_header_t *reply);

/*
 * Start NTHREADS threads, named NAME, that receive requests on BUCKET, have DEMUXER handle each,
 * and send the reply. A request that DEMUXER does not know is answered with MIG_BAD_ID and its
 * resources are released. The number of threads never changes; further requests wait in the ports.
 * => may block; ENOMEM.
 */
error_t ports_manage(struct port_bucket *bucket, const char *name, unsigned int nthreads,
                     ports_demuxer_t demuxer);

#endif
