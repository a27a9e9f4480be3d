# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# TAP for tests written in sh; to be sourced from the top folder of the sources.
#
#   t_says NAME STATUS TEXT COMMAND...  COMMAND ends with STATUS and its output has each line of TEXT
#   t_true NAME COMMAND...              COMMAND succeeds
#   t_done                              the plan; the script's status
#
# The folder $t_dir is the test's own and goes away. A failure shows the output of the command.

t_count=0
t_failed=0
t_dir=$(mktemp -d)
trap 'rm -rf "$t_dir"' EXIT

# t_report NAME STATUS: 0 is "ok"
t_report()
{
    t_count=$((t_count + 1))
    if test "$2" = 0; then
        echo "ok $t_count - $1"
    else
        t_failed=$((t_failed + 1))
        echo "not ok $t_count - $1"
        sed 's/^/# /' "$t_dir/output"
    fi
}

t_true()
{
    t_name=$1
    shift
    "$@" > "$t_dir/output" 2>&1
    t_report "$t_name" $?
}

t_says()
{
    t_name=$1 t_status=$2 t_text=$3
    shift 3
    "$@" > "$t_dir/output" 2>&1
    t_is=$?
    test "$t_is" = "$t_status" || echo "status $t_is, expected $t_status" >> "$t_dir/output"
    printf '%s\n' "$t_text" > "$t_dir/text"
    while read -r t_line; do
        grep -qF -e "$t_line" "$t_dir/output" || {
            echo "expected: $t_line" >> "$t_dir/output"
            t_is=bad
        }
    done < "$t_dir/text"
    test "$t_is" = "$t_status"
    t_report "$t_name" $?
}

t_done()
{
    echo "1..$t_count"
    test "$t_failed" = 0
}
