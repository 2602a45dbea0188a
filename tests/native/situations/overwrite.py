"""Overwrite-when-exists (§9)."""

import time

import wire
from harness import Identity, code, equal, expect, situation
from wire import OWE, Value

OVER = wire.USUAL | OWE
URL = Value(1, "URL", "one")
MAIL = Value(2, "EMAIL", "a@example.org")


def overwritten(reply, truth):
    code(reply, 1)
    equal("OWE in the reply", truth, bool(reply.flags & OWE))


@situation("admin")
def creating_with_overwriting_what_is_absent_creates_and_clears_the_flag(s):
    handle = s.name()
    overwritten(s.create(handle, [URL], flags=OVER), False)
    equal("indexes", [1], s.indexes(handle))


@situation("admin")
def creating_with_overwriting_replaces_the_whole_record_and_sets_the_flag(s):
    handle = s.record(URL, MAIL)
    overwritten(s.create(handle, [Value(3, "DESC", "new"), s.admin_value()], flags=OVER), True)
    equal("indexes", {3, 100}, set(s.indexes(handle)))


@situation("admin")
def overwriting_is_always_challenged(s):
    handle = s.record(Value(1, "URL", "x", permissions=0x0F))
    body = wire.handle_and_values(handle, [Value(1, "URL", "y", permissions=0x0F), s.admin_value()])
    code(s.ask(wire.CREATE, body, flags=OVER), 402)


@situation("admin")
def overwriting_keeps_the_timestamps_of_values_that_do_not_change(s):
    handle = s.record(URL, MAIL)
    before = {v.index: v.timestamp for v in s.found(handle)}
    time.sleep(1.1)
    overwritten(s.create(handle, [URL, Value(2, "EMAIL", "b@example.org"), s.admin_value()], flags=OVER), True)
    after = {v.index: v.timestamp for v in s.found(handle)}
    equal("timestamp of the unchanged value", before[1], after[1])
    expect(after[2] > before[2], "the timestamp of the changed value did not move")


@situation("admin")
def overwriting_with_only_changed_values_needs_the_permission_to_modify(s):
    user = s.user()
    grant = s.admin_value(101, user, wire.MODIFY_VALUE)
    handle = s.record(URL, MAIL, grant)
    unchanged = [MAIL, grant, s.admin_value()]
    code(s.create(handle, unchanged + [Value(1, "URL", "two"), Value(3, "X", "")], user, flags=OVER), 400)
    code(s.create(handle, unchanged, user, flags=OVER), 400)
    overwritten(s.create(handle, unchanged + [Value(1, "URL", "two")], user, flags=OVER), True)
    equal("data", b"two", s.found(handle, [1])[0].data)


@situation("admin")
def overwriting_needs_all_permissions_in_one_admin_value(s):
    user = s.user()
    grants = [s.admin_value(101, user, wire.MODIFY_VALUE), s.admin_value(102, user, wire.ADD_VALUE)]
    handle = s.record(URL, *grants)
    new = [Value(1, "URL", "two"), MAIL, *grants, s.admin_value()]
    code(s.create(handle, new, user, flags=OVER), 400)


@situation("admin")
def overwriting_with_a_new_admin_value_needs_the_permission_to_add_one(s):
    user = s.user()
    grant = s.admin_value(101, user, wire.ALL_PERMISSIONS & ~wire.ADD_ADMIN)
    handle = s.record(URL, grant)
    code(s.create(handle, [URL, grant, s.admin_value(), s.admin_value(102, user)], user, flags=OVER), 400)


@situation("admin")
def overwriting_by_who_may_add_admin_values_may_do_anything(s):
    user = s.user()
    handle = s.record(URL, MAIL, s.admin_value(101, user, wire.ADD_ADMIN))
    overwritten(s.create(handle, [Value(9, "NEW", "")], user, flags=OVER), True)
    equal("indexes", [9], s.indexes(handle))


