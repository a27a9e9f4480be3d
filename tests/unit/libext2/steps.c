// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "image.h"
#include "readback.h"
#include "steps.h"

#define STEPS_NAMES     48u
#define STEPS_WRITE_MAX 12000u
#define STEPS_TIME      1700000000u
#define STEPS_SPARE                                                                                \
    4u /* blocks that may be left when there is no space: a new file block needs                   \
          three indirect ones */

static void world_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void world_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "# ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    abort();
}

/* --- What the numbers of a step mean --- */

static const char *step_name(uint32_t number, char *buffer)
{
    static const char *const odd[] = {"", ".", "..", "a/b"};
    if (number % 64 == 0)
        return odd[number / 64 % 4];
    if (number % 64 == 1) {
        memset(buffer, 'l', 256);
        buffer[256] = '\0';
        return buffer;
    }
    unsigned int id = number % STEPS_NAMES;
    unsigned int length = id % 7 == 0 ? 180 + id : 3 + id % 16;
    memset(buffer, 'a' + (int)(id % 26), length);
    buffer[snprintf(buffer, length, "%02u", id)] = 'n';
    buffer[length] = '\0';
    return buffer;
}

static bool node_is_file(const struct model_node *node)
{
    return S_ISREG(node->mode);
}

static bool node_is_dir(const struct model_node *node)
{
    return S_ISDIR(node->mode);
}

static bool node_is_any(const struct model_node *node)
{
    (void)node;
    return true;
}

/* A node of a kind, or MODEL_NO_NODE. */
static uint32_t step_node(const struct world *world, uint32_t number,
                          bool (*is)(const struct model_node *node))
{
    for (uint32_t i = 0; i < MODEL_NODES_MAX; i++) {
        uint32_t index = (number + i) % MODEL_NODES_MAX;
        const struct model_node *node = &world->model.nodes[index];
        if (node->used && is(node))
            return index;
    }
    return MODEL_NO_NODE;
}

/* An offset in a file: mostly small, sometimes near where a level of the map ends. */
static uint64_t step_offset(const struct world *world, uint32_t number)
{
    uint64_t block_size = world->model.block_size;
    uint64_t pointers = block_size / 4;
    uint64_t small = number / 8 % 65536;
    uint64_t end = 12;
    switch (number % 8) {
    case 7:
        end += pointers * pointers; /* fallthrough */
    case 6:
        end += pointers; /* fallthrough */
    case 5:
        return (end - 3) * block_size + small % (6 * block_size);
    default:
        return small;
    }
}

/* --- Comparing --- */

static void world_expect(struct world *world, error_t got, error_t expected)
{
    struct ext2_statfs statfs;
    if (got == expected) {
        world->ndone += got == 0 ? 1 : 0;
        return;
    }
    ext2_statfs(world->fs, &statfs);
    world_fail("the result is %d (%s), not %d (%s); %u blocks and %u inodes are free", got,
               strerror(got), expected, strerror(expected), statfs.nblocks_free,
               statfs.ninodes_free);
}

/* Whether GOT says that there is no space, and there is none. */
static bool world_is_full(struct world *world, error_t got)
{
    struct ext2_statfs statfs;
    if (got != ENOSPC)
        return false;
    ext2_statfs(world->fs, &statfs);
    return statfs.nblocks_free <= STEPS_SPARE || statfs.ninodes_free == 0;
}

/* An inode for a node; the caller puts it. */
static struct ext2_inode *world_inode(struct world *world, uint32_t node)
{
    struct ext2_inode *inode;
    for (unsigned int i = 0; i < STEPS_HANDLES; i++)
        if (world->handles[i].inode != NULL && world->handles[i].node == node) {
            ext2_inode_ref(world->handles[i].inode);
            return world->handles[i].inode;
        }
    error_t error = ext2_inode_get(world->fs, world->model.nodes[node].ino, &inode);
    if (error != 0)
        world_fail("inode %u is lost: %s", world->model.nodes[node].ino, strerror(error));
    return inode;
}

