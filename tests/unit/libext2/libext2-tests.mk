# SPDX-License-Identifier: GPL-2.0-or-later
#
# libext2 on the host, against images that e2fsprogs makes and checks. Each test-NAME.c is a program,
# linked with the library and with what the tests share, both compiled with the address and
# undefined-behaviour sanitizers.

LIBEXT2_SOURCES := $(wildcard servers/libext2/*.c)
LIBEXT2_TESTS := $(patsubst tests/unit/libext2/test-%.c,%,$(wildcard tests/unit/libext2/test-*.c))
LIBEXT2_TESTS_SHARED := $(filter-out tests/unit/libext2/test-%,$(wildcard tests/unit/libext2/*.c))
LIBEXT2_TESTS_OUT := $(BUILD)/tests/unit/libext2
LIBEXT2_TESTS_PARTS := $(patsubst %.c,$(LIBEXT2_TESTS_OUT)/%.o,\
	$(LIBEXT2_SOURCES) $(LIBEXT2_TESTS_SHARED))
LIBEXT2_TESTS_CC := gcc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Werror -MMD -MP -Iservers -Itests/unit/libext2 \
	-fsanitize=address,undefined -fno-sanitize-recover=all

$(LIBEXT2_TESTS_OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(LIBEXT2_TESTS_CC) -c -o $@ $<

$(BUILD)/tests/unit/test-libext2-%: $(LIBEXT2_TESTS_OUT)/tests/unit/libext2/test-%.o \
		$(LIBEXT2_TESTS_PARTS)
	$(SAY) "  LD      $@"
	$(Q)gcc -fsanitize=address,undefined -o $@ $^ -lcmocka -lext2fs -lcom_err

UNIT_TESTS += $(LIBEXT2_TESTS:%=$(BUILD)/tests/unit/test-libext2-%)

-include $(LIBEXT2_TESTS_PARTS:.o=.d) $(wildcard $(LIBEXT2_TESTS_OUT)/tests/unit/libext2/*.d)
.SECONDARY: $(LIBEXT2_TESTS_PARTS)
