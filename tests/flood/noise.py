"""Untrusted input: noise, and messages that are nearly right."""

import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "native"))
import wire

# Replies are told by their request id: nobody may ever answer one.
REPLY_ID = 0xDEAD0000
OPCODES = [1, 2, 100, 101, 102, 103, 104, 105, 106, 200, 201, 300, 301, 302, 400, 401, 402, 1000, 1001, 1002, 1003, 7, 0xFFFFFFFF]


class Noise:
    """Random, but the same for the same seed."""

    def __init__(self, seed, prefix):
        self.random = random.Random(seed)
        self.good = requests(prefix)
        self.kinds = [
            self.bytes, self.payload, self.body, self.flipped, self.flipped, self.fragment, self.reply, self.length,
        ]

    def one(self):
        return self.random.choice(self.kinds)()

    def id(self):
        return self.random.getrandbits(31) | 1

    def envelope(self, length, request=None, sequence=0):
        r = self.random
        minor, flags = r.choice((1, 3, 6, 11)), r.choice((0, 0, 0, 0x20, 0x40, 0x80)) | 2
        session = 0 if r.random() < 0.7 else r.getrandbits(31)
        return struct.pack(">BBBBIIII", 2, minor, flags, 11, session, request or self.id(), sequence, length)

    def bytes(self):
        return self.random.randbytes(self.random.randrange(700))

    def payload(self):
        data = self.random.randbytes(self.random.randrange(500))
        return self.envelope(len(data)) + data

    def body(self):
        r = self.random
        data = r.randbytes(r.randrange(400))
        flags = r.getrandbits(12) << 20
        head = struct.pack(">IIIHBBII", r.choice(OPCODES), 0, flags, 1, r.randrange(4), 0, r.getrandbits(32), len(data))
        return self.envelope(24 + len(data)) + head + data

    def flipped(self):
        r = self.random
        data = bytearray(r.choice(self.good))
        data[8:12] = struct.pack(">I", self.id())
        for _ in range(r.randrange(1, 6)):
            # Mostly behind the envelope, where there is more to get wrong.
            at = r.randrange(20 if r.random() < 0.8 else 0, len(data))
            data[at] ^= 1 << r.randrange(8)
        return bytes(data[: len(data) - r.choice((0, 0, 0, 1, 4, 20))])

    def fragment(self):
        r = self.random
        data = r.randbytes(r.choice((0, 1, 492, r.randrange(492))))
        length = r.choice((493, 2000, 100000, wire.MAX_MESSAGE))
        return self.envelope(length, sequence=r.choice((0, 1, 2, r.getrandbits(9), r.getrandbits(32)))) + data

    def reply(self):
        data = bytearray(self.random.choice(self.good))
        data[8:12] = struct.pack(">I", REPLY_ID | self.random.getrandbits(16))
        data[24:28] = struct.pack(">I", self.random.choice((1, 2, 100, 402)))
        return bytes(data)

    def length(self):
        r = self.random
        data = r.randbytes(r.randrange(100))
        return self.envelope(r.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 262144, 262145, r.getrandbits(32)))) + data


def requests(prefix):
    """A good request of each kind that fits into a packet."""
    handle, value = f"{prefix}/ADMIN", wire.Value(1, "URL", "https://example.org/")
    p, g = wire.GROUPS[1024]
    key = wire.PublicKey(b"DH_PUB_KEY", (pow(g, 0x123456789, p), p, g)).encode()
    pbkdf2 = wire.secret_answer(0x22, b"wrong", bytes(16), bytes(21))
    bodies = [
        (wire.RESOLUTION, wire.resolution(handle)),
        (wire.RESOLUTION, wire.resolution(handle, [300, 301, 100], ["URL", "HS_PUBKEY"])),
        (wire.RESOLUTION, wire.resolution(f"0.NA/{prefix}")),
        (wire.GET_SITE_INFO, wire.octets("/")),
        (wire.CREATE, wire.handle_and_values(f"{prefix}/flood", [value])),
        (wire.DELETE, wire.octets(handle)),
        (wire.ADD, wire.handle_and_values(handle, [value])),
        (wire.REMOVE, wire.handle_and_indexes(handle, [1, 2])),
        (wire.MODIFY, wire.handle_and_values(handle, [value])),
        (wire.LIST_HANDLES, wire.octets(f"0.NA/{prefix}")),
        (wire.LIST_DERIVED, wire.octets(f"0.NA/{prefix}")),
        (wire.ANSWER, wire.answer_body("HS_SECKEY", handle, 300, pbkdf2)),
        (wire.VERIFY, wire.verify_body(handle, 300, bytes(16), bytes(21), b"\2" + bytes(20))),
        (wire.HOME, wire.octets("0.NA/20.500.9")),
        (wire.UNHOME, wire.octets("0.NA/20.500.9")),
        (wire.LIST_HOMED, wire.octets("/")),
        (wire.SESSION_SETUP, wire.setup_body(key)),
        (wire.SESSION_TERMINATE, wire.octets("/")),
        (wire.SESSION_EXCHANGE, wire.octets("/")),
    ]
    messages = [wire.Message(opcode, body).encode() for opcode, body in bodies]
    return [message for message in messages if len(message) <= wire.DATAGRAM]
