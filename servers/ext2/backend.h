// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What stands behind a pager of this server: the disk's metadata (disk.h) or a file's data
 * (file-pager.h). libpager's callbacks (backend.c) pass on to these; see libpager/pager.h for what
 * each does.
 */
#ifndef EXT2_BACKEND_H
#define EXT2_BACKEND_H

#include "libpager/pager.h"

struct backend_ops {
    error_t (*read_page)(struct user_pager_info *upi, vm_offset_t page, vm_address_t *buf,
                         int *write_lock);
    error_t (*write_pages)(struct user_pager_info *upi, vm_offset_t offset, vm_address_t data,
                           vm_size_t length, vm_size_t *written);
    error_t (*unlock_page)(struct user_pager_info *upi, vm_offset_t address);
    vm_size_t (*size)(struct user_pager_info *upi); /* bytes; must not block */
    void (*gone)(struct user_pager_info *upi);      /* pager_clear_user_data */
};

struct user_pager_info {
    const struct backend_ops *ops;
};

#endif
