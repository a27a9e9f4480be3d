#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Setting up: packages of the host, the pinned packages of the kernel, the front door's refusals.
# No network: an archive with one package stands in for Debian's.
set -u
. tests/system/tap.sh

# An archive in $t_dir/archive with package "toy", version 2.
archive_make()
{
    mkdir -p "$t_dir/toy/DEBIAN" "$t_dir/archive/dists/trixie/main/binary-i386"
    printf '%s\n' 'Package: toy' 'Version: 2' 'Architecture: i386' 'Maintainer: none' \
        'Description: none' > "$t_dir/toy/DEBIAN/control"
    chmod 755 "$t_dir/toy/DEBIAN" # dpkg-deb insists, whatever the umask is
    dpkg-deb --build "$t_dir/toy" "$t_dir/archive/toy.deb" > /dev/null
    toy_hash=$(sha256sum "$t_dir/archive/toy.deb" | cut -d' ' -f1)
    (
        cd "$t_dir/archive" || exit
        cat "$t_dir/toy/DEBIAN/control"
        echo "Filename: toy.deb"
        echo "Size: $(stat -c %s toy.deb)"
        echo "SHA256: $toy_hash"
    ) > "$t_dir/archive/dists/trixie/main/binary-i386/Packages"
    (
        cd "$t_dir/archive/dists/trixie" || exit
        index=main/binary-i386/Packages
        printf '%s\n' 'Suite: trixie' 'Codename: trixie' 'Architectures: i386' 'Components: main' \
            'Date: Thu, 01 Jan 2026 00:00:00 UTC' 'SHA256:'
        echo " $(sha256sum $index | cut -d' ' -f1) $(stat -c %s $index) $index"
    ) > "$t_dir/Release"
    mv "$t_dir/Release" "$t_dir/archive/dists/trixie/Release"
}

# fetch VERSION HASH: as if kernel/pins held package "toy" with these
fetch()
{
    printf '%s\n' 'suite trixie' "i386 toy $1 $2" > "$t_dir/pins"
    MACHBED_PINS=$t_dir/pins MACHBED_MIRROR=file:$t_dir/archive \
        kernel/fetch.sh "${3:-fetch}" i386 "$t_dir/download" toy
}

archive_make
other_hash=$(echo other | sha256sum | cut -d' ' -f1)

t_says "a pinned hash that is not the suite's is refused, with both" 2 \
    "toy 2 is pinned with SHA-256 $other_hash
$toy_hash
make repin" fetch 2 "$other_hash"
t_says "a pinned version that has left the suite is refused, with both" 2 \
    "toy 1 is pinned, but Debian trixie has 2 now
make repin" fetch 1 "$toy_hash"
t_true "a refused package leaves nothing behind" test ! -e "$t_dir/download/packages/toy.deb"
t_says "repin takes what the suite has" 0 "toy 2 $toy_hash" fetch 1 "$other_hash" repin
t_true "repin rewrites the pin" grep -qx "i386 toy 2 $toy_hash" "$t_dir/pins"
t_says "a pinned package is fetched" 0 "GET     toy 2" fetch 2 "$toy_hash"
t_true "the package is whole" cmp "$t_dir/archive/toy.deb" "$t_dir/download/packages/toy.deb"
rm -r "$t_dir/archive"
t_true "a package that is there needs no archive" fetch 2 "$toy_hash"
rm "$t_dir/download/packages/toy.deb"
t_says "a package that is not pinned is refused" 2 "kernel/pins has no package toy for i386" \
    env MACHBED_PINS=/dev/null kernel/fetch.sh fetch i386 "$t_dir/download" toy
t_says "an archive that cannot be reached is one error" 2 "cannot read the package index" \
    fetch 2 "$toy_hash"

# setup FILE: as if FILE were the list of packages, on a system that is not Debian 12
setup()
{
    MACHBED_PACKAGES=$1 MACHBED_OS_RELEASE=/dev/null tools/setup/packages.sh install run
}

printf '%s\n' '# comment' 'run one sh' 'run two no-such-program' 'run three /no/such/*' \
    'test four no-such-program' > "$t_dir/packages"
echo 'run one sh' > "$t_dir/nothing"
t_says "on another system, what is missing is listed" 2 "missing here: two three" \
    setup "$t_dir/packages"
t_true "on another system that has all of it, all is well" setup "$t_dir/nothing"

echo 'test four no-such-program' > "$t_dir/tests"

# asked TARGET...: make TARGET on another system, which has all but what reads a trace
asked()
{
    echo 'trace reader no-such-program' > "$t_dir/readers"
    MACHBED_PACKAGES=$t_dir/readers MACHBED_OS_RELEASE=/dev/null make "$@"
}

t_says "TRACE=ctf asks for what reads it" 2 "missing here: reader" asked run TRACE=ctf
t_says "so does make trace" 2 "missing here: reader" asked trace
t_true "no other run does" asked run DRY=1 NAME=setup-dry
t_says "to build all of it is to build the tests, too" 2 "missing here: four" \
    env MACHBED_PACKAGES="$t_dir/tests" MACHBED_OS_RELEASE=/dev/null make all

