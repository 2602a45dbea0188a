"""A plain model of the identifier rules.

This is a second, independent reading of the rules for identifiers (the rule ids in the comments: `HDL-3`, `URI-5`, ...).
It exists to be compared with the program: see `compare.py`. It is written to be checked by eye against the rules, one
rule at a time, and not to be fast.

    >>> inspect(b'hdl://20.1000/5555', 'hdl')['canonical']
    'hdl:20.1000/5555'

Every reader takes the whole text and the place where its part begins, so that an error can name a place in the text as
it was given. Places are counted in characters here and turned into byte offsets at the very end, in `inspect`.
"""

import json
import os
import re

# --------------------------------------------------------------------------------------------------------------------
# Classes of characters

LETTERS = frozenset('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
DIGITS = frozenset('0123456789')
HEX = frozenset('0123456789ABCDEFabcdef')
UNRESERVED = LETTERS | DIGITS | frozenset('-._~')
SUB_DELIMS = frozenset("!$&'()*+,;=")
REG_NAME = UNRESERVED | SUB_DELIMS
PCHAR = REG_NAME | frozenset(':@')          # and triplets, which `check_text` knows
PCHAR_SLASH = PCHAR | frozenset('/')
URIC = PCHAR | frozenset('/?')
HARVARD = LETTERS | DIGITS | frozenset("()+,-=@;$_!*'")
HARVARD_NAME = HARVARD | frozenset('.:')
NAAN = frozenset('0123456789bcdfghjkmnpqrstvwxzBCDFGHJKMNPQRSTVWXZ')
ARK_NAME = LETTERS | DIGITS | frozenset('=~*+@_$./-')

# Unicode White_Space.
WHITE_SPACE = frozenset(
    '\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a'
    '\u2028\u2029\u202f\u205f\u3000')

# What `printable` leaves out between U+0020 and U+FFFF.
NOT_PRINTABLE = (
    (0x007F, 0x009F), (0x00AD, 0x00AD), (0x061C, 0x061C), (0x200B, 0x200B), (0x200E, 0x200F), (0x2028, 0x202E),
    (0x2060, 0x206F), (0xE000, 0xF8FF), (0xFDD0, 0xFDEF), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB), (0xFFFE, 0xFFFF))

#
HANDLE_LIMIT = 2048
TEXT_LIMIT = 8192

DEFAULT_DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../crates/id/data/info-namespaces.json')
_SHIPPED = object()
_shipped_registry = None


class Refused(Exception):
    """The text is not what it should be. `at` is a place in characters, or in bytes if `in_bytes` is set."""

    def __init__(self, code, at, message, in_bytes=False):
        super().__init__(message)
        self.code, self.at, self.message, self.in_bytes = code, at, message, in_bytes


# --------------------------------------------------------------------------------------------------------------------
# The contract of `inspect --json` (section 8)

def inspect(raw, scheme='any', grammar='rfc4452', registry=_SHIPPED, resolvers=()):
    """What `handfast inspect --json --as SCHEME` says of one line.

    `registry` maps a namespace to its normalisation (`load_registry`); None stands for `--no-registry`.
    `resolvers` are the URLs given with `--resolver`.
    """
    if registry is _SHIPPED:
        registry = shipped_registry()
    shown = raw.decode('utf-8', 'replace')
    text = None
    try:
        text = decode_input(raw)
        options = Options(grammar, registry, [read_resolver(url) for url in resolvers])
        found = READERS[scheme](text, options)
        if len(found['canonical'].encode()) > TEXT_LIMIT:
            raise Refused('too-long', TEXT_LIMIT, 'the canonical form would be longer than 8192 bytes', True)
    except Refused as refused:
        at = refused.at if refused.in_bytes else len(text[:refused.at].encode())
        return {'input': shown, 'ok': False,
                'error': {'code': refused.code, 'at': at, 'message': refused.message}}
    return {'input': shown, 'ok': True, **found}


class Options:
    def __init__(self, grammar, registry, configured):
        self.grammar, self.registry, self.configured = grammar, registry, configured


def load_registry(path=DEFAULT_DATA):
    with open(path, encoding='utf-8') as file:
        return {entry['namespace']: entry['normalisation'] for entry in json.load(file)}


def shipped_registry():
    global _shipped_registry
    if _shipped_registry is None:
        _shipped_registry = load_registry()
    return _shipped_registry


def decode_input(raw):
    """HDL-5: bytes that are not UTF-8 are refused, before anything else is looked at."""
    try:
        return raw.decode('utf-8')
    except UnicodeDecodeError as error:
        raise Refused('not-utf8', error.start, 'the text is not UTF-8', True)


def found(scheme, canonical, components, spellings):
    return {'scheme': scheme, 'canonical': canonical, 'components': components, 'spellings': spellings}


def check_length(text, limit, skipped=0):
    if len(text.encode()) > limit:
        raise Refused('too-long', skipped + limit, f'longer than {limit} bytes', True)


# --------------------------------------------------------------------------------------------------------------------
# Triplets and folding

