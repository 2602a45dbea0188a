"""Creating, deleting, adding, removing, modifying (§3.3, §3.4, §7.6)."""

import re
import time

import wire
from harness import code, equal, expect, not_success, situation
from wire import MNS, OWE, PO, Value

URL = Value(1, "URL", "https://example.org/one")
MAIL = Value(2, "EMAIL", "a@example.org")
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def nothing_but_the_digest(reply):
    equal("body after the digest", b"", code(reply, 1).after_digest()[2].rest())


@situation("admin")
def creating_is_challenged_then_done_and_names_what_was_created(s):
    handle = s.name()
    body = wire.handle_and_values(handle, [URL, s.admin_value()])
    challenge = code(s.ask(wire.CREATE, body), 402)
    reply = code(s.finish(challenge, s.admin.answer(challenge)), 1)
    equal("body", wire.octets(handle).hex(), reply.after_digest()[2].rest().hex())
    equal("indexes", {1, 100}, set(s.indexes(handle)))


@situation("admin")
def nothing_is_created_before_the_answer(s):
    handle = s.name()
    code(s.ask(wire.CREATE, wire.handle_and_values(handle, [URL])), 402)
    code(s.resolve(handle), 100)


@situation("admin")
def creating_what_exists_gives_101_and_changes_nothing(s):
    handle = s.record(URL)
    code(s.create(handle, [MAIL]), 101)
    equal("indexes", {1, 100}, set(s.indexes(handle)))


@situation("admin")
def two_clients_who_create_one_name_make_one_record(s):
    handle = s.name()
    # Both are challenged while the name is free, so the second must be noticed when it is carried out.
    challenges = [
        code(s.ask(wire.CREATE, wire.handle_and_values(handle, [Value(1, "URL", url)])), 402)
        for url in ("first", "second")
    ]
    code(s.finish(challenges[0], s.admin.answer(challenges[0])), 1)
    code(s.finish(challenges[1], s.admin.answer(challenges[1])), 101)
    equal("data", b"first", s.found(handle, [1])[0].data)


@situation("admin")
def a_right_taken_away_after_the_challenge_is_gone_at_the_answer(s):
    user = s.user()
    handle = s.record(URL, s.admin_value(101, user))
    challenge = code(s.ask(wire.DELETE, wire.octets(handle)), 402)
    code(s.remove(handle, [101]), 1)
    code(s.finish(challenge, user.answer(challenge)), 400)
    code(s.resolve(handle), 1)


@situation("admin")
def creating_with_index_zero_or_below_gives_202(s):
    for index in (0, 0x80000000, 0xFFFFFFFF):
        handle = s.name()
        code(s.create(handle, [URL, Value(index, "URL", "x")]), 202)
        code(s.resolve(handle), 100)


@situation("admin")
def creating_with_an_index_twice_gives_201(s):
    handle = s.name()
    code(s.create(handle, [URL, MAIL, Value(1, "URL", "y")]), 201)
    code(s.resolve(handle), 100)


@situation("admin")
def creating_without_values_makes_an_empty_record(s):
    handle = s.name()
    code(s.create(handle, []), 1)
    code(s.resolve(handle), 200)
    code(s.create(handle, [URL]), 101)


@situation("admin")
def creating_a_name_that_is_not_utf8_gives_102(s):
    code(s.create(s.name().encode() + b"\xc3\x28", [URL]), 102)


@situation("admin")
def creating_under_a_prefix_that_is_not_homed_gives_301(s):
    code(s.create(f"99.{s.run_id}/x", [URL]), 301)


@situation("admin")
def a_name_longer_than_2048_octets_is_refused(s):
    not_success(s.create(s.name() + "x" * 2049, [URL]))


@situation("admin")
def a_name_of_2048_octets_is_accepted_or_called_invalid(s):
    handle = s.name()
    handle += "x" * (2048 - len(handle))
    # 2048 octets are the most that clients read; a server may draw the line earlier.
    if code(s.create(handle, [URL]), 1, 102).response == 1:
        equal("indexes", [1], s.indexes(handle))


@situation("admin")
def more_than_2048_values_are_refused(s):
    handle = s.name()
    not_success(s.create(handle, [Value(n, "N", "") for n in range(1, 2050)]))
    code(s.resolve(handle), 100)


