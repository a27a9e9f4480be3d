#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# modules.sh SERVER...: print GRUB's module lines: the file, the task's name, then words of the kernel's
# boot script, quoted because ${...} and $(...) are the kernel's to expand. (For BOOT=direct,
# tools/run/machine.c says the same words.)
#
# A line with $(NAME-task=task-create) and no $(task-resume) leaves that task suspended, and lets
# other lines pass its port on. So startup alone runs; it gives the others their bootstrap port, and
# resumes those that the job needs.
set -eu

tasks=
for server in "$@"; do
    test "$server" = startup || tasks="$tasks '$server=\${$server-task}'"
done

for server in "$@"; do
    case $server in
    startup) words="'host=\${host-port}' 'dev=\${device-port}'$tasks '\$(task-create)' '\$(task-resume)'" ;;
    *) words="'\$($server-task=task-create)'" ;;
    esac
    echo "module /boot/$server $server $words"
done
