#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Ask each linter that is installed about the files that git knows. Status 1 if one complains.
# HOST_FLAGS and TASK_FLAGS are the compiler's, for what runs on the host and on Mach.
set -u

status=0

# check TOOL ARGUMENTS... FILES: run it, or say that it is not there.
check()
{
    if command -v "$1" > /dev/null; then
        echo "  STYLE   $1"
        "$@" || status=1
    else
        echo "  STYLE   $1 is not installed: skipped"
    fi
}

# None of the names holds a blank.
# shellcheck disable=SC2046,SC2086
{
    check clang-format --dry-run -Werror $(git ls-files '*.c' '*.h')
    check cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability \
        --inline-suppr --suppress=missingIncludeSystem $(git ls-files '*.c')
    check clang-tidy --quiet --warnings-as-errors='*' $(git ls-files 'tools/*.c') -- $HOST_FLAGS
    check clang-tidy --quiet --warnings-as-errors='*' $(git ls-files 'servers/*.c') -- $TASK_FLAGS
    check shellcheck -x $(git grep -lI -e '^#!/bin/sh' -e '^# shellcheck shell=sh')
}

exit $status
