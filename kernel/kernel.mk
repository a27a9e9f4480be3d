# SPDX-License-Identifier: GPL-2.0-or-later
#
# GNU Mach from Debian's packages: the kernel, its headers and interfaces, and MIG.
#
#   KERNEL_IMAGE    the kernel, unpacked, as GRUB and QEMU load it
#   KERNEL_VERSION  its version
#   MACH_INCLUDE    the folder of <mach/…>, <device/…> and the .defs files
#   MIGCOM          the MIG compiler for tasks of this architecture
#   KERNEL_STAMP    a file that is newer than all of them: what uses them depends on it

KERNEL_PACKAGE_i386 := gnumach-image-1.8-486-up
KERNEL_PACKAGE_amd64 := gnumach-image-1.8-amd64-up
KERNEL_PACKAGE := $(KERNEL_PACKAGE_$(ARCH))
KERNEL_VERSION := $(shell sed -n 's/^$(ARCH) $(KERNEL_PACKAGE) \([^ ]*\) .*/\1/p' kernel/pins)
KERNEL_DOWNLOAD := $(BUILD)/download/$(ARCH)
KERNEL_TREE := $(OUT)/kernel

KERNEL_IMAGE := $(OUT)/gnumach
KERNEL_STAMP := $(OUT)/kernel.stamp
MACH_INCLUDE := $(KERNEL_TREE)/usr/include/$(ARCH:amd64=x86_64)-linux-gnu
MIGCOM_i386 := i686-gnu-migcom
MIGCOM_amd64 := x86_64-gnu-migcom
MIGCOM := $(KERNEL_TREE)/usr/lib/mig/$(MIGCOM_$(ARCH))

$(KERNEL_STAMP): kernel/pins kernel/fetch.sh
	$(Q)kernel/fetch.sh fetch $(ARCH) $(KERNEL_DOWNLOAD)
	$(SAY) "  UNPACK  GNU Mach $(KERNEL_VERSION)"
	$(Q)rm -rf $(KERNEL_TREE) $(KERNEL_TREE).new
	$(Q)mkdir -p $(KERNEL_TREE).new
	$(Q)for deb in $(KERNEL_DOWNLOAD)/packages/*.deb; do \
		dpkg -x $$deb $(KERNEL_TREE).new || exit 2; done
	$(Q)gunzip -c $(KERNEL_TREE).new/boot/gnumach-*.gz > $(KERNEL_IMAGE).new
	$(Q)mv $(KERNEL_IMAGE).new $(KERNEL_IMAGE)
	$(Q)mv $(KERNEL_TREE).new $(KERNEL_TREE)
	$(Q)touch $@

$(KERNEL_IMAGE) $(MIGCOM): $(KERNEL_STAMP) ;

.PHONY: repin
repin:
	$(Q)kernel/fetch.sh repin $(ARCH) $(KERNEL_DOWNLOAD)
