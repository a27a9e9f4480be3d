// SPDX-License-Identifier: GPL-2.0-or-later
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

int failure_set(struct failure *failure, int status, const char *format, ...)
{
    va_list arguments;

    if (failure->status != STATUS_SUCCESS)
        return failure->status;
    failure->status = status;
    va_start(arguments, format);
    vsnprintf(failure->reason, sizeof(failure->reason), format, arguments);
    va_end(arguments);
    return status;
}
