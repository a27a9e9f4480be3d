// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directories: blocks full of entries, each as long as its rec_len says, the last one up to the
 * block's end. A new entry takes the unused end of another; a removed one becomes the unused end of
 * the one before it. Entries never move, so an offset is a cookie that stays valid.
 *
 * An index (dir_index) looks like unused space to all this. Removing names leaves it right; before
 * the first name is added, the directory's mark for it goes, and it is a plain directory again.
 */
#include <string.h>
#include <sys/stat.h>

#include "libext2/private.h"

error_t ext2_name_check(const char *text, struct ext2_name *name)
{
    size_t length = strnlen(text, EXT2_NAME_MAX + 1);
    if (length > EXT2_NAME_MAX)
        return ENAMETOOLONG;
    if (length == 0 || memchr(text, '/', length) != NULL)
        return EINVAL;
    *name = (struct ext2_name){text, (uint32_t)length};
    return 0;
}

error_t ext2_dir_check(const struct ext2_inode *dir)
{
    if (!ext2_inode_is(dir, S_IFDIR))
        return ENOTDIR;
    return dir->disk.links_count == 0 ? ENOENT : 0;
}

/* --- Blocks and entries --- */

static uint32_t ext2_dir_nblocks(const struct ext2_inode *dir)
{
    return (uint32_t)(ext2_inode_size(dir) >> dir->fs->block_shift);
}

/* Get DIR's block number INDEX. */
static error_t ext2_dir_get(struct ext2_inode *dir, uint32_t index, uint32_t *block, uint8_t **data)
{
    struct ext2_run run;
    *block = 0;
    *data = NULL;
    error_t error = ext2_map_piece(dir, index, 1, &run);
    if (error != 0)
        return error;
    if (run.block == 0)
        return ext2_damage(dir->fs, "directory %u has a hole", (unsigned)dir->ino);
    void *bytes = NULL;
    *block = run.block;
    error = ext2_get(dir->fs, run.block, EXT2_READ, &bytes);
    *data = bytes;
    return error;
}

static struct ext2_dirent *ext2_dirent_at(uint8_t *data, uint32_t offset)
{
    return (void *)(data + offset);
}

/* The entry at OFFSET of a block of DIR, if it is one. */
static error_t ext2_dirent_get(struct ext2_inode *dir, uint8_t *data, uint32_t offset,
                               struct ext2_dirent **entry_out)
{
    const struct ext2_fs *fs = dir->fs;
    struct ext2_dirent *entry = ext2_dirent_at(data, offset);
    bool good = fs->block_size - offset >= EXT2_DIRENT_BYTES(0) && entry->rec_len % 4 == 0 &&
                entry->rec_len >= EXT2_DIRENT_BYTES(entry->ino != 0 ? entry->name_len : 0) &&
                entry->rec_len <= fs->block_size - offset && entry->ino <= fs->super.inodes_count &&
                (entry->ino == 0 || entry->name_len > 0);
    *entry_out = entry;
    return good ? 0 : ext2_damage(dir->fs, "directory %u has a damaged entry", (unsigned)dir->ino);
}

static bool ext2_dirent_is(const struct ext2_dirent *entry, const struct ext2_name *name)
{
    return entry->ino != 0 && entry->name_len == name->length &&
           memcmp(entry->name, name->text, name->length) == 0;
}

/* Bytes of ENTRY that a new one can have. */
static uint32_t ext2_dirent_room(const struct ext2_dirent *entry)
{
    return entry->ino == 0 ? entry->rec_len : entry->rec_len - EXT2_DIRENT_BYTES(entry->name_len);
}

static void ext2_dirent_set(const struct ext2_fs *fs, struct ext2_dirent *entry,
                            const struct ext2_inode *inode)
{
    static const uint8_t types[16] = {
        [S_IFREG >> 12] = 1, [S_IFDIR >> 12] = 2,  [S_IFCHR >> 12] = 3, [S_IFBLK >> 12] = 4,
        [S_IFIFO >> 12] = 5, [S_IFSOCK >> 12] = 6, [S_IFLNK >> 12] = 7,
    };
    entry->ino = inode->ino;
    entry->file_type = ext2_has_filetype(fs) ? types[inode->type >> 12] : 0;
}

