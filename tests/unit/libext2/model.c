// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model.h"

static bool model_is_dir(const struct model *model, uint32_t node)
{
    return S_ISDIR(model->nodes[node].mode);
}

void model_init(struct model *model, uint32_t block_size)
{
    memset(model, 0, sizeof *model);
    model->block_size = block_size;
    model->nodes[MODEL_ROOT] = (struct model_node){
        .used = true, .ino = 2, .mode = S_IFDIR | 0755, .nlinks = 2, .parent = MODEL_ROOT};
}

static void model_node_free(struct model_node *node)
{
    for (uint32_t i = 0; i < node->nchunks; i++)
        free(node->chunks[i]);
    for (uint32_t i = 0; i < node->nentries; i++)
        free(node->entries[i].name);
    free(node->chunks);
    free(node->entries);
    free(node->target);
    *node = (struct model_node){0};
}

void model_destroy(struct model *model)
{
    for (uint32_t i = 0; i < MODEL_NODES_MAX; i++)
        model_node_free(&model->nodes[i]);
}

uint32_t model_room(const struct model *model)
{
    uint32_t room = 0;
    for (uint32_t i = 0; i < MODEL_NODES_MAX; i++)
        room += model->nodes[i].used ? 0 : 1;
    return room;
}

/* --- Names --- */

static struct model_entry *model_entry(const struct model *model, uint32_t dir, const char *name)
{
    const struct model_node *node = &model->nodes[dir];
    for (uint32_t i = 0; i < node->nentries; i++)
        if (strcmp(node->entries[i].name, name) == 0)
            return &node->entries[i];
    return NULL;
}

uint32_t model_lookup(const struct model *model, uint32_t dir, const char *name)
{
    const struct model_entry *entry = model_entry(model, dir, name);
    return entry != NULL ? entry->node : MODEL_NO_NODE;
}

static void model_entry_add(struct model *model, uint32_t dir, const char *name, uint32_t node)
{
    struct model_node *parent = &model->nodes[dir];
    parent->entries = realloc(parent->entries, (parent->nentries + 1) * sizeof parent->entries[0]);
    parent->entries[parent->nentries++] = (struct model_entry){strdup(name), node};
    parent->mtime = model->now;
}

static void model_entry_remove(struct model *model, uint32_t dir, const char *name)
{
    struct model_node *parent = &model->nodes[dir];
    struct model_entry *entry = model_entry(model, dir, name);
    free(entry->name);
    *entry = parent->entries[--parent->nentries];
    parent->mtime = model->now;
}

static error_t model_name_check(const char *name)
{
    if (strlen(name) > 255)
        return ENAMETOOLONG;
    return name[0] == '\0' || strchr(name, '/') != NULL ? EINVAL : 0;
}

static bool model_is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static error_t model_dir_check(const struct model *model, uint32_t dir)
{
    if (!model_is_dir(model, dir))
        return ENOTDIR;
    return model->nodes[dir].nlinks == 0 ? ENOENT : 0;
}

static error_t model_new_check(const struct model *model, uint32_t dir, const char *name)
{
    error_t error = model_name_check(name);
    if (error == 0)
        error = model_dir_check(model, dir);
    if (error == 0 && (model_is_dots(name) || model_entry(model, dir, name) != NULL))
        error = EEXIST;
    return error;
}

error_t model_make(struct model *model, uint32_t dir, const char *name, uint16_t mode,
                   const char *target, uint32_t *made)
{
    if (target != NULL && target[0] == '\0')
        return ENOENT;
    if (target != NULL && strlen(target) >= model->block_size)
        return ENAMETOOLONG;
    error_t error = model_new_check(model, dir, name);
    if (error != 0)
        return error;
    uint32_t node = 0;
    while (model->nodes[node].used)
        node++;
    model->nodes[node] = (struct model_node){
        .used = true,
        .mode = mode,
        .nlinks = S_ISDIR(mode) ? 2 : 1,
        .atime = model->now,
        .mtime = model->now,
        .size = S_ISDIR(mode)    ? model->block_size
                : target != NULL ? strlen(target)
                                 : 0,
        .target = target != NULL ? strdup(target) : NULL,
        .parent = dir,
    };
    model->nodes[dir].nlinks += S_ISDIR(mode) ? 1 : 0;
    model_entry_add(model, dir, name, node);
    *made = node;
    return 0;
}

