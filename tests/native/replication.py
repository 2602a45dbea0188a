"""What a mirror reads: the streams behind RETRIEVE_TXN_LOG and DUMP_HANDLES (§11)."""

import dataclasses
import struct

import wire
from wire import Malformed, Value

NEXT_ID, RETRIEVE, DUMP, BACKUP = 1000, 1001, 1002, 1003
CREATED, DELETED, UPDATED, HOMED, UNHOMED = 1, 2, 3, 4, 5
COPY_ANEW, SENDING = 1, 2


def i64(number):
    return struct.pack(">q", number)


def receiver(option=2, count=1, number=0):
    return bytes([option]) + wire.u32(count) + wire.u32(number)


def retrieve_body(last_id=0, last_date=0, to=None, mode=b"\0"):
    return mode + i64(last_id) + i64(last_date) + (to or receiver())


def state_body(text, to=None):
    return b"\1" + wire.octets(text) + (to or receiver())


def dump_body(to=None, after=None, kind=2):
    resume = b"" if after is None else wire.octets(after) + wire.u32(kind)
    return (to or receiver()) + resume


class Stream:
    """Blocks in the signed form: what is read is remembered until the signature over it is."""

    def __init__(self, connection, keys):
        self.sock, self.keys, self.block = connection.sock, keys, b""
        kind = self.plain(4)
        if kind != b"\0\0\0\0":
            raise Malformed(f"a stream of type {kind.hex()}, which is not the signed one")
        self.hash = self.plain(wire.Reader(self.plain(4)).u32())
        if self.hash not in (b"SHA1", b"SHA-1", b"SHA-256"):
            raise Malformed(f"a stream signed with {self.hash!r}")

    def plain(self, count):
        return wire.receive_exactly(self.sock, count, "a stream")

    def take(self, count):
        data = self.plain(count)
        self.block += data
        return data

    def u8(self):
        return self.take(1)[0]

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]

    def i64(self):
        return struct.unpack(">q", self.take(8))[0]

    def octets(self):
        return self.take(self.u32())

    def values(self):
        found = []
        for _ in range(self.u32()):
            r = wire.Reader(self.octets())
            found.append(Value.read(r))
            r.end()
        return found

    def signed(self):
        """The end of a block."""
        signature = self.plain(struct.unpack(">I", self.plain(4))[0])
        if not any(key.verify(self.hash, self.block, signature) for key in self.keys):
            raise Malformed("the signature of a block does not verify with the key of GET_SITE_INFO")
        self.block = b""


@dataclasses.dataclass
class Transaction:
    id: int
    handle: bytes
    action: int
    date: int
    values: list = None


@dataclasses.dataclass
class Transactions:
    format: int
    status: int
    date: int = None
    transactions: list = dataclasses.field(default_factory=list)
    queues: dict = dataclasses.field(default_factory=dict)  # name -> timestamp

    @classmethod
    def read(cls, stream):
        self = cls(stream.u32(), stream.u32())
        stream.signed()
        queue = None
        while True:
            kind = stream.u8()
            if kind == 0:
                if self.format == 1:
                    self.date = stream.i64()
                stream.signed()
                return self
            if kind == 1:
                t = Transaction(stream.i64(), stream.octets(), stream.u8(), stream.i64())
                if t.action in (CREATED, UPDATED):
                    t.values = stream.values()
                self.transactions.append(t)
            elif kind == 2 and self.format == 2:
                queue = stream.octets().decode()
            elif kind == 3 and self.format == 2:
                self.queues[queue] = stream.i64()
            else:
                raise Malformed(f"record {kind} in transactions of format {self.format}")
            stream.signed()


@dataclasses.dataclass
class Dump:
    date: int = None
    last_id: int = None
    handles: dict = dataclasses.field(default_factory=dict)
    order: list = dataclasses.field(default_factory=list)
    homed: set = dataclasses.field(default_factory=set)

    @classmethod
    def read(cls, stream):
        self = cls()
        version = stream.u32()
        stream.signed()
        if version != 2:
            raise Malformed(f"a dump of version {version}")
        while True:
            kind = stream.u8()
            if kind == 0xFF:
                return self
            if kind == 0:
                if self.handles or self.homed:
                    raise Malformed("the point to follow from comes after what was copied")
                self.date, self.last_id = stream.i64(), stream.i64()
            elif kind == 1:
                handle = stream.octets()
                if handle in self.handles or self.homed:
                    raise Malformed(f"{handle} comes twice, or after the prefixes")
                self.handles[handle] = stream.values()
                self.order.append(handle)
            elif kind == 2:
                self.homed.add(stream.octets())
            elif kind in (3, 4):
                stream.octets(), stream.i64(), stream.u32()
            elif kind == 5:
                stream.octets()
            else:
                raise Malformed(f"record {kind} in a dump")
            stream.signed()

    def apply(self, transactions):
        """Does what a mirror does."""
        for t in transactions:
            self.last_id = t.id
            if t.action in (CREATED, UPDATED):
                self.handles[t.handle] = t.values
            elif t.action == DELETED:
                self.handles.pop(t.handle, None)
            elif t.action == HOMED:
                self.homed.add(t.handle)
            elif t.action == UNHOMED:
                self.homed.discard(t.handle)
            else:
                raise Malformed(f"transaction {t.id} with action {t.action}")
