"""Sessions: setup, MACs, encryption, counters, their end (§3.8, §4.5 to §4.8)."""

import dataclasses
import secrets

import wire
from harness import Identity, code, equal, expect, not_success, situation
from wire import CT, ENC, PO, RD, Message, Value

URL = Value(1, "URL", "x")
SECRET = Value(2, "NOTE", "for administrators", permissions=0x0C)
SETUP = wire.USUAL | CT | RD


def in_session(s, session, message, counter=None):
    """The reply to a message put into the session, unchecked: for what must be refused."""
    return s.exchange(session.protect(message, counter), session=session)


def add_one(handle, index):
    return wire.handle_and_values(handle, [Value(index, "X", "")])


@situation("admin")
def a_session_is_set_up_with_a_signed_reply(s):
    session = s.session(s.admin)
    equal("algorithm", 3, session.algorithm)


@situation("admin")
def a_session_may_use_a_group_of_1024_bits(s):
    s.session(s.admin, bits=1024)


@situation("admin", "udp")
def a_session_is_set_up_by_udp(s):
    s.session(s.admin, via="udp")


@situation("admin")
def a_session_setup_without_the_two_surplus_octets_is_accepted(s):
    p, g = wire.GROUPS[1024]
    ours = wire.PublicKey(b"DH_PUB_KEY", (pow(g, secrets.randbits(256), p), p, g))
    body = wire.setup_body(ours.encode(), s.admin.handle, s.admin.index)[:-2]
    code(s.ask(wire.SESSION_SETUP, body, flags=SETUP), 1)


@situation("admin")
def two_setups_make_two_sessions(s):
    first, second = s.session(s.admin), s.session(s.admin)
    expect(first.id != second.id, "both sessions have the same id")
    expect(first.key != second.key, "both sessions have the same key")


@situation()
def the_old_modes_of_session_setup_give_501(s):
    for mode in (1, 3):
        body = wire.setup_body(b"", "", 0xFFFFFFFF, mode=mode)
        code(s.ask(wire.SESSION_SETUP, body, flags=SETUP), 501)
    # Mode 2 has no key in the request; it can be begun in some servers, never finished.
    body = wire.u16(2) + wire.u32(60) + wire.octets("") + wire.u32(0xFFFFFFFF) + wire.u16(0)
    code(s.exchange(Message(wire.SESSION_SETUP, body, flags=SETUP)), 1, 501)


@situation()
def a_session_setup_with_a_useless_group_is_refused(s):
    p, g = wire.GROUPS[1024]
    for numbers in ((0, 0, 0), (1, 0, 2), (5, 1, 2), (0, p, g), (2, 4, 2)):
        body = wire.setup_body(wire.PublicKey(b"DH_PUB_KEY", numbers).encode())
        not_success(s.exchange(Message(wire.SESSION_SETUP, body)))
        s.still_answers()


@situation()
def a_session_setup_with_an_enormous_group_does_not_hold_the_server_up(s):
    p = (1 << 60_000) - 1
    body = wire.setup_body(wire.PublicKey(b"DH_PUB_KEY", (p - 5, p, 3)).encode())
    s.exchange(Message(wire.SESSION_SETUP, body))
    s.still_answers()


@situation()
def a_session_setup_with_a_broken_key_is_refused(s):
    for key in (b"", b"\0\0\0\x0aDH_PUB_KEY\0\0", wire.octets("RSA_PUB_KEY") + bytes(20), b"\xff" * 40):
        not_success(s.exchange(Message(wire.SESSION_SETUP, wire.setup_body(key))))
        s.still_answers()


