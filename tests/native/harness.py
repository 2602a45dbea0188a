"""What every situation needs: the subject, identities, asking, and saying what was expected and what came.

`Subject.ask` checks on every reply what the protocol says of every reply (§2.6): echoed ids and opcode,
version, flags, expiration, serial, digest, signature. A situation then looks only at what is its own.
"""

import dataclasses
import secrets
import time

import replication
import wire
from wire import AT, CA, CN, CT, DNR, ENC, KC, MNS, OWE, PO, RD, REC, Message, Value

SITUATIONS = []


class Failed(Exception):
    """The subject did something else than expected."""


class Skipped(Exception):
    """The situation needs something that is not there."""


def situation(*needs):
    """Marks a function as a situation that needs `admin`, `key_admin`, `udp`, `http`, `crypto` or `replication`."""

    def mark(function):
        SITUATIONS.append((function.__name__, needs, function))
        return function

    return mark


def expect(truth, what):
    if not truth:
        raise Failed(what)


def equal(what, expected, came):
    if expected != came:
        raise Failed(f"{what}: expected {shown(expected)}, came {shown(came)}")


def code(reply, *allowed):
    """The reply, if its response code is one of these."""
    if reply.response not in allowed:
        wanted = " or ".join(map(str, allowed))
        raise Failed(f"expected response {wanted}, came {reply.response}{error_text(reply)}")
    return reply


def not_success(reply):
    if reply.response == 1:
        raise Failed("expected any refusal, came response 1")
    return reply


def shown(thing):
    text = repr(thing)
    return text if len(text) < 300 else text[:300] + "…"


def error_text(reply):
    if reply.response in (1, 302, 303, 402):
        return ""
    try:
        return f" ({reply.after_digest()[2].octets().decode(errors='replace')})"
    except wire.Malformed:
        return ""


@dataclasses.dataclass
class Identity:
    handle: str
    index: int
    secret: bytes = None
    key: wire.RsaPrivateKey = None

    def answer(self, challenge, **how):
        """The body of a RESPONSE_TO_CHALLENGE, made as a stock client makes it unless told otherwise."""
        nonce, digest = wire.read_challenge(challenge)
        version = min(challenge.version, challenge.suggested)
        if self.key:
            name = how.pop("hash_name", "SHA-256" if version >= (2, 7) else "SHA1")
            proof, kind = wire.key_answer(self.key, nonce, digest, name), "HS_PUBKEY"
        else:
            mac = how.pop("mac", 0x22 if version >= (2, 7) else 0x02)
            proof, kind = wire.secret_answer(mac, self.secret, nonce, digest, **how), "HS_SECKEY"
        return wire.answer_body(kind, self.handle, self.index, proof)


