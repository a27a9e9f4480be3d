# SPDX-License-Identifier: GPL-2.0-or-later
ARCH := i386
BUILD := build
OUT := $(BUILD)/$(ARCH)
Q := $(if $(V),,@)
SAY := @echo
.DELETE_ON_ERROR:
all:
include kernel/kernel.mk
include servers/newlib.mk
-include servers/servers.mk
-include boot/boot.mk
-include tools/tools.mk
all: $(KERNEL_STAMP) $(NEWLIB_STAMP)
