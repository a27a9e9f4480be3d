# SPDX-License-Identifier: GPL-2.0-or-later
#
# libpager on the host, against the mock kernel in tests/unit/mock: each program once with the
# address and undefined-behaviour sanitizers, and once (-tsan) with the thread sanitizer; but for the
# counts of whole jobs, which take the latter long and teach it nothing.

include servers/libpager/libpager.mk

LIBPAGER_TESTS := borrow call level merge model policy request return sync writers
LIBPAGER_TESTS_OUT := $(BUILD)/tests/unit/libpager
LIBPAGER_TESTS_PARTS := $(LIBPAGER_SOURCES:%.c=servers/libpager/%) servers/librt/counter \
	tests/unit/mock/kernel tests/unit/mock/memory tests/unit/mock/receive tests/unit/mock/rt \
	tests/unit/mock/task tests/unit/mock/trace tests/unit/libpager/backend
LIBPAGER_TESTS_CC := gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -MMD -MP -Itests/unit/mock \
	-Itests/unit -Itests/unit/libpager -Iservers

# Objects below KIND, compiled with SANITIZE.
define libpager_tests_kind
$(LIBPAGER_TESTS_OUT)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$$(SAY) "  CC      $$< ($(1))"
	$$(Q)$$(LIBPAGER_TESTS_CC) $(2) -c -o $$@ $$<

-include $$(patsubst %,$(LIBPAGER_TESTS_OUT)/$(1)/%.d,$$(LIBPAGER_TESTS_PARTS) \
	$$(LIBPAGER_TESTS:%=tests/unit/libpager/test-%))
endef

# The program test-libpager-NAMESUFFIX from the objects of KIND.
define libpager_test
$(BUILD)/tests/unit/test-libpager-$(1)$(4): $(LIBPAGER_TESTS_OUT)/$(2)/tests/unit/libpager/test-$(1).o \
		$(LIBPAGER_TESTS_PARTS:%=$(LIBPAGER_TESTS_OUT)/$(2)/%.o)
	$$(SAY) "  LD      $$@"
	$$(Q)gcc $(3) -o $$@ $$^ -lcmocka -lpthread
UNIT_TESTS += $(BUILD)/tests/unit/test-libpager-$(1)$(4)
endef

LIBPAGER_ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all
LIBPAGER_TSAN := -fsanitize=thread
$(eval $(call libpager_tests_kind,asan,$(LIBPAGER_ASAN)))
$(eval $(call libpager_tests_kind,tsan,$(LIBPAGER_TSAN)))
$(foreach t,$(LIBPAGER_TESTS),$(eval $(call libpager_test,$(t),asan,$(LIBPAGER_ASAN),)))
$(foreach t,$(filter-out policy,$(LIBPAGER_TESTS)),$(eval $(call libpager_test,$(t),tsan,$(LIBPAGER_TSAN),-tsan)))
