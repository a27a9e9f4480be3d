# SPDX-License-Identifier: GPL-2.0-or-later
#
# All tests run under one `prove`, and speak TAP: unit tests are programs of the host that use
# cmocka, system tests are scripts that call make and boot QEMU.
#
# A folder tests/unit/NAME has a NAME-tests.mk that builds its programs and adds them to UNIT_TESTS.

UNIT_TESTS :=
include $(wildcard tests/unit/*/*-tests.mk)
SYSTEM_TESTS := $(sort $(wildcard tests/system/*.t))

include $(wildcard tests/bench/*.mk)

# tests/limit.c ends each test in time, with all that it has started.
LIMIT := $(B)/tests/limit
TEST_LOGS := $(B)/tests/logs

$(LIMIT): tests/limit.c
	$(SAY) "  LINK    $@"
	$(Q)mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -o $@ $<

# The tests call make as a user would: without the variables that a make hands down. What they boot is
# built before, for they run side by side; `make -n` only says so.
TESTS_ENV := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES
TESTS_MAKE = $(TESTS_ENV) $(MAKE) $(if $(IS_DRY),-n) --no-print-directory
TESTS_NEED := $(LIMIT) $(RUNNER) $(TRACER) $(FRAGMENT) $(KERNEL_IMAGE) $(BOOT_ISO) $(BOOT_DISK) \
	$(SERVER_IMAGES)
TESTS_BUILD = $(TESTS_MAKE) all ARCH=amd64 && $(TESTS_MAKE) kernel KERNEL_DEBUG=1

# What failed comes last, in short: of a log of CI no more than the end may be seen. When make alone is told to
# end, it tells the shell alone, and prove ends with that.
# prove VARIABLES, ARGUMENTS
prove = rm -rf $(TEST_LOGS) && mkdir -p $(TEST_LOGS) && \
	{ setpriv --pdeathsig TERM $(TESTS_ENV) $(1) prove --exec '$(LIMIT) $(TEST_LOGS)' $(2) || \
	{ tests/explain.sh $(TEST_LOGS) >&2; exit 1; }; }

# The same random numbers each time, so that a change is to blame for what fails.
test: $(UNIT_TESTS) $(TESTS_NEED)
	$(GIVE_TURN)
	$(Q)$(TESTS_BUILD)
	$(Q)$(call prove,MACHBED_SEED=$${MACHBED_SEED:-1} CMOCKA_MESSAGE_OUTPUT=TAP,\
		--jobs $(shell nproc) $(UNIT_TESTS) $(SYSTEM_TESTS))

# Every machine that exists; `make test` has a third of them.
test-matrix: $(TESTS_NEED)
	$(GIVE_TURN)
	$(Q)$(TESTS_BUILD)
	$(Q)$(call prove,MATRIX=all TEST_SECONDS=3600,tests/system/80-matrix.t)

# As `make test`, with other random numbers each time, and the fuzzer at work for twenty minutes.
test-long:
	$(GIVE_TURN)
	$(Q)MACHBED_SEED=$$(date +%s) FUZZ_SECONDS=1200 TEST_SECONDS=2400 $(MAKE) --no-print-directory test
