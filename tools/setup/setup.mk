# SPDX-License-Identifier: GPL-2.0-or-later
#
# The host's packages. HOST_READY is not empty when all are there; HOST_STAMP is remade, and make
# starts over, when one is missing.
#
#   HOST_LISTS  which lists of tools/setup/packages count for what was asked for

HOST_TESTING := $(filter test test-long test-matrix,$(MAKECMDGOALS))
# Tests that are only built, and whatever else is asked for by its path.
HOST_BUILDING := $(filter all $(BUILD)/%,$(MAKECMDGOALS))
HOST_LISTS := $(if $(HOST_TESTING),plot uefi uefi32 source) $(if $(HOST_TESTING)$(HOST_BUILDING),test) \
	$(filter plot,$(VIEW)) $(filter uefi uefi32,$(FIRMWARE)) $(filter source,$(KERNEL_ORIGIN))
HOST_LISTS += $(if $(HOST_TESTING)$(HOST_BUILDING)$(filter trace check-style,$(MAKECMDGOALS))$(filter \
	ctf both,$(TRACE)),trace)
HOST_LISTS += $(if $(HOST_TESTING)$(filter gdb gdb-attach,$(MAKECMDGOALS)),gdb)
HOST_MISSING := $(shell tools/setup/packages.sh missing $(HOST_LISTS))
HOST_STAMP := $(BUILD)/download/host.stamp
HOST_READY := $(if $(HOST_MISSING),,$(wildcard $(HOST_STAMP)))

$(HOST_STAMP): $(if $(HOST_MISSING),FORCE)
	@test -e $@ || echo "machbed: the first build downloads about 11 MB (apt's index of Debian" \
		"trixie, GNU Mach), and takes 50 MB below $(BUILD)/, for a minute 180 MB"
	$(Q)tools/setup/packages.sh install $(HOST_LISTS)
	$(Q)mkdir -p $(@D)
	$(Q)touch $@

FORCE: ;

include $(HOST_STAMP)