@situation("admin")
def a_record_may_not_grow_beyond_what_one_reply_can_hold(s):
    handle = s.record(Value(1, "BLOB", bytes(150_000)))
    not_success(s.add(handle, [Value(2, "BLOB", bytes(150_000))]))
    equal("indexes", {1, 100}, set(s.indexes(handle)))


@situation("admin")
def creating_by_an_outsider_gives_400(s):
    handle = s.name()
    code(s.create(handle, [URL], s.outsider), 400)
    code(s.resolve(handle), 100)


@situation("admin")
def a_minted_name_is_the_portion_sent_and_a_random_uuid(s):
    for portion in (f"{s.prefix}/", f"{s.prefix}/pre-{s.run_id}-"):
        reply = code(s.create(portion, [URL, s.admin_value()], flags=wire.USUAL | MNS), 1)
        expect(reply.flags & MNS, "MNS is not set in the reply")
        r = reply.after_digest()[2]
        minted = r.octets().decode()
        r.end()
        expect(
            minted.startswith(portion) and re.fullmatch(UUID, minted[len(portion) :]),
            f"expected {portion} and a lower-case version-4 UUID, came {minted}",
        )
        equal("indexes", {1, 100}, set(s.indexes(minted)))


@situation("admin")
def minting_twice_gives_two_names(s):
    names = set()
    for _ in range(2):
        reply = code(s.create(f"{s.prefix}/", [URL], flags=wire.USUAL | MNS), 1)
        names.add(reply.after_digest()[2].octets())
    equal("number of names", 2, len(names))


@situation("admin")
def deleting_makes_the_name_unknown(s):
    handle = s.record(URL)
    nothing_but_the_digest(s.delete(handle))
    code(s.resolve(handle), 100)
    code(s.run(wire.RESOLUTION, wire.resolution(handle), flags=wire.USUAL & ~PO), 100)
    code(s.delete(handle), 100)
    code(s.add(handle, [MAIL]), 100)


@situation("admin")
def a_deleted_name_stays_taken_even_with_overwriting(s):
    handle = s.record(URL)
    code(s.delete(handle), 1)
    wanted = 1 if s.reuse else 101
    code(s.create(handle, [URL], flags=wire.USUAL | OWE), wanted)
    if not s.reuse:
        code(s.create(handle, [URL, s.admin_value()]), 101)
        code(s.add(handle, [MAIL], flags=wire.USUAL | OWE), 100)
        code(s.resolve(handle), 100)


@situation("admin")
def deleting_what_is_not_there_gives_100(s):
    code(s.delete(s.name()), 100)


@situation("admin")
def deleting_by_an_outsider_gives_400(s):
    handle = s.record(URL)
    code(s.delete(handle, s.outsider), 400)
    code(s.resolve(handle), 1)


@situation("admin")
def the_owner_of_the_prefix_has_no_rights_over_a_record_that_does_not_name_him(s):
    handle = s.record(URL, s.admin_value(100, s.outsider), bare=True)
    code(s.delete(handle), 400)
    code(s.add(handle, [MAIL]), 400)
    code(s.delete(handle, s.outsider), 1)


@situation("admin")
def deleting_needs_the_permission_to_delete(s):
    user = s.user()
    rest = wire.ALL_PERMISSIONS & ~wire.DELETE_HANDLE
    code(s.delete(s.record(s.admin_value(101, user, rest)), user), 400)
    code(s.delete(s.record(s.admin_value(101, user, wire.DELETE_HANDLE)), user), 1)


@situation("admin")
def adding_puts_values_in_and_sorts_by_index(s):
    handle = s.record(Value(5, "E", "5"))
    nothing_but_the_digest(s.add(handle, [Value(9, "X", "9"), MAIL]))
    equal("indexes", [2, 5, 9, 100], s.indexes(handle))


@situation("admin")
def adding_an_index_that_is_taken_gives_201_and_adds_nothing(s):
    handle = s.record(URL)
    code(s.add(handle, [MAIL, Value(1, "URL", "y")]), 201)
    equal("indexes", {1, 100}, set(s.indexes(handle)))


@situation("admin")
def adding_an_index_twice_gives_201(s):
    handle = s.record(URL)
    code(s.add(handle, [MAIL, MAIL]), 201)
    equal("indexes", {1, 100}, set(s.indexes(handle)))


