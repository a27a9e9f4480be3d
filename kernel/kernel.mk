# SPDX-License-Identifier: GPL-2.0-or-later
#
# GNU Mach: the kernel, its headers and interfaces, and MIG.
#
#   KERNEL_IMAGE      the kernel, unpacked, as GRUB and QEMU load it
#   KERNEL_VERSION    its version
#   KERNEL_ORIGIN     source: built here; package: Debian's binary package
#   KERNEL_LINE       one line that says which it is and why
#   KERNEL_OUT        the folder of what is made for this kernel alone; each setting has its own
#   MACH_INCLUDE      the folder of <mach/…>, <device/…> and the .defs files
#   MIGCOM            the MIG compiler for tasks of this architecture
#   KERNEL_STAMP      a file that is newer than these two: what uses them depends on it
#   KERNEL_MAKEFILES  what make includes before all else: KERNEL_STAMP, and whether there is a source
#
# Headers and MIG are always those of the packages.

# The kernels that Debian builds: its processor, then the variants.
KERNEL_CPU_i386 := 486
KERNEL_CPU_amd64 := amd64
KERNEL_VARIANTS_i386 := up pae smp
KERNEL_VARIANTS_amd64 := up

VARIANT := up
KERNEL_VARIANTS := $(KERNEL_VARIANTS_$(ARCH))
ifeq ($(and $(filter $(KERNEL_VARIANTS),$(VARIANT)),$(filter 1,$(words $(VARIANT)))),)
$(error machbed: unknown VARIANT '$(VARIANT)' of $(ARCH); there are: $(KERNEL_VARIANTS))
endif

# The same kernel with symbols: a package of its own, or the other file that a build makes.
KERNEL_DEBUG := 0
ifeq ($(and $(filter 0 1,$(KERNEL_DEBUG)),$(filter 1,$(words $(KERNEL_DEBUG)))),)
$(error machbed: unknown KERNEL_DEBUG '$(KERNEL_DEBUG)'; there are: 0 1)
endif

KERNEL := auto
KERNEL_KINDS := auto source package
ifeq ($(and $(filter $(KERNEL_KINDS),$(KERNEL)),$(filter 1,$(words $(KERNEL)))),)
$(error machbed: unknown KERNEL '$(KERNEL)'; there are: $(KERNEL_KINDS))
endif

GNUMACH_DSC :=
TUNE :=
KERNEL_TUNE := $(sort $(TUNE))
kernel_check = $(if $(1),$(error $(1)))
ifneq ($(KERNEL_TUNE),)
$(call kernel_check,$(shell kernel/tune.sh check $(call quote,$(TUNE)) 2>&1))
endif
ifneq ($(and $(filter package,$(KERNEL)),$(GNUMACH_DSC)$(KERNEL_TUNE)),)
$(error machbed: KERNEL=package builds nothing: leave $(if $(GNUMACH_DSC),GNUMACH_DSC,TUNE) away, or \
take KERNEL=source)
endif
ifneq ($(words $(GNUMACH_DSC)),$(if $(GNUMACH_DSC),1,0))
$(error machbed: GNUMACH_DSC: '$(GNUMACH_DSC)' is not one path without blanks)
endif

KERNEL_PACKAGE := gnumach-image-1.8-$(KERNEL_CPU_$(ARCH))-$(VARIANT)$(if $(filter 1,$(KERNEL_DEBUG)),-dbg)
KERNEL_PINNED := $(shell sed -n 's/^$(ARCH) $(KERNEL_PACKAGE) \([^ ]*\) .*/\1/p' kernel/pins)
KERNEL_DOWNLOAD := $(BUILD)/download/$(ARCH)
KERNEL_MIRROR_DSC := $(KERNEL_DOWNLOAD)/source/gnumach_$(lastword $(subst :, ,$(KERNEL_PINNED))).dsc

# Which one: what was asked for, and with KERNEL=auto what the mirror has.
KERNEL_ANSWER_FILE := $(KERNEL_DOWNLOAD)/answer.mk
KERNEL_DSC := $(KERNEL_MIRROR_DSC)
KERNEL_VERSION := $(KERNEL_PINNED)
ifneq ($(GNUMACH_DSC),)
KERNEL_DSC := $(GNUMACH_DSC)
KERNEL_ORIGIN := source
KERNEL_WHY := GNUMACH_DSC names $(GNUMACH_DSC)
KERNEL_VERSION := $(shell kernel/source.sh version $(call quote,$(KERNEL_DSC)) 2>&1)
$(call kernel_check,$(if $(filter machbed:,$(KERNEL_VERSION)),$(KERNEL_VERSION)))
else ifeq ($(KERNEL),package)
KERNEL_ORIGIN := package
KERNEL_WHY := KERNEL=package was asked for
else ifneq ($(filter source,$(KERNEL))$(KERNEL_TUNE),)
KERNEL_ORIGIN := source
KERNEL_WHY := $(if $(filter source,$(KERNEL)),KERNEL=source was asked for,TUNE changes the source)
else
-include $(if $(BUILDING),$(wildcard $(KERNEL_ANSWER_FILE)))
KERNEL_ORIGIN := $(KERNEL_ANSWER)
KERNEL_WHY := $(KERNEL_ANSWER_WHY)
KERNEL_ASKS := $(KERNEL_ANSWER_FILE)
endif

