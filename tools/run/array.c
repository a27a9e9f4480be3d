// SPDX-License-Identifier: GPL-2.0-or-later
#include "array.h"

#include <err.h>
#include <stdlib.h>

#include "failure.h"

void *array_grow(void *array, size_t count, size_t bytes)
{
    if ((count & (count - 1)) != 0)
        return array;
    array = reallocarray(array, count == 0 ? 1 : 2 * count, bytes);
    if (array == NULL)
        err(STATUS_BAD_INPUT, "machbed");
    return array;
}
