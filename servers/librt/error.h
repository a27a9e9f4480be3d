// SPDX-License-Identifier: GPL-2.0-or-later
/* An error: 0, or an errno value. Codes of the kernel are kern_return_t; they are turned into
   each other where the two meet, by error_from_mach. */
#ifndef LIBRT_ERROR_H
#define LIBRT_ERROR_H

#include <errno.h>

typedef int error_t;

/* ERROR in words, for people; EIO, which experiments look for, with its name. => does not block. */
const char *error_text(error_t error);

#endif
