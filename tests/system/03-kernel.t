#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# GNU Mach from source: which kernel is chosen and why, what is refused, what TUNE changes. The source
# package is a small one, made here. Its kernel is the prebuilt one, so that it can be booted, with
# the tuned file as a section of its own, so that it can be told which source it was made from.
# No network: an archive in a folder stands in for Debian's.
set -u
. tests/system/tap.sh

top=$PWD
# Those in kernel/patches are for GNU Mach's own source.
export MACHBED_PATCHES="$t_dir/patches"
kernel=build/i386/kernels/package-up/gnumach
test -e "$kernel" || make kernel KERNEL=package > /dev/null

# package_make VERSION CONFIGURE: the source package in $t_dir, with these first lines of configure
package_make()
{
    source=$t_dir/gnumach-$1
    mkdir -p "$source/debian/source" "$source/vm" "$source/drivers"
    cp "$kernel" "$source/prebuilt"
    printf '#define DATA_WRITE_MAX 32\n#define TWICE 1\n' > "$source/vm/limits.h"
    printf '#define MAX_BUF\t\t8\n#define TWICE 2\n' > "$source/drivers/block.c"
    printf '#define PRDTL_SIZE 8 /* see MAX_BUF */\n#define MAX_BUF PAGE\n' > "$source/drivers/ahci.c"
    echo 'as it came' > "$source/history"
    cat > "$source/configure" << EOF
#!/bin/sh
echo "configured with \$*"
$2
printf 'gnumach:\n\tcat \$(S)/vm/*.h \$(S)/drivers/*.c \$(S)/history > limits\n' > Makefile
printf '\tobjcopy --add-section=.limits=limits \$(S)/prebuilt gnumach\n' >> Makefile
echo "S := \$(dirname "\$0")" >> Makefile
EOF
    chmod +x "$source/configure"
    printf '3.0 (native)\n' > "$source/debian/source/format"
    printf 'Source: gnumach\nMaintainer: none <none@example.org>\n\nPackage: gnumach\nArchitecture: any\n' \
        > "$source/debian/control"
    printf 'gnumach (%s) trixie; urgency=low\n\n  * Made by a test.\n\n -- none <none@example.org>  %s\n' \
        "$1" 'Thu, 01 Jan 2026 00:00:00 +0000' > "$source/debian/changelog"
    (cd "$t_dir" && dpkg-source -b "gnumach-$1") > "$t_dir/output" 2>&1 || cat "$t_dir/output" >&2
}

# limits_of KERNEL: the lines that it was made from
limits_of()
{
    objcopy -O binary --only-section=.limits --set-section-flags .limits=alloc "$1" "$t_dir/limits"
    tr -s '\t ' '  ' < "$t_dir/limits"
}

package_make 9.1 ""
dsc=$t_dir/gnumach_9.1.dsc
# The pid makes it another source package in each run: nothing that was built before is taken.
package_make "9.1.$$" ""
run_dsc=$t_dir/gnumach_9.1.$$.dsc

# Unpacking, patches, tuning.
unpack()
{
    kernel/source.sh unpack "$1" "$t_dir/unpacked" "${2:-}"
}

tuned()
{
    unpack "$dsc" "$2" && grep -rh '#define' "$t_dir/unpacked" | tr -s '\t ' '  ' | grep -Fx "$1"
}

t_says "the version of a source package is read" 0 9.1 kernel/source.sh version "$dsc"
t_true "a source package is unpacked" unpack "$dsc"
t_true "TUNE changes a number" tuned '#define DATA_WRITE_MAX 256' 'DATA_WRITE_MAX=256'
t_true "and only where it is one" tuned '#define MAX_BUF PAGE' 'MAX_BUF=16 PRDTL_SIZE=16'
t_true "and leaves a comment behind it" tuned '#define PRDTL_SIZE 16 /* see MAX_BUF */' \
    'MAX_BUF=16 PRDTL_SIZE=16'
t_says "a name that the source does not define is refused" 2 \
    "TUNE: no line of the source defines NOWHERE as a number" unpack "$dsc" NOWHERE=1
t_says "a name that it defines twice is refused, with both places" 2 \
    "TUNE: TWICE is defined as a number in more than one line, in
drivers/block.c:2
vm/limits.h:2" unpack "$dsc" TWICE=1
t_says "more buffers than AHCI's table has entries are refused" 2 \
    "TUNE: MAX_BUF=16 needs PRDTL_SIZE=16 or more, and it is 8" unpack "$dsc" MAX_BUF=16

