"""UDP with its fragments, TCP and its connections, the HTTP tunnel (§1.4 to §1.6)."""

import time

import wire
from harness import code, equal, expect, situation
from wire import KC, Message, Value


def long_request(s, handle):
    """A resolution request that needs several datagrams."""
    return Message(wire.RESOLUTION, wire.resolution(handle, [1] + list(range(5000, 5400))))


def big_record(s):
    if "big" not in s.cache:
        s.cache["big"] = s.record(Value(1, "BLOB", bytes(range(250)) * 12), bare=True)
    return s.cache["big"]


def by_udp(s, request, datagrams):
    with wire.Udp(s.address) as socket:
        socket.send(*datagrams)
        raw, seen = socket.receive(request.request)
    reply = Message.decode(raw)
    s.check(reply, request, request)
    return reply, seen


@situation("udp")
def a_question_by_udp_is_answered(s):
    code(s.resolve(s.name(), via="udp"), 100)


@situation("udp")
def site_information_by_udp_may_take_several_datagrams(s):
    reply = s.ask(wire.GET_SITE_INFO, wire.octets("/"), via="udp", flags=wire.USUAL | wire.CT)
    equal("site record", s.site, wire.Site.decode(code(reply, 1).after_digest()[2].rest()))


@situation("admin", "udp")
def a_long_reply_by_udp_is_cut_into_pieces_of_492_octets(s):
    handle = big_record(s)
    request = Message(wire.RESOLUTION, wire.resolution(handle))
    reply, seen = by_udp(s, request, [request.encode()])
    length = len(reply.payload())
    equal("number of datagrams", -(-length // 492), len(seen))
    for d in seen:
        equal("length in a fragment", length, int.from_bytes(d[16:20], "big"))
        equal("envelope but for the sequence number", seen[0][:12], d[:12])
    equal("data", bytes(range(250)) * 12, s.values(reply, handle)[0].data)


@situation("admin", "udp")
def replies_by_udp_and_tcp_hold_the_same_values(s):
    handle = big_record(s)
    equal("values", s.found(handle), s.found(handle, via="udp"))


@situation("admin", "udp")
def a_long_request_by_udp_is_assembled(s):
    request = long_request(s, s.public_record)
    reply, _ = by_udp(s, request, request.fragments())
    equal("indexes", [1], [v.index for v in s.values(reply, s.public_record)])


@situation("admin", "udp")
def a_long_request_by_udp_needs_no_truncated_bit(s):
    request = long_request(s, s.public_record)
    reply, _ = by_udp(s, request, request.fragments(truncated=False))
    s.values(reply, s.public_record)


@situation("admin", "udp")
def fragments_may_come_in_any_order(s):
    for order in ((3, 2, 1, 0), (1, 0, 3, 2), (2, 3, 0, 1)):
        request = long_request(s, s.public_record)
        pieces = request.fragments()
        equal("pieces", 4, len(pieces))
        reply, _ = by_udp(s, request, [pieces[n] for n in order])
        s.values(reply, s.public_record)


@situation("admin", "udp")
def fragments_may_come_twice(s):
    request = long_request(s, s.public_record)
    pieces = request.fragments()
    reply, _ = by_udp(s, request, [pieces[n] for n in (0, 0, 1, 3, 1, 3, 3, 2)])
    s.values(reply, s.public_record)


@situation("admin", "udp")
def two_fragmented_requests_may_be_interleaved(s):
    first, second = long_request(s, s.public_record), long_request(s, s.name())
    with wire.Udp(s.address) as a, wire.Udp(s.address) as b:
        for one, two in zip(first.fragments(), second.fragments()):
            a.send(one)
            b.send(two)
        code(Message.decode(a.receive(first.request)[0]), 1)
        code(Message.decode(b.receive(second.request)[0]), 100)


@situation("udp")
def fragments_beyond_the_message_and_short_ones_do_no_harm(s):
    request = long_request(s, s.name())
    pieces = request.fragments()
    length = int.from_bytes(pieces[0][16:20], "big")
    bad = [
        request.envelope(length, 4, wire.TRUNCATED) + bytes(492),
        request.envelope(length, 0xFFFFFFFF, wire.TRUNCATED) + bytes(492),
        request.envelope(length, 0x7FFFFFFF, wire.TRUNCATED) + bytes(10),
        request.envelope(length, 1, wire.TRUNCATED) + bytes(10),
    ]
    with wire.Udp(s.address) as socket:
        socket.send(*bad)
        socket.datagram(0.2)
    s.still_answers()
    code(s.resolve(s.name(), via="udp"), 100)


@situation("udp")
def an_incomplete_message_is_not_answered_as_if_it_were_whole(s):
    request = long_request(s, s.name())
    with wire.Udp(s.address, timeout=1.0) as socket:
        socket.send(*request.fragments()[:-1])
        try:
            raw, _ = socket.receive(request.request)
        except wire.NoReply:
            raw = None
    if raw is not None:
        code(Message.decode(raw), 2, 4)
    s.still_answers()


@situation("udp")
def a_datagram_sent_again_is_answered_again(s):
    request = Message(wire.RESOLUTION, wire.resolution(s.name()))
    with wire.Udp(s.address) as socket:
        for _ in range(2):
            socket.send(request.encode())
            code(Message.decode(socket.receive(request.request)[0]), 100)


@situation("udp")
def octets_after_the_length_of_a_datagram_are_ignored(s):
    request = Message(wire.RESOLUTION, wire.resolution(s.name()))
    reply, _ = by_udp(s, request, [request.encode() + b"and more"])
    code(reply, 100)


@situation("udp")
def a_reply_sent_to_the_server_is_not_answered(s):
    # Two servers that answer each other's answers never stop.
    request = Message(wire.RESOLUTION, wire.resolution(s.name()), response=1)
    with wire.Udp(s.address) as socket:
        for response in (1, 2, 4, 100, 402, 0xFFFFFFFF):
            request.response = response
            socket.send(request.encode())
        came = socket.datagram(1.5)
    expect(came is None, "a message with a response code was answered")
    code(s.resolve(s.name(), via="udp"), 100)


@situation()
def a_connection_is_closed_after_the_reply(s):
    for body in (wire.resolution(s.name()), b"\xff\xff\xff\xff"):
        with wire.Tcp(s.address) as connection:
            connection.send(Message(wire.RESOLUTION, body).encode())
            connection.receive()
            expect(connection.closed_by_peer(), "the connection stays open after the reply, without KC")


@situation("admin")
def a_connection_is_closed_after_a_challenge(s):
    with wire.Tcp(s.address) as connection:
        connection.send(Message(wire.DELETE, wire.octets(s.public_record)).encode())
        code(Message.decode(connection.receive()), 402)
        expect(connection.closed_by_peer(), "the connection stays open after the challenge, without KC")


@situation()
def a_connection_asked_to_stay_open_stays_open_or_is_closed_cleanly(s):
    with wire.Tcp(s.address) as connection:
        for n in range(5):
            request = Message(wire.RESOLUTION, wire.resolution(s.name()), flags=wire.USUAL | KC)
            connection.send(request.encode())
            try:
                reply = Message.decode(connection.receive())
            except wire.NoReply as e:
                expect(n > 0 and ("closed after 0" in str(e) or "after 0 of" in str(e)), str(e))
                return  # Ignoring KC is allowed.
            s.check(reply, request, request)
            code(reply, 100)
        request = Message(wire.RESOLUTION, wire.resolution(s.name()))
        connection.send(request.encode())
        code(Message.decode(connection.receive()), 100)
        expect(connection.closed_by_peer(), "the connection stays open after a request without KC")


@situation()
def requests_sent_ahead_on_a_persistent_connection_are_all_answered_or_only_the_first(s):
    requests = {}
    for n in range(6):
        request = Message(wire.RESOLUTION, wire.resolution(s.name()), flags=wire.USUAL | (KC if n < 5 else 0))
        requests[request.request] = request
    first = next(iter(requests))
    with wire.Tcp(s.address) as connection:
        connection.send(b"".join(r.encode() for r in requests.values()))
        answered = []
        try:
            while len(answered) < len(requests):
                reply = Message.decode(connection.receive())
                expect(reply.request in requests, f"a reply to no request: {reply.request}")
                s.check(reply, requests[reply.request], requests[reply.request])
                code(reply, 100)
                answered.append(reply.request)
        except wire.NoReply:
            equal("requests answered before the connection was closed", [first], answered)
            return
        equal("different requests answered", len(requests), len(set(answered)))
        expect(connection.closed_by_peer(), "the connection stays open after a request without KC")


@situation()
def a_request_may_arrive_octet_by_octet(s):
    data = Message(wire.RESOLUTION, wire.resolution(s.name())).encode()
    with wire.Tcp(s.address) as connection:
        for at in range(len(data)):
            connection.send(data[at : at + 1])
            if at % 10 == 0:
                time.sleep(0.01)
        code(Message.decode(connection.receive()), 100)


@situation()
def a_client_that_stops_in_the_middle_does_not_hold_others_up(s):
    data = Message(wire.RESOLUTION, wire.resolution(s.name())).encode()
    idle = [wire.Tcp(s.address) for _ in range(20)]
    try:
        for n, connection in enumerate(idle):
            connection.send(data[: 3 * n])
        s.still_answers()
    finally:
        for connection in idle:
            connection.sock.close()


@situation("http")
def the_http_tunnel_answers_with_plain_http(s):
    request = Message(wire.RESOLUTION, wire.resolution(s.name()))
    status, headers, body = wire.http_post(s.http, request.encode())
    equal("status", 200, status)
    equal("Content-Type", "application/x-hdl-message", headers.get("Content-Type", "").split(";")[0])
    equal("Content-Length", str(len(body)), headers.get("Content-Length"))
    equal("Transfer-Encoding", None, headers.get("Transfer-Encoding"))
    equal("Content-Encoding", None, headers.get("Content-Encoding"))
    reply = Message.decode(body)
    s.check(reply, request, request)
    code(reply, 100)


@situation("admin", "http")
def the_http_tunnel_gives_the_values_and_ignores_the_path(s):
    request = Message(wire.RESOLUTION, wire.resolution(s.public_record))
    for path in ("/", "/%2F", "/" + s.public_record.replace("/", "%2F"), "/99.9%2Fnot"):
        _, _, body = wire.http_post(s.http, request.encode(), path)
        s.values(Message.decode(body), s.public_record)


@situation("admin", "http")
def a_record_is_created_through_the_http_tunnel(s):
    handle = s.name()
    request = Message(wire.CREATE, wire.handle_and_values(handle, [Value(1, "URL", "x")]))
    challenge = s.exchange(request, via="http")
    if not any(kind & 1 and p in (2, 3) for server in s.site.servers for kind, p, _ in server.interfaces):
        code(challenge, 4)  # Its site record offers no administration by HTTP.
        return
    code(challenge, 402)
    answer = Message(wire.ANSWER, s.admin.answer(challenge), session=challenge.session)
    code(s.exchange(answer, via="http"), 1)
    equal("indexes", [1], s.indexes(handle))


@situation("http")
def the_http_tunnel_skips_one_line_end_before_the_message(s):
    request = Message(wire.RESOLUTION, wire.resolution(s.name()))
    for start in (b"\n", b"\r"):
        _, _, body = wire.http_post(s.http, start + request.encode())
        code(Message.decode(body), 100)


@situation("http")
def the_http_tunnel_answers_malformed_messages_with_200_and_an_error_inside(s):
    for data in (b"short", Message(1, b"\xff\xff\xff\xff").encode()):
        status, _, body = wire.http_post(s.http, data)
        equal("status", 200, status)
        code(Message.decode(body), 2, 4)
