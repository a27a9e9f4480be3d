// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is counted at one layer: how many requests, how many bytes, the largest, and a histogram
 * with power-of-two classes.
 */
#ifndef RUN_LAYER_H
#define RUN_LAYER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define LAYER_CLASSES 64 /* class i counts sizes from 2^i to below 2^(i+1) */

enum layer_kind {
    LAYER_DATA_REQUEST,
    LAYER_DATA_RETURN,
    LAYER_STORE_WRITE,
    LAYER_STORE_READ,
    LAYER_DISK_WRITE,
    LAYER_DISK_READ,
};
#define LAYER_KINDS       6
#define LAYER_GUEST_KINDS 4 /* those that a server counts; QEMU counts the others */

enum layer_class { LAYER_FILE, LAYER_META };
#define LAYER_SPLIT 2

struct layer {
    uint64_t count;
    uint64_t bytes;
    uint64_t max;
    uint64_t hist[LAYER_CLASSES];
};

/* All layers, file data and the rest apart. */
struct layers {
    struct layer at[LAYER_KINDS][LAYER_SPLIT];
};

/* "data_return", "file": the names of docs/protocol.md. The lookups return EINVAL for others. */
const char *layer_kind_name(enum layer_kind kind);
error_t layer_kind_lookup(const char *name, enum layer_kind *kind);
const char *layer_class_name(enum layer_class class);
error_t layer_class_lookup(const char *name, enum layer_class *class);

/* Whether that layer's requests carry data towards the disk. */
bool layer_kind_is_write(enum layer_kind kind);

/* Count one request of BYTES. */
void layer_add(struct layer *layer, uint64_t bytes);

/* Count everything that OTHER has counted as well. */
void layer_merge(struct layer *layer, const struct layer *other);

/* Both classes of one layer together. */
struct layer layers_sum(const struct layers *layers, enum layer_kind kind);

/* Mean bytes of a request, rounded to the nearest; 0 when there was none. */
uint64_t layer_average(const struct layer *layer);

/* How many requests there are for each UNIT bytes in them; 0 when there was none. */
double layer_per(const struct layer *layer, uint64_t unit);

/* Lowest size that class INDEX counts. */
uint64_t layer_class_floor(unsigned index);

/*
 * Read a histogram, "4096:12,8192:1" or "-". => EINVAL: not of that form, a key that is no power of
 * two, or a sum other than the layer's count.
 */
error_t layer_hist_parse(struct layer *layer, const char *text);

#endif
