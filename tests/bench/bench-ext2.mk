# SPDX-License-Identifier: GPL-2.0-or-later
#
# make bench-ext2: libext2 and libext2fs side by side, on the host.

BENCH_EXT2_SOURCES := $(wildcard tests/bench/ext2*.c servers/libext2/*.c)

$(BUILD)/tests/bench/ext2: $(BENCH_EXT2_SOURCES) tests/bench/ext2.h $(wildcard servers/libext2/*.h)
	@mkdir -p $(@D)
	$(SAY) "  CC      $@"
	$(Q)gcc -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wshadow -Wstrict-prototypes \
		-Wmissing-prototypes -Werror -Iservers -Itests/bench -o $@ $(BENCH_EXT2_SOURCES) \
		-lext2fs -lcom_err

bench-ext2: $(BUILD)/tests/bench/ext2
	$(GIVE_TURN)
	$(Q)$<
.PHONY: bench-ext2
