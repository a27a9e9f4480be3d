#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Ask each linter that is installed about the files that git knows. Status 1 if one complains.
# HOST_FLAGS and TASK_FLAGS are the compiler's, for what runs on the host and on Mach.
set -u

git rev-parse > /dev/null 2>&1 || {
    echo "machbed: this is no clone of a git repository: nobody says which files to look at" >&2
    exit 2
}
status=0

# check TOOL ARGUMENTS... FILES: run it, or say that it is not there.
check()
{
    tool=$1
    test "$tool" != tidy || tool=clang-tidy
    if command -v "$tool" > /dev/null; then
        echo "  STYLE   $tool"
        "$@" || status=1
    else
        echo "  STYLE   $tool is not installed: skipped"
    fi
}

# shellcheck disable=SC2317 # check calls it
# tidy FLAGS FILES: one process a file (given several, it takes one's va_list for another's)
tidy()
{
    tidy_flags=$1
    shift
    # shellcheck disable=SC2086
    printf '%s\n' "$@" | xargs -I FILE -P "$(nproc)" clang-tidy --quiet FILE -- $tidy_flags
}

# None of the names holds a blank.
# shellcheck disable=SC2046
{
    check clang-format --dry-run -Werror $(git ls-files '*.c' '*.h')
    check cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability \
        --inline-suppr --suppress=missingIncludeSystem $(git ls-files '*.c')
    check tidy "$HOST_FLAGS" $(git ls-files 'tools/*.c')
    check tidy "$TASK_FLAGS" $(git ls-files 'servers/*.c')
    check shellcheck -x $(git grep -lI -e '^#!/bin/sh' -e '^# shellcheck shell=sh')
}

exit $status
