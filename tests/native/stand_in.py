#!/usr/bin/env python3
"""A small server in memory, to try the conformance suite on: `stand_in.py PORT` serves until it is stopped.

When a situation fails, the server or the suite is wrong. That this server passes says that the suite can be
passed, and `stand_in.py --check` runs the suite against it. It knows nothing of storage, mirrors or load, and
is not a server to use: its administrator's password is in this file.
"""

import hmac
import http.server
import os
import secrets
import socket
import struct
import subprocess
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import wire
from wire import AT, CA, CN, CT, DNR, ENC, KC, MNS, OWE, PO, RD, REC, Malformed, Message, Reader, Value

PREFIX, ADMIN, SECRET = "20.500.12345", "20.500.12345/ADMIN", b"secret"


class Refuse(Exception):
    def __init__(self, code, text=""):
        super().__init__(text)
        self.code, self.text = code, text


class Challenge(Exception):
    """The request needs an identity."""


class Broken(Exception):
    """The message cannot be read; carries the code to say so."""

    def __init__(self, code, request=0xFFFFFFFF):
        super().__init__(code)
        self.code, self.request = code, request


def key_of(handle):
    return handle.upper()


def of_type(value, name):
    kind = value.type.upper()
    return kind == name or kind.startswith(name + b".")


def is_admin(value):
    return of_type(value, b"HS_ADMIN")


def same_handle(a, b):
    pa, _, sa = a.partition(b"/")
    pb, _, sb = b.partition(b"/")
    return a.upper() == b.upper() if a[:2] == b"0." else pa.upper() == pb.upper() and sa == sb


class State:
    def __init__(self):
        self.lock = threading.RLock()
        self.key = wire.RsaPrivateKey.generate()
        self.records, self.withdrawn = {}, set()
        self.challenges, self.sessions, self.next_id = {}, {}, 0
        self.homed = {f"0.NA/{PREFIX}".encode()}
        grant = Value(100, "HS_ADMIN", wire.admin_data(0xFFF, ADMIN, 300))
        by_key = Value(101, "HS_ADMIN", wire.admin_data(0xFFF, ADMIN, 301))
        self.records[f"0.NA/{PREFIX}".encode()] = [grant, by_key]
        self.records[ADMIN.encode()] = [
            Value(300, "HS_SECKEY", SECRET, permissions=4),
            Value(301, "HS_PUBKEY", self.key.public().encode()),
        ]
        self.site = None

    def new_id(self):
        self.next_id += 1
        return self.next_id

    def find(self, handle):
        return self.records.get(key_of(handle))


class Proof:
    """Who someone says to be, and whether they can show it."""

    def __init__(self, state, handle, index, holds):
        self.state, self.handle, self.index, self.holds = state, handle, index, holds

    def matches(self, handle, index, own=None):
        return same_handle(handle, self.handle) and index in (0, self.index if own is None else own)

    def granted(self, needed, admins):
        own, todo, seen = self.holds.index(), [], set()
        for value in admins:
            try:
                permissions, handle, index = wire.read_admin_data(value.data)
            except Malformed:
                continue
            if permissions & needed == needed:
                todo.append((handle, index))
        while todo:
            handle, index = todo.pop(0)
            if self.matches(handle, index) or self.index == 0 and own and self.matches(handle, index, own):
                return True
            if index == 0 or (handle, index) in seen:
                continue
            seen.add((handle, index))
            for value in self.state.find(handle) or ():
                if value.index == index and of_type(value, b"HS_VLIST"):
                    r = Reader(value.data)
                    try:
                        members = wire.read_references(r)
                        r.end()
                    except Malformed:
                        continue
                    todo += members
        return False


