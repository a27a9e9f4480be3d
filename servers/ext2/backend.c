// SPDX-License-Identifier: GPL-2.0-or-later
#include "ext2/backend.h"

error_t pager_read_page(struct user_pager_info *upi, vm_offset_t page, vm_address_t *buf,
                        int *write_lock)
{
    *buf = 0;
    *write_lock = 0;
    return upi->ops->read_page(upi, page, buf, write_lock);
}

error_t pager_write_pages(struct user_pager_info *upi, vm_offset_t offset, vm_address_t data,
                          vm_size_t length, vm_size_t *written)
{
    *written = 0;
    return upi->ops->write_pages(upi, offset, data, length, written);
}

error_t pager_write_page(struct user_pager_info *upi, vm_offset_t page, vm_address_t buf)
{
    vm_size_t written;

    return pager_write_pages(upi, page, buf, vm_page_size, &written);
}

error_t pager_unlock_page(struct user_pager_info *upi, vm_offset_t address)
{
    return upi->ops->unlock_page(upi, address);
}

error_t pager_report_extent(struct user_pager_info *upi, vm_address_t *offset, vm_size_t *size)
{
    *offset = 0;
    *size = upi->ops->size(upi);
    return 0;
}

void pager_notify_evict(struct user_pager_info *upi, vm_offset_t page)
{
    (void)upi;
    (void)page; /* pagers here do not ask for it */
}

void pager_clear_user_data(struct user_pager_info *upi)
{
    upi->ops->gone(upi);
}