# debian SUDO: a Debian 12 on which we are not root, and where sudo is the program SUDO
debian()
{
    mkdir -p "$t_dir/bin"
    printf 'ID=debian\nVERSION_ID="12"\n' > "$t_dir/os-release"
    printf '#!/bin/sh\necho 1000\n' > "$t_dir/bin/id"
    printf '#!/bin/sh\n%s\n' "$1" > "$t_dir/bin/sudo"
    chmod +x "$t_dir/bin/id" "$t_dir/bin/sudo"
    PATH=$t_dir/bin:$PATH MACHBED_PACKAGES=$t_dir/packages MACHBED_OS_RELEASE=$t_dir/os-release \
        tools/setup/packages.sh install test
}

t_says "without root's rights, the one command to type is printed" 2 \
    "apt-get update && apt-get install -y --no-install-recommends two three four" debian 'exit 1'
# shellcheck disable=SC2016
t_says "with sudo, apt-get installs and asks nothing" 2 \
    "sudo -n env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive apt-get -q -y
--no-install-recommends install two three four
still missing after their installation: two three four" debian 'echo "sudo $*"'

t_says "an unknown variable is refused, with those that exist" 2 "unknown variable POLCY
POLICY
SEED" make run POLCY=page
t_says "what the environment calls NAME or POLICY is nothing to us" 0 "MACHBED_NAME='' MACHBED_POLICY=''" \
    env NAME=host POLICY=none make -n gdb-attach
t_says "an unknown target is refused, with those that exist" 2 "unknown target rnu
there are: run
list" make rnu
t_says "clean is not done while something else is built" 2 "clean and distclean stand alone: make clean first" \
    make clean all
t_says "an unknown ARCH is refused" 2 "unknown ARCH 'vax'; there are: i386 amd64" make run ARCH=vax
t_says "an unknown VARIANT is refused" 2 "unknown VARIANT 'xen' of i386; there are: up pae smp" \
    make run VARIANT=xen
mkdir "$t_dir/a blank"
t_says "a path with a blank is refused" 2 "there is a blank in the path of this folder, '$t_dir/a blank'" \
    make -C "$t_dir/a blank" -f "$PWD/Makefile" help
t_says "every variable is in the help" 0 "JOB=
SIZE=
POLICY=
DISK=
DISK_SIZE=
BLOCK=
IMAGE=
BOOT=
MEM=
ACCEL=
TIMEOUT=
NAME=
SEED=
KEEP=
KERNEL=
GNUMACH_DSC=
TUNE=
VARIANT=
DRY=
ARCH=
MACHINE=
FIRMWARE=
MEDIUM=
V=" make help

t_true "everything can be built" make all
t_true "what is built is not built again" sh -c 'make all | tee /dev/stderr | { ! grep "^  "; }'
t_says "make -n test builds nothing, for no architecture" 0 "-n --no-print-directory all ARCH=amd64" \
    make -n test
t_says "DRY=1 prints the command line" 0 "qemu-system-i386
-readconfig" make run DRY=1 NAME=setup-dry
t_true "DRY=1 boots nothing" test ! -e build/runs/setup-dry/page/serial.log

# The other make of these is a process that sleeps.
sleep 60 &
first=$!
tools/setup/turn.sh take build $first
# shellcheck disable=SC2016 # the inner shell expands it
t_says "a make waits for another that builds in the same folder, until that has ended" 0 \
    "machbed: waiting for another make that builds in build/ (process $first)
run128" sh -c 'make list & sleep 2; kill "$1"; wait $!' - $first
turn=$t_dir/turn
sleep 60 &
first=$!
tools/setup/turn.sh take "$turn" $first
tools/setup/turn.sh give "$turn" $first
# shellcheck disable=SC2016 # as above
t_true "a make that builds nothing more is not waited for" \
    sh -c '! tools/setup/turn.sh take "$1" $$ 2>&1 | grep waiting' - "$turn"
kill $first

t_says "a long step that fails shows the end of its log" 2 "failed with status 3
last words" tools/setup/progress.sh "$t_dir/log" 10 sh -c 'echo last words; exit 3'

disk()
{
    disk-images/make-disk.sh "$t_dir/$1.img" "$2"
}

t_true "a disk is made" disk one 1073741824
t_true "a disk is made again" disk two 1073741824
# Up to the end of the file system's first group.
t_true "the same arguments make the same disk" cmp -n 135266304 "$t_dir/one.img" "$t_dir/two.img"
t_true "its file system is clean" \
    env PATH="$PATH:/usr/sbin:/sbin" e2fsck -fn "$t_dir/one.img?offset=1048576"
t_says "a disk that is too small is refused" 2 "the partitions need 807403520 bytes" disk three 4096
t_true "a refused disk is not there" test ! -e "$t_dir/three.img"

t_done
