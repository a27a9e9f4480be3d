// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device in memory for libext2, as strict as can be: what a get hands out is a copy that nobody
 * else has (so the sanitizer sees every byte beyond it, and every use after its put), a put that is
 * not dirty must have changed nothing, and each rule of struct ext2_ops is checked. A broken rule
 * ends the program.
 *
 * A direct device hands out pointers into its memory and checks less; it is for long tests.
 */
#ifndef TESTS_LIBEXT2_DEVICE_H
#define TESTS_LIBEXT2_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "libext2/ext2.h"

struct device_held {
    uint64_t offset;
    uint32_t length;
    unsigned int nusers;
    uint8_t *data;
    struct device_held *next;
};

struct device {
    uint8_t *bytes;
    uint64_t size;
    bool direct;
    bool locked;
    struct device_held *held;
    unsigned int nheld;
    unsigned int nheld_max;
    uint64_t ngets;
    uint64_t ndirty;
    uint64_t fail_at;   /* the get with this number, counted from 1, fails with EIO; 0: none */
    bool fail_for_good; /* and all that follow */
    uint64_t nforgotten;
    uint32_t now;
    unsigned int nreports;
    char report[256]; /* the last */
    bool verbose;
};

extern const struct ext2_ops device_ops;

/* A device of SIZE zeros. */
void device_init(struct device *device, uint64_t size);
void device_destroy(struct device *device);

/* End the program unless everything that was got has been put and the lock is free. */
void device_check_idle(const struct device *device);

#endif
