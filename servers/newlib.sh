#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# newlib.sh TARGET SOURCE.tar.xz WORK PREFIX: build newlib, the C library of the tasks, for TARGET
# (i686-elf or x86_64-elf) with the host's compiler and install it below PREFIX/TARGET. WORK holds
# sources and objects and goes away.
#
# Hooks are left to servers/librt: system calls, locks (retargetable locking), and __getreent, which
# gives each thread its own errno and buffers (__DYNAMIC_REENT__).
set -eu

target=$1 source=$2 work=$3 prefix=$4
case $target in
i686-elf) bits=32 emulation=elf_i386 machine="-m32 -march=i686" ;;
x86_64-elf) bits=64 emulation=elf_x86_64 machine=-m64 ;;
esac
flags="-O2 -g $machine -ffreestanding -fno-pic -fno-pie -fno-stack-protector"

rm -rf "$work" "$prefix"
mkdir -p "$work/source" "$work/build" "$prefix"
prefix=$(cd "$prefix" && pwd)
tar -x -f "$source" -C "$work/source" --strip-components=1
cd "$work/build"

../source/configure --target="$target" --prefix="$prefix" \
    --disable-multilib --disable-libgloss --disable-newlib-supplied-syscalls \
    --enable-newlib-retargetable-locking --enable-newlib-multithread \
    --enable-newlib-io-long-long --enable-newlib-io-c99-formats \
    CC_FOR_TARGET="gcc -m$bits" AS_FOR_TARGET="as --$bits" LD_FOR_TARGET="ld -m $emulation" \
    AR_FOR_TARGET=ar NM_FOR_TARGET=nm RANLIB_FOR_TARGET=ranlib STRIP_FOR_TARGET=strip \
    OBJDUMP_FOR_TARGET=objdump READELF_FOR_TARGET=readelf \
    CFLAGS_FOR_TARGET="$flags -fcf-protection=none -D__DYNAMIC_REENT__"
make -j2 all-target-newlib
make install-target-newlib

cd "$prefix"
rm -rf "$work"
