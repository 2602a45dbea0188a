#!/usr/bin/env python3
"""Floods a server with noise from several sides at once, while a client that means well goes on asking.

    flood.py HOST:PORT --prefix PREFIX --http HOST:PORT --pid PID [--datagrams N] [--connections N] [--requests N]

By default 100,000 datagrams, 2,000 TCP connections and 500 to the web port; --full is a million, 20,000 and 5,000; half of it,
and then the other half. It fails if the server dies or grows, answers a reply, sends a packet of more than 512 octets or a message that cannot be read, or
does not answer the good client. Those who flood by UDP ask a good question after every 200 packets and wait for its answer: so
it is known that the server has taken all of them.
"""

import argparse
import collections
import multiprocessing
import os
import random
import select
import socket
import struct
import sys
import time

import noise
import wire

BURST = 200
# What the tables of challenges, sessions and pieces may hold when they are full, and by how much a second flood may add.
MAX_MEMORY = 64 << 20
MAX_GROWTH = 24 << 20
GOOD = 0x600D0000


def good_request(prefix, number):
    return wire.Message(wire.RESOLUTION, wire.resolution(f"{prefix}/ADMIN"), request=GOOD | number & 0xFFFF).encode()


def is_good(reply):
    message = wire.Message.decode(reply)
    values = wire.read_handle_and_values(message.after_digest()[2])[1]
    return message.response == 1 and any(v.type == b"HS_ADMIN" for v in values)


# --- those who flood: each gives what it did, and what was wrong -------------------------------------------


