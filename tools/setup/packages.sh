#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
#   packages.sh missing LIST...   print which of the host's packages are missing
#   packages.sh install LIST...   install them (Debian 12), or say how to, and stop with status 2
#
# A LIST is the first word of a line of the file `packages`; `run` always counts as one.
#
# It never asks a question: it is root, or sudo works without a password, or it prints the command.
#
# MACHBED_PACKAGES and MACHBED_OS_RELEASE replace the list and /etc/os-release (for tests).
set -eu

action=$1
shift
lists=" run $* "
packages=${MACHBED_PACKAGES:-$(dirname "$0")/packages}
os_release=${MACHBED_OS_RELEASE:-/etc/os-release}
PATH=$PATH:/usr/sbin:/sbin

is_there()
{
    case $1 in
    /*) test -e "$1" ;;
    *) command -v "$1" > /dev/null ;;
    esac
}

missing()
{
    while read -r list package probe; do
        case $lists in *" $list "*) ;; *) continue ;; esac
        # The probe may be a pattern: its first match counts.
        # shellcheck disable=SC2086
        is_there $probe || printf '%s ' "$package"
    done < "$packages"
}

is_debian_12()
{
    grep -q '^ID=debian$' "$os_release" && grep -q '^VERSION_ID="12"$' "$os_release" &&
        test "$(uname -m)" = x86_64
}

# The words that give a command root's rights, nothing if there are none.
as_root()
{
    if test "$(id -u)" = 0; then
        echo env
    elif sudo -n true 2> /dev/null; then
        echo sudo -n env
    fi
}

stop()
{
    printf 'machbed: %s\n' "$@" >&2
    exit 2
}

install()
{
    wanted=$(missing)
    test -n "$wanted" || exit 0
    is_debian_12 || stop "this is not Debian 12 on amd64; what is in these of its packages is \
missing here: $wanted"
    root=$(as_root)
    test -n "$root" || stop "packages are missing; run this as root, then try again:" \
        "apt-get update && apt-get install -y --no-install-recommends $wanted"

    echo "machbed: installing what is missing (apt says how much it downloads): $wanted"
    root="$root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive"
    options="-q -y -o DPkg::Lock::Timeout=300 --no-install-recommends"
    # shellcheck disable=SC2086
    {
        $root apt-get $options update || echo "machbed: going on with apt's old lists" >&2
        $root apt-get $options install $wanted || stop "apt-get could not install $wanted"
    }
    wanted=$(missing)
    test -z "$wanted" || stop "still missing after their installation: $wanted"
}

"$action"
