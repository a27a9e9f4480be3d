// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file system in memory, as plain as can be: what libext2 does is compared with what this does.
 * It knows names, links, attributes and contents, and nothing of blocks.
 */
#ifndef TESTS_LIBEXT2_MODEL_H
#define TESTS_LIBEXT2_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "librt/error.h"

#define MODEL_NODES_MAX   512u
#define MODEL_CHUNK_BYTES 512u
#define MODEL_NO_NODE     UINT32_MAX
#define MODEL_ROOT        0u

struct model_chunk {
    uint64_t number;
    uint8_t bytes[MODEL_CHUNK_BYTES];
};

struct model_entry {
    char *name;
    uint32_t node;
};

struct model_node {
    bool used;
    uint32_t ino; /* what libext2 calls it */
    uint16_t mode;
    uint16_t nlinks;
    uint32_t uid;
    uint32_t gid;
    uint32_t atime;
    uint32_t mtime;
    uint64_t size;
    struct model_chunk **chunks; /* of a file, ascending; what is missing is zeros */
    uint32_t nchunks;
    char *target;                /* of a symbolic link */
    struct model_entry *entries; /* of a directory, without "." and ".." */
    uint32_t nentries;
    uint32_t parent;
    unsigned int nhandles; /* users that keep it alive without a name */
};

struct model {
    struct model_node nodes[MODEL_NODES_MAX];
    uint32_t block_size;
    uint32_t now;
};

void model_init(struct model *model, uint32_t block_size);
void model_destroy(struct model *model);

/* What has NAME in DIR, or MODEL_NO_NODE. */
uint32_t model_lookup(const struct model *model, uint32_t dir, const char *name);

/* These return what libext2 should return, and change the model if that is 0. */
error_t model_make(struct model *model, uint32_t dir, const char *name, uint16_t mode,
                   const char *target, uint32_t *node);
error_t model_link(struct model *model, uint32_t dir, const char *name, uint32_t node);
error_t model_remove(struct model *model, uint32_t dir, const char *name, bool directory);
error_t model_rename(struct model *model, uint32_t from, const char *from_name, uint32_t to,
                     const char *to_name);

void model_write(struct model *model, uint32_t node, uint64_t offset, const uint8_t *data,
                 uint64_t length);
void model_read(const struct model *model, uint32_t node, uint64_t offset, uint8_t *data,
                uint64_t length);
void model_resize(struct model *model, uint32_t node, uint64_t size);

/* One handle less; a node without name and handle goes. */
void model_release(struct model *model, uint32_t node);

/* A number of nodes that can still be made. */
uint32_t model_room(const struct model *model);

#endif