@situation("admin")
def overwriting_by_who_may_delete_and_create_may_do_anything(s):
    grant = s.admin_value(100, permissions=wire.DELETE_HANDLE)
    handle = s.record(URL, grant, bare=True)
    overwritten(s.create(handle, [Value(9, "NEW", "")], flags=OVER), True)
    equal("indexes", [9], s.indexes(handle))


@situation("admin")
def overwriting_by_who_may_delete_but_not_create_gives_400(s):
    user = s.user()
    handle = s.record(URL, s.admin_value(101, user, wire.DELETE_HANDLE))
    code(s.create(handle, [Value(9, "NEW", "")], user, flags=OVER), 400)


@situation("admin")
def overwriting_by_who_may_create_but_has_no_rights_over_the_record_gives_400(s):
    handle = s.record(URL, s.admin_value(100, s.outsider), bare=True)
    code(s.create(handle, [Value(9, "NEW", "")], flags=OVER), 400)
    expect(1 in s.indexes(handle), "the record was replaced")


@situation("admin")
def overwriting_with_the_same_values_changes_nothing(s):
    handle = s.record(URL)
    before = s.found(handle)
    # Nothing is needed for nothing; a careful server refuses an outsider all the same.
    code(s.create(handle, [URL, s.admin_value()], s.outsider, flags=OVER), 1, 400)
    equal("values", sorted(before, key=lambda v: v.index), sorted(s.found(handle), key=lambda v: v.index))


@situation("admin")
def overwriting_by_an_outsider_gives_400(s):
    handle = s.record(URL)
    code(s.create(handle, [Value(1, "URL", "two"), s.admin_value()], s.outsider, flags=OVER), 400)


@situation("admin")
def overwriting_still_refuses_bad_indexes(s):
    handle = s.record(URL)
    code(s.create(handle, [Value(0, "URL", "x")], flags=OVER), 202)
    code(s.create(handle, [MAIL, MAIL], flags=OVER), 201)
    equal("indexes", {1, 100}, set(s.indexes(handle)))


@situation("admin")
def adding_with_overwriting_sets_the_flag_only_when_an_index_was_taken(s):
    handle = s.record(URL)
    overwritten(s.add(handle, [MAIL], flags=OVER), False)
    overwritten(s.add(handle, [Value(1, "URL", "two"), Value(3, "X", "")], flags=OVER), True)
    equal("indexes", [1, 2, 3, 100], s.indexes(handle))
    equal("data", b"two", s.found(handle, [1])[0].data)


@situation("admin")
def adding_with_overwriting_does_not_look_at_the_write_permission(s):
    handle = s.record(Value(1, "URL", "x", permissions=0x0A))
    overwritten(s.add(handle, [Value(1, "URL", "y")], flags=OVER), True)
    equal("data", b"y", s.found(handle, [1])[0].data)


@situation("admin")
def adding_with_overwriting_needs_the_permission_to_modify_what_changes(s):
    user = s.user()
    handle = s.record(URL, s.admin_value(101, user, wire.ADD_VALUE))
    code(s.add(handle, [Value(1, "URL", "two"), MAIL], user, flags=OVER), 400)
    # What does not change needs nothing.
    code(s.add(handle, [URL, MAIL], user, flags=OVER), 1)


@situation("admin")
def overwriting_has_no_effect_on_other_operations(s):
    handle = s.record(URL)
    code(s.modify(handle, [MAIL], flags=OVER), 200)
    overwritten(s.modify(handle, [Value(1, "URL", "two")], flags=OVER), False)
    overwritten(s.remove(handle, [1], flags=OVER), False)


@situation("admin")
def what_changes_nothing_is_done_by_those_who_may(s):
    user = s.user()
    handle = s.record(URL, s.admin_value(101, user))
    for _ in range(2):
        code(s.modify(handle, [URL], user), 1)
        code(s.add(handle, [URL], user, flags=wire.USUAL | OWE), 1)
        values = s.found(handle)
        code(s.create(handle, values, user, flags=wire.USUAL | OWE), 1)
    code(s.modify(handle, [URL], s.outsider), 400)
    wrong = Identity(user.handle, user.index, secret=b"wrong")
    code(s.modify(handle, [URL], wrong), 403)
