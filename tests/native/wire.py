"""The Handle System native protocol, for tests.

Octets in, values out, and the other way round; below that, the four ways of carrying a message. It is
written from the protocol's description alone and shares nothing with the server under test, so that the two
can disagree. Decoding is strict: what the description does not allow raises `Malformed`.

Section numbers (§) are those of the project's description of the protocol; vectors B.n are its appendix.
"""

import dataclasses
import hashlib
import hmac
import http.client
import os
import random
import secrets
import socket
import struct
import time

# --- numbers of the protocol ------------------------------------------------------------------------------

RESOLUTION, GET_SITE_INFO = 1, 2
CREATE, DELETE, ADD, REMOVE, MODIFY, LIST_HANDLES, LIST_DERIVED = 100, 101, 102, 103, 104, 105, 106
ANSWER, VERIFY = 200, 201
HOME, UNHOME, LIST_HOMED = 300, 301, 302
SESSION_SETUP, SESSION_TERMINATE, SESSION_EXCHANGE = 400, 401, 402

AT, CT, ENC, REC = 0x80000000, 0x40000000, 0x20000000, 0x10000000
CA, CN, KC, PO = 0x08000000, 0x04000000, 0x02000000, 0x01000000
RD, OWE, MNS, DNR = 0x00800000, 0x00400000, 0x00200000, 0x00100000
USUAL = REC | CA | PO  # what a stock client sends

COMPRESSED, ENCRYPTED, TRUNCATED = 0x80, 0x40, 0x20

RESPONSE_CODES = {
    1, 2, 3, 4, 5, 6, 7, 100, 101, 102, 200, 201, 202, 300, 301, 302, 303,
    400, 401, 402, 403, 404, 405, 406, 500, 501, 502, 503, 504, 505,
}

# HS_ADMIN permissions
ADD_HANDLE, DELETE_HANDLE, ADD_DERIVED, DELETE_DERIVED = 0x001, 0x002, 0x004, 0x008
MODIFY_VALUE, REMOVE_VALUE, ADD_VALUE = 0x010, 0x020, 0x040
MODIFY_ADMIN, REMOVE_ADMIN, ADD_ADMIN, READ_VALUE, MAY_LIST = 0x080, 0x100, 0x200, 0x400, 0x800
ALL_PERMISSIONS = 0xFFF

DATAGRAM, STRIDE = 512, 492
MAX_MESSAGE = 262144
OWN_VERSION = (2, 11)


class Malformed(Exception):
    """Octets that the protocol does not allow."""


# --- primitives (§0) --------------------------------------------------------------------------------------


def u16(number):
    return struct.pack(">H", number)


def u32(number):
    return struct.pack(">I", number & 0xFFFFFFFF)


def octets(data):
    """`bytes` and `str` of the description: a length, then as many octets."""
    if isinstance(data, str):
        data = data.encode()
    return u32(len(data)) + data


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Malformed(f"{count} octets wanted at {self.at}, {len(self.data) - self.at} left")
        self.at += count
        return self.data[self.at - count : self.at]

    def u8(self):
        return self.take(1)[0]

    def u16(self):
        return struct.unpack(">H", self.take(2))[0]

    def u32(self):
        return struct.unpack(">I", self.take(4))[0]

    def octets(self):
        return self.take(self.u32())

    def list(self, item, smallest):
        count = self.u32()
        if count * smallest > len(self.data) - self.at:
            raise Malformed(f"a list of {count} items in {len(self.data) - self.at} octets")
        return [item() for _ in range(count)]

    def rest(self):
        return self.take(len(self.data) - self.at)

    def end(self):
        if self.at != len(self.data):
            raise Malformed(f"{len(self.data) - self.at} octets too many")


# --- values (§5) and the data of the predefined types (§6) ------------------------------------------------


