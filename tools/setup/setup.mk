# SPDX-License-Identifier: GPL-2.0-or-later
#
# The host's packages. HOST_READY is not empty when all are there; HOST_STAMP is remade, and make
# starts over, when one is missing.
#
#   HOST_LISTS  which lists of tools/setup/packages count for what was asked for

HOST_TESTING := $(filter test test-long test-matrix,$(MAKECMDGOALS))
HOST_LISTS := $(if $(HOST_TESTING),test plot uefi uefi32 source) \
	$(filter plot,$(VIEW)) $(filter uefi uefi32,$(FIRMWARE)) $(filter source,$(KERNEL_ORIGIN)) \
	$(if $(HOST_TESTING)$(filter trace all check-style,$(MAKECMDGOALS))$(filter ctf both,$(TRACE)),trace)
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
