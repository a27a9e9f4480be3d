# SPDX-License-Identifier: GPL-2.0-or-later
#
# The boot medium: an image with GRUB for BIOS and UEFI, the kernel, and the tasks.
#
#   BOOT_ISO     a CD
#   BOOT_DISK    a hard disk
#   BOOT_MEDIUM  the one that MEDIUM asks for; none where QEMU itself loads what would be on a CD

BOOT_ISO := $(KERNEL_OUT)/boot.iso
BOOT_DISK := $(KERNEL_OUT)/boot.img
BOOT_MEDIUM := $(if $(filter disk,$(MEDIUM)),$(BOOT_DISK),$(if $(filter direct,$(BOOT)),,$(BOOT_ISO)))
BOOT_TREE := $(KERNEL_OUT)/medium
BOOT_SERVERS := $(SERVERS:%=$(OUT)/servers/%)

BOOT_GRUB := $(BUILD)/grub
BOOT_GRUB_IMAGES := $(addprefix $(BOOT_GRUB)/,i386-pc-eltorito i386-pc x86_64-efi i386-efi)

$(BOOT_GRUB_IMAGES): $(BOOT_GRUB)/%: boot/grub-image.sh boot/early.cfg
	@mkdir -p $(@D)
	$(SAY) "  GRUB    $*"
	$(Q)boot/grub-image.sh $* $@

# The tasks go without their debug information: there is less to read.
$(BOOT_TREE).stamp: boot/boot.mk boot/grub.cfg boot/modules.sh $(KERNEL_IMAGE) $(BOOT_SERVERS)
	$(Q)rm -rf $(BOOT_TREE)
	$(Q)mkdir -p $(BOOT_TREE)/boot/grub
	$(Q)cp $(KERNEL_IMAGE) $(BOOT_TREE)/boot
	$(Q)for server in $(SERVERS); do \
		strip --strip-debug -o $(BOOT_TREE)/boot/$$server $(OUT)/servers/$$server || exit 1; done
	$(Q)cp boot/grub.cfg $(BOOT_TREE)/boot/grub
	$(Q)boot/modules.sh $(SERVERS) > $(BOOT_TREE)/boot/grub/modules.cfg
	$(Q)touch $@

$(BOOT_ISO) $(BOOT_DISK): boot/make-medium.sh $(BOOT_TREE).stamp $(BOOT_GRUB_IMAGES)
	$(SAY) "  MEDIUM  $@"
	$(Q)boot/make-medium.sh $(if $(filter %.iso,$@),iso,disk) $@.new $(BOOT_TREE) $(BOOT_GRUB)
	$(Q)mv $@.new $@
