# SPDX-License-Identifier: GPL-2.0-or-later
#
# The ext2 server on the host, against the mock kernel and images that e2fsprogs makes and checks:
# each program with the address and undefined-behaviour sanitizers, and those where threads meet a
# second time (-tsan) with the thread sanitizer.

include servers/libpager/libpager.mk

EXT2_TESTS := $(patsubst tests/unit/ext2/test-%.c,%,$(wildcard tests/unit/ext2/test-*.c))
EXT2_TESTS_THREADS := behind disk group model truncate
EXT2_TESTS_OUT := $(BUILD)/tests/unit/ext2
EXT2_TESTS_PARTS := $(patsubst %.c,%,$(filter-out servers/ext2/main.c servers/ext2/rpc.c, \
	$(wildcard servers/ext2/*.c)) $(wildcard servers/libext2/*.c)) \
	$(LIBPAGER_SOURCES:%.c=servers/libpager/%) servers/libstore/store servers/libstore/claims \
	servers/librt/counter servers/librt/latency tests/unit/libext2/device tests/unit/libext2/image \
	tests/unit/mock/kernel tests/unit/mock/memory tests/unit/mock/ports tests/unit/mock/receive \
	tests/unit/mock/rt tests/unit/mock/task tests/unit/mock/trace \
	tests/unit/ext2/content tests/unit/ext2/memstore tests/unit/ext2/server
EXT2_TESTS_CC := gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -MMD -MP \
	-Itests/unit/mock -Itests/unit -Itests/unit/ext2 -Iservers -DNODES_IDLE_MAX=4u

# Objects below KIND, compiled with SANITIZE.
define ext2_tests_kind
$(EXT2_TESTS_OUT)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$$(SAY) "  CC      $$< ($(1))"
	$$(Q)$$(EXT2_TESTS_CC) $(2) -c -o $$@ $$<

-include $$(patsubst %,$(EXT2_TESTS_OUT)/$(1)/%.d,$$(EXT2_TESTS_PARTS) \
	$$(EXT2_TESTS:%=tests/unit/ext2/test-%))
endef

# The program test-ext2-NAMESUFFIX from the objects of KIND.
define ext2_test
$(BUILD)/tests/unit/test-ext2-$(1)$(4): $(EXT2_TESTS_OUT)/$(2)/tests/unit/ext2/test-$(1).o \
		$(EXT2_TESTS_PARTS:%=$(EXT2_TESTS_OUT)/$(2)/%.o)
	$$(SAY) "  LD      $$@"
	$$(Q)gcc $(3) -o $$@ $$^ -lcmocka -lext2fs -lcom_err -lpthread
UNIT_TESTS += $(BUILD)/tests/unit/test-ext2-$(1)$(4)
endef

EXT2_ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all
EXT2_TSAN := -fsanitize=thread
$(eval $(call ext2_tests_kind,asan,$(EXT2_ASAN)))
$(eval $(call ext2_tests_kind,tsan,$(EXT2_TSAN)))
$(foreach t,$(EXT2_TESTS),$(eval $(call ext2_test,$(t),asan,$(EXT2_ASAN),)))
$(foreach t,$(EXT2_TESTS_THREADS),$(eval $(call ext2_test,$(t),tsan,$(EXT2_TSAN),-tsan)))
