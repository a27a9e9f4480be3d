// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer's way in; what an input means is in tests/unit/libext2/fuzz.h. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_one(data, size);
    return 0;
}
