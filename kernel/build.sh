#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# build.sh ARCH VARIANT SOURCE OUT MIG: build the kernel from the folder SOURCE. All that is made lands
# in OUT: `gnumach`, with no more than the names of its functions, and `debug/gnumach`, the same with
# all debug information.
#
# The configuration is that of Debian's package, as far as its files show it: all but the drivers for
# networks, which live in user space there.
set -eu

arch=$1 variant=$2 out=$4
source=$(cd "$3" && pwd)
mig=$(cd "$(dirname "$5")" && pwd)/$(basename "$5")

case $arch in
i386) host=i686-gnu cc="gcc -m32" ld="ld -melf_i386" ;;
amd64) host=x86_64-gnu cc="gcc -m64" ld="ld -melf_x86_64" ;;
esac
case $variant in
up) options="" ;;
pae) options="--enable-pae" ;;
smp) options="--enable-ncpus=8 --enable-apic --disable-linux-groups" ;;
esac

mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/work"
mkdir "$out/work"

# Debian's package has no configure: it makes it as we do.
test -e "$source/configure" || (cd "$source" && autoreconf --force --install)

cd "$out/work"
# shellcheck disable=SC2086
"$source/configure" --host=$host CC="$cc" LD="$ld" MIG="$mig" \
    --disable-net-group --disable-pcmcia-group --disable-wireless-group $options
make -j"$(nproc)" gnumach

objcopy --strip-debug gnumach "$out/gnumach.new"
mkdir -p "$out/debug"
mv gnumach "$out/debug"
mv "$out/gnumach.new" "$out/gnumach"
rm -rf "$out/work"
