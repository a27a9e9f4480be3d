// SPDX-License-Identifier: GPL-2.0-or-later
/* The pager server's memory objects. */
#ifndef PAGER_OBJECT_H
#define PAGER_OBJECT_H

#include "libpager/pager.h"
#include "libstore/store.h"
#include "librt/ports.h"

struct object;

/* Keep objects in STORE from now on, served by NWORKERS threads. => once; may block; ENOMEM. */
error_t objects_setup(struct store *store, unsigned int nworkers);

/*
 * Create an object of SIZE bytes, whole pages, behind the objects that are there. Its pages are
 * zero until written. Its RPC port is made in BUCKET.
 * => may block; ENOSPC: the store is too small; ENOMEM.
 */
error_t object_create(struct port_bucket *bucket, vm_size_t size, struct object **object);

/* Have what was changed of all objects be written out, but of those that are being synced or paged
   out. Errors are left for a sync. => blocks, but not until it is written; from one thread. */
void objects_write_behind(void);

/* The receive right that stands for OBJECT in its bucket. => does not block. */
mach_port_t object_port(const struct object *object);

/* OBJECT's number, from 1. => does not block. */
unsigned int object_number(const struct object *object);

/* OBJECT's pager. => does not block. */
struct pager *object_pager(const struct object *object);

#endif
