# SPDX-License-Identifier: GPL-2.0-or-later
#
# The front door. `make help` says what there is. Everything is built below build/.
#
# Before anything else, make remakes the makefiles that it includes and then starts over. Two of
# them do the setting up: the host's packages (HOST_STAMP), and GNU Mach (KERNEL_STAMP), whose
# headers and interfaces the other makefiles look for. What is there already costs a few ms.

BUILD := build
ARCHS := i386 amd64
ARCH := i386
OUT := $(BUILD)/$(ARCH)

TARGETS := run gdb gdb-attach trace kernel test test-long test-matrix bench-ext2 bench-sync bench-trace \
	list help all servers repin check-style clean distclean

# What `make run` and `make list` take, and the runner's option for it. The runner knows the defaults.
RUN_VARIABLES := ACCEL=accel ARCH=arch BLOCK=block BOOT=boot DISK=disk DISK_SIZE=disk-size DRY=dry \
	FAIL_SECTOR=fail-sector FAIL_TIMES=fail-times FIRMWARE=firmware IMAGE=image JOB=job KEEP=keep \
	MACHINE=machine MEDIUM=medium MEM=mem MERGE_MAX=merge-max NAME=name POLICY=policy SEED=seed \
	SIZE=size SYNC_EVERY=sync-every TIMEOUT=timeout TRACE=trace TRACE_EVENTS=trace-events \
	WATCHDOG=watchdog
# What chooses the kernel: kernel/kernel.mk.
KERNEL_VARIABLES := GNUMACH_DSC KERNEL KERNEL_DEBUG TUNE VARIANT
# The same for `make trace` and its reader.
TRACE_VARIABLES := NAME=name POLICY=policy REQUEST=request SERVER=server VIEW=view
VARIABLES := $(sort $(foreach v,$(RUN_VARIABLES) $(TRACE_VARIABLES),$(firstword $(subst =, ,$(v)))) \
	$(KERNEL_VARIABLES) BREAK N V)

# Only the command line counts: an environment may have a NAME or a SERVER of its own.
$(foreach v,$(VARIABLES),$(if $(filter environment,$(origin $(v))),$(eval undefine $(v))))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# A make that calls this one has given out jobs already.
JOBS := $(if $(filter 0,$(MAKELEVEL)),--jobs=$(shell nproc))
MAKEFLAGS += --no-builtin-rules --no-builtin-variables $(JOBS)

Q := $(if $(filter 1,$(V)),,@)
SAY := $(if $(filter 1,$(V)),@:,@echo)

# Some of what tools print is read: it is not to be in the user's language.
export LC_ALL := C.UTF-8
unexport LANGUAGE

quote = '$(subst ','\'',$(1))'

# A misspelt word must not be a silent "no".
is_given = $(filter command%,$(firstword $(origin $(1))))
UNKNOWN := $(filter-out $(VARIABLES),$(foreach v,$(.VARIABLES),$(if $(call is_given,$(v)),$(v))))
ifneq ($(UNKNOWN),)
$(error machbed: unknown variable $(UNKNOWN); there are: $(VARIABLES))
endif
ifneq ($(filter-out 0 1,$(V)),)
$(error machbed: unknown V '$(V)'; there are: 0 1)
endif
ifeq ($(and $(filter $(ARCHS),$(ARCH)),$(filter 1,$(words $(ARCH)))),)
$(error machbed: unknown ARCH '$(ARCH)'; there are: $(ARCHS))
endif
UNKNOWN := $(filter-out $(TARGETS) $(BUILD)/%,$(MAKECMDGOALS))
ifneq ($(UNKNOWN),)
$(error machbed: unknown target $(UNKNOWN); there are: $(TARGETS))
endif
# Neither make's lists of files, nor newlib's configure, nor QEMU's loader takes one.
ifneq ($(words $(CURDIR)),1)
$(error machbed: there is a blank in the path of this folder, '$(CURDIR)'; expected one without)
endif
# Targets are made side by side.
ifneq ($(and $(filter clean distclean,$(MAKECMDGOALS)),$(filter-out clean distclean,$(MAKECMDGOALS))),)
$(error machbed: clean and distclean stand alone: make $(filter clean distclean,$(MAKECMDGOALS)) first)
endif

# Two makes would write the same files. A recipe that goes on without building anything, such as that
# of a run, lets the next one begin. With -n nothing is built, and nobody let in.
IS_DRY := $(findstring n,$(filter-out --%,$(firstword $(MAKEFLAGS))))
ifneq ($(if $(IS_DRY),,$(filter-out help,$(MAKECMDGOALS))),)
$(shell tools/setup/turn.sh take $(BUILD) $$PPID)
endif
GIVE_TURN = @tools/setup/turn.sh give $(BUILD) $$PPID

