# SPDX-License-Identifier: GPL-2.0-or-later
#
# The store in memory on the host, with the address and undefined-behaviour sanitizers.

LIBSTORE_TESTS_PARTS := servers/libstore/ram servers/libstore/ram-image servers/libstore/store \
	servers/libstore/claims servers/librt/counter tests/unit/mock/memory \
	tests/unit/mock/rt tests/unit/mock/trace \
	tests/unit/libstore/physical tests/unit/libstore/test-ram
LIBSTORE_TESTS_OUT := $(BUILD)/tests/unit/libstore
LIBSTORE_TESTS_CC := gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -MMD -MP \
	-Itests/unit/mock -Itests/unit -Itests/unit/libstore -Iservers \
	-fsanitize=address,undefined -fno-sanitize-recover=all

$(LIBSTORE_TESTS_OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(LIBSTORE_TESTS_CC) -c -o $@ $<

$(BUILD)/tests/unit/test-libstore-ram: $(LIBSTORE_TESTS_PARTS:%=$(LIBSTORE_TESTS_OUT)/%.o)
	$(SAY) "  LD      $@"
	$(Q)gcc -fsanitize=address,undefined -o $@ $^ -lcmocka -lpthread
UNIT_TESTS += $(BUILD)/tests/unit/test-libstore-ram

-include $(LIBSTORE_TESTS_PARTS:%=$(LIBSTORE_TESTS_OUT)/%.d)
