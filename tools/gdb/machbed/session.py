# SPDX-License-Identifier: GPL-2.0-or-later
"""How a session begins.

  MACHBED_FOLDER   the boot's folder; empty: the one that is going on in MACHBED_RUNS, of the run
                   MACHBED_NAME and the policy MACHBED_POLICY where these are not empty
  MACHBED_OUT      where the build has left the servers, and names of messages
  MACHBED_KERNEL   the kernel that the machine boots
  MACHBED_SERVER, MACHBED_BREAK   where to stop first; only for a machine that has not begun
"""
import os
import sys

import gdb

from machbed import image, kernel, link

# Where pages come back: the call that a session of a pager usually is about.
BREAKS = {
    "pager": "S_memory_object_data_return",
    "ext2": "S_memory_object_data_return",
    "workload": "job_run",
    "startup": "startup_tasks_start",
    "kernel": "memory_object_data_return",
}
STATUS_BAD_INPUT = 2


def setting(name):
    return os.environ.get("MACHBED_" + name, "")


def refuse(text):
    """Ends gdb, with one line that says why."""
    print("machbed: status %d: %s" % (STATUS_BAD_INPUT, text), file=sys.stderr)
    gdb.execute("quit %d" % STATUS_BAD_INPUT)


def begin():
    try:
        if setting("FOLDER"):
            machine = link.Link(setting("FOLDER"))
            start(machine)
        else:
            machine = link.Link(link.find(setting("RUNS"), setting("NAME"), setting("POLICY")))
            join(machine)
    except (link.LinkError, gdb.GdbError, gdb.error, OSError) as error:
        refuse(str(error))


def connect(machine):
    machine.take()
    load_symbols(machine)
    import_commands()
    gdb.execute("target remote " + machine.listen(), False, True)
    # A QEMU for 64-bit machines has 64-bit registers for gdb, whatever the machine does.
    if gdb.selected_frame().architecture().name() == "i386:x86-64" and not image.is_wide():
        raise link.LinkError("64-bit firmware needs a 64-bit QEMU, through which gdb reads 32-bit "
                             "programs wrongly: take FIRMWARE=bios or uefi32")


def start(machine):
    """The machine has not begun yet: run it up to the first breakpoint."""
    connect(machine)
    gdb.events.gdb_exiting.connect(lambda event: end())
    gdb.execute("set confirm off") # its question before `quit` would be whether to detach
    name = setting("SERVER")
    server = None if name == "kernel" else server_of(name)
    if server is not None and name not in image.runs():
        refuse("SERVER=%s: the job %s starts %s" % (name, machine.config("job"),
                                                    " ".join(image.runs())))
    if set_breakpoint(name, server):
        print("machbed: the machine runs to a breakpoint in %s; `help machbed` says what can be "
              "asked then" % name)
        gdb.execute("continue")


def server_of(name):
    try:
        return image.lookup(name)
    except gdb.GdbError as error:
        raise gdb.GdbError("SERVER: %s, kernel" % error)


def end():
    """The machine ends with gdb, unless gdb has let go of it (`detach`)."""
    if gdb.selected_inferior().pid == 0:
        return
    try:
        gdb.execute("kill", False, True)
    except gdb.error: # QEMU is gone before it has answered
        pass


def join(machine):
    connect(machine)
    print("machbed: joined %s, which stands still; `continue` and Ctrl-C, `detach` to let it run on"
          % machine.folder)
    gdb.execute("machbed server")


def load_symbols(machine):
    image.link = machine
    image.messages = image.Messages(os.path.join(setting("OUT"), "messages.h"))
    kernel.load(setting("KERNEL"))
    with open(os.path.join(setting("OUT"), "layout.h"), encoding="ascii") as layout:
        names = [line.split('"')[1] for line in layout]
    for name in names:
        image.servers.append(image.Server(os.path.join(setting("OUT"), "servers", name)))


def import_commands():
    from machbed import events, locks, pagers, threads # pylint: disable=unused-import


def set_breakpoint(name, server):
    """A breakpoint in SERVER, and in no other that has a function of that name; None: the kernel's."""
    where = setting("BREAK") or BREAKS.get(name, "main")
    if server is None and not kernel.has_symbols():
        refuse("SERVER=kernel: this kernel has no symbols; KERNEL_DEBUG=1 takes one that has")
        return False
    places = [pc for pc in decode(where) if (server.has(pc) if server else kernel.has(pc))]
    if not places:
        refuse("BREAK='%s': there is no such function or line in %s" % (where, name))
        return False
    for pc in places:
        gdb.Breakpoint("*%#x" % pc)
    return True


def decode(where):
    try:
        return [sal.pc for sal in gdb.decode_line(where)[1] or []]
    except gdb.error:
        return []
