# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unit tests of the trace's reader (tools/trace). Each test-NAME.c is a program, linked with synth.c,
# which makes runs up, the reader's modules, and those of the runner as its own tests compile them.

TRACE_TEST_OUT := $(B)/tests/unit/trace
TRACE_TESTS := $(patsubst tests/unit/trace/test-%.c,$(B)/tests/unit/test-trace-%,\
	$(wildcard tests/unit/trace/test-*.c))
TRACE_TEST_MODULES := $(patsubst %.c,$(TRACE_TEST_OUT)/%.o,tests/unit/trace/synth.c \
	$(filter-out tools/trace/main.c,$(wildcard tools/trace/*.c)))

# The tests of CTF have the servers' side, too, as it is compiled for tests on the host.
TRACE_TESTS_CTF := $(B)/tests/unit/test-trace-ctf $(B)/tests/unit/test-trace-packets
TRACE_TESTS_CTF_PARTS := $(patsubst %,$(TRACE_TEST_OUT)/%.o,tests/unit/trace/streams \
	servers/libtrace/ctf servers/libtrace/format $(BARECTF_OUT)/barectf)
TRACE_TESTS_CTF_OBJECTS := $(TRACE_TESTS_CTF_PARTS) \
	$(patsubst $(B)/tests/unit/test-trace-%,$(TRACE_TEST_OUT)/tests/unit/trace/test-%.o,$(TRACE_TESTS_CTF))

$(TRACE_TESTS_CTF): $(TRACE_TESTS_CTF_PARTS) $(BARECTF_OUT)/metadata
$(TRACE_TESTS_CTF_OBJECTS): $(BARECTF_HEADERS)
$(TRACE_TESTS_CTF_OBJECTS): TRACE_TEST_FIRST := -Itests/unit/mock -I$(BARECTF_OUT)

UNIT_TESTS += $(TRACE_TESTS)

$(TRACE_TESTS): $(B)/tests/unit/test-trace-%: $(TRACE_TEST_OUT)/tests/unit/trace/test-%.o \
		$(TRACE_TEST_MODULES) $(RUN_TEST_MODULES)
	$(SAY) "  LINK    $@"
	$(Q)$(HOST_CC) -fsanitize=address,undefined -o $@ $(filter %.o,$^) $(RUN_TEST_LIBS) -lbabeltrace2 -lm

$(TRACE_TEST_OUT)/%.o: %.c
	$(SAY) "  CC      $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(TRACE_TEST_FIRST) $(RUN_TEST_CFLAGS) -Itools/trace -Itests/unit/trace \
		$(JANSSON_CFLAGS) -MMD -MP -c -o $@ $<

$(TRACE_TEST_OUT)/tools/trace/html-page.o: $(HTML_PAGE)

-include $(TRACE_TEST_MODULES:.o=.d) $(TRACE_TESTS_CTF_PARTS:.o=.d) \
	$(wildcard $(TRACE_TEST_OUT)/tests/unit/trace/*.d)
.SECONDARY: $(TRACE_TEST_MODULES)
