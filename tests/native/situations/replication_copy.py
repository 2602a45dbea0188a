"""Mirrors that copy everything (§11.4), and who may."""

import replication
import wire
from harness import Failed, Skipped, code, equal, expect, not_success, situation
from replication import DUMP, RETRIEVE, Dump, Stream, Transactions, dump_body, receiver, retrieve_body
from wire import Message, Value


def streamed(s, opcode, body, form, who=None, session=None, **fields):
    """Logs in, and reads the stream behind the reply: `form` says what it is."""
    who = who or s.key_admin or s.admin
    request = Message(opcode, body, **fields)
    original = request
    if session:
        session.protect(request)
    else:
        challenge = s.ask(opcode, body, **fields)
        code(challenge, 402)
        original = challenge.asked
        request = Message(
            wire.ANSWER, who.answer(challenge), flags=original.flags, version=original.version,
            suggested=original.suggested, session=challenge.session,
        )
    with wire.Tcp(s.address, 30.0) as connection:
        connection.send(request.encode())
        reply = Message.decode(connection.receive(), session)
        s.check(reply, request, original, session)
        if reply.response == 400:
            raise Skipped("the administrator is not one for replication")
        code(reply, 1)
        rest = reply.after_digest()[2]
        if opcode == RETRIEVE:
            equal("whether the connection is kept", 0, rest.u8() & 1)
        rest.end()
        read = form.read(Stream(connection, s.server_keys))
        expect(connection.closed_by_peer(), "something follows the end of the stream")
        return read


def dump(s, body=None, **how):
    return streamed(s, DUMP, body or dump_body(), Dump, **how)


def retrieve(s, body=None, **how):
    return streamed(s, RETRIEVE, body or retrieve_body(), Transactions, **how)


def ours(s, names):
    """The handles of this run: others may come and go."""
    return {n.upper() for n in names if f"/conf-{s.run_id}-".upper().encode() in n.upper()}


@situation("admin", "replication")
def replication_needs_someone_who_is_known(s):
    code(s.ask(DUMP, dump_body()), 402)
    code(s.ask(RETRIEVE, retrieve_body()), 402)


@situation("admin", "replication")
def replication_by_an_outsider_gives_400(s):
    code(s.run(DUMP, dump_body(), s.outsider), 400)
    code(s.run(RETRIEVE, retrieve_body(), s.outsider), 400)


@situation("admin", "replication", "udp")
def replication_by_udp_gives_4(s):
    code(s.ask(DUMP, dump_body(), via="udp"), 4)
    code(s.ask(RETRIEVE, retrieve_body(), via="udp"), 4)


@situation("admin", "replication", "http")
def replication_by_http_is_declined(s):
    # A stream does not fit into what clients read of an HTTP response. That someone has to log in may be said first.
    for opcode, body in ((DUMP, dump_body()), (RETRIEVE, retrieve_body())):
        code(s.ask(opcode, body, via="http"), 2, 4, 5, 402)


@situation("admin", "replication", "udp")
def replication_whose_challenge_is_answered_by_udp_gives_no_success(s):
    challenge = code(s.ask(DUMP, dump_body()), 402)
    answer = Message(
        wire.ANSWER, (s.key_admin or s.admin).answer(challenge), session=challenge.session,
    )
    not_success(s.exchange(answer, via="udp"))


@situation("admin")
def the_number_of_the_next_transaction_is_not_told(s):
    code(s.ask(replication.NEXT_ID, wire.octets("/")), 5, 402)


@situation("admin")
def a_backup_is_made_by_administrators_alone(s):
    code(s.ask(replication.BACKUP, wire.octets("/")), 402)
    code(s.run(replication.BACKUP, wire.octets("/"), s.outsider), 400)
    if code(s.run(replication.BACKUP, wire.octets("/")), 1, 400).response == 1:
        expect(s.run(replication.BACKUP, wire.octets("/")).body == b"", "the reply is not empty")