@situation("admin")
def adding_nothing_gives_202(s):
    code(s.add(s.record(URL), []), 202)


@situation("admin")
def adding_index_zero_gives_202(s):
    code(s.add(s.record(URL), [Value(0, "X", "x")]), 202)


@situation("admin")
def adding_to_what_is_not_there_gives_100(s):
    code(s.add(s.name(), [MAIL]), 100)


@situation("admin")
def adding_needs_the_permission_for_each_kind_of_value(s):
    user = s.user()
    more_admin = s.admin_value(102, user)
    handle = s.record(s.admin_value(101, user, wire.ADD_VALUE))
    code(s.add(handle, [more_admin], user), 400)
    code(s.add(handle, [URL], user), 1)
    handle = s.record(s.admin_value(101, user, wire.ADD_ADMIN))
    code(s.add(handle, [URL], user), 400)
    code(s.add(handle, [more_admin], user), 1)


@situation("admin")
def permissions_do_not_add_up_over_several_admin_values(s):
    user = s.user()
    handle = s.record(s.admin_value(101, user, wire.ADD_VALUE), s.admin_value(102, user, wire.ADD_ADMIN))
    code(s.add(handle, [URL, s.admin_value(103, user)], user), 400)
    code(s.add(handle, [URL], user), 1)


@situation("admin")
def subtypes_of_hs_admin_in_any_case_make_administrators(s):
    user = s.user()
    for kind in ("HS_ADMIN.test", "hs_admin"):
        code(s.delete(s.record(s.admin_value(101, user, kind=kind)), user), 1)


@situation("admin")
def an_admin_value_may_end_in_two_zero_octets(s):
    user = s.user()
    value = s.admin_value(101, user)
    value.data += b"\0\0"
    code(s.delete(s.record(value), user), 1)


@situation("admin")
def an_admin_value_with_other_trailing_octets_grants_nothing(s):
    user = s.user()
    value = s.admin_value(101, user)
    value.data += b"\0\0\0"
    handle = s.name()
    # A server may refuse to store what it could not use.
    if code(s.create(handle, [URL, value]), 1, 202).response == 1:
        code(s.delete(handle, user), 400)


@situation("admin")
def removing_takes_values_out(s):
    handle = s.record(URL, MAIL)
    nothing_but_the_digest(s.remove(handle, [1]))
    equal("indexes", {2, 100}, set(s.indexes(handle)))


@situation("admin")
def removing_an_index_that_is_not_there_gives_200_and_removes_nothing(s):
    handle = s.record(URL, MAIL)
    code(s.remove(handle, [1, 77]), 200)
    equal("indexes", {1, 2, 100}, set(s.indexes(handle)))


@situation("admin")
def removing_everything_leaves_an_empty_record(s):
    handle = s.record(URL)
    code(s.remove(handle, [1, 100]), 1)
    code(s.resolve(handle), 200)


@situation("admin")
def removing_does_not_look_at_write_permissions(s):
    handle = s.record(Value(1, "URL", "x", permissions=0x0A))
    code(s.remove(handle, [1]), 1)


@situation("admin")
def removing_from_what_is_not_there_gives_100(s):
    code(s.remove(s.name(), [1]), 100)


@situation("admin")
def removing_needs_the_permission_for_each_kind_of_value(s):
    user = s.user()
    handle = s.record(URL, s.admin_value(101, user, wire.REMOVE_VALUE))
    code(s.remove(handle, [100], user), 400)
    code(s.remove(handle, [1], user), 1)
    handle = s.record(URL, s.admin_value(101, user, wire.REMOVE_ADMIN))
    code(s.remove(handle, [1], user), 400)
    code(s.remove(handle, [100], user), 1)


@situation("admin")
def modifying_replaces_every_field_and_keeps_the_order(s):
    handle = s.record(Value(5, "E", "5"), URL)
    before = s.found(handle)
    time.sleep(1.1)
    new = Value(5, "F", "new", permissions=0x0F, ttl=7, references=[(b"a/b", 1)])
    nothing_but_the_digest(s.modify(handle, [new]))
    after = s.found(handle)
    equal("order", [v.index for v in before], [v.index for v in after])
    for old, now in zip(before, after):
        if now.index == 5:
            expect(now.same(new), f"expected {new}, came {now}")
            expect(now.timestamp > old.timestamp, "the timestamp of the modified value did not move")
        else:
            equal("a value not modified", old, now)


