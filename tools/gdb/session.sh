#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
#   session.sh [FOLDER]   gdb on the machine of the boot in FOLDER, at its side until it is left
#
# The rest is in the environment: MACHBED_SERVERS, where the servers' programs are, and what else
# machbed/session.py names. Without FOLDER the boot is looked for among those that run.
set -eu

export MACHBED_FOLDER="${1:-}"
exec gdb -q -x "$(dirname "$0")/machbed.py"
