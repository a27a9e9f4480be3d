# SPDX-License-Identifier: GPL-2.0-or-later
#
# Everything that runs on Mach: libraries as archives, one program for each server.
#
#   SERVERS        the programs, in the order of the boot script
#   SERVER_IMAGES  their files
#   BASE_name      where a server is linked: a range of addresses of its own for each

SERVERS := startup pager ext2 workload

BASE_startup := 0x08000000
BASE_pager := 0x10000000
BASE_workload := 0x18000000
BASE_ext2 := 0x20000000

SERVERS_OUT := $(OUT)/servers
SERVER_IMAGES := $(SERVERS:%=$(SERVERS_OUT)/%)
MIG_OUT := $(OUT)/mig
BARECTF_OUT := $(BUILD)/barectf

SERVER_LIBS := librt libpattern libstore libpager libext2 libtrace

# Stubs: of our own interfaces (servers/defs) and of the kernel's.
MIG_USERS := startup server pager_server io fs exc mach mach_port mach_host gnumach mach_i386 device \
	vm_move
MIG_SERVERS := startup server pager_server io fs exc notify memory_object
MIG_HEADERS := $(MIG_USERS:%=$(MIG_OUT)/%_user.h) $(MIG_SERVERS:%=$(MIG_OUT)/%_server.h)
MIG_OBJECTS := $(MIG_USERS:%=$(MIG_OUT)/%_user.o) $(MIG_SERVERS:%=$(MIG_OUT)/%_server.o)

SERVER_CC := gcc
SERVER_WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
SERVER_ARCH_FLAGS_i386 := -m32 -march=i686
SERVER_ARCH_FLAGS_amd64 := -m64
SERVER_ARCH_FLAGS := $(SERVER_ARCH_FLAGS_$(ARCH))
SERVER_CPPFLAGS := -nostdinc -isystem $(shell $(SERVER_CC) -print-file-name=include) \
	-Iservers -Iservers/librt/include -I$(MIG_OUT) -I$(BARECTF_OUT) -I$(OUT) \
	-isystem $(MACH_INCLUDE) -isystem $(NEWLIB_INCLUDE) -D_GNU_SOURCE -D__DYNAMIC_REENT__
SERVER_CFLAGS := $(SERVER_ARCH_FLAGS) -std=gnu11 -O2 -g -fno-pic -fno-pie \
	-fno-stack-protector -fno-omit-frame-pointer -fcf-protection=none \
	-fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections
SERVER_LDFLAGS := $(SERVER_ARCH_FLAGS) -static -nostdlib -no-pie -Wl,-z,max-page-size=0x1000 \
	-Wl,--build-id=none -Wl,--gc-sections -Wl,-z,noexecstack -Wl,-u,abort -Wl,-T,servers/librt/x86/task.ld
SERVER_LDLIBS := -L$(NEWLIB_LIB) -lc -lgcc

