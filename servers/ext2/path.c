// SPDX-License-Identifier: GPL-2.0-or-later
#include "ext2/path.h"

#include <string.h>

#include "ext2/file.h"
#include "librt/file_types.h"

#define MODE_TYPE 0170000
#define MODE_LINK 0120000
#define MODE_FILE 0100000

/* A walk: the inode it has come to, and what is left of the path. The text is the walk's own. */
struct path {
    struct ext2_inode *at; /* one reference */
    char left[sizeof(file_path_t)];
    unsigned int nlinks;
};

static error_t path_begin(struct path *path, struct node *start, const char *text)
{
    size_t length = strlen(text);

    if (length >= sizeof(path->left))
        return ENAMETOOLONG;
    memcpy(path->left, text, length + 1);
    path->nlinks = 0;
    path->at = start->inode;
    ext2_inode_ref(path->at);
    return 0;
}

static void path_end(struct path *path)
{
    ext2_inode_put(path->at);
}

/* Take the first name off what is left. False when nothing is. */
static bool path_next_name(struct path *path, char *name, error_t *error)
{
    const char *from = path->left + strspn(path->left, "/");
    size_t length = strcspn(from, "/");

    *error = length > EXT2_NAME_MAX ? ENAMETOOLONG : 0;
    if (length == 0 || *error != 0)
        return false;
    memcpy(name, from, length);
    name[length] = '\0';
    from += length;
    from += strspn(from, "/");
    memmove(path->left, from, strlen(from) + 1);
    return true;
}

/* Put the target of LINK before what is left. */
static error_t path_follow(struct path *path, struct ext2_inode *link)
{
    char left[sizeof(path->left)];
    size_t room = sizeof(path->left);
    size_t left_length = strlen(path->left);
    size_t length;
    error_t error;

    if (++path->nlinks > EXT2_PATH_LINKS)
        return ELOOP;
    memcpy(left, path->left, left_length + 1);
    error = ext2_readlink(link, path->left, room, &length);
    if (error != 0)
        return error;
    if (length + 1 + left_length >= room)
        return ENAMETOOLONG;
    path->left[length] = '/';
    memcpy(path->left + length + 1, left, left_length + 1);
    if (path->left[0] != '/')
        return 0;
    ext2_inode_put(path->at);
    return ext2_inode_get(nodes_fs(), EXT2_ROOT_INO, &path->at);
}

/* Step to the entry NAME, through it if it is a symbolic link. */
static error_t path_step(struct path *path, const char *name)
{
    struct ext2_inode *next;
    struct ext2_stat stat;
    error_t error = ext2_lookup(path->at, name, &next);

    if (error != 0)
        return error;
    ext2_inode_stat(next, &stat);
    if ((stat.mode & MODE_TYPE) == MODE_LINK) {
        error = path_follow(path, next);
        ext2_inode_put(next);
        return error;
    }
    ext2_inode_put(path->at);
    path->at = next;
    return 0;
}

/* Walk to the last name, which is put into NAME; an empty one when the path is empty. */
static error_t path_walk_to_last(struct path *path, char *name)
{
    error_t error = 0;

    name[0] = '\0';
    while (error == 0 && path_next_name(path, name, &error)) {
        if (path->left[0] == '\0')
            return 0;
        error = path_step(path, name);
        name[0] = '\0';
    }
    return error;
}

static error_t path_create(struct path *path, const char *name, uint16_t mode)
{
    struct ext2_inode *created;
    error_t error =
        ext2_create(path->at, name, (uint16_t)(MODE_FILE | (mode & 07777)), 0, 0, &created);

    if (error != 0)
        return error;
    ext2_inode_put(path->at);
    path->at = created;
    return 0;
}

/* Step to the last name, which may have to be created. */
static error_t path_finish(struct path *path, char *name, int flags, uint16_t mode)
{
    error_t error = 0;

    while (name[0] != '\0') {
        error = path_step(path, name);
        if (error == ENOENT && (flags & FILE_CREATE) && path->left[0] == '\0')
            return path_create(path, name, mode);
        if (error == 0 && (flags & FILE_CREATE) && (flags & FILE_EXCLUSIVE))
            return EEXIST;
        if (error == 0)
            error = path_walk_to_last(path, name); /* a link's target */
        if (error != 0)
            return error;
    }
    return 0;
}

error_t path_lookup(struct node *start, const char *text, int flags, uint16_t mode,
                    struct node **node)
{
    char name[EXT2_NAME_MAX + 1];
    struct path path;
    error_t error = path_begin(&path, start, text);

    if (error != 0)
        return error;
    error = path_walk_to_last(&path, name);
    if (error == 0)
        error = path_finish(&path, name, flags, mode);
    if (error != 0) {
        path_end(&path);
        return error;
    }
    error = node_open(path.at, node);
    if (error != 0 || !(flags & FILE_TRUNCATE) || !(*node)->is_file)
        return error;
    error = file_truncate(*node, 0);
    if (error != 0)
        node_deref(*node);
    return error;
}

error_t path_find_place(struct node *start, const char *text, struct path_place *place)
{
    struct path path;
    error_t error = path_begin(&path, start, text);

    if (error != 0)
        return error;
    error = path_walk_to_last(&path, place->name);
    if (error == 0 && place->name[0] == '\0')
        error = EINVAL;
    place->directory = path.at;
    if (error != 0)
        path_end(&path);
    return error;
}

/* The node of what is called NAME in DIRECTORY, with a reference, or null. */
static struct node *path_peek(struct ext2_inode *directory, const char *name)
{
    struct ext2_inode *inode;
    struct node *node;

    if (ext2_lookup(directory, name, &inode) != 0)
        return NULL;
    return node_open(inode, &node) == 0 ? node : NULL;
}

error_t path_unlink(struct ext2_inode *directory, const char *name)
{
    struct node *node = path_peek(directory, name);
    error_t error = ext2_unlink(directory, name);

    if (node != NULL)
        node_deref(node);
    return error;
}

error_t path_rename(struct ext2_inode *from, const char *from_name, struct ext2_inode *to,
                    const char *to_name)
{
    struct node *replaced = path_peek(to, to_name);
    error_t error = ext2_rename(from, from_name, to, to_name);

    if (replaced != NULL)
        node_deref(replaced);
    return error;
}
