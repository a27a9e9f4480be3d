# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine of a boot, by the files in its folder.

QEMU listens to a debugger only once its monitor has been told to, so that a run which nobody looks
into is what it would be without all this. The socket is in the boot's folder.

The lock tells the runner that a debugger is there (tools/run/debug.h). It is held until this process
ends, however that ends.
"""
import fcntl
import glob
import json
import os
import socket
import time

LOCK = "gdb.lock"
SOCKET = "gdb"
MONITOR = "monitor"
START_SECONDS = 10
SECONDS = 120 # a busy host may take long to copy the machine's memory


class LinkError(Exception):
    pass


class Link:
    def __init__(self, folder):
        self.folder = folder
        self.lock = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def take(self):
        """Keeps other debuggers away, and the runner's clock."""
        self.lock = os.open(self.path(LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LinkError("%s: another debugger has joined this run" % self.folder)

    def listen(self):
        """Has QEMU listen. Returns the socket's path."""
        self.monitor("human-monitor-command",
                     {"command-line": "gdbserver unix:%s,server=on,wait=off" % SOCKET})
        return self.path(SOCKET)

    def monitor(self, command, arguments):
        """What QEMU returns to COMMAND (QEMU, docs/interop/qmp-spec)."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(SECONDS)
            self.connect(monitor)
            lines = monitor.makefile("rw", encoding="utf-8")
            try:
                lines.readline() # the greeting
                ask(lines, "qmp_capabilities", {})
                return ask(lines, command, arguments)
            except TimeoutError:
                raise LinkError("QEMU's monitor has not answered within %d s" % SECONDS)

    def connect(self, monitor):
        """QEMU makes the socket first, and listens a moment later."""
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                return monitor.connect(self.path(MONITOR))
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > end:
                    raise LinkError("%s: QEMU has no monitor there: has it started?" % self.folder)
                time.sleep(0.05)

    def config(self, key):
        """A value of the run's configuration (docs/protocol.md, section 1)."""
        with open(self.path("run.cfg"), encoding="utf-8") as config:
            for line in config:
                name, _, value = line.rstrip("\n").partition("=")
                if name == key:
                    return value
        return ""


def ask(lines, command, arguments):
    lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
    lines.flush()
    while True:
        line = lines.readline()
        if line == "":
            raise LinkError("QEMU's monitor does not answer: is the run over?")
        answer = json.loads(line)
        if "return" in answer:
            return answer["return"]
        if "error" in answer:
            raise LinkError("QEMU refuses %s: %s" % (command, answer["error"].get("desc")))


def lives(folder):
    """Whether there is a QEMU that has FOLDER's monitor."""
    try:
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.connect(os.path.join(folder, MONITOR))
        return True
    except OSError:
        return False


def find(runs, name, policy):
    """The folder of the one boot that runs, of the run NAME and with POLICY where these are given."""
    pattern = os.path.join(runs, name or "*", policy or "*", MONITOR)
    folders = [os.path.dirname(path) for path in glob.glob(pattern)]
    folders = sorted(folder for folder in folders if lives(folder))
    if len(folders) == 1:
        return folders[0]
    if not folders:
        raise LinkError("no run%s is going on in %s" % (" named " + name if name else "", runs))
    raise LinkError("several runs are going on, say which by NAME= and POLICY=: %s" %
                    ", ".join(os.path.relpath(folder, runs) for folder in folders))
