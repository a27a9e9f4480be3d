// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a job works on: a memory object of the pager server, or a file of a file server. One table
 * of calls, so that the job (job.c) need not know which.
 */
#ifndef WORKLOAD_TARGET_H
#define WORKLOAD_TARGET_H

#include <stdbool.h>

#include "librt/error.h"
#include "librt/mach.h"

struct target {
    const struct target_ops *ops;
    mach_port_t port;
};

struct target_open {
    const char *path; /* of a file */
    vm_size_t size;
    bool create; /* it is not there yet */
    bool shared; /* ... or it may be */
};

/* All block; errors are errno values of the server's. */
struct target_ops {
    const char *fs;     /* the job's key */
    const char *server; /* its name, for rt_service_lookup */

    /* Make TARGET stand for what HOW says, SERVER being the server's port. */
    error_t (*open)(struct target *target, mach_port_t server, const struct target_open *how);

    /* Make the target SIZE bytes long, for a job that stores into a mapping. */
    error_t (*set_size)(struct target *target, vm_size_t size);

    /* The memory object. */
    error_t (*map)(struct target *target, mach_port_t *memory_object);

    /* Write LENGTH bytes at OFFSET; null where a mapping is the only way. */
    error_t (*write)(struct target *target, uint64_t offset, const void *data, vm_size_t length);

    /* Read LENGTH bytes, all of them, at OFFSET into fresh memory; null likewise. */
    error_t (*read)(struct target *target, uint64_t offset, vm_size_t length, vm_address_t *data);

    error_t (*sync)(struct target *target);

    /* Write out, and forget what is in memory; null where that cannot be asked for. */
    error_t (*forget)(struct target *target);
};

/* The operations for the job's FS. => a panic when there are none. */
const struct target_ops *target_lookup(const char *fs);

#endif
