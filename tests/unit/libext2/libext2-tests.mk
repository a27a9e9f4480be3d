# SPDX-License-Identifier: GPL-2.0-or-later
#
# libext2 on the host, against images that e2fsprogs makes and checks. Each test-NAME.c is a program,
# linked with the library and with what the tests share; all is compiled with the address and
# undefined-behaviour sanitizers, and for the test of threads with the thread sanitizer.

LIBEXT2_SOURCES := $(wildcard servers/libext2/*.c)
LIBEXT2_TESTS := $(patsubst tests/unit/libext2/test-%.c,%,$(wildcard tests/unit/libext2/test-*.c))
LIBEXT2_TESTS_SHARED := $(filter-out tests/unit/libext2/test-%,$(wildcard tests/unit/libext2/*.c))
LIBEXT2_TESTS_OUT := $(BUILD)/tests/unit/libext2
LIBEXT2_TESTS_CC := gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Werror -MMD -MP -Iservers -Itests/unit/libext2
LIBEXT2_TESTS_LIBS := -lcmocka -lext2fs -lcom_err -lpthread

LIBEXT2_ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all
LIBEXT2_TSAN := -fsanitize=thread

# Objects below KIND, compiled with SANITIZE.
define libext2_tests_kind
$(LIBEXT2_TESTS_OUT)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$$(SAY) "  CC      $$< ($(1))"
	$$(Q)$$(LIBEXT2_TESTS_CC) $(2) -c -o $$@ $$<

-include $$(wildcard $(LIBEXT2_TESTS_OUT)/$(1)/servers/libext2/*.d \
	$(LIBEXT2_TESTS_OUT)/$(1)/tests/unit/libext2/*.d)
endef

# The program of test NAME from the objects of KIND.
define libext2_test
$(BUILD)/tests/unit/test-libext2-$(1): $(LIBEXT2_TESTS_OUT)/$(2)/tests/unit/libext2/test-$(1).o \
		$(patsubst %.c,$(LIBEXT2_TESTS_OUT)/$(2)/%.o,$(LIBEXT2_SOURCES) $(LIBEXT2_TESTS_SHARED))
	$$(SAY) "  LD      $$@"
	$$(Q)gcc $(3) -o $$@ $$^ $$(LIBEXT2_TESTS_LIBS)
UNIT_TESTS += $(BUILD)/tests/unit/test-libext2-$(1)
endef

$(eval $(call libext2_tests_kind,asan,$(LIBEXT2_ASAN)))
$(eval $(call libext2_tests_kind,tsan,$(LIBEXT2_TSAN)))
$(foreach t,$(filter-out threads,$(LIBEXT2_TESTS)),$(eval $(call libext2_test,$(t),asan,$(LIBEXT2_ASAN))))
$(eval $(call libext2_test,threads,tsan,$(LIBEXT2_TSAN)))

# Damaged images: those of e2fsprogs' own tests, and what a fuzzer makes of sound ones.
$(BUILD)/tests/e2fsprogs/images: tests/unit/libext2/e2fsprogs-images.sh
	$(SAY) "  GET     damaged images of e2fsprogs"
	$(Q)tests/unit/libext2/e2fsprogs-images.sh $(@D) $(BUILD)/download

$(BUILD)/tests/unit/test-libext2-damage: | $(BUILD)/tests/e2fsprogs/images

$(BUILD)/tests/fuzz/libext2: tests/fuzz/libext2.c $(LIBEXT2_SOURCES) \
		$(addprefix tests/unit/libext2/,device.c exercise.c file.c fuzz.c image.c) \
		$(wildcard servers/libext2/*.h tests/unit/libext2/*.h)
	@mkdir -p $(@D)
	$(SAY) "  CC      $@"
	$(Q)clang -std=gnu11 -D_GNU_SOURCE -O1 -g -Iservers -Itests/unit/libext2 \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^)

tests/unit/libext2/fuzz.t: $(BUILD)/tests/fuzz/libext2
UNIT_TESTS += tests/unit/libext2/fuzz.t