# A folder for each setting, without signs that mean something to make. Of a source package that was
# named, the name does not count, but what it holds.
empty :=
KERNEL_ID := $(if $(GNUMACH_DSC),dsc-$(shell sha256sum $(call quote,$(GNUMACH_DSC)) | cut -c 1-12),\
	$(KERNEL_ORIGIN))
KERNEL_TUNED := $(subst =,-,$(KERNEL_TUNE:%=+%))
KERNEL_BUILT := $(OUT)/kernels/$(strip $(KERNEL_ID))-$(VARIANT)$(subst $(empty) +,+,$(KERNEL_TUNED))
KERNEL_DEBUGGED := $(if $(filter 1,$(KERNEL_DEBUG)),$(if $(filter source,$(KERNEL_ORIGIN)),/debug,-dbg))
KERNEL_OUT := $(KERNEL_BUILT)$(KERNEL_DEBUGGED)
KERNEL_IMAGE := $(KERNEL_OUT)/gnumach
KERNEL_LINE = GNU Mach $(KERNEL_VERSION), $(VARIANT), \
$(if $(filter source,$(KERNEL_ORIGIN)),built from source,Debian's package): \
$(KERNEL_WHY)$(if $(KERNEL_TUNE),; $(KERNEL_TUNE))

# What all kernels of this architecture share.
KERNEL_TOOLS_i386 := gnumach-dev mig-i686-gnu
KERNEL_TOOLS_amd64 := gnumach-dev mig-x86-64-gnu
KERNEL_TOOLS := $(KERNEL_TOOLS_$(ARCH))
KERNEL_TREE := $(OUT)/kernel
KERNEL_STAMP := $(OUT)/kernel.stamp
MACH_INCLUDE := $(KERNEL_TREE)/usr/include/$(ARCH:amd64=x86_64)-linux-gnu
MIGCOM_i386 := i686-gnu-migcom
MIGCOM_amd64 := x86_64-gnu-migcom
MIGCOM := $(KERNEL_TREE)/usr/lib/mig/$(MIGCOM_$(ARCH))
KERNEL_MIG := $(KERNEL_TREE)/usr/bin/$(MIGCOM_$(ARCH):%com=%)
KERNEL_MAKEFILES := $(KERNEL_STAMP) $(KERNEL_ASKS)

$(KERNEL_STAMP): kernel/pins kernel/fetch.sh
	$(Q)kernel/fetch.sh fetch $(ARCH) $(KERNEL_DOWNLOAD) $(KERNEL_TOOLS)
	$(SAY) "  UNPACK  $(KERNEL_TOOLS)"
	$(Q)rm -rf $(KERNEL_TREE) $(KERNEL_TREE).new
	$(Q)mkdir -p $(KERNEL_TREE).new
	$(Q)for package in $(KERNEL_TOOLS); do \
		dpkg -x $(KERNEL_DOWNLOAD)/packages/$$package.deb $(KERNEL_TREE).new || exit 2; done
	$(Q)mv $(KERNEL_TREE).new $(KERNEL_TREE)
	$(Q)touch $@

$(MIGCOM): $(KERNEL_STAMP) ;

$(KERNEL_ANSWER_FILE): kernel/pins kernel/fetch.sh
	$(Q)kernel/fetch.sh answer $(ARCH) $(KERNEL_DOWNLOAD) $(KERNEL_PINNED)

$(KERNEL_MIRROR_DSC):
	$(Q)kernel/fetch.sh source $(ARCH) $(KERNEL_DOWNLOAD) $(KERNEL_PINNED)

ifeq ($(KERNEL_ORIGIN),source)
# An error of the source, or of what is done to it, is one line; one of the build, the end of a log.
$(KERNEL_BUILT)/gnumach $(KERNEL_BUILT)/debug/gnumach &: $(KERNEL_DSC) kernel/pins kernel/source.sh kernel/tune.sh kernel/build.sh \
		$(wildcard kernel/patches/*.patch) | $(KERNEL_STAMP)
	$(Q)kernel/source.sh unpack $(call quote,$(KERNEL_DSC)) $(KERNEL_BUILT)/source '$(KERNEL_TUNE)'
	$(SAY) "  KERNEL  GNU Mach $(KERNEL_VERSION) from source, one to two minutes"
	$(Q)env -i PATH="$$PATH" tools/setup/progress.sh $(KERNEL_BUILT)/build.log 2000 \
		kernel/build.sh $(ARCH) $(VARIANT) $(KERNEL_BUILT)/source $(KERNEL_BUILT) $(KERNEL_MIG)
else
# After the stamp, so that two processes do not use one apt folder at a time.
$(KERNEL_IMAGE): $(KERNEL_STAMP)
	$(Q)kernel/fetch.sh fetch $(ARCH) $(KERNEL_DOWNLOAD) $(KERNEL_PACKAGE)
	$(SAY) "  UNPACK  $(KERNEL_PACKAGE) $(KERNEL_VERSION)"
	$(Q)mkdir -p $(@D)
	$(Q)dpkg --fsys-tarfile $(KERNEL_DOWNLOAD)/packages/$(KERNEL_PACKAGE).deb | \
		tar -xO --wildcards './boot/gnumach-*.gz' | gunzip > $@.new
	$(Q)mv $@.new $@
endif

.PHONY: kernel
kernel: $(KERNEL_IMAGE)
	@echo $(call quote,  KERNEL  $(KERNEL_LINE))
	@echo "          $(KERNEL_IMAGE)"

.PHONY: repin
repin:
	$(Q)kernel/fetch.sh repin $(ARCH) $(KERNEL_DOWNLOAD)
