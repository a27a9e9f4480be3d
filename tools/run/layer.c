// SPDX-License-Identifier: GPL-2.0-or-later
#include "layer.h"

#include <stdlib.h>
#include <string.h>

static const char *const layer_kind_names[LAYER_KINDS] = {
    [LAYER_DATA_REQUEST] = "data_request", [LAYER_DATA_RETURN] = "data_return",
    [LAYER_STORE_WRITE] = "store_write",   [LAYER_STORE_READ] = "store_read",
    [LAYER_DISK_WRITE] = "disk_write",     [LAYER_DISK_READ] = "disk_read",
};

static const char *const layer_class_names[LAYER_SPLIT] = {
    [LAYER_FILE] = "file",
    [LAYER_META] = "meta",
};

static error_t layer_name_lookup(const char *const *names, unsigned count, const char *name,
                                 unsigned *index)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            *index = i;
            return 0;
        }
    }
    return EINVAL;
}

const char *layer_kind_name(enum layer_kind kind)
{
    return layer_kind_names[kind];
}

error_t layer_kind_lookup(const char *name, enum layer_kind *kind)
{
    unsigned index;
    error_t error = layer_name_lookup(layer_kind_names, LAYER_KINDS, name, &index);

    if (error == 0)
        *kind = (enum layer_kind)index;
    return error;
}

bool layer_kind_is_write(enum layer_kind kind)
{
    return kind == LAYER_DATA_RETURN || kind == LAYER_STORE_WRITE || kind == LAYER_DISK_WRITE;
}

const char *layer_class_name(enum layer_class class)
{
    return layer_class_names[class];
}

error_t layer_class_lookup(const char *name, enum layer_class *class)
{
    unsigned index;
    error_t error = layer_name_lookup(layer_class_names, LAYER_SPLIT, name, &index);

    if (error == 0)
        *class = (enum layer_class)index;
    return error;
}

static unsigned layer_class_of(uint64_t bytes)
{
    return 63u - (unsigned)__builtin_clzll(bytes | 1);
}

void layer_add(struct layer *layer, uint64_t bytes)
{
    layer->count++;
    layer->bytes += bytes;
    if (bytes > layer->max)
        layer->max = bytes;
    layer->hist[layer_class_of(bytes)]++;
}

void layer_merge(struct layer *layer, const struct layer *other)
{
    layer->count += other->count;
    layer->bytes += other->bytes;
    if (other->max > layer->max)
        layer->max = other->max;
    for (unsigned i = 0; i < LAYER_CLASSES; i++)
        layer->hist[i] += other->hist[i];
}

struct layer layers_sum(const struct layers *layers, enum layer_kind kind)
{
    struct layer sum = layers->at[kind][LAYER_FILE];

    layer_merge(&sum, &layers->at[kind][LAYER_META]);
    return sum;
}

uint64_t layer_average(const struct layer *layer)
{
    if (layer->count == 0)
        return 0;
    return (layer->bytes + layer->count / 2) / layer->count;
}

double layer_per(const struct layer *layer, uint64_t unit)
{
    return layer->bytes == 0 ? 0 : (double)layer->count * (double)unit / (double)layer->bytes;
}

uint64_t layer_class_floor(unsigned index)
{
    return UINT64_C(1) << index;
}

/* Reads digits at *TEXT and moves behind them and the DELIMITER, which is missing only at the
   text's end. */
static error_t layer_number_scan(const char **text, char delimiter, uint64_t *value)
{
    char *end;

    if (**text < '0' || **text > '9')
        return EINVAL;
    errno = 0;
    *value = strtoull(*text, &end, 10);
    if (errno != 0 || (*end != delimiter && *end != '\0'))
        return EINVAL;
    if (*end == delimiter && *++end == '\0')
        return EINVAL;
    *text = end;
    return 0;
}

static error_t layer_pair_scan(struct layer *layer, const char **text, uint64_t *sum)
{
    uint64_t floor;
    uint64_t count;
    error_t error = layer_number_scan(text, ':', &floor);

    if (error == 0)
        error = layer_number_scan(text, ',', &count);
    if (error != 0)
        return error;
    if (floor == 0 || (floor & (floor - 1)) != 0)
        return EINVAL;
    layer->hist[layer_class_of(floor)] += count;
    *sum += count;
    return 0;
}

error_t layer_hist_parse(struct layer *layer, const char *text)
{
    uint64_t sum = 0;
    error_t error = 0;

    memset(layer->hist, 0, sizeof(layer->hist));
    if (strcmp(text, "-") == 0)
        return layer->count == 0 ? 0 : EINVAL;
    if (*text == '\0')
        return EINVAL;
    while (error == 0 && *text != '\0')
        error = layer_pair_scan(layer, &text, &sum);
    if (error == 0 && sum != layer->count)
        error = EINVAL;
    return error;
}
