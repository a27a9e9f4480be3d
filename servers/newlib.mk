# SPDX-License-Identifier: GPL-2.0-or-later
#
# newlib, the C library of the tasks, from Debian's package newlib-source.
#
#   NEWLIB_INCLUDE  its headers
#   NEWLIB_LIB      the folder of libc.a and libm.a
#   NEWLIB_STAMP    a file that is newer than all of them: what uses them depends on it

NEWLIB_SOURCE := $(firstword $(wildcard /usr/src/newlib/newlib-*.tar.xz))
NEWLIB_PREFIX := $(OUT)/newlib
NEWLIB_TARGET_i386 := i686-elf
NEWLIB_TARGET_amd64 := x86_64-elf
NEWLIB_TARGET := $(NEWLIB_TARGET_$(ARCH))
NEWLIB_INCLUDE := $(NEWLIB_PREFIX)/$(NEWLIB_TARGET)/include
NEWLIB_LIB := $(NEWLIB_PREFIX)/$(NEWLIB_TARGET)/lib
NEWLIB_STAMP := $(OUT)/newlib.stamp

# The environment is emptied: make's own variables (SIZE, NAME, …) mean other things in there.
$(NEWLIB_STAMP): servers/newlib.sh $(NEWLIB_SOURCE)
	$(SAY) "  NEWLIB  the C library of the tasks, about a minute"
	$(Q)env -i PATH="$$PATH" tools/setup/progress.sh $(OUT)/newlib.log 2150 \
		servers/newlib.sh $(NEWLIB_TARGET) $(NEWLIB_SOURCE) $(abspath $(OUT)/newlib.work) $(NEWLIB_PREFIX)
	$(Q)touch $@

$(NEWLIB_LIB)/libc.a $(NEWLIB_LIB)/libm.a: $(NEWLIB_STAMP) ;
