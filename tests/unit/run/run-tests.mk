# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unit tests of the runner (tools/run). Each test-NAME.c is a program, linked with the runner's
# modules, which are compiled once more with the address and undefined-behaviour sanitizers.

RUN_TEST_CFLAGS := $(filter-out -O2,$(HOST_CFLAGS)) -O1 -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all -Itools/run -Itests/unit/run
RUN_TEST_LIBS = $(JANSSON_LIBS) $(shell $(PKG_CONFIG) --libs cmocka)

RUN_TEST_OUT := $(B)/tests/unit/run
RUN_TESTS := $(patsubst tests/unit/run/test-%.c,$(B)/tests/unit/test-run-%,\
	$(wildcard tests/unit/run/test-*.c))
RUN_TEST_MODULES := $(patsubst %.c,$(RUN_TEST_OUT)/%.o,$(filter-out tools/run/main.c,$(RUN_SOURCES)))

UNIT_TESTS += $(RUN_TESTS)

$(RUN_TESTS): $(B)/tests/unit/test-run-%: $(RUN_TEST_OUT)/tests/unit/run/test-%.o $(RUN_TEST_MODULES)
	$(SAY) "  LINK    $@"
	$(Q)$(HOST_CC) -fsanitize=address,undefined -o $@ $^ $(RUN_TEST_LIBS)

$(RUN_TEST_OUT)/%.o: %.c
	$(SAY) "  CC      $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(RUN_TEST_CFLAGS) $(JANSSON_CFLAGS) -MMD -MP -c -o $@ $<

-include $(RUN_TEST_MODULES:.o=.d) $(wildcard $(RUN_TEST_OUT)/tests/unit/run/*.d)
.SECONDARY: $(RUN_TEST_MODULES)