@situation("admin")
def modifying_an_index_that_is_not_there_gives_200_and_changes_nothing(s):
    handle = s.record(URL)
    code(s.modify(handle, [Value(1, "URL", "changed"), MAIL]), 200)
    equal("data", URL.data, s.found(handle, [1])[0].data)


@situation("admin")
def modifying_what_is_not_there_gives_100(s):
    code(s.modify(s.name(), [URL]), 100)


@situation("admin")
def modifying_a_value_that_is_read_only_gives_401(s):
    handle = s.record(Value(1, "URL", "x", permissions=0x0A))
    code(s.modify(handle, [Value(1, "URL", "y")]), 401)
    equal("data", b"x", s.found(handle, [1])[0].data)


@situation("admin")
def modifying_by_an_outsider_gives_400(s):
    code(s.modify(s.record(URL), [Value(1, "URL", "y")], s.outsider), 400)


@situation("admin")
def a_publicly_writable_value_is_modified_without_authentication(s):
    handle = s.record(Value(1, "URL", "x", permissions=0x0F))
    body = wire.handle_and_values(handle, [Value(1, "URL", "y", permissions=0x0F)])
    code(s.ask(wire.MODIFY, body), 1)
    equal("data", b"y", s.found(handle, [1])[0].data)


@situation("admin")
def a_publicly_writable_value_does_not_become_an_admin_value_without_authentication(s):
    handle = s.record(Value(1, "URL", "x", permissions=0x0F))
    body = wire.handle_and_values(handle, [s.admin_value(1, s.outsider)])
    code(s.ask(wire.MODIFY, body), 402)
    code(s.run(wire.MODIFY, body, s.outsider), 400)


@situation("admin")
def a_publicly_writable_admin_value_is_not_modified_without_authentication(s):
    value = s.admin_value(101)
    value.permissions = 0x0F
    handle = s.record(value)
    body = wire.handle_and_values(handle, [s.admin_value(101, s.outsider)])
    code(s.ask(wire.MODIFY, body), 402)
    code(s.run(wire.MODIFY, body, s.outsider), 400)


@situation("admin")
def modifying_needs_the_permission_for_what_was_and_what_becomes(s):
    user = s.user()
    text, admin = Value(7, "T", "t"), s.admin_value(7)
    for before, after, needed in (
        (text, Value(7, "T", "u"), wire.MODIFY_VALUE),
        (admin, s.admin_value(7, user), wire.MODIFY_ADMIN),
        (admin, text, wire.REMOVE_ADMIN | wire.MODIFY_VALUE),
        (text, admin, wire.MODIFY_VALUE | wire.ADD_ADMIN),
    ):
        lowest = needed & -needed
        handle = s.record(before, s.admin_value(101, user, wire.ALL_PERMISSIONS & ~lowest))
        code(s.modify(handle, [after], user), 400)
        handle = s.record(before, s.admin_value(101, user, needed))
        code(s.modify(handle, [after], user), 1)


@situation("admin")
def white_space_is_part_of_a_handle(s):
    handle = s.record(URL)
    for end in (" ", "\n", "\u00a0", "\u2003", "\t"):
        code(s.resolve(handle + end), 100)
        code(s.delete(handle + end), 100)
        code(s.add(handle + end, [MAIL]), 100)
    code(s.resolve(handle), 1)


@situation("admin")
def what_the_public_may_write_does_not_become_a_key_or_a_group(s):
    handle = s.record(Value(1, "NOTE", "x", permissions=0x0F))
    code(s.ask(wire.MODIFY, wire.handle_and_values(handle, [Value(1, "NOTE", "y", permissions=0x0F)])), 1)
    for kind in ("HS_SECKEY", "HS_PUBKEY", "HS_VLIST", "HS_ADMIN", "hs_seckey"):
        body = wire.handle_and_values(handle, [Value(1, kind, "y", permissions=0x0F)])
        code(s.ask(wire.MODIFY, body), 402)
        # Nor by who has logged in and has no rights, in servers that look at what a value becomes.
        code(s.run(wire.MODIFY, body, s.outsider), 400)
