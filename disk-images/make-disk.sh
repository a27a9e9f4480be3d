#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make-disk.sh IMAGE BYTES [BLOCK]: make the test disk, a sparse raw image of BYTES bytes:
#
#   partition  first sector  size     for
#   1          2,048         512 MiB  an ext2 file system with blocks of BLOCK bytes (4096)
#   2          1,050,624     256 MiB  the pager server's object
#   3          1,574,912     the rest the default pager
#
# The same arguments make the same bytes: identifiers and times are fixed. Needs neither root nor
# loop devices. To look inside: debugfs -R 'ls -l' 'IMAGE?offset=1048576'.
set -eu

image=$1 bytes=$2 block=${3:-4096}
least=$((770 * 1024 * 1024))
most=$((2 << 40))
uuid=6d616368-6265-4d00-8000-000000000001 # "machbed"
PATH=$PATH:/usr/sbin:/sbin

die()
{
    echo "machbed: a disk of $bytes bytes cannot be made: $1" >&2
    exit 2
}

case $bytes in '' | *[!0-9]*) die "that is no number" ;; esac
test "$bytes" -ge "$least" || die "the partitions need $least bytes (770M) at least"
test "$bytes" -lt "$most" || die "an MBR ends at $most bytes (2 TiB)"
test "$((bytes % 512))" = 0 || die "a sector has 512 bytes"
case $block in 1024 | 2048 | 4096) ;; *) die "blocks have 1024, 2048 or 4096 bytes" ;; esac

trap 'rm -f "$image.new"' EXIT
trap 'exit 2' HUP INT TERM
rm -f "$image.new"
truncate -s "$bytes" "$image.new"

sfdisk --quiet --no-tell-kernel "$image.new" << EOF
label: dos
label-id: 0x6d616368
unit: sectors
start=2048, size=1048576, type=83
start=1050624, size=524288, type=83
start=1574912, type=82
EOF

E2FSPROGS_FAKE_TIME=1196467200 mke2fs -q -F -t ext2 -b "$block" -U "$uuid" \
    -E "offset=1048576,hash_seed=$uuid,root_owner=0:0" "$image.new" 512M

mv "$image.new" "$image"
