#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# trace.sh N FORMS FILE RUNNER OPTIONS...: what recording every event costs.
#
# Runs the job N times without a trace and N times with each of FORMS ("text ctf"), in turns, each
# round beginning with another, so that what changes on the host meanwhile meets all. Compared are
# the medians of runtime_us, the job's measured part; giving the events out comes behind it, and is
# shown apart. FILE gets the table and, behind it, each run's figures.
set -eu

n=$1 modes="off $2" file=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case $n in
'' | 0 | *[!0-9]*)
    echo "machbed: status 2: N=$n is not a number above zero" >&2
    exit 2
    ;;
esac
build=build option=
for word; do
    test "$option" != --build || build=$word
    option=$word
done

# run MODE COMMAND...: one run; a line for each of its boots: policy, mode, runtime_us, events,
# dropped, drain_us.
run()
{
    mode=$1
    shift
    status=0
    "$@" --trace "$mode" --trace-events all --name "bench-trace-$mode" > "$work/output" 2>&1 ||
        status=$?
    if test "$status" != 0; then
        tail -n 20 "$work/output" >&2
        exit "$status"
    fi
    awk -v mode="$mode" '
        function show() {
            if (policy && !(runtime + 0 > 0)) {
                print "machbed: status 99: " policy " has no runtime" > "/dev/stderr"
                failed = 99
            } else if (policy)
                print policy, mode, runtime, events, dropped, drain
        }
        { gsub(/[",]/, ""); key = $1 }
        key == "policy:" { show(); policy = $2; runtime = ""; events = dropped = drain = 0 }
        key == "runtime_us:" { runtime = $2 }
        key == "events:" { events += $2 }
        key == "dropped:" { dropped += $2 }
        key == "drain_us:" { drain += $2 }
        END { show(); exit failed }' "$build/runs/bench-trace-$mode/result.json" >> "$work/samples"
}

# table: medians, what lies between the fastest and the slowest, and the ratio of the medians to that
# without a trace.
table()
{
    sort -k1,1 -k2,2 -k3,3n "$work/samples" | awk -v modes="$modes" '
        function ms(us) { return sprintf("%.1f", us / 1000) }
        function median(key, n) {
            n = count[key]
            return n % 2 ? at[key, (n + 1) / 2] : (at[key, n / 2] + at[key, n / 2 + 1]) / 2
        }
        function column(key) {
            return sprintf("%s (%s to %s)", ms(median(key)), ms(at[key, 1]), ms(at[key, count[key]]))
        }
        {
            key = $1 " " $2
            at[key, ++count[key]] = $3
            if (!seen[$1]++)
                policies[++npolicies] = $1
            events[key] = $4
            dropped[key] += $5
            drain[key] += $6
        }
        END {
            printf "%-9s %-5s %5s %28s %7s %8s %8s %9s\n", "policy", "TRACE", "runs", "runtime, ms",
                "ratio", "events", "dropped", "drain, s"
            nmodes = split(modes, mode)
            for (p = 1; p <= npolicies; p++)
                for (m = 1; m <= nmodes; m++) {
                    key = policies[p] " " mode[m]
                    printf "%-9s %-5s %5d %28s %7.3f %8d %8d %9.2f\n", policies[p], mode[m],
                        count[key], column(key), median(key) / median(policies[p] " off"),
                        events[key], dropped[key], drain[key] / count[key] / 1e6
                }
        }'
}

# round I COMMAND...: a run in each mode, beginning with the Ith.
round()
{
    before='' after='' first=$1 at=0
    shift
    for mode in $modes; do
        if test "$at" -lt $((first % $(echo "$modes" | wc -w))); then
            after="$after $mode"
        else
            before="$before $mode"
        fi
        at=$((at + 1))
    done
    for mode in $before $after; do
        run "$mode" "$@"
    done
}

: > "$work/samples"
i=0
while test "$i" -lt "$n"; do
    i=$((i + 1))
    echo "machbed: round $i of $n" >&2
    round "$i" "$@"
done
mkdir -p "$(dirname "$file")"
{
    echo "Medians of runtime_us (fastest to slowest), with every event recorded and with none."
    table
    echo
    echo "policy mode runtime_us events dropped drain_us"
    cat "$work/samples"
} > "$file"
sed '/^$/,$d' "$file"
test "$n" -ge 7 || echo "machbed: warning: $n runs are few; 7 are the least to go by" >&2
echo "files: $file"