@dataclasses.dataclass
class Value:
    index: int
    type: bytes
    data: bytes
    permissions: int = 0x0E
    ttl: int = 86400
    ttl_type: int = 0
    timestamp: int = 0
    references: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        if isinstance(self.type, str):
            self.type = self.type.encode()
        if isinstance(self.data, str):
            self.data = self.data.encode()

    def encode(self):
        return b"".join([
            u32(self.index), u32(self.timestamp), bytes([self.ttl_type]), u32(self.ttl),
            bytes([self.permissions]), octets(self.type), octets(self.data), references(self.references),
        ])

    @classmethod
    def read(cls, r):
        index, timestamp, ttl_type, ttl, permissions = r.u32(), r.u32(), r.u8(), r.u32(), r.u8()
        kind, data = r.octets(), r.octets()
        return cls(index, kind, data, permissions, ttl, ttl_type, timestamp, read_references(r))

    def same(self, other):
        """Equal in everything but the time, which the server sets."""
        return dataclasses.replace(self, timestamp=0) == dataclasses.replace(other, timestamp=0)

    def digest_input(self):
        """What HS_SIGNATURE digests: everything after index and timestamp (§6.10)."""
        return self.encode()[8:]


def references(items):
    return u32(len(items)) + b"".join(octets(handle) + u32(index) for handle, index in items)


def read_references(r):
    return r.list(lambda: (r.octets(), r.u32()), 8)


def admin_data(permissions, handle, index):
    return u16(permissions) + octets(handle) + u32(index)


def read_admin_data(data):
    r = Reader(data)
    admin = (r.u16(), r.octets(), r.u32())
    if r.rest() not in (b"", b"\0\0"):
        raise Malformed("HS_ADMIN with trailing octets")
    return admin


def vlist_data(*members):
    return references(list(members))


def values(items):
    return u32(len(items)) + b"".join(v.encode() for v in items)


def container(items):
    """`root_info` and its kin: a length that does not count itself, then the values (§6.13)."""
    return octets(values(items))


@dataclasses.dataclass
class Server:
    id: int
    address: bytes
    public_key: bytes
    interfaces: list  # (type, protocol, port)


@dataclasses.dataclass
class Site:
    format: int
    protocol: tuple
    serial: int
    mask: int
    hash_option: int
    hash_filter: bytes
    attributes: list
    servers: list

    def encode(self):
        out = [u16(self.format), bytes(self.protocol), u16(self.serial), bytes([self.mask, self.hash_option])]
        out += [octets(self.hash_filter), u32(len(self.attributes))]
        out += [octets(name) + octets(value) for name, value in self.attributes]
        out.append(u32(len(self.servers)))
        for s in self.servers:
            out += [u32(s.id), s.address, octets(s.public_key), u32(len(s.interfaces))]
            out += [bytes([kind, protocol]) + u32(port) for kind, protocol, port in s.interfaces]
        return b"".join(out)

    @classmethod
    def decode(cls, data):
        r = Reader(data)

        def server():
            number, address, key = r.u32(), r.take(16), r.octets()
            return Server(number, address, key, r.list(lambda: (r.u8(), r.u8(), r.u32()), 6))

        site = cls(
            r.u16(), (r.u8(), r.u8()), r.u16(), r.u8(), r.u8(), r.octets(),
            r.list(lambda: (r.octets(), r.octets()), 8), r.list(server, 28),
        )
        r.end()
        return site


def position(handle, option, servers):
    """Which of a site's servers a handle belongs to (§8.2)."""
    prefix, slash, suffix = handle.partition(b"/")
    if not slash:
        prefix, suffix = b"0.NA", handle
    part = (prefix, suffix, handle)[option]
    tail = hashlib.md5(part.upper()).digest()[-4:]
    return abs(struct.unpack(">i", tail)[0]) % servers


# --- keys (§6.5, §6.8) ------------------------------------------------------------------------------------


