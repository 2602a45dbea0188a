"""Bad input (§10): it is refused as bad, nothing else happens, and the next good request is answered."""

import random
import struct

import wire
from harness import code, equal, expect, situation
from wire import KC, Message, Value


def refused(s, data, allowed=(2, 4), silence=False, half_close=False):
    """Sends octets by TCP; what comes is one of these codes, or, where that is allowed, nothing."""
    with wire.Tcp(s.address, 4.0) as connection:
        connection.send(data)
        if half_close:
            connection.half_close()
        try:
            raw = connection.receive()
        except wire.NoReply as e:
            raw = None
            timed_out = "timed out" in str(e)
        if raw is None:
            s.still_answers()
            expect(silence and not timed_out, f"expected response {allowed}, came nothing")
            return None
        reply = code(Message.decode(raw), *allowed)
        reply.after_digest()[2].octets()  # an error has its text, if only an empty one
        expect(connection.closed_by_peer(), "the connection stays open after malformed input")
    s.still_answers()
    return reply


def with_length(message, length, payload=None):
    return message.envelope(length) + (message.payload() if payload is None else payload)


def question(s, **fields):
    return Message(wire.RESOLUTION, wire.resolution(s.name()), **fields)


@situation()
def a_connection_that_says_nothing_does_no_harm(s):
    refused(s, b"", silence=True, half_close=True)


@situation()
def a_connection_that_ends_within_the_envelope_does_no_harm(s):
    refused(s, question(s).encode()[:13], silence=True, half_close=True)


@situation()
def a_message_that_ends_early_is_refused(s):
    data = question(s).encode()
    for at in (20, 30, 44, len(data) - 1):
        refused(s, data[:at], silence=True, half_close=True)


@situation()
def a_message_shorter_than_its_header_is_refused(s):
    for length in (0, 1, 23):
        refused(s, with_length(question(s), length, bytes(length)))


