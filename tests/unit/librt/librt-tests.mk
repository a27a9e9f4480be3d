# SPDX-License-Identifier: GPL-2.0-or-later
#
# What of librt needs no Mach, on the host with the address and undefined-behaviour sanitizers: each
# test-NAME.c is a program, linked with librt's NAME.c.

LIBRT_TESTS := $(patsubst tests/unit/librt/test-%.c,$(BUILD)/tests/unit/test-librt-%,\
	$(wildcard tests/unit/librt/test-*.c))
UNIT_TESTS += $(LIBRT_TESTS)

$(LIBRT_TESTS): $(BUILD)/tests/unit/test-librt-%: tests/unit/librt/test-%.c servers/librt/%.c \
		servers/librt/%.h
	@mkdir -p $(@D)
	$(SAY) "  CC      $@"
	$(Q)gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -Iservers \
		-fsanitize=address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^) -lcmocka