static void world_compare_stat(struct world *world, struct ext2_inode *inode, uint32_t index)
{
    struct ext2_stat stat;
    const struct model_node *node = &world->model.nodes[index];
    ext2_inode_stat(inode, &stat);
    if (stat.ino != node->ino || stat.mode != node->mode || stat.uid != node->uid ||
        stat.gid != node->gid || stat.nlinks != node->nlinks + (index == MODEL_ROOT ? 1 : 0))
        world_fail("the attributes of inode %u differ", node->ino);
    if (!S_ISDIR(node->mode) && stat.size != node->size)
        world_fail("the size of inode %u is %llu, not %llu", node->ino,
                   (unsigned long long)stat.size, (unsigned long long)node->size);
    if (index != MODEL_ROOT && (stat.mtime != node->mtime || stat.atime != node->atime))
        world_fail("a time of inode %u differs", node->ino);
}

/* --- Steps on names --- */

static void step_make(struct world *world, const struct step *step, uint16_t type)
{
    char buffer[300];
    char target[5000];
    struct ext2_inode *inode;
    uint32_t made = MODEL_NO_NODE;
    uint32_t dir = step_node(world, step->a, node_is_dir);
    const char *name = step_name(step->b, buffer);
    struct ext2_inode *parent = world_inode(world, dir);
    error_t got;
    uint32_t length = step->c % 16 == 0 ? step->c / 16 % 4999 : step->c / 16 % 100;
    memset(target, 't', length);
    target[length] = '\0';
    if (type == S_IFLNK)
        got = ext2_symlink(parent, name, target, 0, 0, &inode);
    else if (type == S_IFDIR)
        got = ext2_mkdir(parent, name, 0755, 0, 0, &inode);
    else
        got = ext2_create(parent, name, type | 0644, 0, 0, &inode);
    if (!world_is_full(world, got)) {
        uint16_t mode = type | (type == S_IFLNK ? 0777 : type == S_IFDIR ? 0755 : 0644);
        world_expect(
            world, got,
            model_make(&world->model, dir, name, mode, type == S_IFLNK ? target : NULL, &made));
    }
    if (got == 0) {
        world->model.nodes[made].ino = ext2_inode_number(inode);
        world_compare_stat(world, inode, made);
        ext2_inode_put(inode);
    }
    ext2_inode_put(parent);
}

static void step_create(struct world *world, const struct step *step)
{
    if (model_room(&world->model) > 0)
        step_make(world, step, step->c % 32 == 0 ? S_IFIFO : S_IFREG);
}

static void step_mkdir(struct world *world, const struct step *step)
{
    if (model_room(&world->model) > 0)
        step_make(world, step, S_IFDIR);
}

static void step_symlink(struct world *world, const struct step *step)
{
    if (model_room(&world->model) > 0)
        step_make(world, step, S_IFLNK);
}

static void step_link(struct world *world, const struct step *step)
{
    char buffer[300];
    uint32_t dir = step_node(world, step->a, node_is_dir);
    uint32_t node = step_node(world, step->c, node_is_any);
    const char *name = step_name(step->b, buffer);
    struct ext2_inode *parent = world_inode(world, dir);
    struct ext2_inode *inode = world_inode(world, node);
    error_t got = ext2_link(parent, name, inode);
    if (!world_is_full(world, got))
        world_expect(world, got, model_link(&world->model, dir, name, node));
    world_compare_stat(world, inode, node);
    ext2_inode_put(inode);
    ext2_inode_put(parent);
}

/* A name that exists in DIR, most of the time. */
static const char *step_old_name(const struct world *world, uint32_t dir, uint32_t number,
                                 char *buffer)
{
    const struct model_node *node = &world->model.nodes[dir];
    if (node->nentries == 0 || number % 8 == 0)
        return step_name(number / 8, buffer);
    const char *name = node->entries[number / 8 % node->nentries].name;
    return memcpy(buffer, name, strlen(name) + 1);
}

static void step_remove(struct world *world, const struct step *step, bool directory)
{
    char buffer[300];
    uint32_t dir = step_node(world, step->a, node_is_dir);
    const char *name = step_old_name(world, dir, step->b, buffer);
    struct ext2_inode *parent = world_inode(world, dir);
    error_t got = directory ? ext2_rmdir(parent, name) : ext2_unlink(parent, name);
    world_expect(world, got, model_remove(&world->model, dir, name, directory));
    world_compare_stat(world, parent, dir);
    ext2_inode_put(parent);
}