def datagrams(seed, address, prefix, count):
    made, did, wrong = noise.Noise(seed, prefix), collections.Counter(), []
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.connect(address)
    s.setblocking(False)

    def answers(until, wanted=None):
        while True:
            wait = max(0, until - time.monotonic())
            if not select.select([s], [], [], wait)[0]:
                return False
            try:
                data = s.recv(65535)
            except OSError:
                continue
            request = struct.unpack(">I", data[8:12])[0] if len(data) >= 20 else None
            did["answers"] += request is None or request & 0xFFFF0000 != GOOD
            if len(data) > wire.DATAGRAM or len(data) < 44 and struct.unpack(">I", data[12:16])[0] == 0:
                wrong.append(f"an answer of {len(data)} octets")
            if request is not None and request & 0xFFFF0000 == noise.REPLY_ID:
                wrong.append(f"a reply was answered: {data.hex()}")
            if data[24:28] == bytes(4) and struct.unpack(">I", data[12:16])[0] == 0 and not data[2] & wire.ENCRYPTED:
                wrong.append(f"an answer without a response code: {data.hex()}")
            if request == wanted:
                return True

    for at in range(count):
        while True:
            try:
                s.send(made.one())
                break
            except BlockingIOError:
                select.select([], [s], [], 1)
            except ConnectionError:
                wrong.append("nobody listens any longer")
                return did, wrong
        did["datagrams"] += 1
        if at % BURST == BURST - 1:
            request = good_request(prefix, at // BURST)
            wanted = struct.unpack(">I", request[8:12])[0]
            for _ in range(5):
                s.send(request)
                if answers(time.monotonic() + 2, wanted):
                    break
                did["good requests asked again"] += 1
            else:
                wrong.append("a good request between them was not answered")
    answers(time.monotonic() + 0.3)
    return did, wrong


def connections(seed, address, prefix, count):
    made, did, wrong = noise.Noise(seed, prefix), collections.Counter(), []
    r, half_open = random.Random(seed), collections.deque()
    for _ in range(count):
        how = r.randrange(4)
        try:
            s = socket.create_connection(address, 5)
        except OSError as e:
            wrong.append(f"a connection was not taken: {e}")
            continue
        try:
            did["connections"] += 1
            s.sendall(b"".join(made.one() for _ in range(r.choice((0, 1, 1, 1, 3, 40)))))
            if how == 0:
                s.shutdown(socket.SHUT_WR)
            if how <= 1:
                s.settimeout(0.02)
                while data := s.recv(1 << 16):
                    did["octets answered"] += len(data)
        except OSError:
            pass
        # Some stay for a while, half open.
        if how == 3:
            half_open.append(s)
        else:
            s.close()
        if len(half_open) > 300:
            half_open.popleft().close()
    return did, wrong


def web(seed, address, prefix, count):
    made, did, wrong = noise.Noise(seed, prefix), collections.Counter(), []
    r = random.Random(seed)
    kind = b"application/x-hdl-message"
    for _ in range(count):
        data = made.one()
        length = r.choice((len(data), len(data), len(data), 0, len(data) + 10, 1 << 40, -1))
        head = b"POST /%%2F HTTP/1.1\r\nHost: x\r\nAccept: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, kind, length)
        say = r.choice((head + data, head + data, data, head[: r.randrange(len(head))], b"GET /" + data.hex().encode() + b" HTTP/1.1\r\n\r\n",
                        head.replace(b"Content-Length: %d" % length, b"Transfer-Encoding: chunked") + data))
        try:
            with socket.create_connection(address, 5) as s:
                did["connections to the web port"] += 1
                s.sendall(say)
                if r.random() < 0.5:
                    s.shutdown(socket.SHUT_WR)
                    s.settimeout(0.05)
                    said = b""
                    while data := s.recv(1 << 16):
                        said += data
                    # What begins as TLS does is answered by an alert, as PRI by a frame of HTTP/2.
                    if said and not said.startswith((b"HTTP/1.", b"\x15\x03", b"\0\0")):
                        wrong.append(f"the web port said {said[:40]!r}")
                    did["octets answered by the web port"] += len(said)
        except OSError:
            pass
    return did, wrong


def client(address, http, prefix, stop):
    """Someone who asks by all ways in turn, as long as the flood lasts."""
    did, wrong, times = collections.Counter(), [], []
    number = 0
    while not stop.is_set():
        number += 1
        request = good_request(prefix, number)
        for via in ("UDP", "TCP", "HTTP"):
            began = time.monotonic()
            try:
                for attempt in range(3):
                    try:
                        reply = once(via, address, http, request)
                        break
                    except wire.NoReply:
                        did[f"good requests asked again by {via}"] += 1
                        if attempt == 2:
                            raise
                if not is_good(reply):
                    wrong.append(f"a wrong answer by {via}")
                did[f"good answers by {via}"] += 1
            except (wire.NoReply, wire.Malformed, OSError) as e:
                wrong.append(f"a good request was not answered by {via}: {e}")
            times.append(time.monotonic() - began)
        time.sleep(0.002)
    times.sort()
    did["µs for half of the good answers"] = int(1e6 * times[len(times) // 2])
    did["µs for 99 % of the good answers"] = int(1e6 * times[len(times) * 99 // 100])
    return did, wrong


def once(via, address, http, request):
    if via == "UDP":
        with wire.Udp(address, timeout=1.0) as s:
            s.send(request)
            return s.receive(struct.unpack(">I", request[8:12])[0])[0]
    if via == "TCP":
        with wire.Tcp(address, 3.0) as s:
            s.send(request)
            return s.receive()
    return wire.http_post(http, request, timeout=3.0)[2]


# --- the server from outside ------------------------------------------------------------------------------


def memory(pid):
    """Octets that the process has for itself."""
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return sum(int(line.split()[1]) << 10 for line in f if line.startswith("Private_"))


def files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def run(task, results, name, *args):
    try:
        results.put((name, *task(*args)))
    except Exception as e:  # Whatever it is, the one who waits must hear of it.
        results.put((name, {}, [f"{name} failed: {e!r}"]))


def round_of(options, address, http, part, seed):
    """One flood from all sides; everything that was done, and what was wrong."""
    results, stop = multiprocessing.Queue(), multiprocessing.Event()
    share = options.datagrams // part // 2
    tasks = [
        (datagrams, "datagrams", seed, address, options.prefix, share),
        (datagrams, "more datagrams", seed + 1, address, options.prefix, share),
        (connections, "connections", seed + 2, address, options.prefix, options.connections // part),
        (web, "web", seed + 3, http, options.prefix, options.requests // part),
    ]
    asking = multiprocessing.Process(target=run, args=(client, results, "client", address, http, options.prefix, stop))
    asking.start()
    flooding = [multiprocessing.Process(target=run, args=(task, results, *rest)) for task, *rest in tasks]
    for one in flooding:
        one.start()
    did, wrong = collections.Counter(), []
    for at in range(len(flooding) + 1):
        if at == len(flooding):
            stop.set()
        _, done, bad = results.get()
        did.update(done)
        wrong += bad
    for one in (*flooding, asking):
        one.join()
    return did, wrong


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("subject", metavar="HOST:PORT")
    p.add_argument("--prefix", required=True)
    p.add_argument("--http", required=True, metavar="HOST:PORT")
    p.add_argument("--pid", type=int, required=True)
    p.add_argument("--full", action="store_true")
    p.add_argument("--datagrams", type=int)
    p.add_argument("--connections", type=int)
    p.add_argument("--requests", type=int)
    p.add_argument("--seed", type=int, default=int(time.time()))
    options = p.parse_args()
    usual = (1_000_000, 20_000, 5_000) if options.full else (100_000, 2_000, 500)
    for name, number in zip(("datagrams", "connections", "requests"), usual):
        if getattr(options, name) is None:
            setattr(options, name, number)
    address, http = wire.parse_address(options.subject), wire.parse_address(options.http)
    wrong, grown, before = [], [], (memory(options.pid), files(options.pid))
    print(f"seed {options.seed}; {before[0] / 1e6:.1f} MB, {before[1]} files open")
    for part in range(2):
        did, bad = round_of(options, address, http, 2, options.seed + 10 * part)
        wrong += bad
        print(", ".join(f"{number:,} {what}" for what, number in did.items()))
        time.sleep(1)
        if not os.path.exists(f"/proc/{options.pid}"):
            print("FAIL: the server is dead")
            return 1
        after = (memory(options.pid), files(options.pid))
        print(f"{after[0] / 1e6:.1f} MB, {after[1]} files open")
        grown.append(after[0] - before[0])
        if grown[-1] > MAX_MEMORY or part and grown[-1] - grown[0] > MAX_GROWTH:
            wrong.append(f"the server has grown by {grown[0] / 1e6:.1f}, then {grown[-1] / 1e6:.1f} MB")
        if after[1] - before[1] > 50:
            wrong.append(f"{after[1] - before[1]} more files are open than before")
    for what, number in collections.Counter(wrong).most_common(20):
        print(f"FAIL: {what}" + (f" ({number} times)" if number > 1 else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
