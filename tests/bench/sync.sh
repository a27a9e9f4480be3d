#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sync.sh N FILE JOB POLICIES RUNNER OPTIONS...: how fast writing out is.
#
# Runs JOB N times under each of POLICIES, in turns: a round is one boot of each. In every boot the
# workload also writes as many bytes in a plain loop of device_writes of 1 MiB, to another partition:
# right behind the sync in odd rounds, right before it in even ones, where the policies come in the
# other order, too. So what changes on the host, or within a boot, meets all of them. Compared are
# the medians, and each boot's sync with its own loop. FILE gets the table and, behind it, each boot's
# figures.
set -eu

n=$1 file=$2 job=$3 policies=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "machbed: status 2: $*" >&2
    exit 2
}

case $n in
'' | 0 | *[!0-9]*) fail "N=$n is not a number above zero" ;;
esac
test -r "$job" || fail "JOB=$job cannot be read"
build=build option=
for word; do
    test "$option" != --build || build=$word
    option=$word
done

# job_with WHEN: the job, and the plain loop with it.
job_with()
{
    awk -v when="$1" '
        /^[ \t]*[Pp][Ll][Aa][Ii][Nn][ \t]*=/ { next }
        { print }
        /^[ \t]*\[/ && !/\[global\]/ && !done++ { print "plain=" when }' "$job" > "$work/$1.job"
}

reversed()
{
    echo "$1" | tr , '\n' | tac | paste -s -d ,
}

# run WHEN POLICIES COMMAND...: a round; a line for each of its boots: policy, when the loop came,
# sync_us, plain_us.
run()
{
    when=$1 order=$2
    shift 2
    status=0
    "$@" --job "$work/$when.job" --policy "$order" --name bench-sync > "$work/output" 2>&1 ||
        status=$?
    if test "$status" != 0; then
        tail -n 20 "$work/output" >&2
        exit "$status"
    fi
    awk -v when="$when" '
        function show() {
            if (policy && !(sync + 0 > 0 && plain + 0 > 0)) {
                print "machbed: status 99: " policy " has no times of a sync and a loop" > "/dev/stderr"
                failed = 99
            } else if (policy)
                print policy, when, sync, plain
        }
        { gsub(/[",]/, ""); key = $1 }
        key == "policy:" { show(); policy = $2; sync = plain = "" }
        key == "sync_us:" { sync = $2 }
        key == "plain_us:" { plain = $2 }
        END { show(); exit failed }' "$build/runs/bench-sync/result.json" >> "$work/samples"
}

# table: medians, what lies between the lowest and the highest, and the last policy as the measure of
# the others. Speed is the sync's as part of that of the loop in the same boot.
table()
{
    awk -v policies="$policies" '
        function sorted(key, n, i, j, t) {
            n = count[key]
            for (i = 2; i <= n; i++)
                for (j = i; j > 1 && at[key, j - 1] > at[key, j]; j--) {
                    t = at[key, j]; at[key, j] = at[key, j - 1]; at[key, j - 1] = t
                }
            return n
        }
        function median(key, n) {
            n = sorted(key)
            return n % 2 ? at[key, (n + 1) / 2] : (at[key, n / 2] + at[key, n / 2 + 1]) / 2
        }
        function column(key, format, middle) {
            middle = median(key)
            return sprintf(format " (" format " to " format ")", middle, at[key, 1],
                at[key, count[key]])
        }
        function add(key, value) { at[key, ++count[key]] = value }
        { add($1 " sync", $3 / 1000); add($1 " plain", $4 / 1000); add($1 " speed", $4 / $3) }
        END {
            n = split(policies, name, ",")
            printf "%-9s %5s %27s %25s %23s\n", "policy", "boots", "sync, ms", "plain loop, ms",
                "speed of the sync"
            for (i = 1; i <= n; i++)
                printf "%-9s %5d %27s %25s %23s\n", name[i], count[name[i] " sync"],
                    column(name[i] " sync", "%.0f"), column(name[i] " plain", "%.0f"),
                    column(name[i] " speed", "%.2f")
            for (i = 1; i <= n; i++) {
                names = names (i > 1 ? " : " : "") name[i]
                ratio = ratio sprintf("%s%.2f", i > 1 ? " : " : "",
                    median(name[i] " sync") / median(name[n] " sync"))
            }
            printf "time of the sync, %s = %s\n", names, ratio
        }' "$work/samples"
}

job_with before
job_with after
: > "$work/samples"
i=0
while test "$i" -lt "$n"; do
    i=$((i + 1))
    echo "machbed: round $i of $n" >&2
    if test $((i % 2)) = 1; then
        run after "$policies" "$@"
    else
        run before "$(reversed "$policies")" "$@"
    fi
done
mkdir -p "$(dirname "$file")"
{
    echo "Medians (lowest to highest). Speed is that of the sync as part of that of a plain loop of"
    echo "device_writes of 1 MiB in the same boot; 1 is as fast."
    echo
    table
    echo
    echo "policy plain_loop sync_us plain_us"
    cat "$work/samples"
} > "$file"
sed '/^policy plain_loop/,$d' "$file"
test "$n" -ge 7 || echo "machbed: warning: $n rounds are few; 7 are the least to go by" >&2
echo "files: $file"
