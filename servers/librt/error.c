// SPDX-License-Identifier: GPL-2.0-or-later
#include "librt/error.h"

#include <string.h>

#include <device/device_types.h>

#include "librt/rt.h"

error_t error_from_mach(kern_return_t error)
{
    switch (error) {
    case KERN_SUCCESS:
        return 0;
    case KERN_INVALID_ARGUMENT:
    case KERN_INVALID_ADDRESS:
    case D_INVALID_SIZE:
    case D_INVALID_RECNUM:
        return EINVAL;
    case KERN_RESOURCE_SHORTAGE:
    case KERN_NO_SPACE:
    case D_NO_MEMORY:
        return ENOMEM;
    case D_NO_SUCH_DEVICE:
        return ENXIO;
    case D_READ_ONLY:
        return EROFS;
    default:
        return EIO;
    }
}

error_t error_from_rpc(kern_return_t error)
{
    /* MIG's errors are negative, those of mach_msg have bits above 16 set (mach/message.h). */
    return error >= 0 && error < 0x10000 ? error : EIO;
}

const char *error_text(error_t error)
{
    return error == EIO ? "EIO (I/O error)" : strerror(error);
}
