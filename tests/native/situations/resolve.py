"""Resolution (§3.2, §7.7, §8.3)."""

import struct
import time

import wire
from harness import Skipped, code, equal, expect, not_success, situation
from wire import PO, REC, CA, Message, Value

OPEN = wire.USUAL & ~PO  # asks for restricted values too
URL = Value(1, "URL", "https://example.org/one")
RESTRICTED = Value(2, "NOTE", "for administrators", permissions=0x0C)
UNREADABLE = Value(3, "HS_SECKEY", "nobody reads this", permissions=0x04)


@situation("admin")
def resolving_gives_all_public_values_as_stored(s):
    mail = Value(2, "EMAIL", "a@example.org", ttl=60)
    handle = s.record(URL, mail)
    found = {v.index: v for v in s.found(handle)}
    equal("indexes", {1, 2, 100}, set(found))
    for value in (URL, mail, s.admin_value()):
        expect(value.same(found[value.index]), f"stored {value}, came {found[value.index]}")


@situation("admin")
def the_reply_to_a_usual_request_has_exactly_the_octets_described(s):
    handle = s.record(URL, bare=True)
    request = Message(wire.RESOLUTION, wire.resolution(handle), version=(2, 3), serial=1)
    reply = s.exchange(request)
    value = Value.read(wire.Reader(reply.body, 4 + len(handle) + 4))
    body = wire.handle_and_values(handle, [Value(1, URL.type, URL.data, timestamp=value.timestamp)])
    head = bytes([2, 11, 2, 11]) + struct.pack(">IIII", 0, request.request, 0, 24 + len(body) + 4)
    flags = wire.USUAL | (wire.AT if s.site.mask & 0x80 else 0)
    header = struct.pack(">IIIHBBII", 1, 1, flags, s.site.serial, 0, 0, reply.expiration, len(body))
    equal("reply", (head + header + body + bytes(4)).hex(), reply.raw.hex())


@situation("admin")
def every_field_of_a_value_survives(s):
    odd = [
        Value(1, "x.bin", bytes(range(256)), ttl=0, references=[(b"20.500.1/a", 7), (b"x/y", 0)]),
        Value(7, "ABS", b"", ttl_type=1, ttl=1900000000),
        Value(0x7FFFFFFF, "t" * 300, "ü€𝄞", permissions=0x0F),
        Value(9, "", "a value of no type", permissions=0x02),
    ]
    found = {v.index: v for v in s.found(s.record(*odd))}
    for value in odd:
        expect(value.index in found, f"value {value.index} is missing")
        expect(value.same(found[value.index]), f"stored {value}, came {found[value.index]}")


@situation("admin")
def the_server_sets_timestamps_itself(s):
    before = int(time.time())
    found = s.found(s.record(Value(1, "URL", "x", timestamp=12345)))
    for v in found:
        expect(abs(v.timestamp - before) < 300, f"expected a timestamp of about {before}, came {v.timestamp}")


@situation("admin")
def an_index_selects_its_value(s):
    equal("indexes", [2], s.indexes(s.record(URL, Value(2, "EMAIL", "a@b"), Value(3, "DESC", "d")), [2]))


@situation("admin")
def indexes_asked_for_that_do_not_exist_are_passed_over(s):
    equal("indexes", [1], s.indexes(s.record(URL), [99, 1, 1, 0, 0xFFFFFFFF]))


@situation("admin")
def a_type_selects_its_values_in_any_case(s):
    handle = s.record(URL, Value(2, "url", "b"), Value(3, "EMAIL", "a@b"))
    equal("indexes", {1, 2}, set(s.indexes(handle, (), ["uRl"])))


@situation("admin")
def a_type_without_trailing_dot_does_not_select_its_subtypes(s):
    equal("indexes", [1], s.indexes(s.record(URL, Value(2, "URL.de", "b")), (), ["URL"]))


@situation("admin")
def a_type_with_trailing_dot_selects_itself_and_its_subtypes(s):
    handle = s.record(URL, Value(2, "URL.de", "b"), Value(3, "URLX", "c"), Value(4, "url.DE.by", "d"))
    equal("indexes", {1, 2, 4}, set(s.indexes(handle, (), ["URL."])))