# image.c and symbols.S are compiled for each server.
server_sources = $(filter-out %/image.c %/symbols.S,\
	$(wildcard servers/$(1)/*.c servers/$(1)/x86/*.c servers/$(1)/x86/*.S servers/$(1)/x86/$(ARCH)/*.S))
server_objects = $(addsuffix .o,$(basename $(patsubst servers/%,$(SERVERS_OUT)/obj/%,$(call server_sources,$(1)))))

SERVER_ARCHIVES := $(SERVER_LIBS:%=$(SERVERS_OUT)/%.a) $(SERVERS_OUT)/libmig.a $(SERVERS_OUT)/libbarectf.a

.PHONY: servers
servers: $(SERVER_IMAGES)

# MIG reads an interface after the C preprocessor has been through it.
MIG_ARCH_i386 := __i386__
MIG_ARCH_amd64 := __x86_64__
MIG_CPP := gcc -E $(SERVER_ARCH_FLAGS) -x c -nostdinc -undef -D__MIG__ -D$(MIG_ARCH_$(ARCH))=1 -DSEQNOS=0 \
	-DSERVERPREFIX=S_ \
	-I$(MACH_INCLUDE) -Iservers/defs

mig_defs = $(firstword $(wildcard servers/defs/$(1).defs) \
	$(wildcard $(foreach d,mach mach/machine device,$(MACH_INCLUDE)/$(d)/$(1).defs)))

$(MIG_OUT)/%_user.c $(MIG_OUT)/%_user.h &: $(KERNEL_STAMP) $(wildcard servers/defs/*.defs)
	@mkdir -p $(@D)
	$(SAY) "  MIG     $*, user side"
	$(Q)$(MIG_CPP) $(call mig_defs,$*) | $(MIGCOM) -n -server /dev/null \
		-user $(MIG_OUT)/$*_user.c -header $(MIG_OUT)/$*_user.h

$(MIG_OUT)/%_server.c $(MIG_OUT)/%_server.h &: $(KERNEL_STAMP) $(wildcard servers/defs/*.defs)
	@mkdir -p $(@D)
	$(SAY) "  MIG     $*, server side"
	$(Q)$(MIG_CPP) $(call mig_defs,$*) | $(MIGCOM) -n -user /dev/null -header /dev/null \
		-server $(MIG_OUT)/$*_server.c -sheader $(MIG_OUT)/$*_server.h

# What MIG writes is not held to our warnings.
$(MIG_OUT)/%.o: $(MIG_OUT)/%.c $(MIG_HEADERS) $(OUT)/layout.h $(NEWLIB_STAMP)
	$(SAY) "  CC      $<"
	$(Q)$(SERVER_CC) $(SERVER_CPPFLAGS) $(SERVER_CFLAGS) -w -c -o $@ $<

# The trace as CTF: code and metadata, the same for every architecture. barectf's is not held to our
# warnings either.
BARECTF_HEADERS := $(BARECTF_OUT)/barectf.h $(BARECTF_OUT)/barectf-bitfield.h

$(BARECTF_OUT)/barectf.c $(BARECTF_OUT)/metadata $(BARECTF_HEADERS) &: servers/libtrace/ctf.yaml
	@mkdir -p $(@D)
	$(SAY) "  BARECTF $<"
	$(Q)barectf generate --code-dir=$(@D) --headers-dir=$(@D) --metadata-dir=$(@D) $<

$(SERVERS_OUT)/obj/libtrace/ctf.o $(SERVERS_OUT)/obj/libtrace/ctf-memory.o \
	$(SERVERS_OUT)/obj/libtrace/trace.o: $(BARECTF_HEADERS)

$(SERVERS_OUT)/obj/barectf.o: $(BARECTF_OUT)/barectf.c $(BARECTF_HEADERS) $(NEWLIB_STAMP)
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(SERVER_CC) $(SERVER_CPPFLAGS) $(SERVER_CFLAGS) -w -c -o $@ $<

$(SERVERS_OUT)/libbarectf.a: $(SERVERS_OUT)/obj/barectf.o
	$(SAY) "  AR      $@"
	$(Q)rm -f $@ && ar crs $@ $^

$(OUT)/layout.h: servers/servers.mk
	@mkdir -p $(@D)
	$(Q){ $(foreach s,$(SERVERS),echo '{"$(s)", $(BASE_$(s))},';) } > $@

# The number and the name of every message that a task can send.
$(OUT)/messages.h: $(MIG_HEADERS)
	$(Q)sed -n 's,^/\* [A-Za-z]*outine \([a-z0-9_]*\) \*/$$,\1,p; s,^.*msgh_id = \([0-9]*\);$$,\1,p' \
		$(MIG_USERS:%=$(MIG_OUT)/%_user.c) | \
		sed 'N; s/\(.*\)\n\(.*\)/{\2, "\1"},/' > $@

$(SERVERS_OUT)/obj/%.o: servers/%.c $(MIG_HEADERS) $(OUT)/layout.h $(OUT)/messages.h $(NEWLIB_STAMP)
	@mkdir -p $(@D)
	$(SAY) "  CC      $<"
	$(Q)$(SERVER_CC) $(SERVER_CPPFLAGS) $(SERVER_CFLAGS) $(SERVER_WARNINGS) -MMD -MP -c -o $@ $<

$(SERVERS_OUT)/obj/%.o: servers/%.S $(KERNEL_STAMP)
	@mkdir -p $(@D)
	$(SAY) "  AS      $<"
	$(Q)$(SERVER_CC) $(SERVER_CPPFLAGS) $(SERVER_ARCH_FLAGS) -g -MMD -MP -c -o $@ $<

define server_archive
$(SERVERS_OUT)/$(1).a: $(call server_objects,$(1))
	$(SAY) "  AR      $$@"
	$(Q)rm -f $$@ && ar crs $$@ $$^
endef
$(foreach lib,$(SERVER_LIBS),$(eval $(call server_archive,$(lib))))

$(SERVERS_OUT)/libmig.a: $(MIG_OBJECTS)
	$(SAY) "  AR      $@"
	$(Q)rm -f $@ && ar crs $@ $^

# Two links: the first says where everything is, the second adds that as the symbol table.
define server_program
$(SERVERS_OUT)/obj/$(1)/image.o: servers/librt/image.c $$(MIG_HEADERS) $(OUT)/layout.h $$(NEWLIB_STAMP)
	@mkdir -p $$(@D)
	$(Q)$(SERVER_CC) $(SERVER_CPPFLAGS) $(SERVER_CFLAGS) $(SERVER_WARNINGS) -DRT_SERVER=$(1) \
		-MMD -MP -c -o $$@ $$<

$(SERVERS_OUT)/$(1): $(call server_objects,$(1)) $(SERVERS_OUT)/obj/$(1)/image.o \
		$(SERVER_ARCHIVES) servers/librt/x86/task.ld servers/librt/x86/symbols.S
	$(SAY) "  LD      $$@"
	$(Q)$(SERVER_CC) $(SERVER_LDFLAGS) -Wl,--defsym=RT_BASE=$(BASE_$(1)) -o $$@.first \
		$$(filter %.o,$$^) -Wl,--start-group $(SERVER_ARCHIVES) $(SERVER_LDLIBS) -Wl,--end-group
	$(Q)nm -n --defined-only $$@.first | sed -n 's/^\([0-9a-f]*\) [tTwW] /\1 /p' > $$@.symbols
	$(Q)$(SERVER_CC) $(SERVER_ARCH_FLAGS) -DRT_SYMBOLS_FILE='"$$@.symbols"' -c \
		-o $$@.symbols.o servers/librt/x86/symbols.S
	$(Q)$(SERVER_CC) $(SERVER_LDFLAGS) -Wl,--defsym=RT_BASE=$(BASE_$(1)) -o $$@ \
		$$(filter %.o,$$^) $$@.symbols.o \
		-Wl,--start-group $(SERVER_ARCHIVES) $(SERVER_LDLIBS) -Wl,--end-group
endef
$(foreach server,$(SERVERS),$(eval $(call server_program,$(server))))

-include $(foreach m,$(SERVER_LIBS) $(SERVERS),$(patsubst %.o,%.d,$(call server_objects,$(m)))) \
	$(SERVERS:%=$(SERVERS_OUT)/obj/%/image.d)