static void step_unlink(struct world *world, const struct step *step)
{
    step_remove(world, step, false);
}

static void step_rmdir(struct world *world, const struct step *step)
{
    step_remove(world, step, true);
}

static void step_rename(struct world *world, const struct step *step)
{
    char from_buffer[300];
    char to_buffer[300];
    uint32_t from = step_node(world, step->a, node_is_dir);
    uint32_t to = step->c % 4 == 0 ? from : step_node(world, step->c / 4, node_is_dir);
    const char *from_name = step_old_name(world, from, step->b, from_buffer);
    const char *to_name = step->c % 3 == 0 ? step_old_name(world, to, step->c / 12, to_buffer)
                                           : step_name(step->c / 12, to_buffer);
    struct ext2_inode *from_dir = world_inode(world, from);
    struct ext2_inode *to_dir = world_inode(world, to);
    error_t got = ext2_rename(from_dir, from_name, to_dir, to_name);
    if (!world_is_full(world, got))
        world_expect(world, got, model_rename(&world->model, from, from_name, to, to_name));
    world_compare_stat(world, from_dir, from);
    world_compare_stat(world, to_dir, to);
    ext2_inode_put(to_dir);
    ext2_inode_put(from_dir);
}

static void step_lookup(struct world *world, const struct step *step)
{
    char buffer[300];
    struct ext2_inode *inode;
    uint32_t dir = step_node(world, step->a, node_is_dir);
    const char *name = step_old_name(world, dir, step->b, buffer);
    if (name[0] == '.' || name[0] == '\0' || strlen(name) > 255 || strchr(name, '/') != NULL)
        return;
    uint32_t node = model_lookup(&world->model, dir, name);
    struct ext2_inode *parent = world_inode(world, dir);
    error_t got = ext2_lookup(parent, name, &inode);
    world_expect(world, got, node == MODEL_NO_NODE ? ENOENT : 0);
    if (got == 0) {
        world_compare_stat(world, inode, node);
        ext2_inode_put(inode);
    }
    ext2_inode_put(parent);
}

struct reading {
    struct world *world;
    uint32_t dir;
    uint32_t nseen;
    uint32_t stop; /* after so many */
    uint64_t cookie;
};

static bool reading_visit(void *hook, const struct ext2_entry *entry)
{
    struct reading *reading = hook;
    char name[256];
    snprintf(name, sizeof name, "%.*s", entry->length, entry->name);
    reading->nseen++;
    reading->cookie = entry->cookie;
    if (name[0] != '.' && strcmp(name, "lost+found") != 0) {
        uint32_t node = model_lookup(&reading->world->model, reading->dir, name);
        if (node == MODEL_NO_NODE || reading->world->model.nodes[node].ino != entry->ino)
            world_fail("there is a name %s", name);
        if (entry->mode != 0 && entry->mode != (reading->world->model.nodes[node].mode & S_IFMT))
            world_fail("the type of %s is %o", name, entry->mode);
    }
    return reading->nseen != reading->stop;
}

static void step_readdir(struct world *world, const struct step *step)
{
    struct reading reading = {.world = world, .stop = 1 + step->b % 20};
    reading.dir = step_node(world, step->a, node_is_dir);
    const struct model_node *node = &world->model.nodes[reading.dir];
    struct ext2_inode *inode = world_inode(world, reading.dir);
    error_t got = ext2_dir_iterate(inode, 0, reading_visit, &reading);
    world_expect(world, got, node->nlinks == 0 ? ENOENT : 0);
    if (got == 0) {
        uint32_t expected = node->nentries + 2 + (reading.dir == MODEL_ROOT ? 1 : 0);
        if (reading.nseen == reading.stop)
            world_expect(world, ext2_dir_iterate(inode, reading.cookie, reading_visit, &reading),
                         0);
        if (reading.nseen != expected)
            world_fail("a directory has %u names, not %u", reading.nseen, expected);
    }
    ext2_inode_put(inode);
}

static bool node_is_link(const struct model_node *node)
{
    return S_ISLNK(node->mode);
}

