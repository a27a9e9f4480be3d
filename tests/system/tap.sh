# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# TAP for tests written in sh; to be sourced from the top folder of the sources.
#
#   t_says NAME STATUS TEXT COMMAND...  COMMAND ends with STATUS and its output has each line of TEXT
#   t_true NAME COMMAND...              COMMAND succeeds
#   t_done                              the plan; the script's status
#
# The folder $t_dir is the test's own and goes away. A failure shows the command, what was expected,
# and the end of what it printed; on standard error, for prove shows no comments of the other.

t_count=0
t_failed=0
t_dir=$(mktemp -d)
trap 'rm -rf "$t_dir"' EXIT
trap 'exit 1' HUP INT TERM # by the limit of time, or Ctrl-C

# t_report STATUS COMMAND...: 0 is "ok"; $t_wrong says what is not
t_report()
{
    t_count=$((t_count + 1))
    if test "$1" = 0; then
        echo "ok $t_count - $t_name"
        return
    fi
    shift
    t_failed=$((t_failed + 1))
    echo "not ok $t_count - $t_name"
    {
        echo "  Failed test '$t_name'"
        echo "command:  $*"
        printf '%s' "$t_wrong"
        echo "the end of what was printed:"
        tail -n 20 "$t_dir/output"
    } | sed 's/^/# /' >&2
}

t_true()
{
    t_name=$1
    shift
    "$@" > "$t_dir/output" 2>&1
    t_is=$?
    t_wrong="expected: status 0
got:      status $t_is
"
    t_report $t_is "$@"
}

t_says()
{
    t_name=$1 t_status=$2 t_text=$3
    shift 3
    "$@" > "$t_dir/output" 2>&1
    t_is=$? t_wrong=
    test "$t_is" = "$t_status" || t_wrong="expected: status $t_status
got:      status $t_is
"
    printf '%s\n' "$t_text" > "$t_dir/text"
    while read -r t_line; do
        grep -qF -e "$t_line" "$t_dir/output" || t_wrong="${t_wrong}expected: $t_line
"
    done < "$t_dir/text"
    test -z "$t_wrong"
    t_report $? "$@"
}

t_done()
{
    echo "1..$t_count"
    test "$t_failed" = 0
}