def check_triplet(text, at, end):
    if at + 3 > end or text[at + 1] not in HEX or text[at + 2] not in HEX:
        raise Refused('bad-triplet', at, 'a percent sign must be followed by two hex digits')
    if text[at:at + 3] == '%00':
        raise Refused('nul', at, 'the triplet %00 is refused')


def check_text(text, start, end, allowed, what, pasted=False):
    """Are text[start:end] all allowed characters or triplets? In pasted text non-ASCII characters stand for themselves."""
    at = start
    while at < end:
        char = text[at]
        if char == '%':
            check_triplet(text, at, end)
            at += 3
        elif char in allowed or (pasted and char > '\x7f'):
            at += 1
        else:
            raise Refused('bad-character', at, f'this character is not allowed in {what}')


def percent_decode(text, start, end):
    """The characters that text[start:end] stands for, each with the place where it is written."""
    encoded, positions = bytearray(), []
    at = start
    while at < end:
        if text[at] == '%':
            encoded.append(int(text[at + 1:at + 3], 16))
            positions.append(at)
            at += 3
        else:
            written = text[at].encode()
            encoded += written
            positions += [at] * len(written)
            at += 1
    try:
        decoded = encoded.decode('utf-8')
    except UnicodeDecodeError as error:
        raise Refused('not-utf8', positions[error.start], 'the triplets do not decode to UTF-8')
    result, byte = [], 0
    for char in decoded:
        result.append((char, positions[byte]))
        byte += len(char.encode())
    return result


def decoded_or_none(text):
    """The percent-decoded text, or None if it is not UTF-8."""
    try:
        return ''.join(char for char, _ in percent_decode(text, 0, len(text)))
    except Refused:
        return None


def triplets(char):
    return ''.join(f'%{byte:02X}' for byte in char.encode())


def percent_encode(text, bare):
    return ''.join(char if char in bare else triplets(char) for char in text)


def upper_triplets(text):
    """X-2. Characters that are not ASCII can only be here if they were pasted, and are written as triplets."""
    text = ''.join(char if char <= '\x7f' else triplets(char) for char in text)
    return re.sub('%[0-9A-Fa-f]{2}', lambda match: match.group().upper(), text)


def lower(text):
    """X-3: ASCII only."""
    return ''.join(chr(ord(char) + 32) if 'A' <= char <= 'Z' else char for char in text)


def upper(text):
    return ''.join(chr(ord(char) - 32) if 'a' <= char <= 'z' else char for char in text)


def lower_outside_triplets(text):
    return upper_triplets(lower(text))


def has_scheme(text, start, name):
    return lower(text[start:start + len(name)]) == name


def cut_query_and_fragment(text, start):
    """URI-4, CID-5: (end of what precedes, query span or None, fragment span or None)."""
    fragment = query = None
    end = len(text)
    mark = text.find('#', start)
    if mark >= 0:
        fragment = (mark + 1, end)
        end = mark
    mark = text.find('?', start, end)
    if mark >= 0:
        query = (mark + 1, end)
        end = mark
    return end, query, fragment


def read_uric(text, span, what, pasted=False):
    """The query or fragment as written, or None if there is none."""
    if span is None:
        return None
    check_text(text, span[0], span[1], URIC, what, pasted)
    return text[span[0]:span[1]]


def query_and_fragment(query, fragment):
    """Printed back, triplets in upper case."""
    return (('' if query is None else '?' + upper_triplets(query))
            + ('' if fragment is None else '#' + upper_triplets(fragment)))


# --------------------------------------------------------------------------------------------------------------------
# Handle (section 1)

def check_handle(chars, end):
    """Prefix and suffix of a handle given as (character, place) pairs; `end` is the place after the last."""
    slash = next((index for index, (char, _) in enumerate(chars) if char == '/'), None)
    if slash is None:
        check_prefix(chars, end)
        raise Refused('missing-suffix', end, 'a handle is a prefix, a slash and a suffix')                   # HDL-1
    prefix, suffix = chars[:slash], chars[slash + 1:]
    check_prefix(prefix, chars[slash][1])
    if not suffix:
        raise Refused('empty-suffix', end, 'the suffix must not be empty')                                   # HDL-4
    for index, (char, at) in enumerate(suffix):
        check_printable(char, at)
        if char in WHITE_SPACE and index in (0, len(suffix) - 1):                                            # HDL-3
            raise Refused('white-space', at, 'white space at an end of the suffix')
    prefix, suffix = ''.join(char for char, _ in prefix), ''.join(char for char, _ in suffix)
    check_length(prefix + '/' + suffix, HANDLE_LIMIT)
    return prefix, suffix


def check_prefix(chars, end):
    previous = '.'
    for char, at in chars:
        if char == '.' and previous == '.':
            raise Refused('empty-segment', at, 'a prefix segment must not be empty')                         # HDL-2
        check_printable(char, at)
        if char in WHITE_SPACE:
            raise Refused('white-space', at, 'white space in the prefix')                                    # HDL-3
        previous = char
    if previous == '.':
        raise Refused('empty-prefix', end, 'the prefix, or its last segment, must not be empty')             # HDL-4


