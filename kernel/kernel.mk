# SPDX-License-Identifier: GPL-2.0-or-later
#
# GNU Mach from Debian's packages: the kernel, its headers and interfaces, and MIG.
#
#   KERNEL_IMAGE    the kernel, unpacked, as GRUB and QEMU load it
#   KERNEL_VERSION  its version
#   KERNEL_OUT      the folder of what is made for this kernel alone; each setting has its own
#   MACH_INCLUDE    the folder of <mach/…>, <device/…> and the .defs files
#   MIGCOM          the MIG compiler for tasks of this architecture
#   KERNEL_STAMP    a file that is newer than these two: what uses them depends on it

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

# The same kernel with symbols is a package, and a build, of its own.
KERNEL_DEBUG := 0
ifeq ($(and $(filter 0 1,$(KERNEL_DEBUG)),$(filter 1,$(words $(KERNEL_DEBUG)))),)
$(error machbed: unknown KERNEL_DEBUG '$(KERNEL_DEBUG)'; there are: 0 1)
endif
KERNEL_KIND := $(VARIANT)$(if $(filter 1,$(KERNEL_DEBUG)),-dbg)

KERNEL_PACKAGE := gnumach-image-1.8-$(KERNEL_CPU_$(ARCH))-$(KERNEL_KIND)
KERNEL_VERSION := $(shell sed -n 's/^$(ARCH) $(KERNEL_PACKAGE) \([^ ]*\) .*/\1/p' kernel/pins)
KERNEL_DOWNLOAD := $(BUILD)/download/$(ARCH)
KERNEL_OUT := $(OUT)/kernels/package-$(KERNEL_KIND)
KERNEL_IMAGE := $(KERNEL_OUT)/gnumach

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

# After the stamp, so that two processes do not use one apt folder at a time.
$(KERNEL_IMAGE): $(KERNEL_STAMP)
	$(Q)kernel/fetch.sh fetch $(ARCH) $(KERNEL_DOWNLOAD) $(KERNEL_PACKAGE)
	$(SAY) "  UNPACK  $(KERNEL_PACKAGE) $(KERNEL_VERSION)"
	$(Q)mkdir -p $(@D)
	$(Q)dpkg --fsys-tarfile $(KERNEL_DOWNLOAD)/packages/$(KERNEL_PACKAGE).deb | \
		tar -xO --wildcards './boot/gnumach-*.gz' | gunzip > $@.new
	$(Q)mv $@.new $@

.PHONY: repin
repin:
	$(Q)kernel/fetch.sh repin $(ARCH) $(KERNEL_DOWNLOAD)