class Subject:
    def __init__(self, address, prefix, admin=None, key_admin=None, http=None, reuse=False, timeout=5.0):
        self.address, self.prefix, self.http, self.timeout = address, prefix, http, timeout
        self.admin, self.key_admin, self.reuse = admin or key_admin, key_admin, reuse
        self.run_id = secrets.token_hex(4)
        self.count = 0
        self.cache = {}

    # --- what the situations need, made once ---

    @property
    def site(self):
        if "site" not in self.cache:
            reply = self.exchange(Message(wire.GET_SITE_INFO, wire.octets("/"), version=(2, 3)))
            code(reply, 1)
            self.cache["site"] = wire.Site.decode(reply.after_digest()[2].rest())
        return self.cache["site"]

    @property
    def has_udp(self):
        """Whether the subject answers datagrams. If its site record says so, it has to."""
        if "udp" not in self.cache:
            said = any(p == 0 for server in self.site.servers for _, p, _ in server.interfaces)
            self.cache["udp"] = said
            if not said:
                try:
                    self.exchange(Message(wire.GET_SITE_INFO, wire.octets("/")), via="udp")
                    self.cache["udp"] = True
                except wire.NoReply:
                    pass
        return self.cache["udp"]

    @property
    def has_replication(self):
        """Whether the subject feeds mirrors."""
        if "replication" not in self.cache:
            body = replication.dump_body()
            reply = self.exchange(Message(replication.DUMP, body))
            self.cache["replication"] = reply.response != 5
        return self.cache["replication"]

    @property
    def server_keys(self):
        return [wire.PublicKey.decode(s.public_key) for s in self.site.servers if s.public_key]

    @property
    def outsider(self):
        """Someone who can prove who they are, and may do nothing."""
        if "outsider" not in self.cache:
            self.cache["outsider"] = self.user()
        return self.cache["outsider"]

    @property
    def public_record(self):
        """A record that nothing changes, for situations that only want something to resolve."""
        if "public" not in self.cache:
            self.cache["public"] = self.record(Value(1, "URL", "https://example.org/"))
        return self.cache["public"]

    def name(self, word="n"):
        self.count += 1
        return f"{self.prefix}/conf-{self.run_id}-{self.count}-{word}"

    def admin_value(self, index=100, who=None, permissions=wire.ALL_PERMISSIONS, kind="HS_ADMIN"):
        who = who or self.admin
        return Value(index, kind, wire.admin_data(permissions, who.handle, who.index))

    def record(self, *values, word="record", bare=False):
        """Creates a record with these values, and one that lets the administrator do everything."""
        handle = self.name(word)
        code(self.create(handle, list(values) + ([] if bare else [self.admin_value()])), 1)
        return handle

    def user(self, secret=None, index=300):
        secret = secret or secrets.token_hex(8).encode()
        handle = self.record(Value(index, "HS_SECKEY", secret, permissions=0x04), word="user")
        return Identity(handle, index, secret=secret)

    def key_user(self, index=300):
        key = self.cache.get("rsa")
        if key is None:
            try:
                key = self.cache["rsa"] = wire.RsaPrivateKey.generate()
            except ImportError:
                raise Skipped("the package cryptography is not installed") from None
        handle = self.record(Value(index, "HS_PUBKEY", key.public().encode()), word="keyuser")
        return Identity(handle, index, key=key)

    # --- asking ---

    def send(self, data):
        """All messages of the reply to these octets, by TCP on a connection of their own."""
        with wire.Tcp(self.address, self.timeout) as connection:
            connection.send(data)
            replies = [connection.receive()]
            while not replies[-1][2] & wire.ENCRYPTED and int.from_bytes(replies[-1][28:32], "big") & CN:
                replies.append(connection.receive())
            return replies

    def exchange(self, message, via="tcp", session=None, encrypted=False):
        """The reply to a message, with nothing checked but that it can be read."""
        data = message.encrypted(session.algorithm, session.key) if encrypted else message.encode()
        if via == "udp":
            with wire.Udp(self.address) as socket:
                socket.send(*message.cut(data[20:]))
                raw, _ = socket.receive(message.request)
        elif via == "http":
            status, headers, raw = wire.http_post(self.http, data)
            equal("HTTP status", 200, status)
        else:
            raw = self.send(data)[0]
        reply = Message.decode(raw, session)
        reply.raw = raw
        return reply

    def ask(self, opcode, body, via="tcp", session=None, encrypted=False, **fields):
        """The reply to one request, checked as every reply is; in a session if one is given."""
        request = Message(opcode, body, **fields)
        if session:
            session.protect(request)
        reply = self.exchange(request, via, session, encrypted)
        reply.asked = request
        self.check(reply, request, request, session)
        return reply

    def ask_all(self, opcode, body, original=None, **fields):
        request = Message(opcode, body, **fields)
        replies = [Message.decode(raw) for raw in self.send(request.encode())]
        for reply in replies:
            reply.asked = request
            self.check(reply, request, original or request)
        return replies

    def run(self, opcode, body, who=None, how=None, session=None, **fields):
        """Asks, and answers the challenge if one comes."""
        reply = self.ask(opcode, body, session=session, **fields)
        if reply.response != 402:
            return reply
        return self.finish(reply, (who or self.admin).answer(reply, **(how or {})), session)

    def finish(self, challenge, body, session=None, **fields):
        """Sends this answer to the challenge and gives the reply to what was challenged."""
        original = challenge.asked
        request = Message(
            wire.ANSWER, body, flags=original.flags, version=original.version,
            suggested=original.suggested, recursion=original.recursion, session=challenge.session,
        )
        reply = self.exchange(dataclasses.replace(request, **fields), session=session)
        reply.asked = dataclasses.replace(request, **fields)
        self.check(reply, reply.asked, original, session)
        return reply

    def run_all(self, opcode, body, who=None, **fields):
        replies = self.ask_all(opcode, body, **fields)
        if replies[0].response != 402:
            return replies
        challenge = replies[0]
        return self.ask_all(
            wire.ANSWER, (who or self.admin).answer(challenge), original=challenge.asked,
            session=challenge.session, **fields,
        )

    # --- the operations ---

    def resolve(self, handle, indexes=(), types=(), **fields):
        return self.ask(wire.RESOLUTION, wire.resolution(handle, indexes, types), **fields)

    def found(self, handle, indexes=(), types=(), **fields):
        """The values that a resolution gives."""
        return self.values(self.resolve(handle, indexes, types, **fields), handle)

    def indexes(self, handle, *args, **fields):
        return [v.index for v in self.found(handle, *args, **fields)]

    def values(self, reply, handle):
        code(reply, 1)
        echoed, found = wire.read_handle_and_values(reply.after_digest()[2])
        equal("handle in the reply", handle.encode() if isinstance(handle, str) else handle, echoed)
        return found

    def create(self, handle, values, who=None, **fields):
        return self.run(wire.CREATE, wire.handle_and_values(handle, values), who, **fields)

    def add(self, handle, values, who=None, **fields):
        return self.run(wire.ADD, wire.handle_and_values(handle, values), who, **fields)

    def modify(self, handle, values, who=None, **fields):
        return self.run(wire.MODIFY, wire.handle_and_values(handle, values), who, **fields)

    def remove(self, handle, indexes, who=None, **fields):
        return self.run(wire.REMOVE, wire.handle_and_indexes(handle, indexes), who, **fields)

    def delete(self, handle, who=None, **fields):
        return self.run(wire.DELETE, wire.octets(handle), who, **fields)

    def still_answers(self):
        """The good request that must be answered after every bad one."""
        try:
            reply = self.exchange(Message(wire.GET_SITE_INFO, wire.octets("/")))
        except (wire.NoReply, OSError) as e:
            raise Failed(f"a good request after it was not answered: {e}") from None
        code(reply, 1)

    # --- sessions ---

    def session(self, who=None, bits=2048, via="tcp", version=wire.OWN_VERSION):
        """Sets a session up; it is not authenticated yet."""
        p, g = wire.GROUPS[bits]
        exponent = secrets.randbits(256) | 1 << 255
        ours = wire.PublicKey(b"DH_PUB_KEY", (pow(g, exponent, p), p, g))
        identity = (who.handle, who.index) if who else ("", 0xFFFFFFFF)
        reply = self.ask(
            wire.SESSION_SETUP, wire.setup_body(ours.encode(), *identity), via=via,
            flags=wire.USUAL | CT | RD, version=version, suggested=version,
        )
        code(reply, 1)
        mode, algorithm, theirs = wire.read_setup_reply(reply.after_digest()[2])
        equal("session mode", 4, mode)
        equal("type of the server's key", b"DH_PUB_KEY", theirs.kind)
        equal("group of the server's key", (p, g), theirs.numbers[1:])
        expect(1 < theirs.numbers[0] < p - 1, "the server's Diffie–Hellman number is trivial")
        expect(0 < reply.session < 1 << 31, f"session id {reply.session}")
        key = wire.session_key(algorithm, wire.shared_secret(theirs.numbers[0], exponent, p))
        return wire.Session(reply.session, algorithm, key, reply.version)

    def authenticated_session(self, who=None, **how):
        """A session whose identity has been proved, by deleting a record that was there for it."""
        who = who or self.admin
        handle = self.record(self.admin_value(101, who), word="session")
        session = self.session(who, **how)
        reply = self.ask(wire.DELETE, wire.octets(handle), session=session)
        code(reply, 402)
        code(self.finish(reply, who.answer(reply), session), 1)
        return session

    # --- what holds for every reply ---

    def check(self, reply, request, original, session=None):
        equal("request id", request.request, reply.request)
        equal("sequence number", 0, reply.sequence)
        expect(reply.response in wire.RESPONSE_CODES, f"response code {reply.response} does not exist")
        equal("opcode", original.opcode, reply.opcode)
        suggested = request.suggested if request.suggested[0] else request.version
        equal("version", min(suggested, wire.OWN_VERSION), reply.version)
        equal("suggested version", wire.OWN_VERSION, reply.suggested)
        equal("recursion count", original.recursion, reply.recursion)
        ahead = reply.expiration - time.time()
        expect(
            abs(ahead - 43200) < 300 and reply.expiration < 1 << 31,
            f"expiration: expected now + 43200 s, came now + {ahead:.0f} s",
        )
        equal("site serial", self.site.serial, reply.serial)
        self.check_session_id(reply, request, original, session)
        self.check_flags(reply, original)
        self.check_body(reply, original)
        self.check_certificate(reply, original, session)

    def check_session_id(self, reply, request, original, session):
        if session:
            equal("session id", session.id, reply.session)
        elif reply.response == 402 or (original.opcode == wire.SESSION_SETUP and reply.response == 1):
            expect(reply.session > 0, "expected a session id above 0, came 0")
        elif request.opcode != wire.ANSWER:
            equal("session id", request.session, reply.session)
        elif reply.response == 1:
            equal("session id", original.session, reply.session)

    def check_flags(self, reply, original):
        copied = CT | CA | ENC | PO | DNR | AT
        own = AT if self.site.mask & 0x80 else 0
        wanted = original.flags & copied | own | REC
        # RD is judged with the digest; CN, OWE and MNS by the situations; keeping KC is a server's choice.
        judged = 0xFFF00000 & ~(RD | CN | OWE | MNS | KC)
        equal("flags", f"{wanted & judged:08x}", f"{reply.flags & judged:08x}")
        equal("undefined flags", 0, reply.flags & 0x000FFFFF)
        for flag, name in ((OWE, "OWE"), (MNS, "MNS"), (KC, "KC")):
            expect(not reply.flags & flag or original.flags & flag, f"{name} is set, but was not asked for")

    def check_body(self, reply, original):
        asked = original.flags & RD and original.version >= (2, 1)
        if asked or reply.response == 402:
            expect(reply.flags & RD, "expected RD and a request digest, came none")
        if reply.flags & RD:
            algorithm, digest, _ = reply.after_digest()
            equal("request digest", original.digest(reply.version).hex(), (bytes([algorithm]) + digest).hex())
        r = reply.after_digest()[2]
        if reply.response == 402:
            nonce = r.octets()
            r.end()
            expect(len(nonce) >= 16, f"a nonce of {len(nonce)} octets")
        elif reply.response not in (1, 302, 303):
            r.octets().decode()

    def check_certificate(self, reply, original, session):
        if not original.flags & CT:
            return
        credential = reply.credential
        expect(credential is not None, "the reply to a request with CT has no credential")
        if session:
            expect(session.vouches_for(reply), "the MAC of the reply does not verify")
            return
        equal("credential type", b"HS_SIGNED", credential.kind)
        equal("counter outside a session", 0, credential.counter)
        covered = reply.signature_input(0)
        expect(
            any(k.verify(credential.algorithm, covered, credential.signature) for k in self.server_keys),
            "the signature of the reply does not verify with the key of GET_SITE_INFO",
        )
        if reply.version >= (2, 7) and self.server_keys[0].kind == b"RSA_PUB_KEY":
            equal("hash of the signature", b"SHA-256", credential.algorithm)
