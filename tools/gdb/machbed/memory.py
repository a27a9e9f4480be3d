# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of a task, whether or not its address space is the current one.

gdb reads by the processor's eyes: what is mapped now. For the others QEMU is asked for physical
memory, and the page tables are followed here. Where they begin is known for the current address space
(register cr3). For another server it is searched for: the one page in all the machine's memory which,
taken for a task's uppermost table, leads to that server's image (struct rt_image) at the server's own
base address. A task keeps its table as long as it lives, so one search is enough.
"""
import contextlib
import mmap
import os

import gdb

PAGE = 4096
PRESENT = 1 # bits of an entry (Intel SDM, volume 3, 4.3 to 4.5)
USER = 4
LARGE = 0x80
CR0_PAGING = 1 << 31
CR4_PAE = 1 << 5
EFER_LMA = 1 << 10
ADDRESS_MASK = 0x000ffffffffff000
PAE_ALIGNMENT = 32 # of the uppermost of its three tables, which has four entries
DUMP = "memory.dump"
DUMP_MAX = 3 << 30 # below the devices' addresses


class Paging:
    """A form of page tables: how wide entries are, and which bits of an address each level takes."""

    def __init__(self, entry, levels):
        self.entry = entry
        self.levels = levels

    def index(self, level, address):
        shift, bits = self.levels[level]
        return address >> shift & ((1 << bits) - 1)

    def frame(self, entry):
        return entry & ADDRESS_MASK if self.entry == 8 else entry & 0xfffff000


TWO_LEVELS = Paging(4, [(22, 10), (12, 10)])
PAE = Paging(8, [(30, 2), (21, 9), (12, 9)])
PAE_DIRECTORY = Paging(8, PAE.levels[1:])
FOUR_LEVELS = Paging(8, [(39, 9), (30, 9), (21, 9), (12, 9)])


def register(name):
    return int(gdb.newest_frame().read_register(name))


def paging():
    if not register("cr4") & CR4_PAE:
        return TWO_LEVELS
    return FOUR_LEVELS if register("efer") & EFER_LMA else PAE


def is_paged():
    return register("cr0") & CR0_PAGING != 0


def root():
    """Where the current address space's tables begin."""
    return register("cr3") & ~(PAE_ALIGNMENT - 1 if paging() is PAE else PAGE - 1)


def read_current(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


@contextlib.contextmanager
def physical_mode():
    gdb.execute("maintenance packet Qqemu.PhyMemMode:1", False, True)
    try:
        yield
    finally:
        gdb.execute("maintenance packet Qqemu.PhyMemMode:0", False, True)


def read_physical(address, size):
    with physical_mode():
        return read_current(address, size)


class Dump:
    """The machine's memory in a file, for a search."""

    def __init__(self, link):
        summary = link.monitor("query-memory-size-summary", {})
        size = min(summary["base-memory"], DUMP_MAX)
        link.monitor("pmemsave", {"val": 0, "size": size, "filename": DUMP})
        with open(link.path(DUMP), "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        os.unlink(link.path(DUMP))
        self.words = {4: memoryview(self.data).cast("I"), 8: memoryview(self.data).cast("Q")}

    def entry(self, form, table, index):
        return self.words[form.entry][table // form.entry + index]

    def translate(self, form, table, address):
        """The place of a user's page, or None."""
        for level in range(len(form.levels)):
            entry = self.entry(form, table, form.index(level, address))
            table = form.frame(entry)
            if entry & (PRESENT | USER) != PRESENT | USER or entry & LARGE and level + 1 < \
                    len(form.levels) or table + PAGE > len(self.data):
                return None
        return table

    def search(self, form, address, content):
        """The uppermost tables that show CONTENT at ADDRESS, which is a page's."""
        if form is PAE:
            for directory in self.search_pages(PAE_DIRECTORY, address, content):
                yield from self.search_first(directory)
        else:
            yield from self.search_pages(form, address, content)

    def search_pages(self, form, address, content):
        """The same where the uppermost table is a page."""
        for table in range(0, len(self.data) - PAGE + 1, PAGE):
            place = self.translate(form, table, address)
            if place is not None and self.data[place:place + len(content)] == content:
                yield table

    def search_first(self, directory):
        """The tables of PAE whose first entry leads to DIRECTORY: servers are in the first GiB."""
        frame = directory.to_bytes(8, "little")[1:] # behind a byte of flags
        at = self.data.find(frame) - 1
        while at >= 0:
            if at % PAE_ALIGNMENT == 0 and self.data[at] & PRESENT:
                yield at
            at = self.data.find(frame, at + 2) - 1


class Space:
    """A task's address space."""

    def __init__(self, form, table):
        self.form = form
        self.table = table

    def is_current(self):
        return self.table == root()

    def read(self, address, size):
        if self.is_current():
            return read_current(address, size)
        parts = []
        while size > 0:
            length = min(size, PAGE - address % PAGE)
            parts.append(self.read_part(address, length))
            address += length
            size -= length
        return b"".join(parts)

    def read_part(self, address, length):
        """The same within a page."""
        page = cache.page(self, address - address % PAGE)
        return page[address % PAGE:address % PAGE + length]

    def fetch(self, address):
        table = self.table
        for level in range(len(self.form.levels)):
            at = table + self.form.index(level, address) * self.form.entry
            entry = int.from_bytes(read_physical(at, self.form.entry), "little")
            if not entry & PRESENT:
                raise gdb.MemoryError("%#x is not in memory" % address)
            table = self.form.frame(entry)
        return read_physical(table, PAGE)


class Cache:
    """Pages that were read since the machine last ran."""

    def __init__(self):
        self.pages = {}
        gdb.events.cont.connect(lambda event: self.pages.clear())
        gdb.events.memory_changed.connect(lambda event: self.pages.clear())

    def page(self, space, address):
        key = (space.table, address)
        if key not in self.pages:
            self.pages[key] = space.fetch(address)
        return self.pages[key]


cache = Cache()
