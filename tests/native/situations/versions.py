"""Versions, digests, certified replies, header fields, and the site's description of itself (§1.3, §2, §4)."""

import wire
from harness import code, equal, expect, situation
from wire import AT, CT, RD, DNR, Message, Value


@situation()
def a_request_of_2_1_without_suggestion_is_answered_at_2_1(s):
    code(s.resolve(s.name(), version=(2, 1), suggested=(0, 0)), 100)


@situation()
def a_blind_request_of_2_3_suggesting_2_11_is_answered_at_2_11(s):
    code(s.resolve(s.name(), version=(2, 3)), 100)


@situation()
def a_suggestion_of_2_7_is_answered_at_2_7(s):
    code(s.resolve(s.name(), version=(2, 7), suggested=(2, 7)), 100)


@situation()
def a_request_of_2_11_is_answered_at_2_11(s):
    code(s.resolve(s.name(), version=(2, 11), suggested=(2, 11)), 100)


@situation()
def a_request_of_3_0_is_answered_at_2_11(s):
    code(s.resolve(s.name(), version=(3, 0), suggested=(3, 0)), 100)


@situation()
def unknown_suggested_versions_are_answered_at_2_11(s):
    for suggested in ((2, 12), (2, 255), (3, 9)):
        code(s.resolve(s.name(), suggested=suggested), 100)


@situation()
def a_suggested_major_beyond_two_bits_is_answered_at_2_11(s):
    # Read as two bits this suggests nothing, read as five it suggests too much: both give 2.11.
    for major in (4, 8, 16, 28):
        code(s.resolve(s.name(), suggested=(major, 0)), 100)


@situation()
def unknown_message_versions_are_not_rejected(s):
    for version in ((2, 0), (2, 99), (3, 7), (9, 9)):
        code(s.resolve(s.name(), version=version), 100)


@situation()
def the_digest_of_the_request_is_sha_256_from_2_7_on(s):
    reply = s.resolve(s.name(), flags=wire.USUAL | RD)
    equal("digest algorithm", 3, reply.after_digest()[0])
    reply = s.resolve(s.name(), flags=wire.USUAL | RD, version=(2, 3), suggested=(2, 7))
    equal("digest algorithm", 3, reply.after_digest()[0])


@situation()
def the_digest_of_the_request_is_sha_1_before_2_7(s):
    for version in ((2, 1), (2, 3), (2, 6)):
        reply = s.resolve(s.name(), flags=wire.USUAL | RD, version=version, suggested=version)
        equal("digest algorithm", 2, reply.after_digest()[0])


@situation("admin")
def the_digest_comes_before_the_values_and_counts_in_the_body(s):
    reply = s.resolve(s.public_record, [1], flags=wire.USUAL | RD)
    equal("indexes", [1], [v.index for v in s.values(reply, s.public_record)])


@situation()
def the_digest_covers_unknown_trailing_octets_of_the_body(s):
    body = wire.resolution(s.name()) + b"more than needed"
    code(s.ask(wire.RESOLUTION, body, flags=wire.USUAL | RD), 100)


@situation("admin")
def a_certified_resolution_is_signed_with_the_key_of_the_site(s):
    s.found(s.public_record, flags=wire.USUAL | CT)


@situation()
def a_certified_error_is_signed_too(s):
    code(s.resolve(s.name(), flags=wire.USUAL | CT | RD), 100)


@situation()
def signatures_cover_the_envelope_as_each_version_says(s):
    for version in ((2, 7), (2, 8), (2, 10), (2, 11)):
        code(s.resolve(s.name(), flags=wire.USUAL | CT, version=version, suggested=version), 100)


@situation()
def signatures_before_2_7_cover_what_those_versions_say(s):
    for version in ((2, 1), (2, 3), (2, 5), (2, 6)):
        code(s.resolve(s.name(), flags=wire.USUAL | CT, version=version, suggested=version), 100)


@situation("admin")
def a_certified_challenge_and_the_reply_after_it_are_signed(s):
    handle = s.name()
    values = [Value(1, "URL", "x"), s.admin_value()]
    code(s.create(handle, values, flags=wire.USUAL | CT), 1)


@situation()
def without_ct_there_is_no_credential(s):
    equal("credential", None, s.resolve(s.name()).credential)


@situation()
def flags_are_copied_as_described(s):
    for flags in (0, wire.USUAL, wire.USUAL | DNR, wire.USUAL | AT, wire.CA, wire.PO):
        code(s.resolve(s.name(), flags=flags), 100)


@situation()
def unknown_flags_are_ignored(s):
    code(s.resolve(s.name(), flags=wire.USUAL | 0x000FFFFF), 100)


@situation()
def the_recursion_count_is_copied(s):
    code(s.resolve(s.name(), recursion=7), 100)


@situation()
def an_expiration_in_the_past_and_any_serial_are_accepted(s):
    for expiration in (0, 1, 0xFFFFFFFF):
        code(s.resolve(s.name(), expiration=expiration, serial=0), 100)


@situation()
def request_ids_of_every_kind_are_echoed(s):
    for request in (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE):
        code(s.resolve(s.name(), request=request), 100)


@situation()
def compressed_and_truncated_bits_without_meaning_are_harmless(s):
    code(s.resolve(s.name(), envelope_flags=wire.TRUNCATED), 100)
    code(s.resolve(s.name(), envelope_flags=wire.COMPRESSED), 100)


@situation()
def the_site_describes_itself_in_a_well_formed_record(s):
    reply = s.ask(wire.GET_SITE_INFO, wire.octets("/"), version=(2, 3))
    body = code(reply, 1).after_digest()[2].rest()
    site = wire.Site.decode(body)
    equal("record, decoded and encoded again", body.hex(), site.encode().hex())
    equal("protocol version", (2, 11), site.protocol)
    equal("format", 1, site.format)
    expect(site.servers, "a site without servers")
    for server in site.servers:
        expect(server.interfaces, "a server without interfaces")


@situation()
def the_keys_in_the_site_record_are_in_canonical_form(s):
    for server in s.site.servers:
        expect(server.public_key, "a server without a public key")
        key = wire.PublicKey.decode(server.public_key)
        equal("key, decoded and encoded again", server.public_key.hex(), key.encode().hex())


@situation()
def site_information_can_be_certified_and_digested(s):
    reply = s.ask(wire.GET_SITE_INFO, wire.octets("/"), flags=wire.USUAL | CT | RD)
    equal("site record", s.site, wire.Site.decode(code(reply, 1).after_digest()[2].rest()))


@situation()
def site_information_does_not_depend_on_the_handle_in_the_request(s):
    for handle in ("", "/", f"{s.prefix}/x", "99.9/not/here"):
        code(s.ask(wire.GET_SITE_INFO, wire.octets(handle)), 1)


@situation()
def a_reply_before_2_5_says_201_for_an_invalid_value(s):
    body = wire.handle_and_values(s.name(), [Value(0, "URL", "x")])
    reply = s.ask(wire.CREATE, body, version=(2, 3), suggested=(2, 3))
    # Whether values are looked at before or after authentication is the server's choice.
    code(reply, 201, 402)


@situation()
def a_message_without_credential_length_is_accepted(s):
    request = Message(wire.RESOLUTION, wire.resolution(s.name()))
    payload = request.covered()
    for extra in (b"", b"\0\0\0"):
        data = request.envelope(len(payload + extra)) + payload + extra
        code(Message.decode(s.send(data)[0]), 100)
