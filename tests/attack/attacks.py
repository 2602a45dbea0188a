"""The attacks of the security review.

Each is a function that prepares what it sends and gives a second one, which runs: that takes a function that says whether to go on, and
one to tell that the attack is in full swing, and gives what it counted. Probes say whether those whom an attack is to harm are served.
"""

import collections
import json
import os
import select
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "native"))

import wire  # noqa: E402
from swarm import SOURCES, Swarm  # noqa: E402

MAX_ROUNDS = 100_000  # of PBKDF2, which an answer may ask for
SECKEY_NAME, LARGE_NAME, LONG_NAME, ADMIN = "20.1000/many", "20.1000/large", "20.1000/long", "20.1000/adm"
SECRET = b"a secret of some length"  # of ADMIN


def http(method, path, token=None, body=None, length=None, headers=()):
    """The octets of a request; `length` is what it says of its body."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if body is not None or length is not None:
        if not any(line.lower().startswith("content-type") for line in lines):
            lines.append("Content-Type: application/json")
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")


def ask(address, request, timeout):
    """Status and body of the answer to a request on a connection of its own, from 127.0.0.1."""
    deadline = time.monotonic() + timeout
    with socket.create_connection(address, timeout, source_address=("127.0.0.1", 0)) as one:
        one.sendall(request)
        answer = b""
        while part := one.recv(1 << 16):
            answer += part
            one.settimeout(max(0.01, deadline - time.monotonic()))
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def api(name):
    return name.replace("/", "%2F")


def costly_answer(rounds=MAX_ROUNDS):
    return b"\x22" + wire.octets(b"s" * 16) + wire.u32(rounds) + wire.u32(160) + wire.octets(b"m" * 20)


def verification(name, index, response, flags=wire.USUAL):
    return wire.Message(wire.VERIFY, wire.verify_body(name, index, b"n" * 16, b"\3" * 32, response), flags=flags).encode()


# --- over HTTP ---------------------------------------------------------------------------------------------


def idle_uploads(s):
    """300 uploads that announce 1 MiB each and send one octet (finding 3)."""
    paths = ["/api/handles/20.1000/zz", "/api/v1/names"]
    starts = [http("PUT" if "handles" in path else "POST", path, body=b"{", length=1 << 20) for path in paths]
    return Swarm(s.web, 300, lambda n: starts[n % 3 == 0]).run


def idle_web_connections(s):
    """10,000 connections to the web port that say nothing, or half a line (finding 16)."""
    starts = [b"", b"GET /20.1000/adm HTT"]
    return Swarm(s.web, 10_000, lambda n: starts[n // 5 % 2], rate=8000).run


def histories(s):
    """24 readers of a history of 75 MB (finding 5)."""
    request = http("GET", f"/api/v1/names/{api(LONG_NAME)}/history")
    return Swarm(s.web, 24, lambda n: request).run


def job_lists(s):
    """30 lists of 1.9 MB to withdraw, by an account without any role (finding 8)."""
    names = ",".join(f'"20.2000/nobody-has-this-{n:06}"' for n in range(57_000))
    start, end = '{"kind":"withdraw","reason":"x","names":["20.2000/', f'",{names}]}}'
    length = len(start) + 10 + len(end)
    head = http("POST", "/api/v1/jobs", s.tokens["carol"], length=length, headers=["Connection: close"]) + start.encode()
    count, end = iter(range(s.run, 1 << 60)), end.encode()
    # Each is another list: the same would be the same job.
    return Swarm(s.web, 30, lambda n: head + b"%010d" % (next(count) % 10**10) + end, reopen=2).run


def slow_imports(s):
    """Three imports that send an octet a second, by an account without any role (finding 12)."""
    def request(n):
        line = b'{"id":"20.2000/slow-%d-%d","urls":["https://example.org/"]}\n' % (s.run, n)
        headers = ["Content-Type: application/x-ndjson"]
        return http("POST", "/api/v1/import?format=ndjson", s.tokens["carol"], line + b" " * (1 << 20), 1 << 30, headers)

    return Swarm(s.web, 3, request, drip=b" ").run


def requested_authorities(s):
    """As many authorities as can be asked for, by an account without any role (finding 17)."""
    count = iter(range(1 << 30))

    def request(_):
        body = json.dumps({"authority": f"21.{s.run}.{next(count)}", "title": "x" * 200, "request": True}).encode()
        return http("POST", "/api/v1/authorities", s.tokens["carol"], body, headers=["Connection: close"])

    return Swarm(s.web, 8, request, reopen=0.02).run


def window_0(s):
    """200 HTTP/2 connections with 64 requests each for 250 kB, which never read an answer (finding 22)."""

    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + wire.u32(stream) + payload

    path = f"/api/handles/{LARGE_NAME}".encode()
    block = b"\x82\x86\x04" + bytes([len(path)]) + path + b"\x01\x09127.0.0.1"
    start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, struct.pack(">HI", 4, 0))
    start += b"".join(frame(1, 5, 1 + 2 * n, block) for n in range(64))
    return Swarm(s.web, 200, lambda n: start).run


# --- over the native protocol -------------------------------------------------------------------------------


def many_secrets(s):
    """Verifications on a name with 2,000 secrets, by clients that hang up at once (finding 7)."""
    request = verification(SECKEY_NAME, 0, costly_answer())
    return Swarm(s.native, 64, lambda n: request, hang_up=True, reopen=1).run


def pbkdf2(s):
    """900 verifications that ask for 100,000 rounds each (finding 7b)."""
    request = verification(ADMIN, 300, costly_answer())
    return Swarm(s.native, 900, lambda n: request).run


def idle_native_connections(s):
    """10,000 native connections that say nothing, or half an envelope (finding 16)."""
    starts = [b"", bytes([2, 11, 2, 11, 0, 0])]
    return Swarm(s.native, s.idle_native, lambda n: starts[n // 5 % 2], rate=8000).run


def failed_logins(s):
    """Guesses of a secret, one behind the other on ten connections (finding 4)."""
    batches = []
    for n in range(10):
        answers = [wire.secret_answer(3, b"guess-%d-%d" % (n, k), b"n" * 16, b"\3" * 32) for k in range(100)]
        batches.append(b"".join(verification(ADMIN, 300, one, wire.USUAL | wire.KC) for one in answers))
    return Swarm(s.native, 10, lambda n: batches[n % 10], again=True).run


def unanswered_challenges(s):
    """Changes of 250 kB by nobody: each is challenged, and the challenge never answered (finding 18)."""
    value = wire.Value(1, "DATA", b"x" * 250_000)
    add = wire.Message(wire.ADD, wire.handle_and_values(ADMIN, [value]), flags=wire.USUAL | wire.KC).encode()
    return Swarm(s.native, 5, lambda n: add, again=True).run


def udp_amplification(s):
    """Short requests over UDP for a value of 250 kB (finding 13)."""
    request = wire.Message(wire.RESOLUTION, wire.resolution(LARGE_NAME)).encode()
    did = collections.Counter()
    sockets = []
    for source in SOURCES:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        one.bind((source, 0))
        one.connect(s.native)
        one.setblocking(False)
        sockets.append(one)
    buffer = bytearray(2048)
    def run(goes_on, ready):
        ready()
        while goes_on():
            for one in sockets:
                try:
                    did["octets sent"] += one.send(request)
                except OSError:
                    did["not sent"] += 1
            pause = time.monotonic() + 0.02
            while (left := pause - time.monotonic()) > 0:
                for one in select.select(sockets, [], [], left)[0]:
                    try:
                        for _ in range(64):
                            did["octets read"] += one.recv_into(buffer)
                    except OSError:
                        pass
        did["times as much answered as sent"] = did["octets read"] // max(1, did["octets sent"])
        return did

    return run


# --- those whom an attack is to harm, and what it is to find: nothing, or what is wrong -----------------------


def bob_imports(s):
    """Bob takes a name from a file while others import slowly."""
    body = json.dumps({"id": f"20.2000/import-{time.monotonic_ns()}", "urls": ["https://example.org/"]}).encode() + b"\n"
    headers = ["Connection: close", "Content-Type: application/x-ndjson"]
    status, _ = ask(s.web, http("POST", "/api/v1/import?format=ndjson", s.tokens["bob"], body, headers=headers), 3)
    return "" if status == 200 else f"bob's import is answered {status}"


def native_client_resolves(s):
    """Somebody resolves a name over a TCP connection."""
    with wire.Tcp(s.native, 3) as one:
        one.send(wire.Message(wire.RESOLUTION, wire.resolution(LARGE_NAME)).encode())
        return "" if wire.Message.decode(one.receive()).response == 1 else "a native client is refused"


def native_client_logs_in(s):
    """Somebody answers a challenge 100 ms after it came."""
    value = wire.Value(time.monotonic_ns() % 1_000_000 + 1000, "DATA", b"by a native client")
    with wire.Tcp(s.native, 3) as one:
        one.send(wire.Message(wire.ADD, wire.handle_and_values(ADMIN, [value]), flags=wire.USUAL | wire.KC).encode())
        challenge = wire.Message.decode(one.receive())
        if challenge.response != 402:
            return f"a native client is not challenged ({challenge.response})"
        nonce, digest = wire.read_challenge(challenge)
        time.sleep(0.1)
        answer = wire.answer_body("HS_SECKEY", ADMIN, 300, wire.secret_answer(0x22, SECRET, nonce, digest))
        one.send(wire.Message(wire.ANSWER, answer, session=challenge.session, request=challenge.request).encode())
        response = wire.Message.decode(one.receive()).response
        return "" if response == 1 else f"a native client that answers its challenge is refused ({response})"


def right_secret_is_not_confirmed(s):
    """A client with too many failed logins does not learn that a guess is right."""
    message = verification(ADMIN, 300, wire.secret_answer(3, SECRET, b"n" * 16, b"\3" * 32))
    with socket.create_connection(s.native, 3, source_address=(SOURCES[0], 0)) as one:
        one.sendall(message)
        reply = b""
        while len(reply) < 20 or len(reply) < 20 + struct.unpack(">I", reply[16:20])[0]:
            part = one.recv(4096)
            if not part:
                return ""
            reply += part
    message = wire.Message.decode(reply)
    is_told = message.response == 1 and message.after_digest()[2].u8() & 1
    return "after thousands of guesses the right one is still told" if is_told else ""


def requested_is_not_served(s):
    """The server does not answer for an authority that somebody has only asked for."""
    with wire.Tcp(s.native, 3) as one:
        one.send(wire.Message(wire.RESOLUTION, wire.resolution(f"21.{s.run}.0/x")).encode())
        response = wire.Message.decode(one.receive()).response
        return "the server answers for an authority that was only asked for" if response == 100 else ""


PROBES = {
    requested_authorities: requested_is_not_served,
    slow_imports: bob_imports,
    idle_native_connections: native_client_resolves,
    unanswered_challenges: native_client_logs_in,
    failed_logins: right_secret_is_not_confirmed,
}


# What an attack may count at most.
MAX_COUNTS = {
    udp_amplification: ("times as much answered as sent", 100),
    requested_authorities: ("status 201", 100),
}

ALL = [
    idle_uploads, many_secrets, pbkdf2, idle_web_connections, idle_native_connections, histories, job_lists, slow_imports,
    requested_authorities, failed_logins, unanswered_challenges, udp_amplification, window_0,
]
