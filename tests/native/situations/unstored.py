"""Handles that are not stored: computed by templates (§6.9), or on other servers (§8.6)."""

import wire
from harness import Skipped, code, equal, expect, situation
from wire import CT, DNR, PO, RD, USUAL, Value

TEMPLATE = """<namespace><template delimiter="@"><foreach>
 <if value="type" test="equals" expression="URL">
  <if value="extension" test="matches" expression="(\\d+)-(\\d+)" parameter="x">
   <value data="${data}?start=${x[1]}&amp;len=${x[2]}"/></if>
  <else><notfound/></else>
 </if>
 <else><value/></else>
</foreach></template></namespace>"""


def derived(s, word, *values):
    """A derived prefix of its own, so that nothing else is changed by its record."""
    prefix = f"{s.prefix}.{s.run_id}-{word}"
    reply = s.create(f"0.NA/{prefix}", [s.admin_value(), *values])
    if reply.response == 301:
        raise Skipped("the subject makes no derived prefixes")
    code(reply, 1)
    return prefix


def template_prefix(s):
    if "template" not in s.cache:
        prefix = s.cache["template"] = derived(s, "templates", Value(7, "HS_NAMESPACE", TEMPLATE))
        values = [
            Value(1, "URL", "https://example.org/abc"),
            Value(2, "EMAIL", "a@example.org"),
            Value(3, "NOTE", "for administrators", permissions=0x0C),
            s.admin_value(),
        ]
        code(s.create(f"{prefix}/abc", values), 1)
    return s.cache["template"]


@situation("admin")
def a_template_makes_values_from_those_of_the_base(s):
    prefix = template_prefix(s)
    found = {v.index: v.data for v in s.found(f"{prefix}/abc@10-20")}
    equal("URL", b"https://example.org/abc?start=10&len=20", found[1])
    equal("EMAIL", b"a@example.org", found[2])
    expect(3 not in found, "a value for administrators came")


@situation("admin", "udp")
def a_template_works_over_udp_signed_and_selected(s):
    handle = f"{template_prefix(s)}/abc@1-2"
    for fields in ({"via": "udp"}, {"flags": USUAL | CT | RD}, {"via": "udp", "flags": USUAL | CT}):
        equal("indexes", [1], s.indexes(handle, [], ["URL"], **fields))
    equal("indexes", [2], s.indexes(handle, [2]))


@situation("admin")
def a_template_that_says_notfound_gives_100(s):
    prefix = template_prefix(s)
    for end in ("abc@bad", "abc@"):
        code(s.resolve(f"{prefix}/{end}"), 100)


@situation("admin")
def a_template_without_a_base_gives_200(s):
    code(s.resolve(f"{template_prefix(s)}/nosuch@1-2"), 200)


@situation("admin")
def what_is_stored_is_not_made(s):
    prefix = template_prefix(s)
    handle = f"{prefix}/abc@7-{s.run_id}"
    code(s.create(handle, [Value(5, "URL", "stored"), s.admin_value()]), 1)
    equal("data", b"stored", s.found(handle, [5])[0].data)
    code(s.resolve(f"{prefix}/other"), 100)


@situation("admin")
def what_only_administrators_may_read_is_not_given_to_templates(s):
    prefix = derived(s, "curious", Value(7, "HS_NAMESPACE", """<namespace><template delimiter="@">
      <def parameter="p"><foreach><value/></foreach></def><value type="LEAK" data="${p}"/></template></namespace>"""))
    code(s.create(f"{prefix}/abc", [Value(1, "NOTE", "topsecret", permissions=0x0C), s.admin_value()]), 1)
    handle = f"{prefix}/abc@x"
    for flags in (USUAL, USUAL & ~PO):
        reply = s.run(wire.RESOLUTION, wire.resolution(handle, [], []), flags=flags)
        expect(b"topsecret" not in reply.body, "a value for administrators came through a template")


@situation("admin")
def a_template_cannot_be_changed_through_a_handle_it_makes(s):
    handle = f"{template_prefix(s)}/abc@1-2"
    code(s.add(handle, [Value(9, "URL", "x")]), 100)
    code(s.delete(handle), 100)


@situation("admin")
def a_template_that_is_no_xml_makes_nothing(s):
    prefix = derived(s, "broken", Value(7, "HS_NAMESPACE", "<namespace><template delimiter='@'>"))
    code(s.create(f"{prefix}/abc", [Value(1, "URL", "x"), s.admin_value()]), 1)
    code(s.resolve(f"{prefix}/abc@1"), 100)
    code(s.resolve(f"{prefix}/abc"), 1)


def delegated(s):
    if "delegated" not in s.cache:
        values = [
            Value(3, "HS_SERV.PREFIX", "0.SERV/20.500"),
            Value(4, "HS_SITE.PREFIX", b"a site", permissions=0x0C),
            Value(5, "HS_SERV", "0.SERV/other"),
        ]
        s.cache["delegated"] = derived(s, "delegated", *values)
    return s.cache["delegated"]


def referral(reply):
    """The types and data of the values of a referral."""
    code(reply, 303)
    handle, values = wire.read_handle_and_values(reply.after_digest()[2])
    equal("referral handle", b"", handle)
    return [(v.type, v.data) for v in values]


@situation("admin")
def a_derived_prefix_that_is_delegated_gives_303_with_what_everybody_may_read(s):
    prefix = delegated(s)
    expected = [(b"HS_SERV.PREFIX", b"0.SERV/20.500")]
    for handle in (f"0.NA/{prefix}.x", f"0.na/{prefix}.x.y.z", f"{prefix}.x"):
        equal("values", expected, referral(s.resolve(handle)))
        equal("values", expected, referral(s.resolve(handle, flags=USUAL & ~PO)))
        equal("values", expected, referral(s.resolve(handle, flags=USUAL | CT | RD)))


@situation("admin")
def who_wants_no_referral_gets_100(s):
    code(s.resolve(f"0.NA/{delegated(s)}.x", flags=USUAL | DNR), 100)


@situation("admin")
def the_prefix_itself_and_handles_under_it_are_not_referred(s):
    prefix = delegated(s)
    code(s.resolve(f"0.NA/{prefix}"), 1)
    code(s.resolve(f"{prefix}/x"), 100)
    code(s.resolve(f"{prefix}.x/y"), 301)


@situation("admin")
def administration_is_referred_for_clients_that_understand_it(s):
    prefix = delegated(s)
    handle = f"0.NA/{prefix}.z"
    for opcode, body in (
        (wire.CREATE, wire.handle_and_values(handle, [s.admin_value()])),
        (wire.DELETE, wire.octets(handle)),
        (wire.ADD, wire.handle_and_values(handle, [Value(1, "URL", "x")])),
    ):
        referral(s.ask(opcode, body))
    old = {"version": (2, 9), "suggested": (2, 9)}
    code(s.ask(wire.DELETE, wire.octets(handle), **old), 100)


@situation("admin")
def verification_of_a_key_that_is_delegated_is_referred(s):
    body = wire.verify_body(f"0.NA/{delegated(s)}.x", 300, bytes(16), bytes(32), b"\x03" + bytes(32))
    referral(s.ask(wire.VERIFY, body))
