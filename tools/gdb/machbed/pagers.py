# SPDX-License-Identifier: GPL-2.0-or-later
"""What is at hand where the machine has stopped: the object, the file, the messages and the run that
the functions on the stack work on; and a pager's map of pages (servers/libpager/private.h)."""
import gdb

from machbed import image, memory
from machbed.command import command

KINDS = ("struct pager", "struct pager_run", "struct pager_request", "struct node", "struct object",
         "struct user_pager_info")


# --- Pagers -----------------------------------------------------------------------------------


class Pager:
    def __init__(self, server, address):
        self.server = server
        self.address = address
        self.data = server.value(address, server.type("struct pager", "pager_create"))

    def number(self):
        return int(self.data["object"])

    def label(self):
        kind = str(self.data["class"]).replace("RT_CLASS_", "").lower()
        return "object %d of %s, %s, port %d" % (self.number(), self.server.name, kind,
                                                 int(self.data["port"]))

    def size(self):
        return int(self.data["npages"])

    def pages(self):
        """The entries of the map, in order."""
        entry = self.data["pages"].type.target()
        if self.size() == 0:
            return []
        table = self.server.value(int(self.data["pages"]), entry.array(self.size() - 1))
        return [table[i] for i in range(self.size())]

    def queued(self):
        """Returns and requests that wait for a worker, one list after the other."""
        work = {"written": 1, "read": 0} # enum pager_work
        counts = {name: len(list(requests(self.server, self.data["todo"][i]["head"])))
                  for name, i in work.items()}
        return ", ".join("%d to be %s" % (count, name) for name, count in counts.items())


def requests(server, head):
    address = int(head)
    while address != 0:
        request = server.value(address, server.type("struct pager_request", "pager_create"))
        yield request
        address = int(request["next"])


def pagers_of(server):
    """SERVER's pagers: what the ports of its levels stand for."""
    if server.address("pager_create") is None:
        return
    level = int(server.variable("pager_first_level"))
    while level != 0:
        data = server.value(level, server.type("struct pager_requests", "pager_create"))
        for address in ports_of(server, int(data["bucket"])):
            yield Pager(server, address)
        level = int(data["next"])


def ports_of(server, bucket):
    data = server.value(bucket, server.type("struct port_bucket", "ports_serve"))
    slot = data["slots"].type.target()
    table = server.value(int(data["slots"]), slot.array(int(data["nslots"]) - 1))
    for i in range(int(data["nslots"])):
        if int(table[i]["object"]) != 0:
            yield int(table[i]["object"])


def pager_of_port(server, port):
    for pager in pagers_of(server):
        if int(pager.data["port"]) == port:
            return pager
    return None


# --- What is at hand --------------------------------------------------------------------------


def frames():
    frame = gdb.selected_frame()
    while frame is not None:
        yield frame
        frame = frame.older()


def symbols_of(frame):
    """The variables and arguments of FRAME's function, innermost block first."""
    try:
        block = frame.block()
    except RuntimeError:
        return
    while block is not None:
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                yield symbol
        if block.function is not None:
            return
        block = block.superblock


def pointee(symbol, value):
    """(KIND, ADDRESS) if VALUE is one of KINDS, or points to one; else None."""
    kind = symbol.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_PTR:
        target = str(kind.target().strip_typedefs().unqualified())
        return (target, int(value)) if target in KINDS and int(value) else None
    if str(kind.unqualified()) in KINDS and value.address is not None:
        return (str(kind.unqualified()), int(value.address))
    return None


def find_value(frame, symbol):
    try:
        value = symbol.value(frame)
        if value.is_optimized_out:
            return None
        value.fetch_lazy()
        return value
    except (gdb.error, gdb.MemoryError):
        return None


def at_hand(server):
    """What the functions on the stack have of each kind, from the innermost that has one."""
    found = {}
    for frame in frames():
        if not server.has(frame.pc()):
            return found
        for symbol in symbols_of(frame):
            value = find_value(frame, symbol)
            if value is None:
                continue
            note(server, found, symbol, value)
    return found


def note(server, found, symbol, value):
    if symbol.name == "memory_object" and symbol.is_argument:
        pager = pager_of_port(server, int(value))
        if pager is not None:
            found.setdefault("struct pager", pager.address)
        return
    pair = pointee(symbol, value)
    if pair is not None:
        found.setdefault(pair[0], pair[1])


def arguments_line():
    """The call at hand, if it is one of the kernel's to a pager: its arguments say it all."""
    frame = gdb.selected_frame()
    name = frame.name() or ""
    if not name.startswith("S_memory_object_"):
        return None
    values = {symbol.name: find_value(frame, symbol) for symbol in symbols_of(frame)}
    if "dataCnt" in values:
        return "%s: %s at %d%s%s" % (
            name[2:], bytes_words(values["dataCnt"]), int(values["offset"]), ", dirty" if int(values["dirty"]) else ", clean",
            ", the kernel keeps a copy" if int(values["kernel_copy"]) else "")
    if "length" in values and "offset" in values:
        return "%s: %d bytes at %d" % (name[2:], int(values["length"]), int(values["offset"]))
    return name[2:]


