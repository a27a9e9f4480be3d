// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

void fixture_mount(struct fixture *fixture)
{
    assert_ok(ext2_mount(&device_ops, &fixture->device, fixture->device.size, false, &fixture->fs));
    assert_ok(ext2_inode_get(fixture->fs, EXT2_ROOT_INO, &fixture->root));
    fixture->block_size = ext2_block_size(fixture->fs);
}

void fixture_setup(struct fixture *fixture, const char *options, uint64_t size)
{
    *fixture = (struct fixture){0};
    image_make(&fixture->device, options, size);
    fixture_mount(fixture);
}

void fixture_unmount(struct fixture *fixture)
{
    ext2_inode_put(fixture->root);
    assert_ok(ext2_sync(fixture->fs));
    assert_ok(ext2_unmount(fixture->fs));
    device_check_idle(&fixture->device);
}

void fixture_teardown(struct fixture *fixture)
{
    fixture_unmount(fixture);
    assert_true(image_is_clean(&fixture->device));
    device_destroy(&fixture->device);
}

struct ext2_inode *fixture_create(struct fixture *fixture, const char *name)
{
    struct ext2_inode *inode;
    assert_ok(ext2_create(fixture->root, name, 0100644, 0, 0, &inode));
    return inode;
}

struct ext2_inode *fixture_lookup(struct fixture *fixture, const char *name)
{
    struct ext2_inode *inode;
    assert_ok(ext2_lookup(fixture->root, name, &inode));
    return inode;
}

unsigned int fixture_grow(struct fixture *fixture, struct ext2_inode *inode, uint32_t first,
                          uint32_t count)
{
    struct ext2_run run;
    unsigned int nruns = 0;
    uint32_t end = first + count;
    for (; first < end; first += run.count, nruns++) {
        assert_ok(ext2_block_allocate(inode, first, end - first, &run));
        assert_int_equal(run.first, first);
        assert_true(run.count > 0 && run.count <= end - first && run.block != 0);
    }
    uint64_t size = (uint64_t)end * fixture->block_size;
    if (fixture_stat(inode).size < size)
        assert_ok(ext2_inode_resize(inode, size));
    return nruns;
}

struct ext2_stat fixture_stat(struct ext2_inode *inode)
{
    struct ext2_stat stat;
    ext2_inode_stat(inode, &stat);
    return stat;
}

struct ext2_statfs fixture_statfs(struct fixture *fixture)
{
    struct ext2_statfs statfs;
    ext2_statfs(fixture->fs, &statfs);
    return statfs;
}