class Answered:
    """The answer to a challenge."""

    def __init__(self, state, kind, handle, index, response, nonce, digest):
        self.state, self.kind, self.handle, self.number = state, kind, handle, index
        self.response, self.subject = response, nonce + digest

    def candidates(self, kind, exact):
        for v in sorted(self.state.find(self.handle) or [], key=lambda v: v.index):
            if self.number in (0, v.index) and (v.type == kind if exact else of_type(v, kind)):
                yield v

    def index(self):
        """The index of the public key that verifies."""
        if self.kind != b"HS_PUBKEY":
            return None
        try:
            r = Reader(self.response)
            name, signature = r.octets(), r.octets()
            for v in self.candidates(b"HS_PUBKEY", True):
                if wire.PublicKey.decode(v.data).verify(name, self.subject, signature):
                    return v.index
        except (Malformed, ValueError, OverflowError):
            pass
        return None

    def check(self):
        if self.kind == b"HS_PUBKEY":
            if self.index() is None:
                raise Refuse(403)
        elif self.kind == b"HS_SECKEY":
            keys = [v.data for v in self.candidates(b"HS_SECKEY", False)]
            if not any(secret_matches(k, self.subject, self.response) for k in keys):
                raise Refuse(403)
        else:
            raise Refuse(404, "unknown authentication type")


def secret_matches(secret, subject, response):
    code = response[0] if response else None
    if code == 0x22:
        try:
            r = Reader(response, 1)
            salt, rounds, bits = r.octets(), r.u32(), r.u32()
        except Malformed:
            return False
        if not (0 < rounds <= 1_000_000 and 8 <= bits <= 512):
            return False
        good = wire.secret_answer(code, secret, subject, b"", salt, rounds, bits)
    elif code in (1, 2, 3, 0x12, 0x13):
        good = wire.secret_answer(code, secret, subject, b"")
    else:
        raise Refuse(406, "unknown MAC")
    return hmac.compare_digest(good, response)


class InSession:
    """The MAC of a request in an authenticated session."""

    def __init__(self, session, request):
        self.session, self.request = session, request

    def index(self):
        return None

    def check(self):
        check_mac(self.session, self.request)
        counter = self.request.credential.counter
        if counter == 0 or counter in self.session.seen:
            raise Refuse(505)
        self.session.seen.add(counter)


def check_mac(session, request):
    if request.credential is None:
        raise Refuse(404)
    if not session.vouches_for(request):
        raise Refuse(502)