error_t model_link(struct model *model, uint32_t dir, const char *name, uint32_t node)
{
    error_t error = model_name_check(name);
    if (error == 0)
        error = model_dir_check(model, dir);
    if (error != 0)
        return error;
    if (model_is_dir(model, node))
        return EPERM;
    if (model->nodes[node].nlinks == 0)
        return ENOENT;
    error = model_new_check(model, dir, name);
    if (error != 0)
        return error;
    model->nodes[node].nlinks++;
    model_entry_add(model, dir, name, node);
    return 0;
}

static void model_drop_if_unused(struct model *model, uint32_t node)
{
    if (model->nodes[node].nlinks == 0 && model->nodes[node].nhandles == 0)
        model_node_free(&model->nodes[node]);
}

void model_release(struct model *model, uint32_t node)
{
    model->nodes[node].nhandles--;
    model_drop_if_unused(model, node);
}

error_t model_remove(struct model *model, uint32_t dir, const char *name, bool directory)
{
    error_t error = model_name_check(name);
    if (error != 0)
        return error;
    if (model_is_dots(name))
        return !directory ? EISDIR : name[1] == '\0' ? EINVAL : ENOTEMPTY;
    error = model_dir_check(model, dir);
    if (error != 0)
        return error;
    uint32_t node = model_lookup(model, dir, name);
    if (node == MODEL_NO_NODE)
        return ENOENT;
    if (model_is_dir(model, node) != directory)
        return directory ? ENOTDIR : EISDIR;
    if (model->nodes[node].nentries > 0)
        return ENOTEMPTY;
    model_entry_remove(model, dir, name);
    model->nodes[node].nlinks = directory ? 0 : model->nodes[node].nlinks - 1;
    model->nodes[dir].nlinks -= directory ? 1 : 0;
    model_drop_if_unused(model, node);
    return 0;
}

/* Whether NODE is DIR or above it. */
static bool model_is_above(const struct model *model, uint32_t node, uint32_t dir)
{
    while (dir != node && dir != MODEL_ROOT)
        dir = model->nodes[dir].parent;
    return dir == node;
}

static error_t model_rename_check(const struct model *model, uint32_t moved, uint32_t victim,
                                  uint32_t from, uint32_t to)
{
    bool directory = model_is_dir(model, moved);
    if (directory && from != to && model_is_above(model, moved, to))
        return EINVAL;
    if (victim == MODEL_NO_NODE || victim == moved)
        return 0;
    if (model_is_dir(model, victim) != directory)
        return directory ? ENOTDIR : EISDIR;
    return model->nodes[victim].nentries > 0 ? ENOTEMPTY : 0;
}

static error_t model_rename_names_check(const struct model *model, uint32_t from,
                                        const char *from_name, uint32_t to, const char *to_name)
{
    error_t error = model_name_check(from_name);
    if (error == 0 && model_is_dots(from_name))
        error = EINVAL;
    if (error == 0)
        error = model_name_check(to_name);
    if (error == 0 && model_is_dots(to_name))
        error = EINVAL;
    if (error == 0)
        error = model_dir_check(model, from);
    return error == 0 ? model_dir_check(model, to) : error;
}