def check_printable(char, at):
    if not is_printable(char):
        raise Refused('not-printable', at, f'U+{ord(char):04X} is not allowed in a handle')                  # HDL-3


def is_printable(char):
    if ' ' <= char <= '~':
        return True
    point = ord(char)
    return 0x20 <= point <= 0xFFFF and not any(first <= point <= last for first, last in NOT_PRINTABLE)


def read_bare_handle(text, start=0):
    chars = [(char, start + index) for index, char in enumerate(text[start:])]
    return check_handle(chars, len(text))


def read_handle(text, options):
    check_length(text, HANDLE_LIMIT)
    prefix, suffix = read_bare_handle(text)
    return found('handle', text, {'prefix': prefix, 'suffix': suffix}, bare_spellings(prefix, suffix, options))


def valid_handle(text):
    try:
        return read_bare_handle(text)
    except Refused:
        return None


# --------------------------------------------------------------------------------------------------------------------
# Handle in URI syntax (section 2)

DOT_SEGMENTS = ('.', '..')


def encode_prefix(prefix):
    return percent_encode(prefix, REG_NAME)                                                                  # URI-5


def encode_suffix(suffix):
    return percent_encode(suffix, PCHAR)                                                                     # URI-5


def read_hdl(text, options):
    check_length(text, TEXT_LIMIT)
    if not has_scheme(text, 0, 'hdl:'):                                                                      # URI-1
        raise Refused('no-scheme', 0, 'an hdl URI begins with hdl:')                                         # URI-8
    end, query_span, fragment_span = cut_query_and_fragment(text, 4)
    form, start, allowed = 'path', 4, PCHAR                                                                  # URI-3
    if text[4:6] == '//':
        form, start, allowed = 'host', 6, REG_NAME                                                           # URI-2
    slash = text.find('/', start, end)
    prefix_end = end if slash < 0 else slash
    if prefix_end == start:
        raise Refused('empty-prefix', start, 'the prefix must not be empty')
    check_text(text, start, prefix_end, allowed, 'the prefix of an hdl URI')
    if slash < 0:
        raise Refused('missing-suffix', end, 'the suffix is missing')
    if slash + 1 == end:
        raise Refused('empty-suffix', end, 'the suffix must not be empty')
    check_text(text, slash + 1, end, PCHAR, 'the suffix of an hdl URI')
    query = read_uric(text, query_span, 'a query')
    fragment = read_uric(text, fragment_span, 'a fragment')
    prefix, suffix = decode_handle(text, start, slash, end)
    return found_hdl(prefix, suffix, query, fragment, form, options)


def decode_handle(text, start, slash, end):
    """URI-6: the handle in text[start:end], whose parts are divided by the slash at `slash`."""
    prefix = percent_decode(text, start, slash)
    for char, at in prefix:
        if char == '/':
            raise Refused('slash-in-prefix', at, 'a slash must not be encoded in the prefix')
    suffix = percent_decode(text, slash + 1, end)
    prefix, suffix = check_handle(prefix + [('/', slash)] + suffix, end)
    if suffix in DOT_SEGMENTS:
        raise Refused('dot-segment', slash + 1, 'a suffix of . or .. cannot travel in a URI path')           # URI-11
    return prefix, suffix


def found_hdl(prefix, suffix, query, fragment, form, options):
    canonical = ('hdl:' + encode_prefix(prefix) + '/' + encode_suffix(suffix)                                # URI-7
                 + query_and_fragment(query, fragment))
    components = {'prefix': prefix, 'suffix': suffix, 'query': query, 'fragment': fragment, 'form': form}
    spellings = with_query_and_fragment(handle_spellings(prefix, suffix, options), query, fragment)
    tail = query_and_fragment(query, fragment)
    cordra = cordra_form(prefix, suffix)
    # CID-7: what came as the query of a URI is the query of the identifier, so the path has none of its own.
    if cordra and '?' not in suffix and '#' not in suffix and len(cordra) + len(tail) <= HANDLE_LIMIT:
        spellings['cordra'] = cordra + tail
    return found('hdl', canonical, components, spellings)


def with_query_and_fragment(spellings, query, fragment):
    """CID-13: the URI forms keep query and fragment; there is no info spelling of an hdl URI that has them."""
    tail = query_and_fragment(query, fragment)
    if tail:
        for form in ('hdl', 'hdl_host', 'http'):
            if form in spellings:
                spellings[form] += tail
        spellings.pop('info', None)
    return spellings


def cordra_form(prefix, suffix):
    """CID-12: the CORDRA identifier whose form a handle has; a DOI is none."""
    if is_doi_prefix(prefix):
        return None
    try:
        authority, guid, query, fragment = split_cordra(prefix + '/' + suffix)
    except Refused:
        return None
    return authority + '/' + guid + query_and_fragment(query, fragment)


