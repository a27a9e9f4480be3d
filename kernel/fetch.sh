#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fetch the packages that kernel/pins names, without installing them, and GNU Mach's source.
#
#   fetch.sh fetch ARCH DIR PACKAGE...  these become DIR/packages/PACKAGE.deb, checked
#   fetch.sh repin ARCH DIR             kernel/pins gets versions and hashes of today's suite
#   fetch.sh source ARCH DIR VERSION    that source package of gnumach lands in DIR/source
#   fetch.sh answer ARCH DIR VERSION    the same if the mirror has it; DIR/answer.mk says which
#
# DIR/apt holds an apt configuration of our own: the machine's, but with the pinned suite of ARCH as
# the only source, below our own folders. The machine's sources and lists are only read, to learn
# which mirror it uses. A package is there (whole, and with the pinned hash) or it is not: it is
# downloaded in DIR/apt/partial, checked, and then renamed into DIR/packages. For sources the same is
# done in DIR/apt-source; their checksums are those of the suite's signed index.
#
# For tests, MACHBED_PINS in the environment replaces kernel/pins, and MACHBED_MIRROR the mirror (a
# file: URI; it is not signed).
set -eu

action=$1 arch=$2 dir=$3
shift 3
pins=${MACHBED_PINS:-$(dirname "$0")/pins}
suite=$(sed -n 's/^suite //p' "$pins")
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

die()
{
    echo "machbed: $*" >&2
    exit 2
}

# The mirror of Debian's main archive that this machine uses. Origin and label are known only once
# apt has read the index; the suite is what the sources say.
mirror()
{
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(RELEASE)|$(REPO_URI)' 'Created-By: Packages' |
        awk -F'|' '($1 == "Debian" && $2 == "Debian" && $3 !~ /-/) ||
            ($1 == "" && $3 ~ /^(bookworm|stable|oldstable)$/) { print $4; exit }'
}

# apt_configure deb|deb-src NAME: apt's folder is DIR/NAME.
apt_configure()
{
    uri=${MACHBED_MIRROR:-$(mirror)}
    test -n "$uri" || die "apt knows no Debian mirror: add one to its sources, run apt-get update"
    apt=$(cd "$dir" && pwd)/$2
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/partial"
    : > "$apt/state/status"
    echo "$1 [${MACHBED_MIRROR:+trusted=yes }signed-by=$keyring] $uri $suite main" > "$apt/sources.list"
    cat > "$apt/apt.conf" << EOF
Dir::State "$apt/state";
Dir::State::status "$apt/state/status";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Architecture "$arch";
#clear APT::Architectures;
APT::Architectures { "$arch"; };
APT::Default-Release "";
APT::Sandbox::User "root";
Acquire::Languages "none";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
EOF
}

# apt-get with our configuration; on a terminal it shows how far it is.
apt_get()
{
    quiet=-q
    test ! -t 1 || quiet=-q=0
    apt-get $quiet -c "$apt/apt.conf" -o APT::Update::Error-Mode=any "$@"
}

apt_update()
{
    apt_configure deb apt
    echo "  APT     package index of Debian $suite for $arch (about 10 MB)"
    apt_get update ||
        die "cannot read the package index of Debian $suite: is the network there?"
}

# What the suite has of one package: version and hash, nothing if it has none.
suite_has()
{
    apt-cache -c "$apt/apt.conf" show --no-all-versions "$1" 2> /dev/null |
        awk '/^Version:/ { v = $2 } /^SHA256:/ { print v, $2; exit }'
}

hash_of()
{
    sha256sum "$1" | cut -d' ' -f1
}

# The pinned package must be what the suite has, before a byte of it is fetched.
suite_check()
{
    has=$(suite_has "$1")
    test -n "$has" || die "$1 $2 is pinned, but Debian $suite has no such package any more; \
'make repin' takes what the suite has"
    test "${has% *}" = "$2" || die "$1 $2 is pinned, but Debian $suite has ${has% *} now; \
'make repin' takes that"
    test "${has#* }" = "$3" || die "$1 $2 is pinned with SHA-256 $3, but Debian $suite has it \
with ${has#* }; 'make repin' takes that"
}