# --- Lines ------------------------------------------------------------------------------------


def bytes_words(value):
    pages = int(value) // memory.PAGE
    return "%d bytes (%d page%s)" % (int(value), pages, "" if pages == 1 else "s")


def pager_line(server, address):
    pager = Pager(server, address)
    return "%s: map of %d pages; %s; returns %d received, %d completed" % (
        pager.label(), pager.size(), pager.queued(), int(pager.data["nreceived"]),
        int(pager.data["ncompleted"]))


def request_line(server, address):
    request = server.value(address, server.type("struct pager_request", "pager_create"))
    kind = str(request["kind"]).replace("PAGER_", "").lower()
    text = "%s: %s at %d" % (kind, bytes_words(request["length"]), int(request["offset"]))
    if kind == "return":
        text += ", number %d%s, data at %#x" % (
            int(request["sequence"]), ", dirty" if request["dirty"] else "", int(request["data"]))
    return text


def run_line(server, address):
    run = server.value(address, server.type("struct pager_run", "pager_returns_write"))
    policy = server.value(int(server.variable("pager_policy")),
                          server.type("struct pager_policy", "pager_policy_get"))
    returns = len(list(requests(server, run["returns"])))
    return "run: %s at %d, of %d message%s, data at %#x; policy %s" % (
        bytes_words(run["length"]), int(run["offset"]), returns, "" if returns == 1 else "s",
        int(run["data"]), server.string(int(policy["name"])))


def node_line(server, address):
    node = server.value(address, server.type("struct node", "node_open"))
    return "inode %d: %d bytes, mapped %d, %d waiting for its blocks; port %d" % (
        int(node["ino"]), int(node["size"]), int(node["window_size"]), int(node["nwaiting"]),
        int(node["port"]))


def object_line(server, address):
    owner = server.value(address, server.type("struct object", "object_create"))
    return "bare object %d: %d bytes from sector %d of the partition" % (
        int(owner["number"]), int(owner["info"]["size"]), int(owner["info"]["first_sector"]))


def owner_line(server, pager):
    """What the server itself has behind PAGER: its info is the first member of that."""
    info = int(pager.data["upi"])
    if server.address("object_create") is not None:
        return object_line(server, info)
    if server.address("file_backend_ops") is None:
        return None
    ops = server.pointer(info)
    if ops == server.address("file_backend_ops"):
        return node_line(server, info)
    return "the disk's metadata"


@command("here")
def here(*names):
    """machbed here: the object, file, message and run that the stopped functions work on."""
    if names:
        raise gdb.GdbError("machbed here takes no words; `frame` chooses where to look from")
    server = image.needed()
    found = at_hand(server)
    lines = [arguments_line()]
    if "struct pager" in found:
        lines.append(pager_line(server, found["struct pager"]))
        lines.append(owner_line(server, Pager(server, found["struct pager"])))
    elif "struct node" in found:
        lines.append(node_line(server, found["struct node"]))
    if "struct pager_request" in found:
        lines.append(request_line(server, found["struct pager_request"]))
    if "struct pager_run" in found:
        lines.append(run_line(server, found["struct pager_run"]))
    lines = [line for line in lines if line]
    print("\n".join(lines) if lines else "no object is at hand in %s" % server.name)


# --- Page maps --------------------------------------------------------------------------------


def flag_words(server, flags):
    kind = server.type("enum pager_page_flags", "pager_create")
    return " ".join(field.name.replace("PAGER_PAGE_", "").lower() for field in kind.fields()
                    if flags & field.enumval) or "-"


def print_map(pager):
    print(pager.label() + ": %d pages, %d of them stale" % (pager.size(),
                                                            int(pager.data["nstale"])))
    entries = [(int(page["npending"]), int(page["flags"]), int(page["error"]))
               for page in pager.pages()]
    first = 0
    for i in range(1, len(entries) + 1):
        if i < len(entries) and entries[i] == entries[first]:
            continue
        if any(entries[first]):
            print_stretch(pager.server, first, i - 1, entries[first])
        first = i


def print_stretch(server, first, last, entry):
    pending, flags, error = entry
    print("    %s: %s%s%s" % ("page %d" % first if first == last else
                              "pages %d to %d" % (first, last), flag_words(server, flags),
                              ", pending %d" % pending if pending else "",
                              ", error %d" % error if error else ""))


@command("pagemap")
def pagemap(*words):
    """machbed pagemap [OBJECT [SERVER]]: what is known of each page of an object.
OBJECT is its number, as in the trace; without it, the object at hand (machbed here)."""
    if words:
        server = image.needed(words[1] if len(words) > 1 else None)
        found = [pager for pager in pagers_of(server) if str(pager.number()) == words[0]]
    else:
        server = image.needed()
        address = at_hand(server).get("struct pager")
        found = [Pager(server, address)] if address else []
    if not found:
        raise gdb.GdbError("%s has no such object; there are: %s" % (
            server.name, ", ".join(str(pager.number()) for pager in pagers_of(server)) or "none"))
    for pager in found:
        print_map(pager)