static void ext2_dirent_name_set(struct ext2_dirent *entry, const char *text, uint32_t length)
{
    entry->name_len = (uint8_t)length;
    memcpy(entry->name, text, length);
}

/* --- Looking --- */

struct ext2_scan {
    const struct ext2_name *name;
    uint32_t need; /* bytes for a new entry; 0: none is wanted */
    bool found;
    uint32_t index; /* where it was found: the block's number in the directory, and in it */
    uint32_t offset;
    bool has_room; /* the first place that is large enough */
    uint32_t room_index;
    uint32_t room_offset;
};

static error_t ext2_scan_block(struct ext2_inode *dir, struct ext2_scan *scan, uint8_t *data)
{
    struct ext2_dirent *entry;
    for (uint32_t offset = 0; offset < dir->fs->block_size; offset += entry->rec_len) {
        error_t error = ext2_dirent_get(dir, data, offset, &entry);
        if (error != 0)
            return error;
        if (ext2_dirent_is(entry, scan->name)) {
            scan->found = true;
            scan->offset = offset;
            return 0;
        }
        if (scan->need > 0 && !scan->has_room && ext2_dirent_room(entry) >= scan->need) {
            scan->has_room = true;
            scan->room_index = scan->index;
            scan->room_offset = offset;
        }
    }
    return 0;
}

/* Look for a name, and on the way for room. */
static error_t ext2_scan(struct ext2_inode *dir, struct ext2_scan *scan)
{
    uint32_t block;
    uint8_t *data;
    uint32_t nblocks = ext2_dir_nblocks(dir);
    for (scan->index = 0; scan->index < nblocks; scan->index++) {
        error_t error = ext2_dir_get(dir, scan->index, &block, &data);
        if (error != 0)
            return error;
        error = ext2_scan_block(dir, scan, data);
        ext2_put(dir->fs, block, data, false);
        if (error != 0 || scan->found)
            return error;
    }
    return 0;
}

error_t ext2_dir_find(struct ext2_inode *dir, const struct ext2_name *name, uint32_t *ino)
{
    struct ext2_place place;
    struct ext2_scan scan = {.name = name};
    error_t error = ext2_scan(dir, &scan);
    if (error == 0 && !scan.found)
        error = ENOENT;
    if (error == 0)
        error = ext2_dir_get(dir, scan.index, &place.block, &place.data);
    if (error != 0)
        return error;
    *ino = ext2_dirent_at(place.data, scan.offset)->ino;
    ext2_put(dir->fs, place.block, place.data, false);
    return 0;
}

/* --- Places --- */

static error_t ext2_place_get(struct ext2_inode *dir, uint32_t index, uint32_t offset,
                              struct ext2_place *place)
{
    *place = (struct ext2_place){.offset = offset};
    error_t error = ext2_pin(dir, &place->pin);
    if (error != 0)
        return error;
    error = ext2_dir_get(dir, index, &place->block, &place->data);
    if (error != 0)
        ext2_pin_abort(&place->pin);
    return error;
}

error_t ext2_place_find(struct ext2_inode *dir, const struct ext2_name *name,
                        struct ext2_place *place)
{
    struct ext2_scan scan = {.name = name};
    *place = (struct ext2_place){0};
    error_t error = ext2_scan(dir, &scan);
    if (error != 0)
        return error;
    return scan.found ? ext2_place_get(dir, scan.index, scan.offset, place) : ENOENT;
}

/* Fill a new block with one unused entry. */
static error_t ext2_dir_block_init(struct ext2_fs *fs, uint32_t block)
{
    void *data;
    error_t error = ext2_get(fs, block, EXT2_NEW, &data);
    if (error != 0)
        return error;
    memset(data, 0, fs->block_size);
    ext2_dirent_at(data, 0)->rec_len = (uint16_t)fs->block_size;
    ext2_put(fs, block, data, true);
    return 0;
}