mkdir "$t_dir/patches"
hunk()
{
    printf 'Why: a test.\n\n--- a/history\n+++ b/history\n@@ -1 +1 @@\n-%s\n+%s\n' "$1" "$2"
}
hunk 'patched once' 'patched twice' > "$t_dir/patches/0002-second.patch"
hunk 'as it came' 'patched once' > "$t_dir/patches/0001-first.patch"
t_true "patches apply in the order of their numbers" unpack "$dsc"
t_true "all of them" grep -qx 'patched twice' "$t_dir/unpacked/history"
hunk 'something else' 'x' > "$t_dir/patches/0003-third.patch"
t_says "a patch that does not apply is named" 2 \
    "kernel/patches/0003-third.patch does not apply" unpack "$dsc"
rm -r "$t_dir/patches"

mkdir "$t_dir/damaged"
sed 's/^\( [0-9a-f]*\)[0-9a-f] /\10 /; s/^\( [0-9a-f]*\)00 /\11 /' "$dsc" > "$t_dir/damaged/${dsc##*/}"
cp "$t_dir/gnumach_9.1.tar.xz" "$t_dir/damaged"
t_says "a source that is not what its .dsc says is refused" 2 "cannot be unpacked" \
    unpack "$t_dir/damaged/${dsc##*/}"

# What make refuses.
t_says "an unknown KERNEL is refused" 2 "unknown KERNEL 'src'; there are: auto source package" \
    make kernel KERNEL=src
t_says "a TUNE without a value is refused" 2 "TUNE: 'MAX_BUF' is not NAME=value" \
    make kernel TUNE=MAX_BUF
t_says "a TUNE that is no number is refused" 2 "TUNE: MAX_BUF='x' is not a number above zero" \
    make kernel TUNE=MAX_BUF=x
t_says "a TUNE that is there twice is refused" 2 "TUNE: MAX_BUF is there twice" \
    make kernel TUNE="MAX_BUF=4 MAX_BUF=5"
# shellcheck disable=SC2016 # make shall expand it
t_says "a TUNE that the shell would run is refused" 2 "is no name of a macro" \
    make kernel TUNE='$$(id)=1'
t_says "more buffers than a kernel can have are refused with the reason" 2 \
    "TUNE: MAX_BUF=64 is more than 32: the heads of the buffers lie on the kernel's stack" \
    make kernel TUNE="MAX_BUF=64 PRDTL_SIZE=64"
t_says "a package cannot be tuned" 2 "KERNEL=package builds nothing: leave TUNE away" \
    make kernel KERNEL=package TUNE=MAX_BUF=4
t_says "a .dsc that is not there is refused" 2 "GNUMACH_DSC: there is no file /none.dsc" \
    make kernel GNUMACH_DSC=/none.dsc
t_says "a file that is no .dsc is refused" 2 "README.md is not the .dsc of a source package gnumach" \
    make kernel GNUMACH_DSC=README.md

# A run with a kernel that was built here.
name=test-$$-kernel
run()
{
    make run GNUMACH_DSC="$run_dsc" NAME=$name BOOT=direct POLICY=run128 SIZE=1M "$@"
}

result()
{
    tr -d ' \n' < "build/runs/$name/result.json" | grep -o '"kernel":{[^}]*}[^}]*}'
}

t_says "a kernel built from a source package boots and does its job" 0 \
    "KERNEL  GNU Mach 9.1.$$ from source
KERNEL  GNU Mach 9.1.$$, up, built from source: GNUMACH_DSC names $run_dsc; DATA_WRITE_MAX=64
GNU Mach 9.1.$$ (source, DATA_WRITE_MAX=64)
machbed: status 0: 1 boot, every check passed" run TUNE=DATA_WRITE_MAX=64
# The folder of what is built of that package: `+DATA_WRITE_MAX-64` and the like follow.
folder=build/i386/kernels/dsc-$(sha256sum "$run_dsc" | cut -c 1-12)-up
built=$folder+DATA_WRITE_MAX-64
t_says "result.json says what it was built from" 0 '"origin":"source"
"tune":{"DATA_WRITE_MAX":64}
'"\"version\":\"9.1.$$\"
\"sha256\":\"$(sha256sum < "$built/gnumach" | cut -d' ' -f1)\"" result
t_says "the kernel is made from the tuned source" 0 '#define DATA_WRITE_MAX 64
#define PRDTL_SIZE 8' limits_of "$built/gnumach"
t_says "the configuration is the pinned one" 0 \
    "configured with --host=i686-gnu CC=gcc -m32" cat "$built/build.log"
t_says "a build with all symbols is kept aside, for KERNEL_DEBUG=1" 0 "$built/debug/gnumach" \
    make kernel GNUMACH_DSC="$run_dsc" TUNE=DATA_WRITE_MAX=64 KERNEL_DEBUG=1
t_true "the same setting is not built again" sh -c \
    "make kernel GNUMACH_DSC='$run_dsc' TUNE=DATA_WRITE_MAX=64 | tee /dev/stderr | { ! grep 'from source, one'; }"
