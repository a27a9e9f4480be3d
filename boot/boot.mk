# SPDX-License-Identifier: GPL-2.0-or-later
#
# The boot medium: a CD image with GRUB for BIOS, the kernel, and the tasks.
#
#   BOOT_ISO  the image

BOOT_ISO := $(KERNEL_OUT)/boot.iso
BOOT_TREE := $(KERNEL_OUT)/iso
BOOT_SERVERS := $(SERVERS:%=$(OUT)/servers/%)

# Only what boot/grub.cfg uses, so that there is little to read: the image is 2 MB, not 5. For the
# same reason the tasks go without their debug information.
BOOT_GRUB_MODULES := biosdisk configfile eval iso9660 multiboot normal reboot regexp serial smbios
BOOT_MKRESCUE := grub-mkrescue --directory=/usr/lib/grub/i386-pc --locales= --fonts= --themes= \
	--install-modules="$(BOOT_GRUB_MODULES)"

$(BOOT_ISO): boot/boot.mk boot/grub.cfg boot/modules.sh $(KERNEL_IMAGE) $(BOOT_SERVERS)
	$(SAY) "  ISO     $@"
	$(Q)rm -rf $(BOOT_TREE) $@.new
	$(Q)mkdir -p $(BOOT_TREE)/boot/grub
	$(Q)cp $(KERNEL_IMAGE) $(BOOT_TREE)/boot
	$(Q)for server in $(SERVERS); do \
		strip --strip-debug -o $(BOOT_TREE)/boot/$$server $(OUT)/servers/$$server || exit 1; done
	$(Q)cp boot/grub.cfg $(BOOT_TREE)/boot/grub
	$(Q)boot/modules.sh $(SERVERS) > $(BOOT_TREE)/boot/grub/modules.cfg
	$(Q)$(BOOT_MKRESCUE) --output=$@.new $(BOOT_TREE) > $(KERNEL_OUT)/iso.log 2>&1 || \
		{ cat $(KERNEL_OUT)/iso.log >&2; exit 1; }
	$(Q)mv $@.new $@
