"""The codec of wire.py against octets that are known to be right: `python3 tests/native/test_vectors.py`.

A suite that judges servers must itself be judged first. Each message is built from its parts and compared
with the vector, and the vector is taken apart and put together again.
"""

import base64
import hashlib
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import wire
from wire import CA, CN, CT, AT, PO, RD, REC, Credential, Message, PublicKey, Reader, Value

HERE = os.path.dirname(os.path.abspath(__file__))
EXPIRES, NOW = 1700043200, 1700000000
HANDLE, PREFIX = "20.500.12345/abc", "0.NA/20.500.12345"

KEY = wire.RsaPrivateKey(
    n=int(
        "80487242ca6abbbd6e1bfc5b58f771e6bcf6058d0fc40f6bb3f5ae24034c2fb25736c7c338fcc3219295060005ca5cac"
        "e3566fbed0028c4d57c0f9bbc324dac4c0622a70e5d24dc4e56774d85ceabd44441c9f9768fb2519c8afacbcdd7fb20e"
        "23dd09918a407f0046c527e28676ca7510a8e710a7b46b5fcc3699464be23b47", 16),
    e=65537,
    d=int(
        "2735fdb6eca8333a73ad9a3551bc50d4766dbcc4a14d0c699f58392248dfc0b48273fc1b700fd2953078dc9ca52875ab"
        "62d1c8d64a3e7d2426ee95670efef4df3f89decc019005df6f6b89e1fbbaa2813101f0982dcc7a86c79f1a204061d797"
        "4f7d39ca94c86b0d31104a20eee2e31b37e881eec98a51bd282ac7d86ec53601", 16),
    p=int(
        "c940fa1b3c15027b0acc81c595f2675dd7275baefb5f78e03b37fe8a91d5895ff50896459a28f9cf97234dcf51c6210f"
        "252eca0834a21832170a8ca1e8fc21a3", 16),
    q=int(
        "a32de32c5add18ca66530f86d89912e2e79a0cc6819640045cba50f7119150d836bf110cc622f90df9aeffe30a1c64b8"
        "2e7f1976b7dcd0386b0d2c7fb37dc20d", 16),
)
V1 = Value(1, "URL", "https://example.org/abc", timestamp=NOW)
V100 = Value(100, "HS_ADMIN", wire.admin_data(0xFFF, PREFIX, 200), timestamp=NOW)


def read_vectors():
    found, name = {}, None
    with open(os.path.join(HERE, "vectors.txt")) as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith(" "):
                found[name] += bytes.fromhex(line.strip())
            else:
                name = line.strip()
                found[name] = b""
    return found


VECTORS = read_vectors()


def vector(number):
    return VECTORS[f"B.{number}"]


def message(opcode, body, request, **more):
    more.setdefault("serial", 1)
    return Message(opcode, body, request=request, expiration=EXPIRES, **more)