static void step_readlink(struct world *world, const struct step *step)
{
    char buffer[4096];
    size_t done;
    uint32_t index = step_node(world, step->a, node_is_link);
    if (index == MODEL_NO_NODE)
        return;
    const char *target = world->model.nodes[index].target;
    size_t length = step->b % 4 == 0 ? step->c % sizeof buffer : sizeof buffer;
    struct ext2_inode *inode = world_inode(world, index);
    world_expect(world, ext2_readlink(inode, buffer, length, &done), 0);
    if (done != (strlen(target) < length ? strlen(target) : length) ||
        memcmp(buffer, target, done) != 0)
        world_fail("a symbolic link has another target");
    ext2_inode_put(inode);
}

/* --- Steps on files --- */

static void step_fill(const struct step *step, uint8_t *data, uint32_t length)
{
    uint32_t value = step->a * 2654435761u ^ step->b ^ step->c * 40503u;
    for (uint32_t i = 0; i < length; i++) {
        value = value * 1664525u + 1013904223u;
        data[i] = (uint8_t)(value >> 24);
    }
}

static void step_write(struct world *world, const struct step *step)
{
    static uint8_t data[STEPS_WRITE_MAX];
    uint64_t done;
    uint32_t node = step_node(world, step->a, node_is_file);
    if (node == MODEL_NO_NODE)
        return;
    uint32_t length = 1 + step->b % STEPS_WRITE_MAX;
    uint64_t offset = step_offset(world, step->c);
    step_fill(step, data, length);
    struct ext2_inode *inode = world_inode(world, node);
    error_t got = file_write(&world->device, inode, offset, data, length, &done);
    if (!world_is_full(world, got))
        world_expect(world, got, 0);
    model_write(&world->model, node, offset, data, done);
    world_compare_stat(world, inode, node);
    ext2_inode_put(inode);
}

static void step_read(struct world *world, const struct step *step)
{
    static uint8_t theirs[STEPS_WRITE_MAX * 4];
    static uint8_t ours[STEPS_WRITE_MAX * 4];
    uint64_t done;
    uint32_t node = step_node(world, step->a, node_is_file);
    if (node == MODEL_NO_NODE)
        return;
    uint64_t size = world->model.nodes[node].size;
    uint64_t offset = step_offset(world, step->c);
    uint64_t length = 1 + step->b % sizeof ours;
    uint64_t expected = offset >= size ? 0 : size - offset < length ? size - offset : length;
    struct ext2_inode *inode = world_inode(world, node);
    world_expect(world, file_read(&world->device, inode, offset, theirs, length, &done), 0);
    if (done != expected)
        world_fail("%llu bytes were read, not %llu", (unsigned long long)done,
                   (unsigned long long)expected);
    model_read(&world->model, node, offset, ours, done);
    if (memcmp(ours, theirs, done) != 0)
        world_fail("the content of inode %u differs", world->model.nodes[node].ino);
    ext2_inode_put(inode);
}

static void step_resize(struct world *world, const struct step *step)
{
    uint32_t node = step_node(world, step->a, node_is_file);
    if (node == MODEL_NO_NODE)
        return;
    uint64_t size = step->b % 4 == 0   ? 0
                    : step->b % 4 == 1 ? world->model.nodes[node].size / 2
                                       : step_offset(world, step->c);
    struct ext2_inode *inode = world_inode(world, node);
    world_expect(world, file_resize(&world->device, inode, size), 0);
    model_resize(&world->model, node, size);
    world_compare_stat(world, inode, node);
    ext2_inode_put(inode);
}

/* --- Steps on attributes --- */

static void step_change(struct world *world, const struct step *step)
{
    uint32_t index = step_node(world, step->a, node_is_any);
    struct model_node *node = &world->model.nodes[index];
    struct ext2_inode *inode = world_inode(world, index);
    switch (step->b % 4) {
    case 0:
        node->mode = (node->mode & S_IFMT) | (step->c & 07777);
        world_expect(world, ext2_inode_chmod(inode, (uint16_t)step->c), 0);
        break;
    case 1:
        node->uid = step->c;
        node->gid = step->c ^ step->b;
        world_expect(world, ext2_inode_chown(inode, node->uid, node->gid), 0);
        break;
    case 2:
        node->atime = step->c;
        node->mtime = step->c / 2;
        world_expect(world, ext2_inode_utimes(inode, node->atime, node->mtime), 0);
        break;
    default:
        node->atime = step->c & EXT2_TOUCH_ATIME ? world->model.now : node->atime;
        node->mtime = step->c & EXT2_TOUCH_MTIME ? world->model.now : node->mtime;
        world_expect(world, ext2_inode_touch(inode, step->c), 0);
    }
    world_compare_stat(world, inode, index);
    ext2_inode_put(inode);
}