package_fetch()
{
    suite_check "$1" "$2" "$3"
    echo "  GET     $1 $2"
    rm -f "$apt/partial/"*
    (cd "$apt/partial" && apt_get download "$1=$2") ||
        die "cannot download $1 $2: is the network there?"
    package_check "$1" "$2" "$3" "$apt/partial/"*.deb
    mv "$apt/partial/"*.deb "$dir/packages/$1.deb"
}

package_check()
{
    hash=$(hash_of "$4")
    test "$hash" = "$3" || die "$1 $2 is pinned with SHA-256 $3, but the file has $hash; \
delete $4 to fetch it again, or 'make repin' if the suite has changed"
}

fetch()
{
    mkdir -p "$dir/packages"
    updated=
    for package in "$@"; do
        pin=$(sed -n "s/^$arch $package //p" "$pins")
        test -n "$pin" || die "kernel/pins has no package $package for $arch"
        if test -e "$dir/packages/$package.deb"; then
            test "$(hash_of "$dir/packages/$package.deb")" != "${pin#* }" || continue
        fi
        test -n "$updated" || apt_update
        updated=yes
        package_fetch "$package" "${pin% *}" "${pin#* }"
    done
}

repin()
{
    mkdir -p "$dir"
    apt_update
    while read -r word package version hash; do
        if test "$word" = "$arch"; then
            has=$(suite_has "$package")
            test -n "$has" || die "Debian $suite has no package $package for $arch"
            test "$has" = "$version $hash" || echo "  PIN     $package $has" >&2
            echo "$arch $package $has"
        else
            echo "$word${package:+ $package}${version:+ $version}${hash:+ $hash}"
        fi
    done < "$pins" > "$dir/pins.new"
    mv "$dir/pins.new" "$pins"
}

# The last error in a log of apt, without the mirror's address.
apt_error()
{
    sed -n 's/^E: Failed to fetch [^ ]* *//p; s/^E: //p' "$1" | sed 's/ *\[IP.*//; s/  */ /g' | head -n 1
}

# Whether the mirror has the .dsc at all. To ask costs a few bytes, the index of all sources 10 MB.
source_ask()
{
    uri=${uri%/}/pool/main/g/gnumach/gnumach_${1#*:}.dsc
    /usr/lib/apt/apt-helper -c "$apt/apt.conf" download-file "$uri" "$apt/partial/asked.dsc" \
        > "$apt/log" 2>&1
}

# Fetches the package. Returns 1, with a sentence in $absent, if the mirror does not have it.
source_fetch()
{
    absent=
    test ! -e "$dir/source/gnumach_${1#*:}.dsc" || return 0
    mkdir -p "$dir/source"
    apt_configure deb-src apt-source
    rm -f "$apt/partial/"*
    if ! source_ask "$1"; then
        absent=$(apt_error "$apt/log")
        return 1
    fi
    echo "  APT     source index of Debian $suite (about 10 MB)"
    apt_get update || die "cannot read the source index of Debian $suite: is the network there?"
    rm -f "$apt/partial/"*
    echo "  GET     gnumach $1, the source"
    if ! (cd "$apt/partial" && apt_get source --download-only "gnumach=$1" 2> "$apt/log"); then
        absent=$(apt_error "$apt/log")
        case $absent in *404* | *'not found'*) return 1 ;; esac
        die "cannot download the source of gnumach $1: $absent"
    fi
    # From a mirror on this machine they are links.
    cp -L "$apt/partial/"*.tar.* "$dir/source"
    cp -L "$apt/partial/"*.dsc "$dir/source"
}

source()
{
    mkdir -p "$dir"
    source_fetch "$1" || die "the mirror does not give out the source of gnumach $1 ($absent);" \
        "GNUMACH_DSC=FILE names a source package that is at hand"
    answer_write source "the mirror has its source"
}

answer_write()
{
    printf '# Written by kernel/fetch.sh.\nKERNEL_ANSWER := %s\nKERNEL_ANSWER_WHY := %s\n' "$1" "$2" \
        > "$dir/answer.mk.new"
    mv "$dir/answer.mk.new" "$dir/answer.mk"
}

answer()
{
    mkdir -p "$dir"
    if source_fetch "$1"; then
        answer_write source "the mirror has its source"
    else
        answer_write package "the mirror does not give out its source ($absent)"
    fi
}

"$action" "$@"
