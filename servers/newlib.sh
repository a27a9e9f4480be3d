#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# newlib.sh SOURCE.tar.xz WORK PREFIX: build newlib, the C library of the tasks, with the host's
# compiler and install it below PREFIX/i686-elf. WORK holds sources and objects and goes away.
#
# Hooks are left to servers/librt: system calls, locks (retargetable locking), and __getreent, which
# gives each thread its own errno and buffers (__DYNAMIC_REENT__).
set -eu

source=$1 work=$2 prefix=$3
flags="-O2 -g -m32 -march=i686 -ffreestanding -fno-pic -fno-pie -fno-stack-protector"

rm -rf "$work" "$prefix"
mkdir -p "$work/source" "$work/build" "$prefix"
prefix=$(cd "$prefix" && pwd)
tar -x -f "$source" -C "$work/source" --strip-components=1
cd "$work/build"

../source/configure --target=i686-elf --prefix="$prefix" \
    --disable-multilib --disable-libgloss --disable-newlib-supplied-syscalls \
    --enable-newlib-retargetable-locking --enable-newlib-multithread \
    --enable-newlib-io-long-long --enable-newlib-io-c99-formats \
    CC_FOR_TARGET="gcc -m32" AS_FOR_TARGET="as --32" LD_FOR_TARGET="ld -m elf_i386" \
    AR_FOR_TARGET=ar NM_FOR_TARGET=nm RANLIB_FOR_TARGET=ranlib STRIP_FOR_TARGET=strip \
    OBJDUMP_FOR_TARGET=objdump READELF_FOR_TARGET=readelf \
    CFLAGS_FOR_TARGET="$flags -fcf-protection=none -D__DYNAMIC_REENT__"
make -j2 all-target-newlib
make install-target-newlib

cd "$prefix"
rm -rf "$work"
