# SPDX-License-Identifier: GPL-2.0-or-later
"""What servers have recorded last and not printed yet (servers/libtrace, TRACE=text), in the form
in which they print it (docs/trace.md)."""
import gdb

from machbed import image, threads
from machbed.command import command

FREE = 0 # enum trace_state
EVENTS = 10
NS = 1000000000

# The keys of a line, in their order, with the flag of trace_kind_keys that has a kind show them.
KEYS = (("by", "TRACE_HAS_BY", "cause"), ("obj", "TRACE_HAS_OBJ", "object"),
        ("off", "TRACE_HAS_OFF", "offset"), ("len", "TRACE_HAS_LEN", "length"),
        ("sec", "TRACE_HAS_SEC", "sector"), ("cls", "TRACE_HAS_CLS", "class"),
        ("what", "TRACE_HAS_WHAT", "what"), ("wait", "TRACE_HAS_WAIT", "wait"),
        ("n", "TRACE_HAS_N", "count"), ("res", "TRACE_HAS_RES", "result"))


def member(data, field):
    """The number that FIELD of a structure holds, whose first bytes are DATA: all of it is large."""
    start = field.bitpos // 8
    return int.from_bytes(data[start:start + field.type.sizeof], "little")


class Recorder:
    """A server's recording."""

    def __init__(self, server):
        self.server = server
        self.hz = int(server.variable("clock_hz"))
        self.flags = server.variable("trace_kind_keys")
        self.kinds = self.words("trace_kind_names")
        self.whats = self.words("trace_what_names")

    def words(self, name):
        table = self.server.variable(name)
        first, last = table.type.range()
        return [self.server.string(int(table[i])) for i in range(first, last + 1)]

    def ns(self, cycles):
        return cycles // self.hz * NS + cycles % self.hz * NS // self.hz

    def chunks(self):
        pool = self.server.variable("trace")
        kind = pool["chunks"].type.target()
        for i in range(int(pool["nchunks"])):
            yield int(pool["chunks"]) + i * kind.sizeof, kind

    def last(self, address, kind, count):
        """The last COUNT events of a chunk, each with its thread's address."""
        fields = {field.name: field for field in kind.fields()}
        events = fields["events"].bitpos // 8
        head = self.server.read(address, events)
        state, filled, thread = (member(head, fields[name]) for name in ("state", "nevents", "thread"))
        event = fields["events"].type.target()
        if state == FREE:
            return
        for i in range(max(0, filled - count), filled):
            yield thread, self.server.value(address + events + i * event.sizeof, event)

    def field(self, key, value):
        if key == "cls":
            return "meta" if int(value) else "file"
        if key == "what":
            return self.whats[int(value)]
        return str(self.ns(int(value)) if key == "wait" else int(value))

    def line(self, thread, event):
        start = self.ns(int(event["start"]))
        kind = int(event["kind"])
        label = threads.Thread(self.server, thread).label().split("/", 1)[1]
        text = "event t=%d dur=%d kind=%s srv=%s thr=%s req=%d" % (
            start, self.ns(int(event["end"])) - start, self.kinds[kind], self.server.name, label,
            int(event["request"]))
        for key, flag, member in KEYS:
            if int(self.flags[kind]) & self.server.constant(flag, "trace_event_format"):
                text += " %s=%s" % (key, self.field(key, event[member]))
        return text


def events_of(server, count):
    """The last COUNT events of SERVER: when each ended, and its line."""
    if server.address("trace_mask") is None or int(server.variable("trace_mask")) == 0:
        return []
    recorder = Recorder(server)
    found = []
    for address, kind in recorder.chunks():
        found += [(recorder.ns(int(event["end"])), thread, event)
                  for thread, event in recorder.last(address, kind, count)]
    found.sort(key=lambda entry: entry[0])
    return [(end, recorder.line(thread, event)) for end, thread, event in found[-count:]]


@command("events")
def events(*words):
    """machbed events [COUNT] [SERVER...]: the last events that were recorded, by when they ended."""
    words = list(words)
    count = int(words.pop(0)) if words and words[0].isdigit() else EVENTS
    found = [entry for server in image.chosen(words) for entry in events_of(server, count)]
    for _, line in sorted(found, key=lambda entry: entry[0])[-count:]:
        print(line)
    if not found:
        print("nothing is recorded: TRACE=text has servers record (docs/trace.md)")