@situation("admin")
def the_first_request_in_a_session_is_challenged_within_the_session_and_later_ones_are_not(s):
    handle, session = s.record(URL), s.session(s.admin)
    challenge = code(s.ask(wire.ADD, add_one(handle, 11), session=session), 402)
    equal("session id of the challenge", session.id, challenge.session)
    code(s.finish(challenge, s.admin.answer(challenge), session), 1)
    code(s.ask(wire.ADD, add_one(handle, 12), session=session), 1)
    code(s.ask(wire.REMOVE, wire.handle_and_indexes(handle, [11]), session=session), 1)
    code(s.ask(wire.MODIFY, wire.handle_and_values(handle, [Value(12, "Y", "y")]), session=session), 1)
    code(s.ask(wire.DELETE, wire.octets(handle), session=session), 1)
    code(s.resolve(handle), 100)


@situation("admin")
def a_session_of_someone_with_a_public_key_works(s):
    session = s.authenticated_session(s.key_user())
    expect(session.id > 0, "no session")


@situation("key_admin")
def a_session_of_the_administrator_with_the_private_key_creates(s):
    session = s.authenticated_session(s.key_admin)
    code(s.ask(wire.CREATE, wire.handle_and_values(s.name(), [URL]), session=session), 1)


@situation("admin")
def a_session_at_2_7_uses_the_mac_of_2_7(s):
    session = s.authenticated_session(version=(2, 7))
    equal("version of the session", (2, 7), session.version)
    code(s.ask(wire.CREATE, wire.handle_and_values(s.name(), [URL]), session=session), 1)


@situation("admin")
def a_certified_reply_in_a_session_has_a_mac_with_rising_counters(s):
    session = s.authenticated_session()
    handle = s.record(URL)
    flags = wire.USUAL | CT
    counters = [
        code(s.ask(wire.ADD, add_one(handle, n), session=session, flags=flags), 1).credential.counter
        for n in (11, 12, 13)
    ]
    expect(0 < counters[0] < counters[1] < counters[2], f"counters {counters}")


@situation("admin", "crypto")
def an_encrypted_request_in_a_session_is_understood(s):
    session = s.authenticated_session()
    handle = s.name()
    body = wire.handle_and_values(handle, [URL, SECRET, s.admin_value()])
    code(s.ask(wire.CREATE, body, session=session, encrypted=True), 1)
    equal("indexes", {1, 100}, set(s.indexes(handle)))


@situation("admin", "crypto")
def a_reply_is_encrypted_when_that_is_asked_for(s):
    session = s.authenticated_session()
    reply = s.ask(wire.RESOLUTION, wire.resolution(s.public_record), session=session, flags=wire.USUAL | ENC)
    expect(reply.envelope_flags & wire.ENCRYPTED, "the reply is not encrypted")
    s.values(reply, s.public_record)


@situation("admin", "crypto")
def a_reply_with_restricted_values_is_encrypted_in_a_session(s):
    session = s.authenticated_session()
    handle = s.record(URL, SECRET)
    reply = s.ask(wire.RESOLUTION, wire.resolution(handle), session=session, flags=wire.USUAL & ~PO)
    equal("indexes", {1, 2, 100}, {v.index for v in s.values(reply, handle)})
    expect(reply.envelope_flags & wire.ENCRYPTED, "the reply is not encrypted")


@situation("admin", "crypto")
def an_encrypted_and_certified_reply_has_a_good_mac(s):
    session = s.authenticated_session()
    flags = wire.USUAL | ENC | CT
    s.values(
        s.ask(wire.RESOLUTION, wire.resolution(s.public_record), session=session, flags=flags, encrypted=True),
        s.public_record,
    )


@situation("admin")
def a_session_does_not_give_rights_that_its_identity_lacks(s):
    session = s.authenticated_session(s.user())
    code(s.ask(wire.CREATE, wire.handle_and_values(s.name(), [URL]), session=session), 400)
    code(s.ask(wire.DELETE, wire.octets(s.record(URL)), session=session), 400)


