# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads: librt's own list of them (librt/state.h), whether they run or wait.

Every thread that waits for a message, an answer, a lock, a condition or the time does so in mach_msg,
which has noted its frame; the callers are found from there. One that the kernel has stopped elsewhere,
for a page that it touches or for its time slice, is known to the kernel only: without the kernel's
symbols it has no stack here.
"""
import gdb

from machbed import image, kernel, memory
from machbed.command import command

THREAD_MAGIC = 0x6d627468 # RT_THREAD_MAGIC
SEND = 1 # MACH_SEND_MSG, MACH_RCV_MSG (mach/message.h)
RECEIVE = 2
FRAMES_MAX = 32
STACK_BYTES = 64 * 1024 # RT_STACK_BYTES: aligned to that, the struct at the upper end
CALLERS_MAX = 3 # of who has taken a lock (librt/frames.h)


class Thread:
    def __init__(self, server, address):
        self.server = server
        self.address = address
        self.data = server.value(address, server.type("struct rt_thread"))

    def is_one(self):
        return int(self.data["magic"]) == THREAD_MAGIC

    def label(self):
        name = self.server.string(int(self.data["name"]))
        number = int(self.data["number"])
        return "%s/%s%s" % (self.server.name, name, "/%d" % number if number else "")

    def has_stack_of(self, sp):
        return sp // STACK_BYTES == self.address // STACK_BYTES

    def is_running(self):
        """Whether it is what the processor executes now, for itself."""
        return self.server is image.current() and self.has_stack_of(memory.register("sp"))

    # --- What it waits for

    def wait(self):
        return str(self.data["wait"]["kind"])

    def option(self):
        return int(self.data["transfer"]["option"])

    def is_idle(self):
        """Whether it waits for requests, and for nothing else."""
        return self.wait() == "RT_WAIT_NONE" and self.option() & (SEND | RECEIVE) == RECEIVE and \
            int(self.data["transfer"]["from"]) == self.served_set()

    def served_set(self):
        """The port set that a thread of ports_serve or pager_receive has its requests from."""
        entry = image.place(int(self.data["entry"])).split("+")[0]
        argument = int(self.data["arg"])
        kinds = {"ports_serve": "struct port_service", "pager_receive": "struct pager_requests"}
        if entry not in kinds:
            return None
        owner = self.server.value(argument, self.server.type(kinds[entry], entry))
        bucket = self.server.type("struct port_bucket", "ports_serve")
        return int(self.server.value(int(owner["bucket"]), bucket)["set"])

    def phrase(self):
        """What it does or waits for, in the words of a hang's report (startup/hang-text.c)."""
        if self.is_running():
            return "is running"
        if self.wait() != "RT_WAIT_NONE":
            return self.wait_phrase()
        if self.option() != 0:
            return self.transfer_phrase()
        place = kernel.place_of(self)
        return "is in the kernel (%s)" % (place.wait if place else "for memory, or for its turn")

    def wait_phrase(self):
        if self.wait() == "RT_WAIT_ENDED":
            return "has ended"
        if self.wait() == "RT_WAIT_TIME":
            return "lets some time pass"
        wait = self.data["wait"]
        kind = "condition" if self.wait() == "RT_WAIT_COND" else "lock"
        how = {"RT_WAIT_READ": ", as a reader", "RT_WAIT_WRITE": ", as a writer"}
        return "waits for the %s %s (%#x)%s" % (kind, self.server.string(int(wait["name"])),
                                                int(wait["object"]), how.get(self.wait(), ""))

    def transfer_phrase(self):
        transfer = self.data["transfer"]
        message = image.messages.name(int(transfer["id"]))
        if self.option() & (SEND | RECEIVE) == SEND | RECEIVE:
            return "waits for the answer to " + message
        if self.option() & SEND:
            return "sends " + message
        if self.is_idle():
            return "is idle, receives requests"
        return "waits for a message on its port %d" % int(transfer["from"])

    def handles(self):
        """The RPC that it handles, or nothing."""
        number = int(self.data["handling"]["id"])
        return image.messages.name(number) if number else ""

    # --- Where it is

    def stack(self):
        """Places, the innermost first; None for one that is not known."""
        if self.is_running():
            return running_stack()
        place = kernel.place_of(self)
        if place is None and self.option() == 0:
            return []
        return [place and place.pc] + [pc for _, pc in self.frames()]

    def frames(self):
        """Frames, the innermost first, and for each where its caller goes on."""
        if self.is_running():
            return self.frames_from(memory.register("fp"))
        place = kernel.place_of(self)
        if place is not None:
            return self.frames_from(place.fp)
        return self.frames_from(int(self.data["transfer"]["frame"])) if self.option() else []

    def frames_from(self, frame):
        word = gdb.lookup_type("long").sizeof
        found = []
        while len(found) < FRAMES_MAX and self.has_stack_of(frame) and frame < self.address:
            caller = self.server.pointer(frame + word)
            if caller == 0: # a thread's first function has none
                break
            found.append((frame, caller))
            frame = self.server.pointer(frame)
        return found

    # --- Locks

    def held(self):
        return [self.data["held"][i] for i in range(int(self.data["nheld"]))]

    def lock_name(self, held):
        names = int(state(self.server)["lock_names"])
        word = gdb.lookup_type("long").sizeof
        return self.server.string(self.server.pointer(names + word * int(held["class"])))

    def taken_at(self, held):
        """Who took HELD, as rt_held_callers finds it (librt/frames.c)."""
        frames = self.frames()
        frame = int(held["frame"])
        i = len([at for at, _ in frames if at < frame])
        if 0 < i < len(frames) and frames[i][0] > frame:
            i -= 1
        callers = [int(held["site"])] + [pc for _, pc in frames[i:]]
        return " < ".join(image.place(pc, True) for pc in callers[:CALLERS_MAX])