t_says "another setting is built in a folder of its own" 0 "KERNEL  GNU Mach 9.1.$$ from source
$folder+DATA_WRITE_MAX-128/gnumach" make kernel GNUMACH_DSC="$run_dsc" TUNE=DATA_WRITE_MAX=128
t_says "the first one stays" 0 '#define DATA_WRITE_MAX 64' limits_of "$built/gnumach"
rm -rf "build/runs/$name" "build/runs/.$name.lock" "$built" "$folder+DATA_WRITE_MAX-128"

# A tree of its own, with other pins and an archive in a folder, for what a mirror has or has not.
tree=$t_dir/tree
mkdir -p "$tree/build/download/i386" "$t_dir/archive/dists/trixie/main/source"
for entry in "$top"/*; do
    case ${entry##*/} in build | kernel) ;; *) ln -s "$entry" "$tree" ;; esac
done
cp -r kernel "$tree"
cp -r build/download/i386/packages "$tree/build/download/i386"
sed -i '/image-1.8-486-up/s/ 2:[^ ]* / 9.2 /' "$tree/kernel/pins"

archive_index()
{
    (
        cd "$t_dir/archive" || exit
        dpkg-scansources pool > dists/trixie/main/source/Sources 2> /dev/null
        cd dists/trixie || exit
        index=main/source/Sources
        printf '%s\n' 'Suite: trixie' 'Codename: trixie' 'Architectures: i386' 'Components: main' \
            'Date: Thu, 01 Jan 2026 00:00:00 UTC' 'SHA256:'
        echo " $(sha256sum $index | cut -d' ' -f1) $(stat -c %s $index) $index"
    ) > "$t_dir/Release"
    mv "$t_dir/Release" "$t_dir/archive/dists/trixie/Release"
}

# archive_put VERSION: it has this source package
archive_put()
{
    mkdir -p "$t_dir/archive/pool/main/g/gnumach"
    cp "$t_dir/gnumach_$1".* "$t_dir/archive/pool/main/g/gnumach"
    archive_index
}

tree_make()
{
    MACHBED_MIRROR=file:$t_dir/archive make -C "$tree" "$@"
}

archive_index
t_says "KERNEL=source says that the mirror has no source" 2 \
    "the mirror does not give out the source of gnumach 9.2 (File not found
GNUMACH_DSC=FILE names a source package that is at hand" tree_make kernel KERNEL=source
t_says "so does TUNE" 2 "the mirror does not give out the source of gnumach 9.2" \
    tree_make kernel TUNE=MAX_BUF=4
t_says "KERNEL=auto takes the package then, and says why" 0 \
    "KERNEL  GNU Mach 9.2, up, Debian's package: the mirror does not give out its source (File not found" \
    tree_make kernel
package_make 9.2 ""
archive_put 9.2
t_says "it asks once" 0 "Debian's package: the mirror does not give out its source" tree_make kernel
t_says "KERNEL=source asks again" 0 "GET     gnumach 9.2, the source
KERNEL  GNU Mach 9.2, up, built from source: KERNEL=source was asked for" \
    tree_make kernel KERNEL=source
t_says "and then KERNEL=auto knows it" 0 \
    "KERNEL  GNU Mach 9.2, up, built from source: the mirror has its source" tree_make kernel
touch "$tree/kernel/fetch.sh"
t_says "make help asks no mirror" 0 "make run" tree_make help
t_true "nor does it change what is known of one" \
    test "$tree/kernel/fetch.sh" -nt "$tree/build/download/i386/answer.mk"
t_says "KERNEL=package never builds" 0 "Debian's package: KERNEL=package was asked for" \
    tree_make kernel KERNEL=package
rm -r "$t_dir/archive/pool"
t_says "a source that is there needs no mirror" 0 "GNU Mach 9.2 from source
built from source: TUNE changes the source; DATA_WRITE_MAX=2 MAX_BUF=4" \
    tree_make kernel TUNE="MAX_BUF=4 DATA_WRITE_MAX=2"

package_make 9.3 'echo "the last words"; exit 3'
archive_put 9.3
sed -i '/image-1.8-486-up/s/ 9.2 / 9.3 /' "$tree/kernel/pins"
t_says "a build that fails shows the end of its log, and no package takes its place" 2 \
    "GET     gnumach 9.3, the source
kernel/build.sh failed with status 3; the end of build/i386/kernels/source-up/build.log:
the last words" tree_make kernel
rm "$t_dir/archive/pool/main/g/gnumach/gnumach_9.3.tar.xz"
rm -r "$tree/build/download/i386/source"
t_says "a source without all its files is none" 2 \
    "the mirror does not give out the source of gnumach 9.3" tree_make kernel KERNEL=source

t_done
