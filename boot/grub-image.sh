#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# grub-image.sh FORMAT FILE: make an image of GRUB with boot/early.cfg and all modules that
# boot/grub.cfg needs, so that there is little to read. FORMAT is grub-mkimage's: i386-pc-eltorito for
# a CD and i386-pc for a hard disk under BIOS, x86_64-efi and i386-efi for UEFI.
set -eu

format=$1 file=$2
modules="configfile eval multiboot multiboot2 normal reboot regexp search search_fs_file serial smbios"

case $format in
i386-pc-eltorito) modules="$modules biosdisk iso9660" ;;
i386-pc) modules="$modules biosdisk part_msdos fat" ;;
*) modules="$modules iso9660 part_msdos fat" ;;
esac

# shellcheck disable=SC2086
grub-mkimage --format="$format" --directory="/usr/lib/grub/${format%-eltorito}" \
    --config=boot/early.cfg --prefix=/boot/grub --output="$file" $modules
