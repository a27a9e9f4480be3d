#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# explain.sh LOGS: of each test that failed, by what tests/limit.c has left in LOGS, what it said of its
# first failure; all together little enough for the end of a log.
set -eu

logs=$1
set -- "$logs"/*.failed
test -e "$1" || exit 0

lines=$((40 / $#))
test "$lines" -ge 8 || lines=8
for failed in "$@"; do
    log=${failed%.failed}
    echo
    echo "machbed: $(cat "$failed"); all that it said: $log"
    # From the first failure on, without what did not fail; where there is none, the end.
    told=$(tr -d '\r' < "$log" | awk -v lines="$lines" '
        /Failed test|^not ok|\[  FAILED  \]|^ERROR|ERROR:/ { on = 1 }
        on && !/^ok / && !/^#?$/ && lines-- > 0 { print substr($0, 1, 200) }')
    echo "${told:-$(tail -n "$lines" "$log")}"
done
