#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# progress.sh LOG LINES COMMAND...: run a long command whose output (about LINES lines) goes to LOG,
# and show how far it is: a moving percentage on a terminal, one figure per 10 % elsewhere. When the
# command fails, the end of the log follows.
set -u

log=$1 lines=$2
shift 2
mkdir -p "$(dirname "$log")"
tty=0
test ! -t 1 || tty=1

{ "$@" 2>&1; echo $? > "$log.status"; } < /dev/null |
    awk -v log_file="$log" -v lines="$lines" -v tty="$tty" '
        { print > log_file }
        { percent = int(NR * 100 / lines); if (percent > 99) percent = 99 }
        tty && percent != shown { printf "\r          %d %%", percent; fflush(); shown = percent }
        !tty && percent >= shown + 10 { shown += 10; printf " %d%%", shown; fflush() }
        BEGIN { printf "" > log_file; if (!tty) printf "         " }
        END { printf tty ? "\r                \r" : "\n" }'

status=$(cat "$log.status")
rm -f "$log.status"
if test "$status" != 0; then
    echo "machbed: $1 failed with status $status; the end of $log:" >&2
    tail -n 20 "$log" >&2
    exit 2
fi
