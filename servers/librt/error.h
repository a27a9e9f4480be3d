// SPDX-License-Identifier: GPL-2.0-or-later
/* An error: 0, or an errno value. Codes of the kernel are kern_return_t; they are turned into
   each other where the two meet, by error_from_mach. */
#ifndef LIBRT_ERROR_H
#define LIBRT_ERROR_H

#include <errno.h>

typedef int error_t;

#endif
