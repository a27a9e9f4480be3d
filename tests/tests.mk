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

# The tests call make as a user would: without the variables that a make hands down. What they boot is
# built before, for they run side by side; `make -n` only says so.
TESTS_ENV := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES
TESTS_MAKE = $(TESTS_ENV) $(MAKE) $(if $(findstring n,$(firstword -$(MAKEFLAGS))),-n) --no-print-directory
test: $(UNIT_TESTS) $(RUNNER) $(TRACER) $(FRAGMENT) $(KERNEL_IMAGE) $(BOOT_ISO) $(BOOT_DISK) \
		$(SERVER_IMAGES)
	$(Q)$(TESTS_MAKE) all ARCH=amd64
	$(Q)$(TESTS_ENV) CMOCKA_MESSAGE_OUTPUT=TAP \
		prove --jobs $(shell nproc) --exec tests/limit $(UNIT_TESTS) $(SYSTEM_TESTS)

# Every machine that exists; `make test` has a third of them.
test-matrix: $(RUNNER) $(FRAGMENT) $(KERNEL_IMAGE) $(BOOT_ISO) $(BOOT_DISK) $(SERVER_IMAGES)
	$(Q)$(TESTS_MAKE) all ARCH=amd64
	$(Q)$(TESTS_ENV) MATRIX=all TEST_SECONDS=3600 prove --exec tests/limit tests/system/80-matrix.t

# As `make test`, with the fuzzer at work for twenty minutes.
test-long:
	$(Q)FUZZ_SECONDS=1200 TEST_SECONDS=2400 $(MAKE) --no-print-directory test