@situation("admin")
def a_counter_used_before_gives_505(s):
    session = s.authenticated_session()
    handle = s.record(URL)
    # Modifying, because a server may say that an index is taken before it looks at the counter.
    request = session.protect(Message(wire.MODIFY, wire.handle_and_values(handle, [Value(1, "URL", "y")])))
    code(s.exchange(request, session=session), 1)
    code(s.ask(wire.MODIFY, wire.handle_and_values(handle, [URL]), session=session), 1)
    code(s.exchange(request, session=session), 505)
    equal("data", URL.data, s.found(handle, [1])[0].data)
    code(in_session(s, session, Message(wire.ADD, add_one(handle, 13)), counter=session.counter), 505)
    code(s.ask(wire.ADD, add_one(handle, 14), session=session), 1)
    expect(13 not in s.indexes(handle), "the replayed request was carried out")


@situation("admin")
def counters_may_come_out_of_order(s):
    session = s.authenticated_session()
    handle = s.record(URL)
    base = session.counter
    for n, counter in enumerate((base + 5, base + 3, base + 9, base + 4)):
        code(in_session(s, session, Message(wire.ADD, add_one(handle, 20 + n)), counter), 1)


@situation("admin")
def a_mac_that_does_not_verify_gives_502(s):
    session = s.authenticated_session()
    handle = s.record(URL)
    request = session.protect(Message(wire.ADD, add_one(handle, 11)))
    mac = bytearray(request.credential.signature)
    mac[0] ^= 1
    request.credential.signature = bytes(mac)
    code(s.exchange(request, session=session), 502)
    code(s.ask(wire.ADD, add_one(handle, 12), session=session), 1)
    equal("indexes", [1, 12, 100], s.indexes(handle))


@situation("admin")
def a_mac_covers_the_request_id_and_the_counter(s):
    session = s.authenticated_session()
    handle = s.record(URL)
    request = session.protect(Message(wire.ADD, add_one(handle, 11)))
    request.request ^= 1
    code(s.exchange(request, session=session), 502)
    request = session.protect(Message(wire.ADD, add_one(handle, 11)))
    request.credential.counter += 50
    code(s.exchange(request, session=session), 502)


@situation("admin")
def a_mac_by_the_key_of_another_session_gives_502(s):
    session, other = s.authenticated_session(), s.session(s.admin)
    mixed = dataclasses.replace(session, key=other.key)
    code(in_session(s, mixed, Message(wire.ADD, add_one(s.record(URL), 11))), 502)


@situation("admin")
def a_request_in_an_authenticated_session_without_mac_gives_404(s):
    session = s.authenticated_session()
    handle = s.record(URL)
    code(s.exchange(Message(wire.ADD, add_one(handle, 11), session=session.id)), 404)
    expect(11 not in s.indexes(handle), "the request was carried out")


@situation("admin")
def a_session_that_does_not_exist_gives_500(s):
    ghost = wire.Session(0x7FFFFF00, 3, bytes(32))
    code(in_session(s, ghost, Message(wire.DELETE, wire.octets(s.record(URL)))), 500)


@situation("crypto")
def an_encrypted_message_of_no_session_is_refused(s):
    message = Message(wire.RESOLUTION, wire.resolution(s.name()))
    code(Message.decode(s.send(message.encrypted(3, bytes(32)))[0]), 501)
    message.session = 0x7FFFFF00
    code(Message.decode(s.send(message.encrypted(3, bytes(32)))[0]), 500)


@situation("admin", "crypto")
def a_message_that_does_not_decrypt_gives_501(s):
    session = s.session(s.admin)
    message = session.protect(Message(wire.RESOLUTION, wire.resolution(s.name())))
    for sealed in (bytes(16), bytes(15), secrets.token_bytes(50), b"x"):
        data = message.envelope(len(sealed), more_flags=wire.ENCRYPTED) + sealed
        code(Message.decode(s.send(data)[0], session), 501)
        s.still_answers()


@situation("admin")
def an_anonymous_session_is_challenged_every_time(s):
    session, handle = s.session(None), s.record(URL)
    for index in (11, 12):
        challenge = code(s.ask(wire.ADD, add_one(handle, index), session=session), 402)
        code(s.finish(challenge, s.admin.answer(challenge), session), 1)