/* Make DIR one block longer. */
static error_t ext2_dir_extend(struct ext2_inode *dir)
{
    struct ext2_run run;
    struct ext2_pin pin;
    struct ext2_fs *fs = dir->fs;
    uint32_t nblocks = ext2_dir_nblocks(dir);
    error_t error = ext2_pin(dir, &pin);
    if (error != 0)
        return error;
    error = ext2_grow(dir, nblocks, 1, true, &run);
    if (error == 0) {
        error = ext2_dir_block_init(fs, run.block);
        if (error == 0)
            ext2_inode_size_set(dir, (uint64_t)(nblocks + 1) << fs->block_shift);
        else
            (void)ext2_shrink(dir, nblocks); /* the first error is the one to report */
        dir->disk.flags &= ~EXT2_FLAG_INDEX;
    }
    ext2_pin_commit(&pin);
    return error;
}

error_t ext2_place_make(struct ext2_inode *dir, const struct ext2_name *name,
                        struct ext2_place *place)
{
    struct ext2_scan scan = {.name = name, .need = EXT2_DIRENT_BYTES(name->length)};
    *place = (struct ext2_place){0};
    error_t error = ext2_scan(dir, &scan);
    if (error != 0)
        return error;
    if (scan.found)
        return EEXIST;
    if (scan.has_room)
        return ext2_place_get(dir, scan.room_index, scan.room_offset, place);
    error = ext2_dir_extend(dir);
    if (error != 0)
        return error;
    return ext2_place_get(dir, ext2_dir_nblocks(dir) - 1, 0, place);
}

static void ext2_place_release(struct ext2_place *place, bool dirty)
{
    if (place->data != NULL)
        ext2_put(place->pin.inode->fs, place->block, place->data, dirty);
    place->data = NULL;
}

void ext2_place_abort(struct ext2_place *place)
{
    ext2_place_release(place, false);
    ext2_pin_abort(&place->pin);
}

static void ext2_place_commit(struct ext2_place *place)
{
    struct ext2_inode *dir = place->pin.inode;
    dir->disk.mtime = ext2_fs_now(dir->fs);
    dir->disk.ctime = dir->disk.mtime;
    ext2_place_release(place, true);
    ext2_pin_commit(&place->pin);
}

uint32_t ext2_place_ino(const struct ext2_place *place)
{
    return ext2_dirent_at(place->data, place->offset)->ino;
}

void ext2_place_fill(struct ext2_place *place, const struct ext2_name *name,
                     const struct ext2_inode *inode)
{
    struct ext2_inode *dir = place->pin.inode;
    struct ext2_dirent *entry = ext2_dirent_at(place->data, place->offset);
    if (entry->ino != 0) {
        uint32_t used = EXT2_DIRENT_BYTES(entry->name_len);
        struct ext2_dirent *rest = ext2_dirent_at(place->data, place->offset + used);
        rest->rec_len = (uint16_t)(entry->rec_len - used);
        entry->rec_len = (uint16_t)used;
        entry = rest;
    }
    ext2_dirent_set(dir->fs, entry, inode);
    ext2_dirent_name_set(entry, name->text, name->length);
    dir->disk.flags &= ~EXT2_FLAG_INDEX;
    ext2_place_commit(place);
}

void ext2_place_replace(struct ext2_place *place, const struct ext2_inode *inode)
{
    ext2_dirent_set(place->pin.inode->fs, ext2_dirent_at(place->data, place->offset), inode);
    ext2_place_commit(place);
}

void ext2_place_clear(struct ext2_place *place)
{
    struct ext2_dirent *entry = ext2_dirent_at(place->data, place->offset);
    struct ext2_dirent *before = NULL;
    for (uint32_t offset = 0; offset < place->offset; offset += before->rec_len)
        before = ext2_dirent_at(place->data, offset);
    if (before != NULL)
        before->rec_len = (uint16_t)(before->rec_len + entry->rec_len);
    entry->ino = 0;
    ext2_place_commit(place);
}

/* --- Whole directories --- */

static uint16_t ext2_dirent_mode(const struct ext2_fs *fs, const struct ext2_dirent *entry)
{
    static const uint16_t modes[8] = {0,       S_IFREG, S_IFDIR,  S_IFCHR,
                                      S_IFBLK, S_IFIFO, S_IFSOCK, S_IFLNK};
    return ext2_has_filetype(fs) && entry->file_type < 8 ? modes[entry->file_type] : 0;
}