@situation()
def a_length_beyond_the_limit_is_refused_at_once(s):
    for length in (262145, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
        refused(s, with_length(question(s), length))


@situation("admin")
def a_message_of_nearly_the_maximum_length_is_read(s):
    body = wire.resolution(s.public_record)
    body += bytes(262144 - 24 - 4 - len(body))
    code(s.ask(wire.RESOLUTION, body), 1)


@situation()
def a_body_length_beyond_the_message_is_refused(s):
    for length in (1000, 262144, 0x7FFFFFFF, 0xFFFFFFFF):
        payload = bytearray(question(s).payload())
        payload[20:24] = struct.pack(">I", length)
        refused(s, with_length(question(s), len(payload), bytes(payload)))


@situation()
def a_body_length_shorter_than_the_body_is_refused(s):
    payload = bytearray(question(s).payload())
    payload[20:24] = struct.pack(">I", 6)
    refused(s, with_length(question(s), len(payload), bytes(payload)))


@situation()
def a_credential_longer_than_the_message_is_refused(s):
    message = question(s)
    for length in (1, 100, 0x7FFFFFFF, 0xFFFFFFFF):
        payload = message.covered() + struct.pack(">I", length)
        refused(s, with_length(message, len(payload), payload))


@situation()
def a_handle_longer_than_the_body_is_refused(s):
    for length in (5, 1000, 1048577, 0x7FFFFFFF, 0xFFFFFFFF):
        refused(s, Message(wire.RESOLUTION, struct.pack(">I", length) + b"abc").encode())


@situation()
def an_empty_body_is_refused(s):
    for opcode in (wire.RESOLUTION, wire.CREATE, wire.ADD, wire.REMOVE, wire.VERIFY, wire.SESSION_SETUP):
        refused(s, Message(opcode, b"").encode())
    # That there is no challenge to answer may be noticed before the body is read.
    refused(s, Message(wire.ANSWER, b"").encode(), allowed=(2, 4, 405))


@situation()
def counts_that_lie_are_refused(s):
    handle = wire.octets(s.name())
    for count in (1, 1000, 1048576, 0x7FFFFFFF, 0xFFFFFFFF):
        n = struct.pack(">I", count)
        refused(s, Message(wire.RESOLUTION, handle + n).encode())
        refused(s, Message(wire.RESOLUTION, handle + bytes(4) + n).encode())
        refused(s, Message(wire.CREATE, handle + n).encode())
        refused(s, Message(wire.ADD, handle + n + bytes(7)).encode())
        refused(s, Message(wire.REMOVE, handle + n).encode())


@situation()
def lengths_that_lie_inside_values_are_refused(s):
    handle = wire.octets(s.name())
    value = Value(1, "URL", "x", references=[(b"a/b", 1)]).encode()
    for at in (14, 21, 26, 30):
        for length in (0x00001000, 0x7FFFFFFF, 0xFFFFFFFF):
            bad = value[:at] + struct.pack(">I", length) + value[at + 4 :]
            refused(s, Message(wire.CREATE, handle + wire.u32(1) + bad).encode())


@situation()
def opcode_0_is_refused(s):
    refused(s, Message(0, wire.octets("/")).encode(), allowed=(4, 2, 5))


@situation()
def unknown_opcodes_are_refused(s):
    for opcode in (3, 99, 107, 203, 999, 0x7FFFFFFF, 0xFFFFFFFF):
        refused(s, Message(opcode, wire.octets("/")).encode(), allowed=(2, 5))


@situation()
def a_reply_sent_by_tcp_is_not_taken_for_a_request(s):
    for response in (1, 100, 0xFFFFFFFF):
        refused(s, question(s, response=response).encode(), silence=True)


@situation()
def trailing_octets_in_the_body_are_ignored(s):
    code(s.ask(wire.RESOLUTION, wire.resolution(s.name()) + bytes(range(50))), 100)
    code(s.ask(wire.GET_SITE_INFO, wire.octets("/") + b"more"), 1)


@situation()
def an_error_about_malformed_input_echoes_the_request_id_or_carries_all_ones(s):
    message = Message(wire.RESOLUTION, b"\xff\xff\xff\xff", request=0x12345678)
    reply = refused(s, message.encode())
    expect(reply.request in (0x12345678, 0xFFFFFFFF), f"request id {reply.request:08x}")
    expect(reply.opcode in (0, wire.RESOLUTION), f"opcode {reply.opcode}")
    expect(reply.version in ((2, 3), (2, 11)), f"version {reply.version}")


@situation()
def noise_by_tcp_does_no_harm(s):
    chance = random.Random(20500)
    for size in (1, 19, 20, 21, 44, 300, 5000):
        noise = bytearray(chance.randbytes(size))
        if size >= 20:
            noise[16:20] = struct.pack(">I", size - 20)
        with wire.Tcp(s.address, 4.0) as connection:
            connection.send(bytes(noise))
            connection.half_close()
            try:
                connection.receive()
            except (wire.NoReply, wire.Malformed):
                pass
        s.still_answers()


@situation()
def a_good_request_with_any_one_octet_changed_does_no_harm(s):
    data = question(s).encode()
    for at in range(20, len(data)):
        for change in (0xFF, 0x80):
            bad = bytearray(data)
            bad[at] ^= change
            with wire.Tcp(s.address, 4.0) as connection:
                connection.send(bytes(bad))
                connection.half_close()
                try:
                    connection.receive()
                except (wire.NoReply, wire.Malformed):
                    pass
    s.still_answers()


@situation("udp")
def short_and_lying_datagrams_do_no_harm(s):
    data = question(s).encode()
    with wire.Udp(s.address) as socket:
        socket.send(b"x", data[:19], data[:20], data[:30], data[:44], data[:-1])
        for length in (0, 23, 262145, 0x7FFFFFFF, 0xFFFFFFFF):
            socket.send(with_length(question(s), length))
        while (d := socket.datagram(0.3)) is not None:
            expect(len(d) <= 512, f"a datagram of {len(d)} octets")
            if len(d) >= 28:
                answer = int.from_bytes(d[24:28], "big")
                expect(answer in (2, 4), f"a broken datagram was answered with {answer}")
    s.still_answers()
    code(s.resolve(s.name(), via="udp"), 100)


@situation("udp")
def claims_of_huge_fragmented_messages_do_no_harm(s):
    with wire.Udp(s.address) as socket:
        for n in range(200):
            message = question(s)
            socket.send(message.envelope(262144, n, wire.TRUNCATED) + bytes(492))
    s.still_answers()
    code(s.resolve(s.name(), via="udp"), 100)


@situation("udp")
def noise_by_udp_does_no_harm(s):
    chance = random.Random(12345)
    with wire.Udp(s.address) as socket:
        for size in (0, 1, 20, 44, 100, 512, 513, 1400):
            socket.send(chance.randbytes(size))
    s.still_answers()
    code(s.resolve(s.name(), via="udp"), 100)


@situation()
def a_bad_request_on_a_persistent_connection_ends_it_or_leaves_it_in_step(s):
    good = question(s, flags=wire.USUAL | KC)
    with wire.Tcp(s.address, 4.0) as connection:
        bad = Message(wire.RESOLUTION, b"\xff\xff\xff\xff", flags=wire.USUAL | KC)
        connection.send(bad.encode() + good.encode())
        code(Message.decode(connection.receive()), 2, 4)
        try:
            reply = Message.decode(connection.receive())
        except wire.NoReply:
            reply = None
        if reply is not None:
            equal("request id", good.request, reply.request)
            code(reply, 100)
    s.still_answers()


@situation()
def claims_of_long_messages_leave_memory_for_others(s):
    waiting = []
    try:
        for _ in range(300):
            connection = wire.Tcp(s.address, s.timeout)
            connection.send(bytes(16) + wire.u32(262144))
            waiting.append(connection)
        types = ["A" * 1500]
        body = wire.resolution(f"{s.prefix}/nothing", [], types)
        for _ in range(3):
            code(s.ask(wire.RESOLUTION, body), 100, 200)
        body = wire.resolution(f"{s.prefix}/nothing", [], ["A" * 60000])
        code(s.ask(wire.RESOLUTION, body), 100, 200)
    finally:
        for connection in waiting:
            connection.sock.close()


@situation()
def a_credential_that_does_not_fit_makes_any_message_malformed(s):
    message = wire.Message(wire.RESOLUTION, wire.resolution(f"{s.prefix}/nothing", [], [])).encode()
    message = message[:-4] + wire.u32(1000)
    reply = wire.Message.decode(s.send(message)[0])
    code(reply, 2, 4)
