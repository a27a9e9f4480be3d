# SPDX-License-Identifier: GPL-2.0-or-later
"""What only a kernel with symbols can tell: the registers of threads that do not run.

The kernel's memory is part of every address space, so gdb itself reads it. A task belongs to a server
when their page tables begin at the same place; a thread to one of librt's when its stack pointer is
in that one's stack.
"""
import collections

import gdb

# Registers as they were when the thread entered the kernel, and what it waits in there.
Place = collections.namedtuple("Place", "pc sp fp wait")

TABLES = ("l4base", "pdpbase", "dirbase") # names of struct pmap's uppermost table
STATES = {1: "TH_WAIT", 2: "TH_SUSP", 4: "TH_RUN", 8: "TH_UNINT"} # kern/thread.h


class Kernel:
    def __init__(self):
        self.objfile = None
        self.places = {} # by the tables of an address space, since the machine last ran
        gdb.events.cont.connect(lambda event: self.places.clear())


kernel = Kernel()


def load(path):
    """Takes PATH's symbols, if it has any."""
    if path:
        gdb.execute("symbol-file " + path, False, True)
        kernel.objfile = gdb.lookup_objfile(path)


def has_symbols():
    return kernel.objfile is not None and \
        kernel.objfile.lookup_global_symbol("default_pset") is not None


def has(address):
    symtab = gdb.find_pc_line(address).symtab
    return symtab is not None and symtab.objfile == kernel.objfile


def queue(head, kind, links):
    """The elements of a queue of the kernel's, linked by their member LINKS (kern/queue.h)."""
    element = head["next"]
    while element != head.address:
        value = element.cast(gdb.lookup_type(kind).pointer()).dereference()
        yield value
        element = value[links]["next"]


def task_of(space):
    variable = kernel.objfile.lookup_global_symbol("default_pset").value()
    for task in queue(variable["tasks"], "struct task", "pset_tasks"):
        if table_of(task["map"]["pmap"]) == space.table:
            return task
    return None


def table_of(pmap):
    """Where the page tables begin. Physical memory is mapped from an address of the kernel's on."""
    names = [field.name for field in pmap.dereference().type.strip_typedefs().fields()]
    for name in TABLES:
        if name in names:
            return int(pmap[name]) - kernel_base()
    return None


def kernel_base():
    """VM_MIN_KERNEL_ADDRESS (i386/i386/vm_param.h)."""
    if gdb.lookup_type("long").sizeof == 8:
        return 0xffffffff80000000
    return 0xc0000000


def wait_of(thread):
    """The function that a thread without a kernel stack is to go on with, and its state."""
    states = [name for bit, name in STATES.items() if int(thread["state"]) & bit]
    function = thread["swap_func"]
    if int(function) == 0:
        return " ".join(states)
    name = gdb.execute("info symbol %#x" % int(function), False, True).split(" ")[0]
    return "%s, %s" % (" ".join(states), name)


def places_of(space):
    found = []
    task = task_of(space)
    if task is None:
        return found
    for thread in queue(task["thread_list"], "struct thread", "thread_list"):
        registers = thread["pcb"]["iss"]
        found.append(Place(int(registers["eip"]), int(registers["uesp"]), int(registers["ebp"]),
                           wait_of(thread)))
    return found


def place_of(thread):
    """The place of one of librt's threads that does not run, or None."""
    if not has_symbols():
        return None
    space = thread.server.find()
    if space.table not in kernel.places:
        kernel.places[space.table] = places_of(space)
    for place in kernel.places[space.table]:
        if thread.has_stack_of(place.sp):
            return place
    return None
