#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Limits of the kernel that are numbers in its source, for TUNE="NAME=value …".
#
#   tune.sh check "NAME=value …"          are these well formed, and known to work?
#   tune.sh apply SOURCE "NAME=value …"   change the unpacked source
#
# NAME may be any macro that exactly one line of the source defines as a plain number. For some of
# them it is known how far they go:
#
#   DATA_WRITE_MAX  pages per memory_object_data_return (vm/memory_object.c); 32
#   MAX_BUF         buffers of a page per disk command, in what joins Mach and the drivers
#                   (linux/dev/glue/block.c); 8
#   PRDTL_SIZE      the same in the AHCI driver's table (linux/dev/drivers/block/ahci.c); 8
set -euf

action=$1
shift

die()
{
    echo "machbed: TUNE: $*" >&2
    exit 2
}

# limit NAME VALUE MOST REASON
limit()
{
    test "$2" -le "$3" || die "$1=$2 is more than $3: $4"
}

check_word()
{
    name=${1%%=*} value=${1#*=}
    case $1 in *=*) ;; *) die "'$1' is not NAME=value" ;; esac
    case $name in '' | [0-9]* | *[!A-Za-z0-9_]*) die "'$name' is no name of a macro" ;; esac
    case $value in '' | 0* | *[!0-9]*) die "$name='$value' is not a number above zero" ;; esac
    test "${#value}" -le 9 || die "$name=$value has more than nine digits"
    case $name in
    DATA_WRITE_MAX) limit "$name" "$value" 256 "its list of pages lies on the kernel's stack of \
4 KiB, and 256 is what was tried" ;;
    MAX_BUF) limit "$name" "$value" 32 "the heads of the buffers lie on the kernel's stack of \
4 KiB, and with 64 of them the kernel stops on an assertion" ;;
    PRDTL_SIZE) limit "$name" "$value" 32 "a command has no more entries than MAX_BUF, which goes to \
32" ;;
    esac
}

check()
{
    names=' '
    for word in $1; do
        check_word "$word"
        case $names in *" $name "*) die "$name is there twice" ;; esac
        names="$names$name "
    done
}

# Print FILE:LINE: of each definition of $name as a number.
places()
{
    grep -rnEo --include='*.[chS]' \
        "^[[:space:]]*#[[:space:]]*define[[:space:]]+$1[[:space:]]+[0-9]+([[:space:]]|$)" . || true
}

apply_word()
{
    name=${1%%=*} value=${1#*=}
    found=$(places "$name")
    test -n "$found" || die "no line of the source defines $name as a number"
    test "$(echo "$found" | wc -l)" = 1 ||
        die "$name is defined as a number in more than one line, in" \
            "$(echo "$found" | sed 's,^\./,,' | cut -d: -f1,2 | sed '4,$d' | paste -sd' ')" ...
    file=$(echo "$found" | cut -d: -f1) line=$(echo "$found" | cut -d: -f2)
    sed -i -E "${line}s/(${name}[[:space:]]+)[0-9]+/\\1$value/" "$file"
}

number()
{
    places "$1" | sed -n '$s/[^0-9]*$//; $s/.*[^0-9]//p'
}

# Where both are there, the AHCI driver's table has an entry for each buffer, or it stops.
check_buffers()
{
    buffers=$(number MAX_BUF) entries=$(number PRDTL_SIZE)
    test -z "$buffers" || test -z "$entries" || test "$buffers" -le "$entries" ||
        die "MAX_BUF=$buffers needs PRDTL_SIZE=$buffers or more, and it is $entries: else the AHCI \
driver stops on an assertion"
}

apply()
{
    cd "$1"
    for word in $2; do
        apply_word "$word"
    done
    check_buffers
}

"$action" "$@"