def integer(number):
    """Minimal two's complement of a non-negative number, with its length."""
    return octets(number.to_bytes(number.bit_length() // 8 + 1, "big") if number else b"\0")


@dataclasses.dataclass
class PublicKey:
    kind: bytes
    numbers: tuple  # RSA: e, n; DSA: q, p, g, y; DH: y, p, g

    def encode(self):
        tail = b"\0\0\0\0" if self.kind == b"RSA_PUB_KEY" else b""
        return octets(self.kind) + u16(0) + b"".join(map(integer, self.numbers)) + tail

    @classmethod
    def decode(cls, data):
        r = Reader(data)
        kind, _flags = r.octets(), r.u16()
        counts = {b"RSA_PUB_KEY": 2, b"DSA_PUB_KEY": 4, b"DH_PUB_KEY": 3}
        if kind not in counts:
            raise Malformed(f"key of type {kind!r}")
        return cls(kind, tuple(int.from_bytes(r.octets(), "big") for _ in range(counts[kind])))

    def verify(self, hash_name, message, signature):
        new = hash_of(hash_name)
        if self.kind == b"RSA_PUB_KEY":
            e, n = self.numbers
            size = (n.bit_length() + 7) // 8
            plain = pow(int.from_bytes(signature, "big"), e, n).to_bytes(size, "big")
            return len(signature) == size and plain == pkcs1(new, message, size)
        q, p, g, y = self.numbers
        r, s = read_der_pair(signature)
        if not (0 < r < q and 0 < s < q):
            return False
        digest = new(message).digest()
        z = int.from_bytes(digest, "big") >> max(0, 8 * len(digest) - q.bit_length())
        w = pow(s, -1, q)
        return pow(g, z * w % q, p) * pow(y, r * w % q, p) % p % q == r


@dataclasses.dataclass
class RsaPrivateKey:
    n: int
    e: int
    d: int
    p: int = 0
    q: int = 0

    @classmethod
    def generate(cls, bits=2048):
        from cryptography.hazmat.primitives.asymmetric import rsa

        key = rsa.generate_private_key(65537, bits).private_numbers()
        return cls(key.public_numbers.n, key.public_numbers.e, key.d, key.p, key.q)

    def public(self):
        return PublicKey(b"RSA_PUB_KEY", (self.e, self.n))

    def sign(self, hash_name, message):
        size = (self.n.bit_length() + 7) // 8
        block = int.from_bytes(pkcs1(hash_of(hash_name), message, size), "big")
        return pow(block, self.d, self.n).to_bytes(size, "big")

    def encode(self):
        p, q, d = self.p, self.q, self.d
        numbers = (self.n, self.e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p))
        return octets("RSA_PRIVCRT_KEY") + b"".join(map(integer, numbers))

    @classmethod
    def decode(cls, data):
        r = Reader(data)
        kind = r.octets()
        if kind == b"RSA_PRIVCRT_KEY":
            n, e, d, p, q, _dp, _dq, _qinv = (int.from_bytes(r.octets(), "big") for _ in range(8))
            r.end()
            return cls(n, e, d, p, q)
        if kind == b"RSA_PRIV_KEY":
            n, d = (int.from_bytes(r.octets(), "big") for _ in range(2))
            return cls(n, 65537, d)
        raise Malformed(f"private key of type {kind!r}")


def seal_private_key(plain, passphrase=None):
    """A private key file: scheme 1 without a passphrase, scheme 4 with one."""
    if passphrase is None:
        return u32(1) + plain
    salt, iv, rounds = secrets.token_bytes(16), secrets.token_bytes(16), 10000
    key = pbkdf2(passphrase, salt, rounds, 128)
    return u32(4) + octets(salt) + u32(rounds) + u32(128) + octets(iv) + octets(cbc(3, key, iv, plain, True))


def open_private_key(data, passphrase=b""):
    r = Reader(data)
    scheme = r.u32()
    if scheme == 1:
        return r.rest()
    if scheme not in (3, 4):
        raise Malformed(f"private key file of scheme {scheme}")
    salt, rounds, bits, iv, sealed = r.octets(), r.u32(), r.u32(), r.octets(), r.octets()
    return cbc(2 if scheme == 3 else 3, pbkdf2(passphrase, salt, rounds, bits), iv, sealed, False)


def hash_of(name):
    if isinstance(name, bytes):
        name = name.decode("latin-1")
    names = {
        "SHA1": hashlib.sha1, "SHA-1": hashlib.sha1, "\x02": hashlib.sha1,
        "SHA-256": hashlib.sha256, "SHA256": hashlib.sha256, "\x03": hashlib.sha256,
        "MD5": hashlib.md5, "\x01": hashlib.md5,
    }
    if name not in names:
        raise Malformed(f"hash named {name!r}")
    return names[name]


# DER of the AlgorithmIdentifier that PKCS#1 v1.5 puts before a digest.
_DIGEST_INFO = {
    "md5": bytes.fromhex("3020300c06082a864886f70d020505000410"),
    "sha1": bytes.fromhex("3021300906052b0e03021a05000414"),
    "sha256": bytes.fromhex("3031300d060960864801650304020105000420"),
}


def pkcs1(new, message, size):
    h = new(message)
    info = _DIGEST_INFO[h.name] + h.digest()
    return b"\0\1" + b"\xff" * (size - len(info) - 3) + b"\0" + info


def read_der_pair(der):
    r = Reader(der)
    if r.u8() != 0x30 or r.u8() != len(der) - 2:
        raise Malformed("DSA signature is not a short DER sequence")
    numbers = []
    for _ in range(2):
        if r.u8() != 2:
            raise Malformed("DSA signature without two integers")
        numbers.append(int.from_bytes(r.take(r.u8()), "big"))
    r.end()
    return numbers


# --- the message (§1, §2) ---------------------------------------------------------------------------------


@dataclasses.dataclass
class Message:
    opcode: int = 0
    body: bytes = b""
    response: int = 0
    flags: int = USUAL
    version: tuple = OWN_VERSION
    suggested: tuple = OWN_VERSION  # (0, 0): none
    session: int = 0
    request: int = dataclasses.field(default_factory=lambda: random.getrandbits(31))
    sequence: int = 0
    envelope_flags: int = 0
    serial: int = 0xFFFF
    recursion: int = 0
    expiration: int = dataclasses.field(default_factory=lambda: int(time.time()) + 43200)
    credential: object = None  # Credential, or None
    reserved: int = 0

    def envelope(self, length, sequence=None, more_flags=0):
        sequence = self.sequence if sequence is None else sequence
        third = self.envelope_flags | more_flags | self.suggested[0]
        return bytes([*self.version, third, self.suggested[1]]) + struct.pack(
            ">IIII", self.session, self.request, sequence, length
        )

    def covered(self):
        """Header and body: what digests, signatures and MACs are about."""
        return struct.pack(
            ">IIIHBBII", self.opcode, self.response, self.flags, self.serial, self.recursion,
            self.reserved, self.expiration, len(self.body),
        ) + self.body

    def payload(self):
        return self.covered() + octets(self.credential.encode() if self.credential else b"")

    def encode(self):
        payload = self.payload()
        return self.envelope(len(payload)) + payload

    def fragments(self, truncated=True):
        return self.cut(self.payload(), TRUNCATED if truncated else 0)

    def cut(self, payload, more_flags=TRUNCATED):
        """The datagrams of a message; the length in each is that of the whole (§1.4)."""
        if len(payload) <= STRIDE:
            return [self.envelope(len(payload)) + payload]
        pieces = [payload[at : at + STRIDE] for at in range(0, len(payload), STRIDE)]
        return [self.envelope(len(payload), n, more_flags) + p for n, p in enumerate(pieces)]

    def encrypted(self, algorithm, key, iv=None):
        sealed = encrypt(algorithm, key, self.payload(), iv)
        return self.envelope(len(sealed), more_flags=ENCRYPTED) + sealed

    @classmethod
    def decode(cls, data, session=None):
        """The message in these octets; `session` opens it if it is encrypted."""
        r = Reader(data)
        major, minor, third, suggested_minor = r.take(4)
        session_id, request, sequence, length = r.u32(), r.u32(), r.u32(), r.u32()
        if length != len(data) - 20:
            raise Malformed(f"length field {length}, but {len(data) - 20} octets follow the envelope")
        if third & ENCRYPTED:
            if session is None:
                raise Malformed("encrypted message outside a session")
            r = Reader(decrypt(session.algorithm, session.key, r.rest()))
        opcode, response, flags, serial = r.u32(), r.u32(), r.u32(), r.u16()
        recursion, reserved, expiration, body_length = r.u8(), r.u8(), r.u32(), r.u32()
        body = r.take(body_length)
        credential = Credential.decode(r.octets()) if r.at < len(r.data) else None
        r.end()
        return cls(
            opcode, body, response, flags, (major, minor), (third & 0x1F, suggested_minor), session_id,
            request, sequence, third & 0xE0, serial, recursion, expiration, credential, reserved,
        )

    def after_digest(self):
        """(algorithm, digest, reader of the rest); algorithm 0 when RD is clear (§3.1)."""
        r = Reader(self.body)
        if not self.flags & RD:
            return 0, b"", r
        algorithm = r.u8()
        sizes = {1: 16, 2: 20, 3: 32}
        if algorithm not in sizes:
            raise Malformed(f"digest algorithm {algorithm}")
        return algorithm, r.take(sizes[algorithm]), r

    def signature_input(self, counter=0):
        """What HS_SIGNED covers, by the version of this message (§4.4)."""
        v = self.version
        if v >= (2, 8):
            suggested = self.suggested if self.suggested[0] else v
            head = bytes([*v, *suggested]) + struct.pack(">III", self.session, self.request, counter)
        elif v == (2, 7):
            head = bytes(v) + struct.pack(">III", self.session, self.request, counter)
        elif v == (2, 6):
            head = bytes(v) + u32(self.session)[:2] + u32(counter) + bytes(6)
        else:
            head = b""
        return head + self.covered()

    def session_mac(self, key, counter):
        m, v = self.covered(), self.version
        if v >= (2, 7):
            return hmac.digest(key, self.signature_input(counter), "sha256")
        if v >= (2, 5):
            return hashlib.sha1(key[:4] + m + key + bytes(len(key) + 10)).digest()
        return hashlib.sha1(key + m + key).digest()

    def digest(self, version):
        """The digest field a reply of that version carries about this request."""
        if version >= (2, 7):
            return b"\3" + hashlib.sha256(self.covered()).digest()
        return b"\2" + hashlib.sha1(self.covered()).digest()


@dataclasses.dataclass
class Credential:
    kind: bytes
    algorithm: bytes
    signature: bytes
    counter: int = 0
    handle: bytes = b""

    def encode(self):
        info = octets(self.algorithm) + octets(self.signature)
        return bytes(4) + octets(self.handle) + u32(self.counter) + octets(self.kind) + octets(info)

    @classmethod
    def decode(cls, data):
        if not data:
            return None
        r = Reader(data)
        r.take(4)
        handle, counter, kind = r.octets(), r.u32(), r.octets()
        info = Reader(r.octets())
        r.end()
        credential = cls(kind, info.octets(), info.octets(), counter, handle)
        info.end()
        return credential


# --- bodies (§3) ------------------------------------------------------------------------------------------


def resolution(handle, indexes=(), types=()):
    return b"".join([
        octets(handle), u32(len(indexes)), *map(u32, indexes), u32(len(types)), *map(octets, types),
    ])


def handle_and_values(handle, items):
    return octets(handle) + values(items)


def handle_and_indexes(handle, indexes):
    return octets(handle) + u32(len(indexes)) + b"".join(map(u32, indexes))


def read_handle_and_values(r):
    handle = r.octets()
    found = r.list(lambda: Value.read(r), 26)
    r.end()
    return handle, found


def read_names(r):
    names = r.list(r.octets, 4)
    r.end()
    return names


def read_challenge(message):
    """(nonce, digest) of a challenge."""
    _algorithm, digest, r = message.after_digest()
    nonce = r.octets()
    r.end()
    return nonce, digest


def answer_body(kind, handle, index, response):
    return octets(kind) + octets(handle) + u32(index) + octets(response)


def verify_body(handle, index, nonce, digest, response):
    return octets(handle) + u32(index) + octets(nonce) + octets(digest) + octets(response)


def setup_body(public_key, handle=b"", index=0xFFFFFFFF, timeout=86400, mode=4):
    return u16(mode) + u32(timeout) + octets(handle) + u32(index) + octets(public_key) + u16(0)


def read_setup_reply(r):
    """(mode, algorithm, server key) of a mode-4 reply; the two surplus octets may be there or not."""
    mode, data = r.u16(), r.octets()
    if r.rest() not in (b"", b"\0\0"):
        raise Malformed("session setup reply with trailing octets")
    inner = Reader(data)
    return mode, inner.u32(), PublicKey.decode(inner.rest())


# --- proofs of identity (§7) ------------------------------------------------------------------------------


def pbkdf2(secret, salt, rounds, bits):
    # Each octet of the secret counts as a character, and the characters go in as UTF-8 (§6.8).
    return hashlib.pbkdf2_hmac("sha1", secret.decode("latin-1").encode(), salt, rounds, bits // 8)


def secret_answer(code, secret, nonce, digest, salt=None, rounds=10000, bits=160):
    subject = nonce + digest
    if code == 0x22:
        salt = secrets.token_bytes(16) if salt is None else salt
        mac = hmac.digest(pbkdf2(secret, salt, rounds, bits), subject, "sha1")
        return b"\x22" + octets(salt) + u32(rounds) + u32(bits) + octets(mac)
    plain = {1: hashlib.md5, 2: hashlib.sha1, 3: hashlib.sha256}
    if code in plain:
        return bytes([code]) + plain[code](secret + subject + secret).digest()
    keyed = {0x11: "md5", 0x12: "sha1", 0x13: "sha256"}
    return bytes([code]) + hmac.digest(secret, subject, keyed[code])


def key_answer(key, nonce, digest, hash_name="SHA-256"):
    return octets(hash_name) + octets(key.sign(hash_name, nonce + digest))


# --- sessions (§4.5, §4.6) --------------------------------------------------------------------------------

_GROUP_2 = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF", 16)
_GROUP_14 = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F"
    "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B"
    "E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510"
    "15728E5A8AACAA68FFFFFFFFFFFFFFFF", 16)
GROUPS = {1024: (_GROUP_2, 2), 2048: (_GROUP_14, 2)}  # RFC 2409 group 2, RFC 3526 group 14


def shared_secret(theirs, exponent, p):
    return pow(theirs, exponent, p).to_bytes((p.bit_length() + 7) // 8, "big")


def session_key(algorithm, z):
    if algorithm == 3:
        at = 0
        while z[at] == 0 and len(z) - at > 32:
            at += 1
        return z[at : at + 32]
    size = {1: 8, 2: 24}.get(algorithm)
    if size is None:
        raise Malformed(f"session algorithm {algorithm}")
    return bytes((b & 0xFE) | (1 - bin(b >> 1).count("1") % 2) for b in z[:size])


def cbc(algorithm, key, iv, data, seal):
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if algorithm == 3:
        cipher, block = algorithms.AES(key[:16]), 16
    else:
        try:
            from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
        except ImportError:
            TripleDES = algorithms.TripleDES
        # DES is triple DES with the same key thrice.
        cipher, block = TripleDES(key[:24] if algorithm == 2 else key[:8] * 3), 8
    machine = Cipher(cipher, modes.CBC(iv))
    if seal:
        pad = block - len(data) % block
        run = machine.encryptor()
        return run.update(data + bytes([pad]) * pad) + run.finalize()
    if not data or len(data) % block:
        raise Malformed("ciphertext is not whole blocks")
    run = machine.decryptor()
    plain = run.update(data) + run.finalize()
    pad = plain[-1]
    if not 1 <= pad <= block or plain[-pad:] != bytes([pad]) * pad:
        raise Malformed("bad padding")
    return plain[:-pad]


def encrypt(algorithm, key, plain, iv=None):
    iv = secrets.token_bytes(16 if algorithm == 3 else 8) if iv is None else iv
    return iv + cbc(algorithm, key, iv, plain, True)


def decrypt(algorithm, key, sealed):
    size = 16 if algorithm == 3 else 8
    return cbc(algorithm, key, sealed[:size], sealed[size:], False)


@dataclasses.dataclass
class Session:
    id: int
    algorithm: int
    key: bytes
    version: tuple = OWN_VERSION
    counter: int = 0

    def protect(self, message, counter=None):
        """Puts the message into the session: its id, its version, a MAC with the next counter."""
        if counter is None:
            self.counter += 1
            counter = self.counter
        # Suggesting the session's own version keeps the reply, too, at the version the session is pinned to.
        message.session, message.version, message.suggested = self.id, self.version, self.version
        name = b"HMAC-SHA256" if self.version >= (2, 7) else b"SHA1" if self.version == (2, 6) else b"\2"
        message.credential = Credential(b"HS_MAC", name, message.session_mac(self.key, counter), counter)
        return message

    def vouches_for(self, message):
        c = message.credential
        return (
            c is not None and c.kind == b"HS_MAC"
            and hmac.compare_digest(c.signature, message.session_mac(self.key, c.counter))
        )


# --- transports -------------------------------------------------------------------------------------------


class NoReply(Exception):
    """Nothing, or not enough, came back in time."""


def receive_exactly(sock, count, what):
    data = b""
    while len(data) < count:
        try:
            piece = sock.recv(count - len(data))
        except (TimeoutError, socket.timeout):
            raise NoReply(f"timed out after {len(data)} of {count} octets of {what}") from None
        except ConnectionError as e:
            raise NoReply(f"{e} after {len(data)} of {count} octets of {what}") from None
        if not piece:
            raise NoReply(f"connection closed after {len(data)} of {count} octets of {what}")
        data += piece
    return data


class Tcp:
    """One connection."""

    def __init__(self, address, timeout=5.0):
        self.sock = socket.create_connection(address, timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        try:
            self.sock.sendall(data)
        except ConnectionError:
            pass  # A server may answer and close before it has read everything.

    def half_close(self):
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def receive(self):
        """The octets of one message, envelope included."""
        envelope = receive_exactly(self.sock, 20, "an envelope")
        length = struct.unpack(">I", envelope[16:])[0]
        if length > MAX_MESSAGE:
            raise Malformed(f"reply claims {length} octets")
        return envelope + receive_exactly(self.sock, length, "a message")

    def closed_by_peer(self, within=3.0):
        self.sock.settimeout(within)
        try:
            return self.sock.recv(1) == b""
        except (TimeoutError, socket.timeout):
            return False
        except ConnectionError:
            return True


class Udp:
    """One socket, hence one source port."""

    def __init__(self, address, timeout=3.0):
        family, _, _, _, target = socket.getaddrinfo(*address, type=socket.SOCK_DGRAM)[0]
        self.sock, self.timeout = socket.socket(family, socket.SOCK_DGRAM), timeout
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.sock.connect(target)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, *datagrams):
        for d in datagrams:
            try:
                self.sock.send(d)
            except ConnectionError:
                pass

    def datagram(self, timeout=None):
        """The next datagram, or None."""
        self.sock.settimeout(self.timeout if timeout is None else timeout)
        try:
            return self.sock.recv(65535)
        except (TimeoutError, socket.timeout, ConnectionError):
            return None

    def receive(self, request):
        """(octets of the whole message, the datagrams it came in), for one request id."""
        pieces, length, seen = {}, None, []
        deadline = time.monotonic() + self.timeout
        while time.monotonic() < deadline:
            d = self.datagram(max(0.01, deadline - time.monotonic()))
            if d is None or len(d) < 20:
                continue
            got, sequence, total = struct.unpack(">III", d[8:20])
            if got not in (request, 0xFFFFFFFF):
                continue
            if len(d) > DATAGRAM:
                raise Malformed(f"a datagram of {len(d)} octets")
            if length not in (None, total):
                raise Malformed(f"fragments disagree on the length: {length}, {total}")
            length = total
            pieces[sequence] = d
            seen.append(d)
            count = max(1, -(-length // STRIDE))
            if len(pieces) == count:
                if set(pieces) != set(range(count)):
                    raise Malformed(f"sequence numbers {sorted(pieces)} for {count} fragments")
                for n in range(count - 1):
                    if len(pieces[n]) != DATAGRAM:
                        raise Malformed(f"fragment {n} of {count} has {len(pieces[n])} octets")
                whole = b"".join(pieces[n][20:] for n in range(count))
                return pieces[0][:20] + whole[:length], seen
        raise NoReply("no reply by UDP in time" if not pieces else f"only {len(pieces)} fragments came")


def http_post(address, data, path="/%2F", timeout=5.0, headers=None):
    """(status, headers, body) of one tunnelled message (§1.6)."""
    connection = http.client.HTTPConnection(*address, timeout=timeout)
    try:
        kind = "application/x-hdl-message"
        connection.request("POST", path, data, headers or {"Accept": kind, "Content-Type": kind})
        reply = connection.getresponse()
        return reply.status, reply.headers, reply.read()
    except (TimeoutError, socket.timeout, http.client.HTTPException, ConnectionError) as e:
        raise NoReply(f"HTTP: {e}") from None
    finally:
        connection.close()


def parse_address(text):
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def read_key_file(path):
    with open(path, "rb") as f:
        passphrase = os.environ.get("HANDFAST_TEST_PASSPHRASE", "").encode()
        return RsaPrivateKey.decode(open_private_key(f.read(), passphrase))