def bare_spellings(prefix, suffix, options):
    """Those of a handle that was written bare: a query, if it has the form of a CORDRA identifier, is in it."""
    spellings = handle_spellings(prefix, suffix, options)
    cordra = cordra_form(prefix, suffix)
    if cordra:
        spellings['cordra'] = cordra
    return spellings


def handle_spellings(prefix, suffix, options):
    """All spellings of a handle, in the case it is given in (EQ-1, section 8)."""
    handle = prefix + '/' + suffix
    doi = is_doi_prefix(prefix)
    spellings = {'handle': handle}
    if suffix not in DOT_SEGMENTS:                                                                           # URI-11
        encoded = encode_prefix(prefix) + '/' + encode_suffix(suffix)
        spellings['hdl'] = 'hdl:' + encoded
        spellings['hdl_host'] = 'hdl://' + encoded
        spellings['http'] = http_base(options, 'https://doi.org/' if doi else 'https://hdl.handle.net/') + encoded
        spellings['info'] = ('info:doi/' if doi else 'info:hdl/') + percent_encode(handle, PCHAR_SLASH)
    if doi:
        spellings['doi'] = 'doi:' + lower(handle)
    return spellings


# --------------------------------------------------------------------------------------------------------------------
# HTTP URLs of resolvers (URI-9 to URI-12, URN-4, section 7)

DEFAULT_PORTS = {'http': ':80', 'https': ':443'}


class Resolver:
    def __init__(self, scheme, authority, first, serves, decodes_whole_name=False):
        self.scheme, self.authority, self.first, self.serves = scheme, authority, first, serves
        self.decodes_whole_name = decodes_whole_name


BUILT_IN = [
    Resolver('https', 'hdl.handle.net', '', ('handle',)),
    Resolver('https', 'doi.org', '', ('handle',), decodes_whole_name=True),
    Resolver('https', 'dx.doi.org', '', ('handle',), decodes_whole_name=True),
    Resolver('https', 'nrs.harvard.edu', '', ('urn-3',)),
    Resolver('https', 'n2t.net', '', ('ark',)),
]


def read_resolver(url):
    """`--resolver URL`: its path is the first segment."""
    scheme, rest = url.split('://', 1)
    authority, _, first = rest.partition('/')
    return Resolver(lower(scheme), authority, first.strip('/'), ('handle', 'urn', 'ark'))


def http_base(options, built_in, direct=False):
    """What stands before the name in an HTTP spelling; None if no resolver serves such names. URNs and ARKs stand directly
    behind the host."""
    if not options.configured:
        return built_in
    resolver = options.configured[0]
    first = resolver.first + '/' if resolver.first and not direct else ''
    return f'{resolver.scheme}://{resolver.authority}/{first}'


def host_and_port(authority, scheme):
    """URI-9: hosts are compared ignoring case and the scheme's default port."""
    return lower(authority).removesuffix(DEFAULT_PORTS[scheme])


def http_scheme(text):
    """('http' or 'https', where the authority begins), or (None, 0) if the text has no such scheme."""
    for scheme in ('http', 'https'):
        if has_scheme(text, 0, scheme + '://'):
            return scheme, len(scheme) + 3
    return None, 0


def find_resolver(text, options, scheme_needed):
    """The known resolvers at the text's authority, and where its path begins."""
    scheme, start = http_scheme(text)
    if scheme is None and scheme_needed:
        return [], start
    end = start
    while end < len(text) and text[end] not in '/?#':
        end += 1
    authority = text[start:end]
    # Without its scheme the text is read as if it had the resolver's own.
    return [resolver for resolver in options.configured + BUILT_IN
            if host_and_port(authority, scheme or resolver.scheme)
            == host_and_port(resolver.authority, resolver.scheme)], end


def read_http(text, options):
    check_length(text, TEXT_LIMIT)
    if http_scheme(text)[0] is None:
        raise Refused('no-scheme', 0, 'an HTTP URL begins with http:// or https://')
    resolvers, end = find_resolver(text, options, scheme_needed=True)
    if not resolvers:
        raise Refused('unknown-resolver', http_scheme(text)[1], 'this is no resolver we know')
    return read_http_path(text, end, resolvers, options, pasted=False)


def read_http_path(text, end, resolvers, options, pasted):
    """Reads what a URL of these resolvers names; its path begins at `end`."""
    for resolver in resolvers:
        if text.startswith('/', end):                                                                        # URN-4
            direct = read_direct_name(text, end + 1, resolver, options, pasted)
            if direct:
                return direct
        base = '/' + resolver.first + '/' if resolver.first else '/'
        if text.startswith(base, end):
            start = end + len(base)
            misplaced = re.compile('urn:|urn-[0-9]+:|ark:', re.IGNORECASE | re.ASCII).match(text, start)
            if 'urn' in resolver.serves and misplaced:
                continue
            if 'handle' in resolver.serves:
                return read_http_handle(text, start, resolver, options, pasted)
    raise Refused('unknown-path', end, 'the resolver has no names on this path')


