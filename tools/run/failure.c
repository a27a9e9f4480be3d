// SPDX-License-Identifier: GPL-2.0-or-later
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

int failure_set(struct failure *failure, int status, const char *format, ...)
{
    va_list arguments;
    char *whole;

    if (failure->status != STATUS_SUCCESS)
        return failure->status;
    failure->status = status;
    va_start(arguments, format);
    if (vasprintf(&whole, format, arguments) < 0)
        whole = NULL;
    va_end(arguments);
    text_fit(failure->reason, sizeof(failure->reason), whole == NULL ? "out of memory" : whole);
    free(whole);
    return status;
}