class Engine:
    """Requests in, replies out."""

    def __init__(self, state):
        self.s = state

    def answer(self, data):
        """(the messages of the reply, whether the connection may be kept)"""
        with self.s.lock:
            try:
                request = self.read(data)
            except Broken as e:
                reply = Message(0, wire.octets(""), e.code, version=(2, 3), request=e.request)
                return [reply.encode()], False
            return self.reply(request), bool(request.flags & KC)

    def read(self, data):
        if len(data) < 20:
            raise Broken(4)
        session_id, request_id = struct.unpack(">II", data[4:12])
        session = None
        if data[2] & wire.ENCRYPTED:
            session = self.s.sessions.get(session_id)
            if session is None:
                raise Broken(500 if session_id else 501, request_id)
            try:
                wire.decrypt(session.algorithm, session.key, data[20:])
            except (Malformed, ValueError):
                raise Broken(501, request_id) from None
        payload = data[20:] if not session else wire.decrypt(session.algorithm, session.key, data[20:])
        if len(payload) < 24:
            raise Broken(4, request_id)
        opcode, response, flags, serial, recursion, _, expiration, length = struct.unpack(
            ">IIIHBBII", payload[:24]
        )
        rest = payload[24 + length :]
        if 24 + length > len(payload) or response or opcode == 0:
            raise Broken(4, request_id)
        credential = None
        try:
            if len(rest) >= 4:
                credential = wire.Credential.decode(Reader(rest).octets())
        except Malformed:
            raise Broken(4, request_id) from None
        return Message(
            opcode, payload[24 : 24 + length], 0, flags, (data[0], data[1]), (data[2] & 3, data[3]),
            session_id, request_id, 0, 0, serial, recursion, expiration, credential, payload[15],
        )

    def reply(self, request):
        original, auth, session = request, None, self.s.sessions.get(request.session)
        pages, code, flags, new_session = [b""], 1, 0, None
        try:
            if request.opcode == wire.ANSWER:
                original, auth = self.completed(request)
                session = self.s.sessions.get(original.session)
            elif request.session and not session:
                raise Refuse(500)
            elif session and session.identity:
                auth = Proof(self.s, *session.identity, InSession(session, request))
            pages, flags, new_session = self.carry_out(original, auth, session)
            if request.opcode == wire.ANSWER and session and auth:
                if (auth.handle, auth.index) == session.claimed:
                    session.identity = session.claimed
        except Refuse as e:
            code, pages = e.code, [wire.octets(e.text)]
        except Malformed:
            return [Message(0, wire.octets(""), 4, version=(2, 3), request=request.request).encode()]
        except Challenge:
            nonce = secrets.token_bytes(16)
            number = request.session if session else self.s.new_id()
            self.s.challenges[number] = (original, nonce)
            code, pages, flags, new_session = 402, [wire.octets(nonce)], RD, number
        out = []
        for n, page in enumerate(pages):
            more = flags | (CN if n + 1 < len(pages) else 0)
            out.append(self.frame(request, original, session, code, page, more, new_session))
        return out

    def frame(self, request, original, session, code, body, flags, session_id):
        suggested = request.suggested if request.suggested[0] else request.version
        version = min(suggested, wire.OWN_VERSION)
        if version < (2, 5):
            code = {7: 303, 202: 201}.get(code, code)
        flags |= original.flags & (CT | CA | ENC | PO | DNR | RD) | AT | REC
        if flags & RD:
            body = original.digest(version) + body
        reply = Message(
            original.opcode, body, code, flags, version, session=original.session, request=request.request,
            serial=1, recursion=original.recursion,
        )
        if session_id is not None:
            reply.session = session_id
        if flags & CT:
            if session and original.opcode != wire.SESSION_SETUP:
                session.counter += 1
                mac = reply.session_mac(session.key, session.counter)
                reply.credential = wire.Credential(b"HS_MAC", b"HMAC-SHA256", mac, session.counter)
            else:
                name = "SHA-256" if version >= (2, 7) else "SHA1"
                signature = self.s.key.sign(name, reply.signature_input())
                reply.credential = wire.Credential(b"HS_SIGNED", name.encode(), signature)
        if session and code == 1 and (flags & ENC or self.restricted(reply)):
            return reply.encrypted(session.algorithm, session.key)
        return reply.encode()

    def restricted(self, reply):
        if reply.opcode != wire.RESOLUTION:
            return False
        _, found = wire.read_handle_and_values(reply.after_digest()[2])
        return any(not v.permissions & 2 for v in found)

    def completed(self, request):
        r = Reader(request.body)
        kind, handle, index, response = r.octets(), r.octets(), r.u32(), r.octets()
        waiting = self.s.challenges.pop(request.session, None)
        if waiting is None:
            raise Refuse(500 if request.session and request.session not in self.s.sessions else 405)
        original, nonce = waiting
        suggested = original.suggested if original.suggested[0] else original.version
        digest = original.digest(min(suggested, wire.OWN_VERSION))[1:]
        answered = Answered(self.s, kind, handle, index, response, nonce, digest)
        return original, Proof(self.s, handle, index, answered)

    # --- the operations ---

    def carry_out(self, m, auth, session):
        r = Reader(m.body)
        one = {
            wire.RESOLUTION: self.resolve, wire.CREATE: self.create, wire.DELETE: self.delete,
            wire.ADD: self.add, wire.REMOVE: self.remove, wire.MODIFY: self.modify,
        }
        if m.opcode in one:
            body, flags = one[m.opcode](m, r, auth, session)
            return [body], flags, None
        if m.opcode == wire.GET_SITE_INFO:
            r.octets()
            return [self.s.site.encode()], 0, None
        if m.opcode == wire.LIST_HANDLES:
            return self.list(r, auth), 0, None
        if m.opcode in (wire.HOME, wire.UNHOME, wire.LIST_HOMED):
            r.octets()
            self.need(auth, 1, [])
        if m.opcode == wire.VERIFY:
            return [self.verify(r)], 0, None
        if m.opcode == wire.SESSION_SETUP:
            number, body = self.set_up(m, r)
            return [body], 0, number
        if m.opcode == wire.SESSION_TERMINATE:
            if session is None:
                raise Refuse(500)
            check_mac(session, m)
            del self.s.sessions[m.session]
            return [b""], 0, None
        raise Refuse(501 if m.opcode == wire.SESSION_EXCHANGE else 5)

    def need(self, auth, permissions, admins):
        if auth is None:
            raise Challenge
        self.need_any(auth, [(permissions, admins)])

    def need_any(self, auth, ways):
        if not any(all(auth.granted(*w) for w in (way if isinstance(way, list) else [way])) for way in ways):
            raise Refuse(400)
        auth.holds.check()

    def responsible(self, handle):
        prefix = b"0.NA/" + handle.partition(b"/")[0]
        if handle.upper() not in self.s.homed and prefix.upper() not in self.s.homed:
            raise Refuse(301)

    def resolve(self, m, r, auth, session):
        handle = r.octets()
        indexes, types = r.list(r.u32, 4), [t.upper() for t in r.list(r.octets, 4)]
        name = handle if b"/" in handle else b"0.NA/" + handle
        self.responsible(name)
        record = self.s.find(name)
        if record is None:
            raise Refuse(100)

        def wanted(v):
            kind = v.type.upper()
            below = (t for t in types if t.endswith(b"."))
            return (
                not indexes and not types or v.index in indexes or kind in types
                or any(kind == t[:-1] or kind.startswith(t) for t in below)
            )

        chosen = [v for v in record if wanted(v)]
        if m.flags & PO:
            chosen = [v for v in chosen if v.permissions & 2]
        elif any(not v.permissions & 2 for v in chosen) or session:
            if chosen and not any(v.permissions & 10 for v in chosen):
                raise Refuse(401)
            if any(v.permissions & 10 == 8 for v in chosen) or session:
                self.need(auth, wire.READ_VALUE, filter(is_admin, record))
            chosen = [v for v in chosen if v.permissions & 10]
        if not chosen:
            raise Refuse(200)
        return wire.handle_and_values(handle, chosen), 0

    def new_values(self, r, handle, may_be_empty=False):
        new = r.list(lambda: Value.read(r), 26)
        if not new and not may_be_empty:
            raise Refuse(202)
        if any(not 0 < v.index < 1 << 31 for v in new):
            raise Refuse(202)
        if len({v.index for v in new}) != len(new):
            raise Refuse(201)
        for v in new:
            v.timestamp = int(time.time())
        return new

    def store(self, handle, values):
        if len(values) > 2048 or len(wire.handle_and_values(handle, values)) > 262144 - 100:
            raise Refuse(202, "record too large")
        self.s.records[key_of(handle)] = values

    def existing(self, handle):
        self.responsible(handle)
        record = self.s.find(handle)
        if record is None:
            raise Refuse(100)
        return record, [v for v in record if is_admin(v)]

    def create(self, m, r, auth, _session):
        handle = r.octets()
        if m.flags & MNS:
            handle += str(uuid.uuid4()).encode()
        self.responsible(handle)
        try:
            handle.decode()
        except UnicodeDecodeError:
            raise Refuse(102) from None
        if len(handle) > 2048:
            raise Refuse(102)
        new = self.new_values(r, handle, may_be_empty=True)
        old = self.s.find(handle)
        if key_of(handle) in self.s.withdrawn or old is not None and not m.flags & OWE:
            raise Refuse(101)
        prefix = (wire.ADD_HANDLE, self.s.find(b"0.NA/" + handle.partition(b"/")[0]) or [])
        if auth is None:
            raise Challenge
        prefix = (prefix[0], [v for v in prefix[1] if is_admin(v)])
        if old is None:
            self.need(auth, *prefix)
            self.store(handle, new)
            return wire.octets(handle), m.flags & MNS
        admins = [v for v in old if is_admin(v)]
        needed = self.difference(old, new, whole=True)
        ways = [(wire.ADD_ADMIN, admins), [(wire.DELETE_HANDLE, admins), prefix]]
        if not needed & wire.ADD_ADMIN:
            ways.append((needed, admins))
        self.need_any(auth, ways)
        self.store(handle, new)
        return wire.octets(handle), OWE | m.flags & MNS

    def difference(self, old, new, whole):
        """The permissions for what changes; what does not change keeps its time."""
        needed, was = 0, {v.index: v for v in old}
        for v in new:
            before = was.get(v.index)
            if before is None:
                needed |= wire.ADD_ADMIN if is_admin(v) else wire.ADD_VALUE
            elif v.same(before):
                v.timestamp = before.timestamp
            else:
                needed |= self.change(before, v)
        if whole:
            for v in old:
                if v.index not in {n.index for n in new}:
                    needed |= wire.REMOVE_ADMIN if is_admin(v) else wire.REMOVE_VALUE
        return needed

    def change(self, before, after):
        if is_admin(before):
            return wire.MODIFY_ADMIN if is_admin(after) else wire.REMOVE_ADMIN | wire.MODIFY_VALUE
        if is_admin(after):
            return wire.MODIFY_VALUE | wire.ADD_ADMIN
        return 0 if before.permissions & 1 else wire.MODIFY_VALUE

    def delete(self, m, r, auth, _session):
        handle = r.octets()
        _, admins = self.existing(handle)
        self.need(auth, wire.DELETE_HANDLE, admins)
        del self.s.records[key_of(handle)]
        self.s.withdrawn.add(key_of(handle))
        return b"", 0

    def add(self, m, r, auth, _session):
        handle = r.octets()
        new = self.new_values(r, handle)
        record, admins = self.existing(handle)
        taken = {v.index for v in record} & {v.index for v in new}
        if taken and not m.flags & OWE:
            raise Refuse(201, f"Index conflict for {min(taken)}")
        self.need(auth, self.difference(record, new, whole=False), admins)
        others = [v for v in record if v.index not in taken]
        self.store(handle, sorted(others + new, key=lambda v: v.index))
        return b"", OWE if taken else 0

    def remove(self, m, r, auth, _session):
        handle = r.octets()
        gone = set(r.list(r.u32, 4))
        record, admins = self.existing(handle)
        if not gone <= {v.index for v in record}:
            raise Refuse(200)
        needed = 0
        for v in record:
            if v.index in gone:
                needed |= wire.REMOVE_ADMIN if is_admin(v) else wire.REMOVE_VALUE
        self.need(auth, needed, admins)
        self.store(handle, [v for v in record if v.index not in gone])
        return b"", 0

    def modify(self, m, r, auth, _session):
        handle = r.octets()
        new = {v.index: v for v in self.new_values(r, handle)}
        record, admins = self.existing(handle)
        was = {v.index: v for v in record}
        if not set(new) <= set(was):
            raise Refuse(200)
        needed = 0
        for index, v in new.items():
            if not was[index].permissions & 5:
                raise Refuse(401, "Value is read-only")
            needed |= self.change(was[index], v)
        if needed:
            self.need(auth, needed, admins)
        self.store(handle, [new.get(v.index, v) for v in record])
        return b"", 0

    def list(self, r, auth):
        handle = r.octets()
        prefix = handle if b"/" in handle else b"0.NA/" + handle
        if prefix.upper() not in self.s.homed:
            raise Refuse(301)
        self.need(auth, wire.MAY_LIST, [v for v in self.s.find(prefix) or [] if is_admin(v)])
        names = sorted(n for n in self.s.records if n.startswith(prefix[5:].upper() + b"/"))
        pages = [names[at : at + 50] for at in range(0, len(names), 50)] or [[]]
        return [wire.u32(len(p)) + b"".join(map(wire.octets, p)) for p in pages]

    def verify(self, r):
        handle, index, nonce = r.octets(), r.u32(), r.octets()
        digest = r.octets() if r.data[r.at] == 0 else r.take({1: 16, 2: 20, 3: 32}[r.u8()])
        answered = Answered(self.s, b"HS_SECKEY", handle, index, r.octets(), nonce, digest)
        try:
            answered.check()
        except Refuse:
            return b"\0"
        return b"\1"

    def set_up(self, m, r):
        mode, _timeout, handle, index = r.u16(), r.u32(), r.octets(), r.u32()
        if mode != 4:
            raise Refuse(501)
        try:
            theirs = wire.PublicKey.decode(r.octets())
            y, p, g = theirs.numbers
        except (Malformed, ValueError):
            raise Refuse(501) from None
        if not (1000 < p.bit_length() <= 8192 and p % 2 and 1 < y < p - 1):
            raise Refuse(501)
        mine = secrets.randbits(256)
        version = min(m.suggested if m.suggested[0] else m.version, wire.OWN_VERSION)
        key = wire.session_key(3, wire.shared_secret(y, mine, p))
        session = wire.Session(self.s.new_id(), 3, key, version)
        session.claimed, session.identity, session.seen = (handle, index), None, set()
        self.s.sessions[session.id] = session
        ours = wire.PublicKey(b"DH_PUB_KEY", (pow(g, mine, p), p, g))
        return session.id, wire.u16(4) + wire.octets(wire.u32(3) + ours.encode()) + wire.u16(0)