@situation("admin")
def an_index_and_a_type_select_what_either_selects(s):
    handle = s.record(URL, Value(2, "EMAIL", "a@b"), Value(3, "DESC", "d"))
    equal("indexes", {1, 3}, set(s.indexes(handle, [3], ["URL"])))


@situation("admin")
def the_order_of_the_question_does_not_change_the_order_of_the_values(s):
    handle = s.record(Value(5, "E", "5"), Value(1, "A", "1"), Value(3, "C", "3"))
    order = s.indexes(handle)
    # A server keeps the order of creation, or sorts; it does not obey the question.
    expect(order in ([5, 1, 3, 100], [1, 3, 5, 100]), f"order of values {order}")
    for indexes in ([1, 3, 5, 100], [100, 5, 3, 1], [3, 100, 1, 5]):
        equal(f"order when asked for {indexes}", order, s.indexes(handle, indexes))


@situation("admin")
def a_handle_that_is_not_there_gives_100(s):
    code(s.resolve(s.name()), 100)


@situation("admin")
def a_handle_without_a_matching_value_gives_200(s):
    handle = s.record(URL)
    code(s.resolve(handle, [7]), 200)
    code(s.resolve(handle, (), ["EMAIL"]), 200)


@situation()
def a_handle_that_is_not_there_gives_100_without_any_administrator(s):
    code(s.resolve(s.name()), 100)


@situation("admin")
def the_case_of_the_prefix_does_not_matter(s):
    handle = s.record(URL)
    _, suffix = handle.split("/", 1)
    for prefix in (s.prefix.upper(), s.prefix.lower()):
        expect(1 in s.indexes(f"{prefix}/{suffix}"), "value 1 is missing")


@situation("admin")
def the_case_of_the_suffix_is_one_rule_and_the_reply_echoes_the_spelling_asked(s):
    handle = s.record(URL, word="MixedCase")
    prefix, suffix = handle.split("/", 1)
    other = f"{prefix}/{suffix.swapcase()}"
    reply = code(s.resolve(other), 1, 100)
    if reply.response == 1:
        s.values(reply, other)  # checks the echo
        code(s.create(other, [URL]), 101)
    else:
        code(s.create(other, [URL]), 1)


@situation()
def a_prefix_without_slash_stands_for_its_prefix_handle(s):
    full, short = s.resolve(f"0.NA/{s.prefix}"), s.resolve(s.prefix)
    equal("response", full.response, short.response)
    if full.response == 1:
        equal("values", s.values(full, f"0.NA/{s.prefix}"), s.values(short, s.prefix))


@situation()
def prefix_handles_ignore_case_throughout(s):
    plain, odd = s.resolve(f"0.NA/{s.prefix}"), s.resolve(f"0.na/{s.prefix.swapcase()}")
    equal("response", plain.response, odd.response)
    if plain.response == 1:
        s.values(odd, f"0.na/{s.prefix.swapcase()}")


@situation("admin")
def a_suffix_may_hold_slashes_blanks_and_letters_of_any_script(s):
    for tail in ("a/b//c/", "with blank", "50%25", "größe-Ж-漢字", "?q=1&r=2#f", ".", "x" * 500):
        handle = f"{s.name()}{tail}"
        code(s.create(handle, [URL]), 1)
        equal("indexes", [1], s.indexes(handle))


@situation("admin")
def public_only_leaves_restricted_values_out(s):
    equal("indexes", {1, 100}, set(s.indexes(s.record(URL, RESTRICTED, UNREADABLE))))


@situation("admin")
def public_only_and_nothing_public_selected_gives_200(s):
    handle = s.record(URL, RESTRICTED)
    code(s.resolve(handle, [2]), 200)
    code(s.resolve(handle, (), ["NOTE"]), 200)


@situation("admin")
def without_public_only_public_values_need_no_authentication(s):
    equal("indexes", [1], s.indexes(s.record(URL, RESTRICTED), [1], flags=OPEN))


