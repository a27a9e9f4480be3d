#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Source packages of GNU Mach.
#
#   source.sh version DSC            print the version of a source package
#   source.sh unpack DSC DIR TUNE    make DIR anew: the source, with the patches in kernel/patches in
#                                    the order of their numbers, then TUNE (kernel/tune.sh)
#
# For tests, MACHBED_PATCHES in the environment replaces kernel/patches.
set -eu

action=$1 dsc=$2
top=$(cd "$(dirname "$0")" && pwd)
patches=${MACHBED_PATCHES:-$top/patches}

die()
{
    echo "machbed: $*" >&2
    exit 2
}

# The value of a field; the first, for a signature at the end has a Version too.
field()
{
    sed -n "s/^$1: *//p" "$dsc" | head -n 1
}

check()
{
    test -f "$dsc" || die "GNUMACH_DSC: there is no file $dsc"
    test "$(field Source)" = gnumach || die "GNUMACH_DSC: $dsc is not the .dsc of a source \
package gnumach"
    case $(field Version) in '' | *[!0-9A-Za-z.+:~-]*) die "GNUMACH_DSC: $dsc names no version" ;; esac
}

version()
{
    check
    field Version
}

# Run a command that says something only when it fails; what it said, in one line, goes to the error.
quietly()
{
    what=$1
    shift
    said=$("$@" 2>&1) || die "$what: $(echo "$said" | tail -n 3 | tr '\n' ' ')"
}

unpack()
{
    check
    rm -rf "$1"
    mkdir -p "$(dirname "$1")"
    quietly "$dsc cannot be unpacked" dpkg-source --no-copy -x "$dsc" "$1"
    for patch in "$patches"/[0-9]*.patch; do
        test ! -e "$patch" || quietly "kernel/patches/${patch##*/} does not apply" \
            patch --batch -p1 -d "$1" -i "$patch"
    done
    "$top/tune.sh" apply "$1" "$2"
}

shift 2
"$action" "$@"