def running_stack():
    """What gdb makes of the stack, without the functions that have become part of others."""
    frame = gdb.newest_frame()
    found = []
    while frame is not None and frame.pc() != 0 and len(found) < FRAMES_MAX:
        if frame.type() != gdb.INLINE_FRAME:
            found.append(frame.pc())
        frame = frame.older()
    return found


def state(server):
    return server.variable("rt_state")


def threads_of(server):
    """SERVER's threads, the oldest first."""
    found = []
    address = int(state(server)["threads"])
    while address != 0:
        thread = Thread(server, address)
        if not thread.is_one():
            break
        found.insert(0, thread)
        address = int(thread.data["next"])
    return found


def stack_lines(thread):
    if thread.is_idle() or thread.wait() == "RT_WAIT_ENDED":
        return
    for i, pc in enumerate(thread.stack()):
        if pc is None:
            yield "    mach_msg"
            continue
        source = image.line(pc - 1 if i > 0 else pc)
        yield "    %s%s" % (image.place(pc, i > 0), "  " + source if source else "")


def description(thread):
    handles = thread.handles()
    first = thread.phrase() + ("; handles " + handles if handles else "")
    return "\n".join([first, *stack_lines(thread)])


@command("threads")
def threads(*names):
    """machbed threads [SERVER...]: threads with what they wait for, and their stacks."""
    for server in image.chosen(names):
        alike = {} # labels of the threads that do the same
        for thread in threads_of(server):
            alike.setdefault(description(thread), []).append(thread.label())
        for text, labels in alike.items():
            print("%s: %s%s" % (", ".join(labels), "each " if len(labels) > 1 else "", text))


@command("server")
def server(*names):
    """machbed server: whose address space is current, and what the processor does."""
    if names:
        raise gdb.GdbError("machbed server takes no words")
    if not memory.is_paged():
        print("no server is current: the machine has not begun")
        return
    found = image.current()
    whose = "%s is current" % found.name if found else "no server is current"
    print("%s; the processor executes %s, in %s" % (whose, doing(found), executing()))


def executing():
    pc = memory.register("pc")
    server_there = image.server_of(pc)
    if server_there is not None:
        return "%s of %s" % (image.place(pc), server_there.name)
    name = image.place(pc)
    return "the kernel at " + name


def doing(found):
    """The running thread."""
    for thread in threads_of(found) if found else []:
        if thread.is_running():
            return thread.label()
    return "none of its threads"