def read_direct_name(text, start, resolver, options, pasted):
    """A URN or an ARK, which stand directly behind the host; None if it is neither."""
    urn = re.compile('(urn:)|urn-[0-9]+:', re.IGNORECASE | re.ASCII).match(text, start)
    if urn and 'urn' in resolver.serves:
        return read_urn_at(text, urn.end() if urn.group(1) else start, options, pasted)
    if has_scheme(text, start, 'ark:') and 'ark' in resolver.serves:
        return read_ark_at(text, start + 4, options, pasted)
    if 'urn-3' in resolver.serves:
        nid = start + 4 if has_scheme(text, start, 'urn:') else start
        if has_scheme(text, nid, 'urn-3:'):
            return read_urn_at(text, nid, options, pasted)
    return None


def read_http_handle(text, start, resolver, options, pasted):
    end, query_span, fragment_span = cut_query_and_fragment(text, start)
    check_text(text, start, end, PCHAR_SLASH, 'a path', pasted)
    query = read_uric(text, query_span, 'a query', pasted)
    fragment = read_uric(text, fragment_span, 'a fragment', pasted)
    if resolver.decodes_whole_name:                                                                          # DOI-1
        handle = valid_handle(decoded_or_none(text[start:end]) or '')
        if handle and is_doi_prefix(handle[0]):
            if handle[1] in DOT_SEGMENTS:
                raise Refused('dot-segment', start, 'a suffix of . or .. cannot travel in a URI path')       # URI-11
            return found_doi(*handle, options)
    slash = text.find('/', start, end)
    if slash < 0:
        raise Refused('missing-suffix', end, 'the suffix is missing')
    prefix, suffix = decode_handle(text, start, slash, end)                                                  # URI-10
    if is_doi_prefix(prefix):
        return found_doi(prefix, suffix, options)
    return found_hdl(prefix, suffix, query, fragment, 'http', options)


# --------------------------------------------------------------------------------------------------------------------
# CORDRA identifier (section 3)

def split_cordra(text):
    """(naming authority, upper-case path, query, fragment)."""
    end, query_span, fragment_span = cut_query_and_fragment(text, 0)
    slash = text.find('/', 0, end)
    authority_end = end if slash < 0 else slash
    previous = '.'
    for at in range(authority_end):                                                                          # CID-2
        if text[at] not in DIGITS and not (text[at] == '.' and previous != '.'):
            raise Refused('bad-naming-authority', at, 'a naming authority is digits joined by dots')
        previous = text[at]
    if previous == '.':
        raise Refused('bad-naming-authority', authority_end, 'a naming authority is digits joined by dots')
    if slash < 0:
        raise Refused('missing-path', end, 'the path is missing')
    guid = text[slash + 1:end]
    for index, char in enumerate(guid):                                                                      # CID-3
        if char not in HEX or index >= 32:
            raise Refused('bad-path', slash + 1 + index, 'the path is exactly 32 hex digits')
    if len(guid) < 32:
        raise Refused('bad-path', end, 'the path is exactly 32 hex digits')
    query = read_uric(text, query_span, 'a query')                                                           # CID-5
    fragment = read_uric(text, fragment_span, 'a fragment')
    return text[:slash], upper(guid), query, fragment


def read_cordra(text, options):
    check_length(text, HANDLE_LIMIT)
    authority, guid, query, fragment = split_cordra(text)
    components = {'naming_authority': authority, 'guid': guid, 'query': query, 'fragment': fragment}
    canonical = authority + '/' + guid + query_and_fragment(query, fragment)
    spellings = with_query_and_fragment(handle_spellings(authority, guid, options), query, fragment)
    spellings['handle'] = spellings['cordra'] = canonical                                                    # CID-7
    return found('cordra', canonical, components, spellings)


# --------------------------------------------------------------------------------------------------------------------
# info URI (section 4)

def split_info(text, grammar):
    """(namespace in lower case, identifier as written, fragment as written)."""
    if not has_scheme(text, 0, 'info:'):
        raise Refused('no-scheme', 0, 'an info URI begins with info:')
    slash = text.find('/', 5)                                                                                # INFO-1
    namespace_end = len(text) if slash < 0 else slash
    for at in range(5, namespace_end):                                                                       # INFO-2
        if text[at] not in LETTERS and (at == 5 or text[at] not in DIGITS | frozenset('+-.')):
            raise Refused('bad-namespace', at, 'a namespace is a letter, then letters, digits, + - .')
    if namespace_end == 5:
        raise Refused('empty-namespace', 5, 'the namespace must not be empty')
    if slash < 0:
        raise Refused('missing-identifier', namespace_end, 'a slash must follow the namespace')
    end, fragment = len(text), None
    allowed = PCHAR
    if grammar == 'rfc4452':                                                                                 # INFO-3
        allowed = PCHAR_SLASH
        mark = text.find('#', slash)
        if mark >= 0:
            end, fragment = mark, text[mark + 1:]
    check_text(text, slash + 1, end, allowed, 'the identifier')
    if fragment is not None:
        check_text(text, end + 1, len(text), URIC, 'a fragment')
    return lower(text[5:slash]), text[slash + 1:end], fragment