class Messages(unittest.TestCase):
    maxDiff = None

    def same(self, number, built, session=None):
        self.assertEqual(vector(number).hex(), built.encode().hex())
        again = Message.decode(vector(number), session)
        self.assertEqual(built, again)

    def setUp(self):
        self.create = message(100, wire.handle_and_values(HANDLE, [V100, V1]), 0x0A0B0C0D)
        self.challenge = Message.decode(vector(11))

    def test_b1_resolution_request(self):
        self.same(1, message(1, wire.resolution(HANDLE), 0x01020304, version=(2, 3)))

    def test_b2_resolution_reply(self):
        body = wire.handle_and_values(HANDLE, [V100, V1])
        self.same(2, message(1, body, 0x01020304, response=1, flags=AT | REC | CA | PO))
        handle, found = wire.read_handle_and_values(Message.decode(vector(2)).after_digest()[2])
        self.assertEqual((handle, found), (HANDLE.encode(), [V100, V1]))

    def test_b3_b4_b5_values(self):
        sealed = Value(
            300, "HS_SECKEY", "secret", permissions=0x0C, ttl_type=1, ttl=1800000000, timestamp=NOW,
            references=[(b"20.500.12345/sig", 7)],
        )
        for number, value in ((3, V1), (4, V100), (5, sealed)):
            self.assertEqual(vector(number).hex(), value.encode().hex())
            r = Reader(vector(number))
            self.assertEqual(Value.read(r), value)
            r.end()
        self.assertEqual(wire.read_admin_data(V100.data), (0xFFF, PREFIX.encode(), 200))

    def test_b6_certified_request(self):
        body = wire.resolution(HANDLE, [100], ["URL", "EMAIL"])
        self.same(6, message(1, body, 0x01020305, flags=CT | REC | CA | RD))

    def test_b7_certified_reply(self):
        request = Message.decode(vector(6))
        body = request.digest((2, 11)) + wire.handle_and_values(HANDLE, [V100, V1])
        reply = message(1, body, 0x01020305, response=1, flags=AT | CT | REC | CA | RD)
        signature = KEY.sign("SHA-256", reply.signature_input())
        reply.credential = Credential(b"HS_SIGNED", b"SHA-256", signature)
        self.same(7, reply)
        self.assertTrue(KEY.public().verify("SHA-256", reply.signature_input(), signature))
        self.assertFalse(KEY.public().verify("SHA-256", reply.signature_input(1), signature))

    def test_b8_not_found(self):
        self.same(8, message(1, wire.octets(""), 0x01020304, response=100, flags=AT | REC | CA | PO))

    def test_b9_error_before_parsing(self):
        body = wire.octets("Invalid message length")
        self.same(9, message(0, body, 0xFFFFFFFF, response=4, version=(2, 3), serial=0xFFFF))

    def test_b10_create(self):
        self.same(10, self.create)

    def test_b11_challenge(self):
        nonce = bytes(range(0xA0, 0xB0))
        body = self.create.digest((2, 11)) + wire.octets(nonce)
        flags = AT | REC | CA | PO | RD
        self.same(11, message(100, body, 0x0A0B0C0D, response=402, flags=flags, session=5))
        self.assertEqual(
            wire.read_challenge(self.challenge), (nonce, hashlib.sha256(self.create.covered()).digest())
        )

    def test_b12_public_key_answer(self):
        proof = wire.key_answer(KEY, *wire.read_challenge(self.challenge))
        self.same(12, message(200, wire.answer_body("HS_PUBKEY", PREFIX, 300, proof), 0x0A0B0C0E, session=5))

    def test_b13_reply_after_the_answer(self):
        flags = AT | REC | CA | PO
        self.same(13, message(100, wire.octets(HANDLE), 0x0A0B0C0E, response=1, flags=flags))

    def test_b14_secret_key_answers(self):
        nonce, digest = wire.read_challenge(self.challenge)
        self.assertEqual(
            (nonce + digest).hex(),
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
            "420549a747848e6fd6ad7b6ab51cc3d3fe99cebd95ef7775ed9b2a272a5a1632",
        )
        right = {
            0x01: "0151018b8b5ed6b3340a21e7f5812d70f4",
            0x02: "02dc713fcca60d31cbb8b3907391f7b5969e987704",
            0x03: "03e0f43a101eaf84a8a3f4ae465643aff6b0b98a5c0d503240466ef3b4865aafca",
            0x12: "12baaed55361d12144d0aa693fed642c9339c22c89",
            0x13: "13c37ad8af576e38ce9df20a6f93321186353b5e801cbb6cd3474bda91fcfce079",
            0x22: "2200000010000102030405060708090a0b0c0d0e0f00002710000000a0"
                  "000000140c0349122c7077afeec750590c8050b3184e530a",
        }
        for code, expected in right.items():
            made = wire.secret_answer(code, b"secret", nonce, digest, salt=bytes(range(16)))
            self.assertEqual(made.hex(), expected)
        self.assertEqual(
            wire.pbkdf2(b"secret", bytes(range(16)), 10000, 160).hex(),
            "c3bb57e6710ca08bf6739a4be1b879d58a2f7f9d",
        )
        self.assertEqual(
            wire.pbkdf2(b"\xe9", bytes(range(16)), 1, 160).hex(), "04854f3e502462992f9f50b89b5f507cc407ffef"
        )

    def test_b15_verify_request(self):
        nonce, digest = wire.read_challenge(self.challenge)
        proof = wire.secret_answer(2, b"secret", nonce, digest)
        body = wire.verify_body(PREFIX, 300, nonce, digest, proof)
        self.same(15, message(201, body, 7, flags=CT | REC | CA | PO | RD))

    def test_b16_verify_reply(self):
        body = Message.decode(vector(15)).digest((2, 11)) + b"\1"
        self.same(16, message(201, body, 7, response=1, flags=CT | REC | CA | PO | RD))

    def test_b17_mac_in_a_session(self):
        session = wire.Session(9, 3, bytes(range(1, 33)), counter=2)
        delete = session.protect(message(101, wire.octets(HANDLE), 0x11223344))
        self.same(17, delete)
        self.assertTrue(session.vouches_for(delete))

    def test_b18_encryption_in_a_session(self):
        session = wire.Session(9, 3, bytes(range(1, 33)))
        plain = Message.decode(vector(17))
        sealed = plain.encrypted(3, session.key, bytes(range(0x10, 0x20)))
        self.assertEqual(vector(18).hex(), sealed.hex())
        opened = Message.decode(vector(18), session)
        self.assertEqual(opened.envelope_flags, wire.ENCRYPTED)
        self.assertEqual(opened.payload(), plain.payload())

    def test_b19_site_info_request(self):
        self.same(19, message(2, wire.octets("/"), 1, version=(2, 3), serial=0xFFFF))

    def test_b20_site_record(self):
        server = wire.Server(
            1, bytes(12) + bytes([192, 0, 2, 10]), KEY.public().encode(),
            [(3, 1, 2641), (2, 0, 2641), (3, 2, 8000)],
        )
        site = wire.Site(1, (2, 11), 1, 0x80, 2, b"", [(b"desc", b"Example")], [server])
        self.assertEqual(vector(20).hex(), site.encode().hex())
        self.assertEqual(wire.Site.decode(vector(20)), site)
        self.assertEqual(PublicKey.decode(server.public_key), KEY.public())

    def test_b21_group(self):
        members = [(PREFIX.encode(), 300), (b"20.500.12345/user1", 301)]
        self.assertEqual(vector(21).hex(), wire.vlist_data(*members).hex())
        self.assertEqual(wire.read_references(Reader(vector(21))), members)

    def test_b22_b23_session_setup(self):
        p, g = wire.GROUPS[1024]
        client = 0x123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0
        server = 0xFEDCBA9876543210FEDCBA9876543210FEDCBA98
        ours = PublicKey(b"DH_PUB_KEY", (pow(g, client, p), p, g))
        theirs = PublicKey(b"DH_PUB_KEY", (pow(g, server, p), p, g))
        flags = CT | REC | CA | PO | RD
        setup = message(400, wire.setup_body(ours.encode(), PREFIX, 300), 3, flags=flags, serial=0xFFFF)
        self.same(22, setup)
        body = setup.digest((2, 11)) + wire.u16(4) + wire.octets(wire.u32(3) + theirs.encode()) + wire.u16(0)
        reply = message(400, body, 3, response=1, flags=flags | AT, session=6)
        self.same(23, reply)
        self.assertEqual(wire.read_setup_reply(reply.after_digest()[2]), (4, 3, theirs))
        z = wire.shared_secret(theirs.numbers[0], client, p)
        self.assertEqual(z.hex(), (
            "71f2c57243a041622891f3a9003817fbfa211a2226cd515699b9c66df2fb4714117441f45a415ba9c1c1c277da63a50f"
            "982fea6eb05db836e03bc33d29bed9a7512818439a5421c39fee082cc33dd9bb33113bf524cf24291eeaae9a5f75bd31"
            "a84c21f967696968886fe0163c2bcfb29baa6b4c26ba3a5ed727cedc10d6c7cd"))
        self.assertEqual(z, wire.shared_secret(ours.numbers[0], server, p))
        self.assertEqual(wire.session_key(3, z), z[:32])
        self.assertEqual(wire.session_key(2, z).hex(), "70f2c47343a140622991f2a8013816fbfb201a2326cd5157")
        self.assertEqual(wire.session_key(1, z).hex(), "70f2c47343a14062")

    def test_b24_b25_replication_requests(self):
        one_server = b"\2" + wire.u32(1) + wire.u32(0)
        state = b"\0" + (41).to_bytes(8, "big") + (1700000000000).to_bytes(8, "big")
        self.same(24, message(1001, state + one_server, 4, flags=CT | REC | CA | PO))
        self.same(25, message(1002, one_server, 5, flags=CT | REC | CA | PO))

    def test_b26_continued_list(self):
        names = [b"20.500.12345/ABC", b"20.500.12345/DEF"]
        body = wire.u32(2) + b"".join(map(wire.octets, names))
        self.same(26, message(105, body, 6, response=1, flags=REC | CA | PO | CN))
        self.assertEqual(wire.read_names(Message.decode(vector(26)).after_digest()[2]), names)

    def test_b27_referral(self):
        body = wire.handle_and_values("", [Value(3, "HS_SERV.PREFIX", "0.SERV/20.500")])
        self.same(27, message(1, body, 0x01020304, response=303, flags=REC | CA | PO))

    def test_b28_container(self):
        self.assertEqual(vector(28).hex(), wire.container([V1]).hex())

    def test_b29_transaction_stream(self):
        # The stream is shown with its signatures left out, so only the octets shown can be compared.
        create = Value(1, "URL", b"0123456789")
        record = b"\1" + (1).to_bytes(8, "big") + wire.octets("20.500.12345/t000") + b"\1"
        self.assertEqual(
            record.hex(), "01" "0000000000000001" "00000011" "32302e3530302e31323334352f74303030" "01"
        )
        self.assertEqual((wire.u32(0) + wire.octets("SHA1")).hex(), "00000000" "00000004" "53484131")
        self.assertEqual((len(V100.encode()), len(create.encode())), (0x3D, 0x27))

    def test_b30_value_digest(self):
        digest = hashlib.sha256(V1.digest_input()).digest()
        self.assertEqual(base64.b64encode(digest), b"NtewallOe6qsQVeZt4Rh/qeq6Cow6a3dCiNAAhK8DNc=")

    def test_b31_private_key_file(self):
        plain = KEY.encode()
        n, d = KEY.n.to_bytes(129, "big"), KEY.d.to_bytes(128, "big")
        start = wire.octets("RSA_PRIVCRT_KEY") + wire.octets(n) + wire.octets(b"\1\0\1") + wire.octets(d)
        self.assertEqual(plain[: len(start)], start)
        self.assertEqual(len(wire.seal_private_key(plain)), 4 + 633)
        sealed = wire.seal_private_key(plain, b"passphrase")
        self.assertEqual(len(sealed), 696)
        for file in (wire.seal_private_key(plain), sealed):
            self.assertEqual(wire.RsaPrivateKey.decode(wire.open_private_key(file, b"passphrase")), KEY)


