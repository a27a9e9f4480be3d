// SPDX-License-Identifier: GPL-2.0-or-later
#include "libpager/pager.h"

#include "librt/guard.h"
#include "librt/rt.h"

/* Pages that are mapped at a time. */
#define PAGER_MEMCPY_PAGES 256u

/* Copy *SIZE bytes between OTHER and OFFSET in the object MEMOBJ, all of it within
 *PAGER_MEMCPY_PAGES. SIZE becomes how many were copied. */
static error_t pager_memcpy_window(mach_port_t memobj, vm_offset_t offset, void *other,
                                   size_t *size, vm_prot_t prot)
{
    vm_offset_t in_page = offset % vm_page_size;
    vm_size_t length = (in_page + *size + vm_page_size - 1) / vm_page_size * vm_page_size;
    vm_address_t window = 0;
    size_t wanted = *size;
    kern_return_t kr = vm_map(mach_task_self(), &window, length, 0, TRUE, memobj, offset - in_page,
                              FALSE, prot, prot, VM_INHERIT_NONE);
    error_t error;

    *size = 0;
    if (kr != KERN_SUCCESS)
        return error_from_mach(kr);
    if ((prot & VM_PROT_WRITE) != 0)
        error = rt_guard_copy((void *)(window + in_page), other, wanted, size);
    else
        error = rt_guard_copy(other, (const void *)(window + in_page), wanted, size);
    vm_deallocate(mach_task_self(), window, length);
    return error;
}

error_t pager_memcpy(struct pager *pager, mach_port_t memobj, vm_offset_t offset, void *other,
                     size_t *size, vm_prot_t prot)
{
    size_t most = PAGER_MEMCPY_PAGES * vm_page_size - offset % vm_page_size;
    size_t done = 0;
    error_t error = 0;

    (void)pager;
    while (done < *size && error == 0) {
        size_t count = *size - done < most ? *size - done : most;

        error = pager_memcpy_window(memobj, offset + done, (char *)other + done, &count, prot);
        done += count;
        most = PAGER_MEMCPY_PAGES * vm_page_size;
    }
    *size = done;
    return error;
}