def read_info(text, options):
    check_length(text, TEXT_LIMIT)
    namespace, written, fragment = split_info(text, options.grammar)
    identifier = normalise_info(written)
    registered = None
    if options.registry is not None:                                                                         # INFO-7
        registered = namespace in options.registry
        if registered:
            identifier = apply_steps(identifier, steps_of(options.registry[namespace]))                      # INFO-6
    uri = 'info:' + namespace + '/' + identifier
    components = {'namespace': namespace, 'identifier': decoded_or_none(written), 'fragment': fragment,
                  'registered': registered}
    tail = query_and_fragment(None, fragment)
    spellings = info_spellings(uri, namespace, decoded_or_none(identifier), options)
    for form in ('hdl', 'hdl_host', 'http', 'info'):                                                         # CID-13
        if form in spellings:
            spellings[form] += tail
    return found('info', uri + tail, components, spellings)


def normalise_info(written):
    """INFO-4 (c) and (d): triplets of pchar characters are decoded, once; the others get upper case."""
    def decode(match):
        char = chr(int(match.group()[1:], 16))
        return char if char in PCHAR else match.group().upper()
    return re.sub('%[0-9A-Fa-f]{2}', decode, written)


def info_spellings(uri, namespace, decoded, options):
    """EQ-1: an info URI is also spelled as the handle, DOI or ARK that its canonical, decoded identifier is."""
    spellings = {}
    if decoded is not None and namespace in ('hdl', 'doi'):
        handle = valid_handle(decoded)
        if handle and (namespace == 'hdl' or is_doi_prefix(handle[0])):
            spellings = bare_spellings(*handle, options)
    if decoded is not None and namespace == 'ark' and '?' not in decoded and '#' not in decoded:
        try:
            naan, _, name = split_ark('ark:' + decoded, 4)
            spellings = ark_spellings(naan, name, options)
        except Refused:
            pass
    spellings['info'] = uri
    return spellings


# Normalisation steps of the info registry (section 6 of the registry's page).

def steps_of(entry):
    if 'steps' in entry:
        return entry['steps']
    steps = []
    if entry.get('strip'):
        steps.append(['strip', entry['strip']])
    if entry.get('case', 'sensitive') != 'sensitive':
        steps.append(['fold', entry['case']])
    return steps


def apply_steps(identifier, steps):
    for step in steps:
        identifier = STEPS[step[0]](identifier, *step[1:])
    return identifier


def tokens(identifier):
    """(spelling, character) pairs; the character is None for a triplet that is no part of valid UTF-8."""
    result, at = [], 0
    while at < len(identifier):
        if identifier[at] != '%':
            result.append((identifier[at], identifier[at]))
            at += 1
            continue
        run = re.compile('(?:%[0-9A-F]{2}){1,4}').match(identifier, at).group()
        token = (run[:3], None)
        for length in range(3, len(run) + 1, 3):
            try:
                char = bytes.fromhex(run[:length].replace('%', '')).decode('utf-8')
            except UnicodeDecodeError:
                continue
            token = (run[:length], char)
            break
        result.append(token)
        at += len(token[0])
    return result


def spell(token_list):
    return ''.join(spelling for spelling, _ in token_list)


def place_of(char, token_list):
    return next((index for index, token in enumerate(token_list) if token[1] == char), None)


def step_strip(identifier, chars):
    return spell([token for token in tokens(identifier) if token[1] is None or token[1] not in chars])


def step_trim(identifier, chars):
    parts = tokens(identifier)
    first, last = 0, len(parts)
    while first < last and parts[first][1] is not None and parts[first][1] in chars:
        first += 1
    while first < last and parts[last - 1][1] is not None and parts[last - 1][1] in chars:
        last -= 1
    return spell(parts[first:last])


def step_cut_at(identifier, char):
    parts = tokens(identifier)
    return spell(parts[:place_of(char, parts)])


def step_pad_after(identifier, char, width):
    parts = tokens(identifier)
    if sum(token[1] == char for token in parts) != 1:
        return identifier
    place = place_of(char, parts)
    tail = parts[place + 1:]
    if not 1 <= len(tail) <= width or any(token[1] not in DIGITS for token in tail):
        return identifier
    return spell(parts[:place]) + spell(tail).rjust(width, '0')


def step_fold(identifier, case, before=None, char=None):
    fold = lower if case == 'lower' else upper
    parts = tokens(identifier)
    end = place_of(char, parts) if before else None
    end = len(parts) if end is None else end
    return ''.join(fold(spelling) if index < end and len(spelling) == 1 else spelling
                   for index, (spelling, _) in enumerate(parts))


def step_rewrite(identifier, pattern, replacement):
    decoded = decoded_or_none(identifier)
    match = None if decoded is None else re.fullmatch(pattern, decoded)
    if not match:
        return identifier
    text = re.sub(r'\$([0-9]+)', lambda group: match.group(int(group.group(1))) or '', replacement)
    return percent_encode(text, PCHAR_SLASH)


