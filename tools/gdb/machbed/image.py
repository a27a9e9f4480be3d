# SPDX-License-Identifier: GPL-2.0-or-later
"""The servers: each one's program, with its symbols, and its memory.

Servers share libraries, so a name like rt_state is in several of them. It is looked up in the file
of the one that is meant. Values are made of bytes that memory.py reads, for a server that is not
current has no memory as far as gdb itself is concerned.
"""
import os
import re
import subprocess

import gdb

from machbed import memory

IMAGE = "rt_image" # struct rt_image, at a server's base address
SPAN = 1 << 27 # how far apart base addresses are (servers/servers.mk)
STRING_MAX = 256


class Server:
    def __init__(self, path):
        self.name = os.path.basename(path)
        gdb.execute("add-symbol-file " + path, False, True)
        self.objfile = gdb.lookup_objfile(path)
        self.addresses = addresses_of(path)
        self.base = self.address(IMAGE)
        self.end = self.base + SPAN
        self.space = None
        self.head = None

    # --- Names

    def symbol(self, name):
        return self.objfile.lookup_global_symbol(name) or self.objfile.lookup_static_symbol(name)

    def address(self, name):
        return self.addresses.get(name)

    def block(self, function="main"):
        return gdb.block_for_pc(self.address(function))

    def type(self, name, function="main"):
        """The type as the file that has FUNCTION knows it."""
        return gdb.lookup_type(name, self.block(function))

    def constant(self, name, function):
        found = gdb.lookup_symbol(name, self.block(function))[0]
        return int(found.value())

    def has(self, address):
        return self.base <= address < self.end

    # --- Memory

    def read(self, address, size):
        return self.find().read(address, size)

    def value(self, address, kind):
        """What is of type KIND at ADDRESS."""
        return gdb.Value(self.read(address, kind.sizeof), kind)

    def variable(self, name):
        return self.value(self.address(name), self.symbol(name).type)

    def pointer(self, address):
        return int(self.value(address, gdb.lookup_type("unsigned long")))

    def string(self, address):
        if address == 0:
            return ""
        text = b""
        while b"\0" not in text and len(text) < STRING_MAX:
            step = min(32, memory.PAGE - (address + len(text)) % memory.PAGE)
            text += self.read(address + len(text), step)
        return text.split(b"\0")[0].decode("ascii", "replace")

    def find(self):
        """Its address space; an error when there is none."""
        if self.space is None:
            self.space = current_space(self) or search_space(self)
        if self.space is None:
            raise gdb.GdbError("%s has no address space: does this run start it, and has it?" %
                               self.name)
        return self.space

    def content(self):
        """The first bytes of its image in the file: what its memory begins with."""
        if self.head is None:
            with open(self.objfile.filename, "rb") as file:
                self.head = elf_bytes(file.read(), self.base, self.symbol(IMAGE).type.sizeof)
        return self.head


def addresses_of(path):
    """Where names are. gdb would take one that a file only declares from any other program."""
    lines = subprocess.run(["nm", "--defined-only", path], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    return {name: int(address, 16) for address, _, name in (line.split() for line in lines)}


servers = []
link = None # the machine's (link.py)


def elf_bytes(data, address, size):
    """SIZE bytes of a program, from where it is loaded at ADDRESS (<elf.h>)."""
    wide = data[4] == 2
    at, entry, count = (0x20, 0x36, 0x38) if wide else (0x1c, 0x2a, 0x2c)
    word = 8 if wide else 4
    offset_at, address_at, size_at = (8, 16, 32) if wide else (4, 8, 16)

    def number(place, width):
        return int.from_bytes(data[place:place + width], "little")

    for i in range(number(count, 2)):
        head = number(at, word) + i * number(entry, 2)
        start = address - number(head + address_at, word)
        if 0 <= start < number(head + size_at, word):
            start += number(head + offset_at, word)
            return data[start:start + size]
    return b""


def is_wide():
    """Whether the servers are 64-bit programs."""
    with open(servers[0].objfile.filename, "rb") as file:
        return file.read(5)[4] == 2


# --- Whose memory -----------------------------------------------------------------------------


def shows(server):
    """Whether SERVER's image is what the current address space has at its base."""
    try:
        return memory.read_current(server.base, len(server.content())) == server.content()
    except gdb.MemoryError:
        return False


def current_space(server):
    if not memory.is_paged() or not shows(server):
        return None
    return memory.Space(memory.paging(), memory.root())


def runs():
    """Names of the servers that the run starts."""
    return ["startup"] + link.config("servers").split()


def search_space(server):
    if server.name not in runs() or not memory.is_paged():
        return None
    dump = memory.Dump(link)
    for other in servers:
        if other.space is None and other.name in runs():
            other.space = next(spaces_of(dump, other), None)
    return server.space


def spaces_of(dump, server):
    form = memory.paging()
    for table in dump.search(form, server.base, server.content()):
        yield memory.Space(form, table)


def current():
    """The server whose address space is the current one, or None."""
    if not memory.is_paged():
        return None
    for server in servers:
        if server.space is not None and server.space.is_current():
            return server
    for server in servers:
        if server.space is None and shows(server):
            server.space = memory.Space(memory.paging(), memory.root())
            return server
    return None


def lookup(name):
    for server in servers:
        if server.name == name:
            return server
    raise gdb.GdbError("unknown server '%s'; there are: %s" %
                       (name, ", ".join(server.name for server in servers)))


def chosen(names):
    """The servers called NAMES, or else all that the run starts."""
    return [lookup(name) for name in names or runs()]


def needed(name=None):
    """The server called NAME, or else the current one."""
    server = lookup(name) if name else current()
    if server is None:
        raise gdb.GdbError("no server is current: name one of " + ", ".join(runs()))
    return server


def server_of(address):
    for server in servers:
        if server.has(address):
            return server
    return None


# --- Places -----------------------------------------------------------------------------------


def place(pc, caller=False):
    """PC as NAME+OFFSET, as servers write it (librt/symbol.h). A caller's is behind its call."""
    text = gdb.execute("info symbol %#x" % (pc - 1 if caller else pc), False, True)
    match = re.match(r"(\S+)(?: \+ (\d+))? in section", text)
    if match is None:
        return "%#x" % pc
    offset = int(match.group(2) or 0) + (1 if caller else 0)
    return "%s+%s" % (match.group(1), "%#x" % offset if offset else "0")


def line(pc):
    """The source line of PC, or nothing."""
    found = gdb.find_pc_line(pc)
    return "%s:%d" % (found.symtab.filename, found.line) if found.symtab else ""


# --- Messages ---------------------------------------------------------------------------------


class Messages:
    """Names of messages, by MIG's stubs (servers/servers.mk)."""

    def __init__(self, path):
        self.names = {}
        with open(path, encoding="ascii") as file:
            for number, name in re.findall(r"\{(\d+), \"(\w+)\"\}", file.read()):
                self.names.setdefault(int(number), name)

    def name(self, number):
        return self.names.get(number, "message %d" % number)


messages = None
