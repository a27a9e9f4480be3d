#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One make at a time builds in a folder: two would write the same files at once.
#
#   turn.sh take FOLDER MAKE   wait until no other make builds in FOLDER; MAKE, a process, does now
#   turn.sh give FOLDER MAKE   it builds nothing more; what it does from here on disturbs nobody
#
# FOLDER/.turn holds whose turn it is: a process, and when that began, for numbers of processes come
# again. A make that has ended, however it did, has given its turn. Where nothing can be written,
# nothing is built, and there are no turns.
set -u

action=$1 folder=$2 make=$3
turn=$folder/.turn

# When a process began, in ticks since the machine did; nothing if there is none, or it has ended.
began()
{
    sed -n 's/.*) [^XZ] //p' "/proc/$1/stat" | cut -d' ' -f19
}

# Whose turn it is, if it is that of another; else it is MAKE's from here on.
try()
{
    flock 9
    pid='' start=''
    read -r pid start < "$turn"
    if test -n "$start" && test "$pid" != "$make" && test "$(began "$pid")" = "$start"; then
        echo "$pid"
    else
        echo "$make $(began "$make")" > "$turn"
    fi
}

take()
{
    said=
    while mkdir -p "$folder" && test -w "$folder"; do
        other=$(try 9>> "$turn")
        test -n "$other" || break
        test -n "$said" || echo "machbed: waiting for another make that builds in $folder/" \
            "(process $other)" >&3
        said=yes
        sleep 0.1
    done
}

give()
{
    test ! -w "$turn" || grep -qv "^$make " "$turn" || : > "$turn"
}

# What fails here (a full disk, a folder that goes away) fails again where it is built, and is said there.
"$action" 3>&2 2> /dev/null
