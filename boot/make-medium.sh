#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make-medium.sh iso|disk IMAGE TREE GRUB: make a boot medium that holds the files in TREE and starts
# under BIOS, 64-bit UEFI and 32-bit UEFI. GRUB is the folder of boot/grub-image.sh's images.
#
#   iso   a CD. BIOS and UEFI each have an entry in its boot catalogue: GRUB itself, and a FAT image
#         with \EFI\BOOT in it.
#   disk  a hard disk: GRUB for BIOS in the MBR and behind it, and one partition, an EFI system
#         partition, from sector 2,048. It holds all the rest, and GRUB for BIOS reads it as well.
#
# Needs neither root nor loop devices. Identifiers are fixed.
set -eu

kind=$1 image=$2 tree=$3 grub=$4
serial=6d616368 # "mach"
PATH=$PATH:/usr/sbin:/sbin

# efi_copy DRIVE: both images of GRUB, where UEFI looks for them on a removable medium.
efi_copy()
{
    mmd -i "$1" ::/EFI ::/EFI/BOOT
    mcopy -i "$1" "$grub/x86_64-efi" ::/EFI/BOOT/BOOTX64.EFI
    mcopy -i "$1" "$grub/i386-efi" ::/EFI/BOOT/BOOTIA32.EFI
}

make_iso()
{
    rm -f "$image.efi"
    mformat -C -i "$image.efi" -f 2880 -N $serial ::
    efi_copy "$image.efi"
    xorriso -as mkisofs -quiet -R -V MACHBED -o "$image" \
        -b grub-bios.img -no-emul-boot -boot-load-size 4 -boot-info-table \
        -eltorito-alt-boot -e grub-efi.img -no-emul-boot \
        -graft-points "$tree" /grub-bios.img="$grub/i386-pc-eltorito" /grub-efi.img="$image.efi" \
        2> "$image.log" || {
        cat "$image.log" >&2
        exit 1
    }
}

# The MBR's code loads the sector behind it, and that one what follows it: grub-mkimage says how many
# sectors. There is room up to the partition.
make_disk()
{
    core=$(stat -c %s "$grub/i386-pc")
    test "$core" -le $((2047 * 512)) || {
        echo "machbed: GRUB has $core bytes, which do not fit in front of the partition" >&2
        exit 1
    }
    rm -f "$image"
    truncate -s 64M "$image"
    dd if=/usr/lib/grub/i386-pc/boot.img of="$image" bs=440 count=1 conv=notrunc status=none
    dd if="$grub/i386-pc" of="$image" bs=512 seek=1 conv=notrunc status=none
    sfdisk --quiet --no-tell-kernel "$image" << EOF
label: dos
label-id: 0x$serial
unit: sectors
start=2048, type=ef, bootable
EOF
    mformat -i "$image@@1M" -T 129024 -H 2048 -h 64 -s 32 -N $serial ::
    mcopy -s -i "$image@@1M" "$tree"/* ::/
    efi_copy "$image@@1M"
}

trap 'rm -f "$image.efi" "$image.log"' EXIT
"make_$kind"