/* --- Steps on the whole --- */

static void handle_close(struct world *world, struct handle *handle)
{
    if (handle->inode == NULL)
        return;
    ext2_inode_put(handle->inode);
    handle->inode = NULL;
    model_release(&world->model, handle->node);
}

/* Close a handle and open it again for another node. */
static void step_open(struct world *world, const struct step *step)
{
    struct handle *handle = &world->handles[step->a % STEPS_HANDLES];
    handle_close(world, handle);
    uint32_t node = step_node(world, step->b, node_is_any);
    handle->inode = world_inode(world, node);
    handle->node = node;
    world->model.nodes[node].nhandles++;
}

static void step_sync(struct world *world, const struct step *step)
{
    (void)step;
    world_expect(world, ext2_sync(world->fs), 0);
}

static const struct {
    const char *name;
    void (*run)(struct world *world, const struct step *step);
    unsigned int weight;
} steps_table[] = {
    {"create", step_create, 10},    {"mkdir", step_mkdir, 5},    {"symlink", step_symlink, 4},
    {"link", step_link, 5},         {"unlink", step_unlink, 10}, {"rmdir", step_rmdir, 4},
    {"rename", step_rename, 8},     {"lookup", step_lookup, 4},  {"readdir", step_readdir, 4},
    {"readlink", step_readlink, 3}, {"write", step_write, 18},   {"read", step_read, 10},
    {"resize", step_resize, 6},     {"change", step_change, 5},  {"open", step_open, 3},
    {"sync", step_sync, 1},
};

#define STEPS_WEIGHTS 100u

static unsigned int step_index(const struct step *step)
{
    unsigned int left = step->kind % STEPS_WEIGHTS;
    unsigned int i = 0;
    while (left >= steps_table[i].weight)
        left -= steps_table[i++].weight;
    return i;
}

void step_print(const struct step *step)
{
    fprintf(stderr, "#   {%u, %u, %u, %u}, /* %s */\n", step->kind, step->a, step->b, step->c,
            steps_table[step_index(step)].name);
}

void world_step(struct world *world, const struct step *step)
{
    world->nthstep++;
    world->model.now = STEPS_TIME + (uint32_t)world->nthstep;
    world->device.now = world->model.now;
    steps_table[step_index(step)].run(world, step);
}

static void world_mount(struct world *world)
{
    error_t error = ext2_mount(&device_ops, &world->device, world->device.size, false, &world->fs);
    if (error != 0)
        world_fail("cannot be mounted: %s", world->device.report);
}

void world_setup(struct world *world, const char *options, uint64_t size)
{
    memset(world, 0, sizeof *world);
    image_make(&world->device, options, size);
    world_mount(world);
    model_init(&world->model, ext2_block_size(world->fs));
}

void world_check(struct world *world)
{
    struct ext2_statfs statfs;
    for (unsigned int i = 0; i < STEPS_HANDLES; i++)
        handle_close(world, &world->handles[i]);
    ext2_statfs(world->fs, &statfs);
    world_expect(world, ext2_sync(world->fs), 0);
    world_expect(world, ext2_unmount(world->fs), 0);
    device_check_idle(&world->device);
    if (world->device.nreports > 0)
        world_fail("damage was reported: %s", world->device.report);
    if (!image_is_clean(&world->device))
        world_fail("e2fsck finds something");
    if (!readback_compare(&world->model, image_store(&world->device), statfs.nblocks_free,
                          statfs.ninodes_free))
        world_fail("libext2fs sees something else");
    world_mount(world);
}

void world_teardown(struct world *world)
{
    world_check(world);
    (void)ext2_unmount(world->fs); /* nothing was done since the last check */
    model_destroy(&world->model);
    device_destroy(&world->device);
}