STEPS = {'strip': step_strip, 'trim': step_trim, 'cut-at': step_cut_at, 'pad-after': step_pad_after,
         'fold': step_fold, 'rewrite': step_rewrite}


# --------------------------------------------------------------------------------------------------------------------
# URN (section 5)

def read_urn(text, options):
    check_length(text, TEXT_LIMIT)
    if not has_scheme(text, 0, 'urn:'):
        raise Refused('no-scheme', 0, 'a URN begins with urn:')
    return read_urn_at(text, 4, options)


def read_urn_at(text, start, options, pasted=False):
    """URN-1, from the NID on."""
    f_span = r_span = q_span = None
    end = len(text)
    mark = text.find('#', start)
    if mark >= 0:
        f_span, end = (mark + 1, end), mark
    mark = text.find('?', start, end)
    if mark >= 0:
        if text[mark:mark + 2] not in ('?+', '?=') or mark + 2 > end:
            raise Refused('bad-question-mark', mark, '? must begin ?+ or ?=')
        after, kind = mark + 2, text[mark + 1]
        if kind == '+':
            q_mark = text.find('?=', after, end)
            r_span = (after, end if q_mark < 0 else q_mark)
            if q_mark >= 0:
                q_span = (q_mark + 2, end)
        else:
            q_span = (after, end)
        end = mark

    colon = text.find(':', start, end)
    nid_end = end if colon < 0 else colon
    nid = lower(text[start:nid_end])
    for at in range(start, nid_end):
        if text[at] not in LETTERS | DIGITS and (text[at] != '-' or at == start):
            raise Refused('bad-nid', at, 'a NID is letters, digits and hyphens')
    if not 2 <= len(nid) <= 32 or nid.endswith('-') or nid == 'urn':
        raise Refused('bad-nid', nid_end, 'a NID has 2 to 32 characters, does not end in a hyphen and is not "urn"')
    if colon < 0:
        raise Refused('missing-nss', end, 'a colon and a name must follow the NID')
    nss_start = colon + 1
    if nss_start == end:
        raise Refused('empty-nss', end, 'the name must not be empty')
    if text[nss_start] == '/':
        raise Refused('bad-character', nss_start, 'the name must not begin with a slash')
    check_text(text, nss_start, end, PCHAR_SLASH, 'a URN', pasted)
    nss = text[nss_start:end]
    components = {'nid': nid, 'nss': nss}
    for name, span in (('r', r_span), ('q', q_span)):
        if span is not None and (span[0] == span[1] or text[span[0]] in '/?'):
            raise Refused('bad-component', span[0], 'the component must begin with a character of a path')
        components[name] = read_uric(text, span, 'the component', pasted)
    components['f'] = read_uric(text, f_span, 'the f-component', pasted)

    canonical = 'urn:' + nid + ':' + upper_triplets(nss)
    if nid == 'urn-3':
        components.update(split_harvard(text, nss_start, end, pasted))
        canonical = 'urn:' + nid + ':' + lower_outside_triplets(nss)                                         # URN-3

    spellings = {'urn': canonical}
    if nid == 'urn-3':
        spellings['http'] = http_base(options, 'https://nrs.harvard.edu/', direct=True) + canonical[4:]                   # URN-4
    elif options.configured:
        spellings['http'] = http_base(options, None, direct=True) + canonical
    return found('urn', canonical, components, spellings)


def split_harvard(text, start, end, pasted):
    """URN-2."""
    colon = text.find(':', start, end)
    path_end = end if colon < 0 else colon
    at = start
    for authority in text[start:path_end].split('.'):
        if not authority:
            raise Refused('empty-authority', at, 'an authority must not be empty')
        check_text(text, at, at + len(authority), HARVARD, 'an authority', pasted)
        at += len(authority) + 1
    if colon < 0:
        raise Refused('missing-resource-name', end, 'the resource name is missing')
    if colon + 1 == end:
        raise Refused('empty-resource-name', end, 'the resource name must not be empty')
    check_text(text, colon + 1, end, HARVARD_NAME, 'a resource name', pasted)
    return {'authority_path': text[start:path_end].split('.'), 'resource_name': text[colon + 1:end]}


# --------------------------------------------------------------------------------------------------------------------
# Neighbours (section 6)

def is_doi_prefix(prefix):
    return prefix == '10' or prefix.startswith('10.')


