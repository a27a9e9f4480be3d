// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * machbed-fragment IMAGE BLOCKS: leave the free space of an ext2 file system in holes of BLOCKS
 * blocks, each followed by a block of the new file fragment.fill in the root.
 *
 *   IMAGE   a file system, or a disk that holds one: FILE?offset=BYTES
 *
 * The walk goes over the free blocks from the first to the last. In each stretch of them it leaves
 * BLOCKS free and takes one, in turn; what is left at a stretch's end and is no whole hole is taken
 * as well. The file's indirect blocks are among those that it takes, so that no hole is lost to
 * them. libext2fs asks for a block for each place of the file's tree, indirect blocks included, in
 * the order of the file; it gets the next one that was taken.
 *
 * The same image gives the same image: all times are those at which the file system was made.
 */
#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ext2fs/ext2fs.h>

#define FRAGMENT_NAME       "fragment.fill"
#define FRAGMENT_MODE       0100644 /* a regular file */
#define FRAGMENT_BAD_INPUT  2
#define FRAGMENT_BLOCKS_MAX 65536

struct fragment {
    ext2_filsys fs;
    blk64_t hole;  /* blocks left free in a row */
    blk64_t *fill; /* blocks taken, ascending */
    blk64_t count;
    blk64_t used;   /* how many of them are in the file's tree */
    blk64_t length; /* of the file, in blocks */
    errcode_t error;
};

static void fragment_check(errcode_t error, const char *what)
{
    if (error != 0)
        errx(FRAGMENT_BAD_INPUT, "%s: %s", what, error_message(error));
}

static void fragment_open(struct fragment *fragment, const char *image)
{
    int flags = EXT2_FLAG_RW | EXT2_FLAG_EXCLUSIVE | EXT2_FLAG_64BITS;

    add_error_table(&et_ext2_error_table);
    fragment_check(ext2fs_open(image, flags, 0, 0, unix_io_manager, &fragment->fs), image);
    fragment_check(ext2fs_read_bitmaps(fragment->fs), image);
    fragment->fs->now = fragment->fs->super->s_mkfs_time;
}

static void fragment_name_check(const struct fragment *fragment, const char *image)
{
    ext2_ino_t number;

    if (ext2fs_lookup(fragment->fs, EXT2_ROOT_INO, FRAGMENT_NAME, strlen(FRAGMENT_NAME), NULL,
                      &number) == 0)
        errx(FRAGMENT_BAD_INPUT, "%s: there is a %s already", image, FRAGMENT_NAME);
}

static bool fragment_is_free(const struct fragment *fragment, blk64_t block)
{
    return block < ext2fs_blocks_count(fragment->fs->super) &&
           !ext2fs_test_block_bitmap2(fragment->fs->block_map, block);
}

static void fragment_take(struct fragment *fragment, blk64_t first, blk64_t end)
{
    for (; first < end; first++)
        fragment->fill[fragment->count++] = first;
}

/* Takes one block behind each hole of the free stretch from FIRST to END, and the rest. */
static void fragment_stretch_cut(struct fragment *fragment, blk64_t first, blk64_t end)
{
    while (end - first > fragment->hole) {
        first += fragment->hole;
        fragment_take(fragment, first, first + 1);
        first++;
    }
    if (end - first < fragment->hole)
        fragment_take(fragment, first, end);
}

static void fragment_blocks_choose(struct fragment *fragment)
{
    blk64_t blocks = ext2fs_blocks_count(fragment->fs->super);
    blk64_t block = fragment->fs->super->s_first_data_block;

    fragment->fill = calloc(blocks, sizeof(*fragment->fill));
    if (fragment->fill == NULL)
        err(FRAGMENT_BAD_INPUT, "memory");
    while (block < blocks) {
        blk64_t end = block;

        while (fragment_is_free(fragment, end))
            end++;
        if (end > block)
            fragment_stretch_cut(fragment, block, end);
        block = end + 1;
    }
}

/* Called for each place in the file's tree: gives it the next block. */
static int fragment_place(ext2_filsys fs, blk64_t *block, e2_blkcnt_t file_block, blk64_t ref_block,
                          int ref_offset, void *hook)
{
    struct fragment *fragment = hook;

    (void)ref_block;
    (void)ref_offset;
    if (fragment->used == fragment->count)
        return BLOCK_ABORT;
    *block = fragment->fill[fragment->used++];
    ext2fs_block_alloc_stats2(fs, *block, 1);
    if (file_block >= 0)
        fragment->length++;
    else
        fragment->error = ext2fs_zero_blocks2(fs, *block, 1, NULL, NULL);
    return fragment->error == 0 ? BLOCK_CHANGED : BLOCK_CHANGED | BLOCK_ABORT;
}

static void fragment_inode_write(struct fragment *fragment, ext2_ino_t number,
                                 struct ext2_inode *inode)
{
    ext2_filsys fs = fragment->fs;

    inode->i_mode = FRAGMENT_MODE;
    inode->i_links_count = 1;
    inode->i_atime = inode->i_ctime = inode->i_mtime = (uint32_t)fs->now;
    fragment_check(ext2fs_inode_size_set(fs, inode, fragment->length * fs->blocksize), "its size");
    fragment_check(ext2fs_iblk_set(fs, inode, fragment->used), "its blocks");
    fragment_check(ext2fs_write_new_inode(fs, number, inode), "its inode");
}

static void fragment_file_make(struct fragment *fragment)
{
    ext2_filsys fs = fragment->fs;
    struct ext2_inode inode = {.i_mode = FRAGMENT_MODE};
    ext2_ino_t number;

    fragment_check(ext2fs_new_inode(fs, EXT2_ROOT_INO, FRAGMENT_MODE, NULL, &number), "an inode");
    fragment_check(ext2fs_write_new_inode(fs, number, &inode), "an inode");
    fragment_check(
        ext2fs_block_iterate3(fs, number, BLOCK_FLAG_APPEND, NULL, fragment_place, fragment),
        "its blocks");
    fragment_check(fragment->error, "its blocks");
    fragment_check(ext2fs_read_inode(fs, number, &inode), "its inode");
    fragment_inode_write(fragment, number, &inode);
    ext2fs_inode_alloc_stats2(fs, number, 1, 0);
    fragment_check(ext2fs_link(fs, EXT2_ROOT_INO, FRAGMENT_NAME, number, EXT2_FT_REG_FILE),
                   "the name " FRAGMENT_NAME);
}

static unsigned long fragment_number_parse(const char *text)
{
    char *end;
    unsigned long number;

    errno = 0;
    number = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || number == 0 || number > FRAGMENT_BLOCKS_MAX)
        errx(FRAGMENT_BAD_INPUT, "'%s' is no number of blocks from 1 to %d", text,
             FRAGMENT_BLOCKS_MAX);
    return number;
}

int main(int argc, char **argv)
{
    struct fragment fragment = {0};

    if (argc != 3)
        errx(FRAGMENT_BAD_INPUT, "usage: machbed-fragment IMAGE[?offset=BYTES] BLOCKS");
    fragment.hole = fragment_number_parse(argv[2]);
    fragment_open(&fragment, argv[1]);
    fragment_name_check(&fragment, argv[1]);
    fragment_blocks_choose(&fragment);
    fragment_file_make(&fragment);
    fragment_check(ext2fs_close(fragment.fs), argv[1]);
    free(fragment.fill);
    return 0;
}