@situation("admin")
def a_session_authenticated_as_someone_else_stays_unauthenticated(s):
    session, handle = s.session(s.user()), s.record(URL)
    challenge = code(s.ask(wire.ADD, add_one(handle, 11), session=session), 402)
    # The answer is good for this request, or refused; it does not make the session the administrator's.
    s.exchange(Message(wire.ANSWER, s.admin.answer(challenge), session=session.id), session=session)
    code(s.ask(wire.ADD, add_one(handle, 12), session=session), 402, 400)
    expect(12 not in s.indexes(handle), "the request was carried out")


@situation("admin")
def a_wrong_answer_does_not_authenticate_a_session(s):
    session, handle = s.session(s.admin), s.record(URL)
    challenge = code(s.ask(wire.ADD, add_one(handle, 11), session=session), 402)
    wrong = Identity(s.admin.handle, s.admin.index, secret=b"wrong")
    code(s.finish(challenge, wrong.answer(challenge), session), 403)
    code(s.ask(wire.ADD, add_one(handle, 12), session=session), 402)


@situation("admin")
def public_resolution_in_a_session_works(s):
    session = s.session(s.admin)
    s.values(s.ask(wire.RESOLUTION, wire.resolution(s.public_record), session=session), s.public_record)


@situation("admin")
def a_session_is_not_bound_to_a_connection_and_lasts_for_many_requests(s):
    session, handle = s.authenticated_session(), s.record(URL)
    for index in range(1001, 1031):
        code(s.ask(wire.ADD, add_one(handle, index), session=session), 1)


@situation("admin")
def terminating_a_session_ends_it(s):
    session = s.authenticated_session()
    reply = code(s.ask(wire.SESSION_TERMINATE, wire.octets("/"), session=session), 1)
    equal("body", b"", reply.after_digest()[2].rest())
    code(in_session(s, session, Message(wire.DELETE, wire.octets(s.record(URL)))), 500)
    code(in_session(s, session, Message(wire.SESSION_TERMINATE, wire.octets("/"))), 500)


@situation("admin")
def terminating_a_session_needs_its_mac(s):
    session = s.authenticated_session()
    bad = session.protect(Message(wire.SESSION_TERMINATE, wire.octets("/")))
    bad.credential.signature = bytes(32)
    code(s.exchange(bad, session=session), 502)
    none = Message(wire.SESSION_TERMINATE, wire.octets("/"), session=session.id)
    code(s.exchange(none, session=session), 404, 502)
    code(s.ask(wire.ADD, add_one(s.record(URL), 11), session=session), 1)


@situation()
def exchanging_a_session_key_gives_501(s):
    reply = s.exchange(Message(wire.SESSION_EXCHANGE, wire.octets(bytes(128))))
    # A session that is not there may be said first.
    code(reply, 501, 500)


@situation("admin", "crypto")
def in_a_session_values_that_nobody_may_read_are_left_out(s):
    handle = s.record(Value(1, "URL", "x"), Value(3, "HS_SECKEY", "secret", permissions=0x04))
    session = s.authenticated_session()
    reply = s.run(wire.RESOLUTION, wire.resolution(handle, [], []), session=session, flags=wire.USUAL & ~wire.PO)
    equal("indexes", {1, 100}, {v.index for v in s.values(reply, handle)})
    reply = s.run(wire.RESOLUTION, wire.resolution(handle, [3], []), session=session, flags=wire.USUAL & ~wire.PO)
    code(reply, 401)


@situation("admin", "crypto")
def without_po_a_session_asks_who_it_is_even_for_public_values(s):
    handle = s.record(Value(1, "URL", "x"))
    session = s.session(s.admin)
    reply = s.ask(wire.RESOLUTION, wire.resolution(handle, [], []), session=session, flags=wire.USUAL & ~wire.PO)
    code(reply, 402)
