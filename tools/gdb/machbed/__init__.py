# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb's helpers for Machbed (docs/debugging.md).

  session.py   begins: symbols, connection, breakpoint      link.py     QEMU's monitor, who debugs
  memory.py    address spaces, also those not current        image.py    servers, symbols, types
  threads.py   threads, their stacks, what they wait for     locks.py    who holds what
  pagers.py    the object, the run at hand, page maps        events.py   what was recorded last
  kernel.py    what only a kernel with symbols can tell      command.py  how a command is made
"""
