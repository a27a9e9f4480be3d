// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiled once for each server, with RT_SERVER as its name. */
#include "librt/order-private.h"
#include "librt/rt.h"
#include "librt/state.h"

/* The linker script (x86/task.ld) puts the table here; it is empty in the first of two links. */
extern const char rt_symbols[];
extern const char rt_symbols_end[];

#define IMAGE_STRING(name)  #name
#define IMAGE_EXPAND(macro) IMAGE_STRING(macro)

struct rt_state rt_state = {.lock_names = rt_order_names};

__attribute__((section(".rt_image"))) const struct rt_image rt_image = {
    .magic = RT_IMAGE_MAGIC,
    .name = IMAGE_EXPAND(RT_SERVER),
    .symbols = rt_symbols,
    .symbols_end = rt_symbols_end,
    .state = &rt_state,
};
