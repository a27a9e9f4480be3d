# SPDX-License-Identifier: GPL-2.0-or-later
#
# What gdb reads first (session.sh): it begins the session. The helpers are in machbed/.
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from machbed import session

session.begin()