@situation("admin", "replication")
def a_copy_holds_what_can_be_resolved(s):
    public = s.record(Value(1, "URL", "https://example.org/copied"), Value(2, "EMAIL", "a@example.org"))
    secret = s.record(Value(7, "HS_SECKEY", "not for everybody", permissions=0x04))
    locked = s.record(Value(8, "NOTE", "for nobody", permissions=0x00))
    gone = s.record(Value(1, "URL", "https://example.org/gone"))
    code(s.delete(gone), 1)
    copy = dump(s)
    expect(copy.last_id is not None and copy.last_id > 0, "the point to follow from is missing")
    handles = {name.upper(): values for name, values in copy.handles.items()}
    equal("values of a public record", s.found(public), handles[public.upper().encode()])
    values = handles[secret.upper().encode()]
    equal("secret data", [b"not for everybody"], [v.data for v in values if v.index == 7])
    values = handles[locked.upper().encode()]
    equal("data that nobody may read", [b"for nobody"], [v.data for v in values if v.index == 8])
    expect(gone.upper().encode() not in handles, "a deleted handle is copied")
    prefix = f"0.NA/{s.prefix}".upper()
    expect(prefix.encode() in {h.upper() for h in copy.homed}, f"{prefix} is not homed")
    equal("values of the prefix", s.found(prefix), [v for v in handles[prefix.encode()] if v.permissions & 2])


@situation("admin", "replication")
def a_copy_is_the_same_for_a_certified_request_and_in_a_session(s):
    s.record(Value(1, "URL", "https://example.org/"))
    whole = dump(s)
    certified = dump(s, flags=wire.USUAL | wire.CT | wire.RD)
    equal("handles of a certified copy", ours(s, whole.handles), ours(s, certified.handles))
    session = s.authenticated_session(s.key_admin or s.admin)
    within = dump(s, session=session)
    expect(ours(s, whole.handles) <= ours(s, within.handles), "a copy in a session has fewer handles")


@situation("admin", "replication")
def the_servers_of_a_mirror_share_a_copy_by_hash(s):
    for _ in range(8):
        s.record(Value(1, "URL", "https://example.org/"), word="shared")
    whole = dump(s)
    for option in (0, 1, 2):
        halves = [dump(s, dump_body(receiver(option, 2, n))) for n in (0, 1)]
        for number, half in enumerate(halves):
            equal("homed prefixes", whole.homed, half.homed)
            strays = [h for h in half.handles if wire.position(h, option, 2) != number]
            expect(not strays, f"handles of the other server, by option {option}: {strays[:3]}")
        equal("handles of both", set(whole.handles), set(halves[0].handles) | set(halves[1].handles))


@situation("admin", "replication")
def a_copy_goes_on_where_it_broke_off(s):
    for _ in range(4):
        s.record(Value(1, "URL", "https://example.org/"))
    whole = dump(s)
    middle = len(whole.order) // 2
    rest = dump(s, dump_body(after=whole.order[middle]))
    equal("handles after the middle", whole.order[middle + 1 :], rest.order)
    equal("homed prefixes", whole.homed, rest.homed)
    end = dump(s, dump_body(after=b"", kind=3))
    equal("handles in the phase of prefixes", {}, end.handles)
    equal("homed prefixes in their phase", whole.homed, end.homed)
    last = max(whole.homed)
    equal("prefixes after the last", set(), dump(s, dump_body(after=last, kind=3)).homed)


@situation("admin", "replication")
def a_receiver_that_cannot_be_is_refused(s):
    for to in (receiver(2, 0, 0), receiver(2, 1, 1), receiver(2, 2, 7)):
        not_success(s.run(DUMP, dump_body(to), s.key_admin or s.admin))
        not_success(s.run(RETRIEVE, retrieve_body(to=to), s.key_admin or s.admin))
    for body in (b"", b"\2", dump_body() + b"\0\0\0\7"):
        code(s.run(DUMP, body, s.key_admin or s.admin), 4)
    s.still_answers()


@situation("admin", "replication")
def a_mirror_that_goes_away_disturbs_nobody(s):
    for _ in range(12):
        challenge = code(s.ask(DUMP, dump_body()), 402)
        answer = Message(
            wire.ANSWER, (s.key_admin or s.admin).answer(challenge), session=challenge.session,
        )
        with wire.Tcp(s.address) as connection:
            connection.send(answer.encode())
            # Too many at once may be told to wait.
            if Message.decode(connection.receive()).response not in (1, 3, 400):
                raise Failed("a copy was refused")
    s.still_answers()