# All but these need the host's packages, and a kernel.
BUILDING := $(filter-out help repin clean distclean,$(MAKECMDGOALS))

include kernel/kernel.mk

ifneq ($(BUILDING),)
include tools/setup/setup.mk
ifneq ($(HOST_READY),)
include $(KERNEL_MAKEFILES)
include servers/newlib.mk
include servers/servers.mk
include boot/boot.mk
include tools/tools.mk
include tests/tests.mk
endif
endif

.PHONY: $(TARGETS)

help:
	@cat tools/setup/help

run: $(RUNNER) $(FRAGMENT) $(KERNEL_IMAGE) $(BOOT_MEDIUM) $(SERVER_IMAGES)
	$(GIVE_TURN)
	@echo $(call quote,  KERNEL  $(KERNEL_LINE))
	$(Q)exec $(RUNNER) $(RUN_FILES) --skip-status 0 $(RUN_GIVEN)

# What tools/gdb/machbed/session.py reads. SERVER is `make trace`'s, too.
GDB_SERVER = $(or $(SERVER),pager)
# A kernel that was built here has all its debug information beside it.
GDB_KERNEL = $(or $(if $(filter source,$(KERNEL_ORIGIN)),$(wildcard $(KERNEL_BUILT)/debug/gnumach)),$(KERNEL_IMAGE))
GDB_SETTINGS = MACHBED_OUT=$(OUT) MACHBED_KERNEL=$(GDB_KERNEL) MACHBED_RUNS=$(BUILD)/runs \
	MACHBED_SERVER=$(call quote,$(GDB_SERVER)) MACHBED_BREAK=$(call quote,$(BREAK)) \
	MACHBED_NAME=$(call quote,$(NAME)) MACHBED_POLICY=$(call quote,$(POLICY))
# What is different where nothing else is said.
GDB_DEFAULTS = --name gdb --policy run128 $(if $(filter pager,$(GDB_SERVER)),--job jobs/pager.job)

gdb: $(RUNNER) $(FRAGMENT) $(KERNEL_IMAGE) $(BOOT_MEDIUM) $(SERVER_IMAGES)
	$(GIVE_TURN)
	$(Q)exec env $(GDB_SETTINGS) $(RUNNER) $(RUN_FILES) --skip-status 0 $(GDB_DEFAULTS) $(RUN_GIVEN) \
		--debugger tools/gdb/session.sh

gdb-attach: $(KERNEL_IMAGE) $(SERVER_IMAGES)
	$(GIVE_TURN)
	$(Q)exec env $(GDB_SETTINGS) tools/gdb/session.sh

trace: $(TRACER)
	$(GIVE_TURN)
	$(Q)$(TRACER) --build $(BUILD) $(call options_given,$(TRACE_VARIABLES))

all: $(RUNNER) $(TRACER) $(FRAGMENT) $(KERNEL_IMAGE) $(BOOT_ISO) $(BOOT_DISK) $(SERVER_IMAGES) $(UNIT_TESTS) $(LIMIT)

list: $(RUNNER)
	$(Q)$(RUNNER) --list --jobs jobs

# A make that is killed takes the run with it: the runner is its child, or that of a script which is.
RUN_FILES = --end-with-parent 1 --arch $(ARCH) --build $(BUILD) $(if $(BOOT_MEDIUM),--iso $(BOOT_ISO)) \
	--boot-disk $(BOOT_DISK) --kernel $(KERNEL_IMAGE) \
	--kernel-version $(KERNEL_VERSION) --kernel-origin $(KERNEL_ORIGIN) --kernel-variant $(VARIANT) \
	--tune '$(KERNEL_TUNE)' $(foreach s,$(SERVERS),--module $(s)=$(OUT)/servers/$(s))
run_option = $(if $(call is_given,$(1)),--$(2) $(call quote,$($(1))))
options_given = $(foreach v,$(1),\
	$(call run_option,$(firstword $(subst =, ,$(v))),$(lastword $(subst =, ,$(v)))))
RUN_GIVEN = $(call options_given,$(RUN_VARIABLES))

check-style: $(MIG_HEADERS) $(BARECTF_HEADERS) $(OUT)/layout.h $(OUT)/messages.h $(NEWLIB_STAMP)
	$(GIVE_TURN)
	$(Q)HOST_FLAGS='$(HOST_CFLAGS)' TASK_FLAGS='$(SERVER_CPPFLAGS) $(SERVER_CFLAGS)' \
		tools/setup/check-style.sh

# What was measured and what was downloaded stays.
clean:
	$(Q)test ! -d $(BUILD) || find $(BUILD) -mindepth 1 -maxdepth 1 \
		! -name bench ! -name download ! -name runs -exec rm -rf {} +

distclean:
	$(Q)rm -rf $(BUILD)