error_t model_rename(struct model *model, uint32_t from, const char *from_name, uint32_t to,
                     const char *to_name)
{
    error_t error = model_rename_names_check(model, from, from_name, to, to_name);
    if (error != 0)
        return error;
    uint32_t moved = model_lookup(model, from, from_name);
    uint32_t victim = model_lookup(model, to, to_name);
    if (moved == MODEL_NO_NODE)
        return ENOENT;
    error = model_rename_check(model, moved, victim, from, to);
    if (error != 0 || moved == victim)
        return error;
    if (victim != MODEL_NO_NODE)
        (void)model_remove(model, to, to_name, model_is_dir(model, victim)); /* checked above */
    model_entry_remove(model, from, from_name);
    model_entry_add(model, to, to_name, moved);
    if (model_is_dir(model, moved)) {
        model->nodes[from].nlinks--;
        model->nodes[to].nlinks++;
        model->nodes[moved].mtime = from != to ? model->now : model->nodes[moved].mtime;
        model->nodes[moved].parent = to;
    }
    return 0;
}

/* --- Contents --- */

/* The index of the first chunk that is not below NUMBER. */
static uint32_t model_chunk_index(const struct model_node *node, uint64_t number)
{
    uint32_t low = 0;
    uint32_t high = node->nchunks;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (node->chunks[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct model_chunk *model_chunk_get(struct model_node *node, uint64_t number)
{
    uint32_t index = model_chunk_index(node, number);
    if (index < node->nchunks && node->chunks[index]->number == number)
        return node->chunks[index];
    node->chunks = realloc(node->chunks, (node->nchunks + 1) * sizeof node->chunks[0]);
    memmove(&node->chunks[index + 1], &node->chunks[index],
            (node->nchunks - index) * sizeof node->chunks[0]);
    node->nchunks++;
    node->chunks[index] = calloc(1, sizeof *node->chunks[0]);
    node->chunks[index]->number = number;
    return node->chunks[index];
}

void model_write(struct model *model, uint32_t index, uint64_t offset, const uint8_t *data,
                 uint64_t length)
{
    struct model_node *node = &model->nodes[index];
    if (length > 0 && offset + length > node->size) {
        node->size = offset + length;
        node->mtime = model->now;
    }
    while (length > 0) {
        uint64_t inside = offset % MODEL_CHUNK_BYTES;
        uint64_t here = MODEL_CHUNK_BYTES - inside < length ? MODEL_CHUNK_BYTES - inside : length;
        memcpy(model_chunk_get(node, offset / MODEL_CHUNK_BYTES)->bytes + inside, data, here);
        offset += here;
        data += here;
        length -= here;
    }
}

void model_read(const struct model *model, uint32_t index, uint64_t offset, uint8_t *data,
                uint64_t length)
{
    const struct model_node *node = &model->nodes[index];
    memset(data, 0, length);
    for (uint32_t i = model_chunk_index(node, offset / MODEL_CHUNK_BYTES); i < node->nchunks; i++) {
        const struct model_chunk *chunk = node->chunks[i];
        uint64_t start = chunk->number * MODEL_CHUNK_BYTES;
        uint64_t from = start > offset ? start : offset;
        uint64_t end = start + MODEL_CHUNK_BYTES;
        end = end < offset + length ? end : offset + length;
        if (from >= end)
            break;
        memcpy(data + (from - offset), chunk->bytes + (from - start), end - from);
    }
}

void model_resize(struct model *model, uint32_t index, uint64_t size)
{
    struct model_node *node = &model->nodes[index];
    uint64_t inside = size % MODEL_CHUNK_BYTES;
    uint32_t keep = model_chunk_index(node, (size + MODEL_CHUNK_BYTES - 1) / MODEL_CHUNK_BYTES);
    while (node->nchunks > keep)
        free(node->chunks[--node->nchunks]);
    if (inside != 0 && keep > 0 && node->chunks[keep - 1]->number == size / MODEL_CHUNK_BYTES)
        memset(node->chunks[keep - 1]->bytes + inside, 0, MODEL_CHUNK_BYTES - inside);
    node->size = size;
    node->mtime = model->now;
}