# --- listeners --------------------------------------------------------------------------------------------


def serve_tcp(listener, engine):
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=one_connection, args=(sock, engine), daemon=True).start()


def one_connection(sock, engine):
    sock.settimeout(30)
    with sock:
        is_open = True
        while is_open:
            try:
                envelope = wire.receive_exactly(sock, 20, "")
                length = struct.unpack(">I", envelope[16:])[0]
                data = envelope
                if length <= wire.MAX_MESSAGE:
                    data += wire.receive_exactly(sock, length, "")
            except wire.NoReply:
                return
            replies, is_open = engine.answer(data)
            try:
                sock.sendall(b"".join(replies))
            except OSError:
                return
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(0.2)
        try:
            # What is left unread would turn the close into a reset, which can overtake the reply.
            while sock.recv(65536):
                pass
        except OSError:
            pass


def serve_udp(sock, engine):
    waiting = {}
    while True:
        data, source = sock.recvfrom(65535)
        if len(data) < 20:
            continue
        request, sequence, length = struct.unpack(">III", data[8:20])
        if length > wire.MAX_MESSAGE:
            continue
        if length > wire.STRIDE:
            count = -(-length // wire.STRIDE)
            size = wire.STRIDE if sequence < count - 1 else length - wire.STRIDE * (count - 1)
            if sequence >= count or len(data) - 20 < size:
                continue
            pieces = waiting.setdefault((source, request, length), {})
            pieces[sequence] = data[20 : 20 + size]
            if len(pieces) < count:
                continue
            del waiting[source, request, length]
            data = data[:12] + bytes(4) + data[16:20] + b"".join(pieces[n] for n in range(count))
        elif len(data) < 20 + length:
            continue
        data = data[: 20 + length]
        if not data[2] & wire.ENCRYPTED and data[24:28] not in (b"", bytes(4)):
            continue
        for reply in engine.answer(data)[0]:
            payload = reply[20:]
            for n in range(max(1, -(-len(payload) // wire.STRIDE))):
                piece = payload[n * wire.STRIDE : (n + 1) * wire.STRIDE]
                sock.sendto(reply[:12] + wire.u32(n) + reply[16:20] + piece, source)


def http_handler(engine):
    class Tunnel(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if data[:1] in (b"\r", b"\n"):
                data = data[1:]
            reply = engine.answer(data)[0][0]
            self.send_response(200)
            self.send_header("Content-Type", "application/x-hdl-message")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            pass

    return Tunnel


def start(port):
    """Serves at a port of this machine; (the state, the port, the port of the tunnel)."""
    state = State()
    engine = Engine(state)
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    port = listener.getsockname()[1]
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    datagrams.bind(("127.0.0.1", port))
    tunnel = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http_handler(engine))
    interfaces = [(3, 1, port), (3, 0, port), (3, 2, tunnel.server_port)]
    server = wire.Server(1, bytes(12) + bytes([127, 0, 0, 1]), state.key.public().encode(), interfaces)
    state.site = wire.Site(1, (2, 11), 1, 0x80, 2, b"", [(b"desc", b"stand-in")], [server])
    listeners = ((serve_tcp, (listener, engine)), (serve_udp, (datagrams, engine)), (tunnel.serve_forever, ()))
    for target, args in listeners:
        threading.Thread(target=target, args=args, daemon=True).start()
    return state, port, tunnel.server_port


def main():
    check = sys.argv[1:2] == ["--check"]
    state, port, tunnel = start(0 if check else int(sys.argv[1]))
    if not check:
        print(f"127.0.0.1:{port}, HTTP 127.0.0.1:{tunnel}", flush=True)
        threading.Event().wait()
    read_end, write_end = os.pipe()
    os.write(write_end, wire.seal_private_key(state.key.encode()))
    os.close(write_end)
    suite = os.path.join(os.path.dirname(os.path.abspath(__file__)), "conformance.py")
    return subprocess.call(
        [sys.executable, suite, f"127.0.0.1:{port}", "--prefix", PREFIX, "--admin", f"300:{ADMIN}",
         "--secret", SECRET.decode(), "--key", f"/dev/fd/{read_end}", "--key-admin", f"301:{ADMIN}",
         "--http", f"127.0.0.1:{tunnel}", *sys.argv[2:]],
        pass_fds=[read_end],
    )


if __name__ == "__main__":
    sys.exit(main())