struct ext2_visitor {
    bool (*visit)(void *hook, const struct ext2_entry *entry);
    void *hook;
    uint64_t cookie; /* of the first entry that is wanted */
    bool done;
};

/* Visit the entries of a block; START is its place in the directory. */
static error_t ext2_visit_block(struct ext2_inode *dir, uint64_t start, uint8_t *data,
                                struct ext2_visitor *visitor)
{
    struct ext2_dirent *entry;
    for (uint32_t offset = 0; offset < dir->fs->block_size && !visitor->done;
         offset += entry->rec_len) {
        error_t error = ext2_dirent_get(dir, data, offset, &entry);
        if (error != 0)
            return error;
        if (entry->ino == 0 || start + offset < visitor->cookie)
            continue;
        struct ext2_entry seen = {
            .ino = entry->ino,
            .mode = ext2_dirent_mode(dir->fs, entry),
            .cookie = start + offset + entry->rec_len,
            .length = entry->name_len,
            .name = entry->name,
        };
        visitor->done = !visitor->visit(visitor->hook, &seen);
    }
    return 0;
}

static error_t ext2_visit(struct ext2_inode *dir, struct ext2_visitor *visitor)
{
    uint32_t block;
    uint8_t *data;
    struct ext2_fs *fs = dir->fs;
    for (uint64_t i = visitor->cookie >> fs->block_shift; i < ext2_dir_nblocks(dir); i++) {
        error_t error = ext2_dir_get(dir, (uint32_t)i, &block, &data);
        if (error != 0)
            return error;
        error = ext2_visit_block(dir, i << fs->block_shift, data, visitor);
        ext2_put(fs, block, data, false);
        if (error != 0 || visitor->done)
            return error;
    }
    return 0;
}

error_t ext2_dir_iterate(struct ext2_inode *dir, uint64_t cookie,
                         bool (*visit)(void *hook, const struct ext2_entry *entry), void *hook)
{
    struct ext2_visitor visitor = {visit, hook, cookie, false};
    ext2_fs_lock(dir->fs);
    error_t error = ext2_dir_check(dir);
    if (error == 0)
        error = ext2_visit(dir, &visitor);
    ext2_fs_unlock(dir->fs);
    return error;
}

/* Go on while the directory looks empty. */
static bool ext2_visit_dots(void *hook, const struct ext2_entry *entry)
{
    bool *empty = hook;
    *empty = entry->name[0] == '.' &&
             (entry->length == 1 || (entry->length == 2 && entry->name[1] == '.'));
    return *empty;
}

error_t ext2_dir_check_empty(struct ext2_inode *dir)
{
    bool empty = true;
    struct ext2_visitor visitor = {ext2_visit_dots, &empty, 0, false};
    error_t error = ext2_visit(dir, &visitor);
    return error == 0 && !empty ? ENOTEMPTY : error;
}

error_t ext2_dir_init(struct ext2_inode *dir, uint32_t parent)
{
    struct ext2_run run;
    struct ext2_fs *fs = dir->fs;
    void *data;
    uint8_t type = ext2_has_filetype(fs) ? 2 : 0;
    error_t error = ext2_grow(dir, 0, 1, true, &run);
    if (error == 0)
        error = ext2_get(fs, run.block, EXT2_NEW, &data);
    if (error != 0)
        return error;
    memset(data, 0, fs->block_size);
    struct ext2_dirent *entry = ext2_dirent_at(data, 0);
    *entry = (struct ext2_dirent){.ino = dir->ino, .rec_len = 12, .file_type = type};
    ext2_dirent_name_set(entry, ".", 1);
    entry = ext2_dirent_at(data, 12);
    *entry = (struct ext2_dirent){
        .ino = parent, .rec_len = (uint16_t)(fs->block_size - 12), .file_type = type};
    ext2_dirent_name_set(entry, "..", 2);
    ext2_put(fs, run.block, data, true);
    ext2_inode_size_set(dir, fs->block_size);
    return 0;
}
