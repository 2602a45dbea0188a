#!/usr/bin/env python3
"""Makes a server keep things for people who never come back: does it keep too many?

    hoard.py HOST:PORT --prefix PREFIX --http HOST:PORT --pid PID --admin INDEX:HANDLE --secret SECRET

Requests that are challenged and never answered, sessions for names as long as messages may be, first pieces of messages
that have no end, connections that say nothing or nearly enough; or work for nothing. Each time a client that means well must be served, by all ways
and in good time, and log in; and the server must not grow beyond what its tables may hold.
"""

import argparse
import resource
import socket
import struct
import sys
import threading
import time

import flood
import noise  # noqa: F401  (finds wire)
import harness
import wire

MAX_GROWTH = 64 << 20
LONG = 200_000
GOOD_TIME = 2.0


def challenges(s, count=1_500):
    """Large requests that wait for their sender to answer a challenge."""
    value = wire.Value(1, "DATA", b"x" * LONG)
    for n in range(count):
        body = wire.handle_and_values(f"{s.prefix}/hoard-{n}", [value])
        reply = s.exchange(wire.Message(wire.CREATE, body))
        harness.code(reply, 402)


def sessions(s, count=600):
    """Sessions for somebody with a very long name."""
    p, g = wire.GROUPS[1024]
    key = wire.PublicKey(b"DH_PUB_KEY", (pow(g, 0x123456789ABCDEF, p), p, g)).encode()
    for n in range(count):
        body = wire.setup_body(key, f"{s.prefix}/{n}" + "x" * LONG, 300)
        s.exchange(wire.Message(wire.SESSION_SETUP, body))


def pending_in_sessions(s, count=300):
    """The same large requests, in a session each."""
    value = wire.Value(1, "DATA", b"x" * LONG)
    for n in range(count):
        session = s.session(s.admin, bits=1024)
        message = wire.Message(wire.CREATE, wire.handle_and_values(f"{s.prefix}/hoard-s-{n}", [value]))
        harness.code(s.exchange(session.protect(message), session=session), 402)


def fragments(s, count=60_000):
    """First pieces of messages that have no end, each of another message."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.connect(s.address)
    with wire.Udp(s.address, timeout=2.0) as good:
        for n in range(count):
            size = 1 if n % 2 else 492
            out.send(struct.pack(">BBBBIIII", 2, 11, 2, 11, 0, n + 1, 0, wire.MAX_MESSAGE) + bytes(size))
            if n % 500 == 0:
                serve_by(s, "UDP", good)


def connections(s, address, starts):
    """As many connections as one may have, from another address than that of good clients, that say little and stay."""
    count = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200, 12_000)
    opened = []
    try:
        for n in range(count):
            one = socket.create_connection(address, 5, source_address=("127.0.0.2", 0))
            opened.append(one)
            try:
                one.sendall(starts[n % len(starts)])
            except ConnectionError:
                pass  # The server wants no more from there.
        serve(s)
    finally:
        for one in opened:
            one.close()


def work(s, count=100, seconds=3):
    """Many clients at once cause the most work that an anonymous client can cause, again and again."""
    proof = b"\x22" + wire.octets(bytes(16)) + wire.u32(100_000) + wire.u32(160) + wire.octets(bytes(20))
    body = wire.verify_body(s.admin.handle, s.admin.index, bytes(16), bytes(21), proof)
    request, until = wire.Message(wire.VERIFY, body).encode(), time.monotonic() + seconds

    def ask():
        while time.monotonic() < until:
            try:
                # From another address: wrong proofs use up the attempts of the network that they come from.
                with socket.create_connection(s.address, 5, source_address=("127.0.0.2", 0)) as one:
                    one.sendall(request)
                    one.recv(65536)
            except OSError:
                pass

    many = [threading.Thread(target=ask) for _ in range(count)]
    for one in many:
        one.start()
    try:
        while time.monotonic() < until - 0.5:
            for via in ("UDP", "TCP", "HTTP"):
                serve_by(s, via)
    finally:
        for one in many:
            one.join()


def serve_by(s, via, socket=None):
    began = time.monotonic()
    request = flood.good_request(s.prefix, int(began * 1000))
    if socket:
        socket.send(request)
        reply = socket.receive(struct.unpack(">I", request[8:12])[0])[0]
    else:
        reply = flood.once(via, s.address, s.http, request)
    harness.expect(flood.is_good(reply), f"a wrong answer by {via}")
    took = time.monotonic() - began
    harness.expect(took < GOOD_TIME, f"a good answer by {via} took {took:.1f} s")


def serve(s):
    """Someone who means well is served by all ways, and logs in."""
    for via in ("UDP", "TCP", "HTTP"):
        serve_by(s, via)
    began = time.monotonic()
    s.record()
    harness.expect(time.monotonic() - began < GOOD_TIME, "to log in took too long")


def attempt(s, pid, name, task):
    before, began = flood.memory(pid), time.monotonic()
    try:
        task()
        serve(s)
        grown = flood.memory(pid) - before
        harness.expect(grown < MAX_GROWTH, f"the server has grown by {grown / 1e6:.0f} MB")
    except (harness.Failed, wire.NoReply, wire.Malformed, OSError) as e:
        print(f"FAIL {name}: {e}", flush=True)
        return 1
    print(f"ok {name}: {grown / 1e6:+.1f} MB, {time.monotonic() - began:.1f} s", flush=True)
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("subject", metavar="HOST:PORT")
    p.add_argument("--only", default="")
    for name in ("prefix", "http", "admin", "secret"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--pid", type=int, required=True)
    o = p.parse_args()
    index, _, handle = o.admin.partition(":")
    admin = harness.Identity(handle, int(index), secret=o.secret.encode())
    s = harness.Subject(wire.parse_address(o.subject), o.prefix, admin, http=wire.parse_address(o.http))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    request = flood.good_request(o.prefix, 1)
    posted = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
    nearly = struct.pack(">I", wire.MAX_MESSAGE)
    tasks = {
        "challenges that nobody answers": lambda: challenges(s),
        "sessions with long names": lambda: sessions(s),
        "challenges in sessions that nobody answers": lambda: pending_in_sessions(s),
        "pieces of messages without an end": lambda: fragments(s),
        "work that anonymous clients cause": lambda: work(s),
        "half-open connections": lambda: connections(s, s.address, [b"", request[:19], request[:30], request[:16] + nearly + bytes(2000)]),
        "half-open connections to the web port": lambda: connections(s, s.http, [b"", b"POST", posted]),
    }
    return 1 if sum([attempt(s, o.pid, name, task) for name, task in tasks.items() if o.only in name]) else 0


if __name__ == "__main__":
    sys.exit(main())