@situation("admin")
def a_restricted_value_is_challenged_and_given_to_an_administrator(s):
    handle = s.record(URL, RESTRICTED)
    body = wire.resolution(handle, [2])
    code(s.ask(wire.RESOLUTION, body, flags=OPEN), 402)
    found = s.values(s.run(wire.RESOLUTION, body, flags=OPEN), handle)
    expect(len(found) == 1 and RESTRICTED.same(found[0]), f"expected {RESTRICTED}, came {found}")


@situation("admin")
def all_values_without_public_only_include_the_restricted_ones(s):
    handle = s.record(URL, RESTRICTED)
    found = s.values(s.run(wire.RESOLUTION, wire.resolution(handle), flags=OPEN), handle)
    equal("indexes", {1, 2, 100}, {v.index for v in found})


@situation("admin")
def a_restricted_value_is_refused_to_an_outsider_with_400(s):
    handle = s.record(URL, RESTRICTED)
    code(s.run(wire.RESOLUTION, wire.resolution(handle, [2]), s.outsider, flags=OPEN), 400)


@situation("admin")
def a_restricted_value_needs_the_permission_to_read(s):
    user = s.user()
    rest = wire.ALL_PERMISSIONS & ~wire.READ_VALUE
    handle = s.record(RESTRICTED, s.admin_value(101, user, rest))
    code(s.run(wire.RESOLUTION, wire.resolution(handle, [2]), user, flags=OPEN), 400)
    handle = s.record(RESTRICTED, s.admin_value(101, user, wire.READ_VALUE))
    code(s.run(wire.RESOLUTION, wire.resolution(handle, [2]), user, flags=OPEN), 1)


@situation("admin")
def a_value_that_nobody_may_read_gives_401(s):
    handle = s.record(URL, UNREADABLE)
    code(s.run(wire.RESOLUTION, wire.resolution(handle, [3]), flags=OPEN), 401)


@situation("admin")
def a_value_that_nobody_may_read_never_leaves_the_server(s):
    handle = s.record(URL, RESTRICTED, UNREADABLE)
    for indexes in ([], [1, 2, 3], [2, 3], [3, 1]):
        # Refusing the whole question and leaving the value out are both allowed.
        reply = code(s.run(wire.RESOLUTION, wire.resolution(handle, indexes), flags=OPEN), 1, 401)
        expect(UNREADABLE.data not in reply.body, "a value without read permission came back")


@situation()
def a_prefix_that_is_not_homed_gives_301(s):
    code(s.resolve(f"{s.prefix}.not-homed-{s.run_id}/x"), 301)
    code(s.resolve(f"99.{s.run_id}/x", flags=CA | PO), 301)
    code(s.resolve(f"99.{s.run_id}/x", flags=REC | CA | PO), 301)


@situation()
def a_handle_that_is_not_utf8_is_not_found(s):
    not_success(s.resolve(f"{s.prefix}/".encode() + b"\xff\xfe\x80"))


@situation()
def the_empty_handle_is_answered_with_an_error(s):
    not_success(s.resolve(""))


@situation()
def the_status_handle_gives_nothing_to_the_public(s):
    # Not homed is what a server says that does not have this computed handle at all.
    code(s.resolve("0.SITE/status"), 100, 200, 301)


@situation("admin")
def the_status_handle_is_for_administrators_of_the_server(s):
    body, flags = wire.resolution("0.SITE/status"), wire.USUAL & ~PO
    if code(s.ask(wire.RESOLUTION, body, flags=flags), 100, 301, 402).response != 402:
        raise Skipped("the subject has no status handle")
    code(s.run(wire.RESOLUTION, body, s.outsider, flags=flags), 400)
    reply = s.run(wire.RESOLUTION, body, flags=flags)
    if code(reply, 1, 400).response == 1:
        status = {value.index: value for value in s.values(reply, "0.SITE/status")}[1]
        equal("the type of the status", b"CNRI.SERVER_STATUS", status.type)
        for word in (b"freemem=", b"totalmem=", b"maxmem=", b"runtime=", b"numreqs="):
            expect(word in status.data, f"{word} is not in {status.data}")


@situation("admin")
def a_record_of_a_hundred_thousand_octets_is_given_whole(s):
    big = Value(1, "BLOB", bytes(range(256)) * 400)
    found = s.found(s.record(big, bare=True))
    expect(big.same(found[0]), "the value came back changed")