def read_doi(text, options):
    check_length(text, TEXT_LIMIT)
    if has_scheme(text, 0, 'doi:'):
        prefix, suffix = read_bare_handle(text, 4)
        start = 4
    elif has_scheme(text, 0, 'info:doi/'):
        _, written, _ = split_info(text, options.grammar)
        start = len('info:doi/')
        prefix, suffix = check_handle(percent_decode(text, start, start + len(written)), start + len(written))
        if suffix in DOT_SEGMENTS:
            raise Refused('dot-segment', start, 'a suffix of . or .. cannot travel in a URI path')           # URI-11
    elif http_scheme(text)[0]:
        resolvers, end = find_resolver(text, Options(None, None, []), scheme_needed=True)
        start = http_scheme(text)[1]
        if not resolvers or not resolvers[0].decodes_whole_name:
            raise Refused('unknown-resolver', start, 'a DOI is read from doi.org')
        result = read_http_path(text, end, resolvers, options, pasted=False)
        if result['scheme'] != 'doi':
            raise Refused('not-a-doi', end + 1, 'the prefix of a DOI is 10 or begins with 10.')
        return result
    else:
        check_length(text, HANDLE_LIMIT)
        prefix, suffix = read_bare_handle(text)
        start = 0
    if not is_doi_prefix(prefix):
        raise Refused('not-a-doi', start, 'the prefix of a DOI is 10 or begins with 10.')
    return found_doi(prefix, suffix, options)


def found_doi(prefix, suffix, options):
    return found('doi', 'doi:' + lower(prefix + '/' + suffix), {'prefix': prefix, 'suffix': suffix},
                 handle_spellings(lower(prefix), lower(suffix), options))


def read_ark(text, options):
    check_length(text, TEXT_LIMIT)
    if not has_scheme(text, 0, 'ark:'):
        raise Refused('no-scheme', 0, 'an ARK begins with ark:')
    return read_ark_at(text, 4, options)


def read_ark_at(text, start, options, pasted=False):
    naan, written, name = split_ark(text, start, pasted)
    return found('ark', 'ark:' + lower(naan) + '/' + name, {'naan': naan, 'name': written},
                 ark_spellings(lower(naan), name, options))


def split_ark(text, start, pasted=False):
    """ARK-1: (NAAN as written, name as written, normalised name) of what follows `ark:`."""
    if text[start:start + 1] == '/':
        start += 1
    end = start
    while end < len(text) and text[end] not in '?#':
        end += 1
    slash = text.find('/', start, end)
    naan_end = end if slash < 0 else slash
    for at in range(start, naan_end):
        if text[at] not in NAAN or at - start >= 16:
            raise Refused('bad-naan', at, 'a NAAN is 1 to 16 digits and letters of its alphabet')
    if naan_end == start:
        raise Refused('empty-naan', start, 'the NAAN must not be empty')
    if slash < 0:
        raise Refused('missing-name', end, 'the name is missing')
    check_text(text, slash + 1, end, ARK_NAME, 'the name of an ARK', pasted)
    written = text[slash + 1:end]
    name = upper_triplets(written.replace('-', '')).rstrip('/.')
    if not name:
        raise Refused('empty-name', end, 'nothing is left of the name')
    return text[start:slash], written, name


def ark_spellings(naan, name, options):
    canonical = 'ark:' + lower(naan) + '/' + name
    return {'ark': canonical,
            'http': http_base(options, 'https://n2t.net/', direct=True) + canonical,
            # The info identifier, decoded, is the text of the ARK: its own percent signs are encoded once more.
            'info': 'info:ark/' + percent_encode(canonical[4:], PCHAR_SLASH)}


# --------------------------------------------------------------------------------------------------------------------
# What a person pastes (section 7)

def read_any(text, options):
    start, end = trim(text, 0, len(text))
    if end - start >= 2 and text[start] + text[end - 1] in ('<>', '[]', '""'):
        start, end = trim(text, start + 1, end - 1)
    try:
        return recognise(text[start:end], options)
    except Refused as refused:                            # offsets count from the untrimmed input
        if refused.in_bytes:
            refused.at += len(text[:start].encode())
        else:
            refused.at += start
        raise


def trim(text, start, end):
    while start < end and text[start] in WHITE_SPACE:
        start += 1
    while start < end and text[end - 1] in WHITE_SPACE:
        end -= 1
    return start, end


def recognise(text, options):
    check_length(text, TEXT_LIMIT)
    if not text:
        raise Refused('empty', 0, 'there is no text')
    for scheme in ('urn', 'info', 'hdl', 'doi', 'ark'):
        if has_scheme(text, 0, scheme + ':'):
            return READERS[scheme](text, options)
    resolvers, path = find_resolver(text, options, scheme_needed=False)
    if resolvers:
        return read_http_path(text, path, resolvers, options, pasted=True)
    if re.match('urn-[0-9]+:', lower(text), re.ASCII):
        return read_urn_at(text, 0, options)
    if re.match('[A-Za-z][A-Za-z0-9+.-]*:', text):
        raise Refused('unknown-scheme', 0, 'no scheme we know')
    check_length(text, HANDLE_LIMIT)
    prefix, suffix = read_bare_handle(text)                                                                  # CID-12
    if is_doi_prefix(prefix):
        return found_doi(prefix, suffix, options)
    return read_handle(text, options)


READERS = {'handle': read_handle, 'hdl': read_hdl, 'cordra': read_cordra, 'info': read_info, 'urn': read_urn,
           'doi': read_doi, 'ark': read_ark, 'http': read_http, 'any': read_any}