class Positions(unittest.TestCase):
    def test_hash_examples(self):
        big = 1 << 40  # more servers than hashes: the position is the hash
        for handle, hashes in {
            b"20.500.12345/abc": (1502227973, 891676978, 1894531649),
            b"20.500.12345/ABC": (1502227973, 891676978, 1894531649),
            b"0.NA/20.500.12345": (36223079, 1502227973, 888771916),
            b"10.1045/may99-payette": (618843948, 915922301, 720506085),
        }.items():
            self.assertEqual(tuple(wire.position(handle, o, big) for o in range(3)), hashes)

    def test_every_vector_is_used(self):
        with open(__file__) as f:
            source = f.read()
        for name in VECTORS:
            self.assertIn(f"b{name[2:]}_", source)


class Fragments(unittest.TestCase):
    def test_pieces_carry_the_whole_length(self):
        # A message of 2413 octets travels as 512, 512, 512, 512 and 465 octets.
        m = Message(1, bytes(2413 - 28))
        pieces = m.fragments()
        self.assertEqual([len(p) for p in pieces], [512, 512, 512, 512, 465])
        self.assertEqual([p[12:20].hex() for p in pieces], [f"{n:08x}0000096d" for n in range(5)])
        self.assertTrue(all(p[2] & wire.TRUNCATED for p in pieces))


if __name__ == "__main__":
    unittest.main()
