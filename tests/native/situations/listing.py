"""Listing handles and prefixes, homing and unhoming (§3.9, §3.10)."""

import wire
from harness import Skipped, code, equal, expect, situation
from wire import CN, Value


def list_names(s, handle, who=None, opcode=wire.LIST_HANDLES):
    """(the messages of the reply, all names in them)"""
    replies = s.run_all(opcode, wire.octets(handle), who)
    code(replies[0], 1)
    names = []
    for n, reply in enumerate(replies):
        page = wire.read_names(code(reply, 1).after_digest()[2])
        equal(f"CN in message {n + 1} of {len(replies)}", n + 1 < len(replies), bool(reply.flags & CN))
        expect(len(page) <= 50, f"a message with {len(page)} names")
        names += page
    return replies, [name.decode().upper() for name in names]


@situation("admin")
def listing_gives_pages_of_fifty_until_the_last(s):
    made = [s.record(Value(1, "N", ""), word="list") for _ in range(55)]
    replies, names = list_names(s, f"0.NA/{s.prefix}")
    expect(len(replies) >= 2, f"55 records were made, {len(replies)} message came")
    for reply in replies[:-1]:
        equal("names in a page", 50, len(wire.read_names(reply.after_digest()[2])))
    as_listed = [name for reply in replies for name in wire.read_names(reply.after_digest()[2])]
    equal("names listed twice", 0, len(as_listed) - len(set(as_listed)))
    missing = {h.upper() for h in made} - set(names)
    expect(not missing, f"{len(missing)} names are not listed, {sorted(missing)[:1]} for one")
    strays = [n for n in names if not n.startswith(f"{s.prefix.upper()}/")]
    expect(not strays, f"names of other prefixes: {strays[:3]}")


@situation("admin")
def listing_takes_a_prefix_without_slash(s):
    handle = s.record(Value(1, "N", ""))
    expect(handle.upper() in list_names(s, s.prefix)[1], "a record is not listed")


@situation("admin")
def listing_leaves_deleted_names_out(s):
    handle = s.record(Value(1, "N", ""))
    code(s.delete(handle), 1)
    expect(handle.upper() not in list_names(s, f"0.NA/{s.prefix}")[1], "a deleted name is listed")


@situation("admin")
def listing_by_an_outsider_gives_400(s):
    code(s.run_all(wire.LIST_HANDLES, wire.octets(f"0.NA/{s.prefix}"), s.outsider)[0], 400)


@situation("admin")
def listing_is_never_done_without_authentication(s):
    code(s.ask(wire.LIST_HANDLES, wire.octets(f"0.NA/{s.prefix}")), 402)


@situation("admin")
def listing_a_prefix_that_is_not_homed_gives_301(s):
    code(s.run_all(wire.LIST_HANDLES, wire.octets(f"0.NA/99.{s.run_id}"))[0], 301)


@situation("admin")
def listing_derived_prefixes_is_answered_or_declined(s):
    # An opcode of version 3.0 only: it may be unknown.
    code(s.run_all(wire.LIST_DERIVED, wire.octets(f"0.NA/{s.prefix}"))[0], 1, 2, 5, 301, 400)


@situation("admin")
def listing_homed_prefixes_needs_an_administrator_of_the_server(s):
    code(s.run_all(wire.LIST_HOMED, wire.octets("/"), s.outsider)[0], 400)
    replies = s.run_all(wire.LIST_HOMED, wire.octets("/"))
    if code(replies[0], 1, 400).response == 1:
        names = [n.upper() for r in replies for n in wire.read_names(r.after_digest()[2])]
        expect(f"0.NA/{s.prefix}".upper().encode() in names, f"0.NA/{s.prefix} is not among {names[:5]}")


@situation("admin")
def homing_and_unhoming_by_an_outsider_give_400(s):
    for opcode in (wire.HOME, wire.UNHOME):
        for handle in (f"0.NA/{s.prefix}", s.prefix):
            code(s.run(opcode, wire.octets(handle), s.outsider), 400)
    expect(s.resolve(s.name()).response == 100, "the prefix is no longer homed")


@situation("admin")
def homing_is_never_done_without_authentication(s):
    code(s.ask(wire.HOME, wire.octets(f"0.NA/99.{s.run_id}")), 402)
    code(s.resolve(f"99.{s.run_id}/x"), 301)


@situation("admin")
def the_record_of_a_prefix_is_created_once_it_is_homed(s):
    prefix = f"0.NA/98.{s.run_id}"
    if code(s.run(wire.HOME, wire.octets(prefix)), 1, 400).response == 400:
        raise Skipped("the administrator may not home prefixes")
    code(s.create(prefix, [s.admin_value()], s.outsider), 400)
    code(s.create(prefix, [s.admin_value(), Value(1, "DESC", "made by a client")]), 1)
    values = {value.index for value in s.found(prefix)}
    expect({1, 100} <= values, f"the record has values {values}")
    code(s.create(prefix, [s.admin_value()]), 101)
    # Who is named in the record administers what is under it.
    code(s.create(f"98.{s.run_id}/a", [s.admin_value()]), 1)
    code(s.delete(f"98.{s.run_id}/a"), 1)
    code(s.run(wire.UNHOME, wire.octets(prefix)), 1)


@situation("admin")
def homing_what_is_no_prefix_handle_gives_102(s):
    # Who may not home anything may be told that first.
    code(s.run(wire.HOME, wire.octets(f"{s.prefix}/x"), s.outsider), 102, 400)


@situation("admin")
def derived_prefixes_are_listed_in_either_way(s):
    derived = f"0.NA/{s.prefix}.{s.run_id}"
    if code(s.create(derived, [s.admin_value()]), 1, 301).response == 301:
        raise Skipped("the subject makes no derived prefixes")
    for opcode, handle in ((wire.LIST_HANDLES, f"0.NA/0.NA/{s.prefix}"), (wire.LIST_DERIVED, f"0.NA/{s.prefix}")):
        replies = s.run_all(opcode, wire.octets(handle))
        # An opcode of version 3.0 only, and homing of its own for the other: they may be declined.
        if code(replies[0], 1, 2, 5, 301, 400).response == 1:
            names = [n.decode().upper() for r in replies for n in wire.read_names(r.after_digest()[2])]
            expect(derived.upper() in names, f"{derived} is not among {names[:5]}")
            expect(f"0.NA/{s.prefix}".upper() not in names, "the prefix itself is listed")
            code(s.run_all(opcode, wire.octets(handle), s.outsider)[0], 400)
