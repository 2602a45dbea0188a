"""Generated inputs for each scheme: valid ones, broken ones and noise.

The same seed gives the same inputs. No input holds a line feed or ends in a carriage return, so that each can be given
as one line.
"""

import json
import os
import random
import sys

import model

SCHEMES = ('handle', 'hdl', 'cordra', 'info', 'urn', 'doi', 'ark', 'http', 'any')
DEFAULT_VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../crates/id/tests/vectors/identifiers.jsonl')

LIMITS = (2047, 2048, 2049, 8191, 8192, 8193)

SPECIALS = [
    '\x00', '\t', '\r', '\x0b', ' ', '\x1f', '\x7f', '\x85', '\xa0', '\xad', '\u061c', '\u200b', '\u200c', '\u200e',
    '\u2028', '\u202e', '\u202f', '\u2060', '\u3000', '\ud7ff', '\ue000', '\uf8ff', '\ufdd0', '\ufeff', '\ufff9',
    '\ufffd', '\ufffe', '\uffff', '\U0001f600', '\U0010ffff', 'e\u0301', '\u0301', 'é', 'É', '中', 'İ', 'ı', 'ſ', 'K',
    '١', '％', '／', '%00', '%2F', '%2f', '%25', '%', '%4', '%zz', '%ff', '%41', '%2e', '%2E%2E', '%C3%A9', '%c3', '%A9',
    '%20', '%0A', '%0D', '%ED%A0%80', '%F0%9F%98%80', '%C0%80', '%E2%80%AE', '%3A', '%3F', '%23', '%7E', '%5B', '#', '?',
    '?+', '?=', '??', '//', '/', '.', '..', ':', '@', '[', ']', '<', '>', '"', '\\', '^', '`', '{', '|', '}', '-', '~',
    '&', "'", '(', ')', '+', ',', ';', '=', '!', '$', '*', '_', '0', '1', '10.', '10', 'ocm', '(OCoLC)', '(a)%20', '-12',
]

BAD_BYTES = [b'\xff', b'\xc3', b'\xa9', b'\xed\xa0\x80', b'\xc0\x80', b'\xf4\x90\x80\x80', b'\xe2\x80', b'\xf0\x9f\x98',
             b'\xfe', b'\x80']

ALPHABETS = [
    '0123456789./',
    'abcXYZ019./:?#%-',
    'hdlinfournarkdoi:/.%2F0123456789ABCDEFabcdef?#+=-',
    "!$&'()*+,;=:@-._~/?#[]<>\"{}|\\^` %",
    'aé中\u00a0\u200b\u0301/.%?#1',
]

SEEDS = [
    '20.1000/5555', '100.102/F58FB49EB1F848f0A606E84CEF294BE5', '10.1045/april2006-paskin', '0.NA/20.500.12345',
    'hdl:20.1000/a%2Fb', 'hdl://20.1000/5555?a=b#c', 'info:lccn/75-425165//r75', 'info:rlgid/(CStRLIN)%20ctyg87-b14807',
    'info:hdl/20.1000/5555', 'info:doi/10.1000/182', 'info:ark/12025/654xz321', 'urn:urn-3:HUL.OIS:Home',
    'urn:example:foo?+r?=q#f', 'urn-3:HUL.OIS:Home', 'doi:10.1000/a%2Fb', 'https://doi.org/10.1000/a%2Fb',
    'ark:/12025/65-4-xz32-1?info', 'https://n2t.net/ark:/12025/654xz321', 'https://hdl.handle.net/20.1000/a/b?noredirect',
    'https://nrs.harvard.edu/urn-3:HUL.OIS:Home', 'http://arrow.resolver.au.gov:2641/hdl/100.102/x',
    'https://r.example/urn:isbn:0451450523', 'https://r.example/ark:12025/x', 'https://r.example/20.1/x',
    'hdl.handle.net/20.1000/5555',
]


def inputs(scheme, count, seed=1, vectors=DEFAULT_VECTORS, data=model.DEFAULT_DATA):
    """`count` inputs (bytes) for a scheme; all the seeds as they are come first."""
    seeds = known_seeds(vectors, data)
    rng = random.Random(f'{scheme} {seed}')
    own = [text for text in seeds if belongs(text, scheme)] or SEEDS
    result = [text.encode() for text in seeds]
    while len(result) < count:
        result.append(one(rng, scheme, seeds, own))
    return [clean(raw) for raw in result[:count]]


_known = {}


def known_seeds(vectors, data):
    """The built-in seeds, the inputs of the vectors and the examples of the registry."""
    if (vectors, data) not in _known:
        seeds = list(SEEDS)
        try:
            with open(vectors, encoding='utf-8') as file:
                seeds += [json.loads(line)['input'] for line in file]
        except FileNotFoundError:
            print(f'note: no vectors at {vectors}; built-in seeds only', file=sys.stderr)
        with open(data, encoding='utf-8') as file:
            for entry in json.load(file):
                seeds += [example['input'] for example in entry['examples']]
        _known[vectors, data] = list(dict.fromkeys(seeds))
    return _known[vectors, data]


def belongs(text, scheme):
    if len(text) > 300:
        return False
    head = text.lower()
    if scheme in ('hdl', 'info', 'urn', 'ark'):
        return head.startswith(scheme + ':')
    if scheme == 'doi':
        return '10.' in head[:40]
    if scheme == 'http':
        return head.startswith('http')
    if scheme in ('handle', 'cordra'):
        return ':' not in head[:6]
    return True


def clean(raw):
    return raw.replace(b'\n', b'').rstrip(b'\r')


def one(rng, scheme, seeds, own):
    kind = rng.random()
    if kind < 0.25:
        text = mutate(rng, rng.choice(own))
    elif kind < 0.30:
        text = mutate(rng, rng.choice([text for text in rng.sample(seeds, 4) if len(text) < 300] or own))
    elif kind < 0.60:
        text = VALID[scheme](rng)
    elif kind < 0.90:
        text = mutate(rng, VALID[scheme](rng))
    elif kind < 0.96:
        text = noise(rng, scheme)
    elif kind < 0.965:
        return at_limit(rng, scheme)
    else:
        return break_bytes(rng, VALID[scheme](rng).encode())
    return text.encode('utf-8', 'surrogatepass')


# Noise and damage

HEADS = {'hdl': ['hdl:', 'hdl://', 'HDL:20.1/'], 'info': ['info:', 'info:x/', 'info:lccn/', 'info:doi/', 'info:ark/'],
         'urn': ['urn:', 'urn:urn-3:', 'urn:ab:'], 'doi': ['doi:10.', 'https://doi.org/', '10.1/'],
         'ark': ['ark:', 'ark:/', 'ark:12/'], 'http': ['https://doi.org/', 'http://hdl.handle.net/', 'https://r.example/'],
         'cordra': ['1/', '1.2/'], 'handle': ['1/', '']}


def noise(rng, scheme):
    alphabet = rng.choice(ALPHABETS)
    heads = HEADS.get(scheme) or rng.choice(list(HEADS.values()))
    head = rng.choice(heads) if rng.random() < 0.6 else ''
    return head + ''.join(rng.choice(alphabet) for _ in range(rng.randrange(0, 24)))


def mutate(rng, text):
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        text = mutate_once(rng, text)
    return text


def mutate_once(rng, text):
    at = rng.randrange(len(text) + 1)
    step = rng.randrange(11)
    here = text[at:at + 1]
    if step <= 2:
        return text[:at] + rng.choice(SPECIALS) + text[at:]
    if step == 3:
        return text[:at] + text[at + 1:]
    if step == 4:
        return text[:at] + rng.choice(SPECIALS) + text[at + 1:]
    if step == 5:
        length = rng.randrange(1, 6)
        return text[:at] + text[at:at + length] * 2 + text[at + length:]
    if step == 6:
        other = rng.randrange(len(text) + 1)
        first, last = sorted((at, other))
        if first == last or last == len(text):
            return text[::-1] if len(text) < 8 else text
        return text[:first] + text[last] + text[first + 1:last] + text[first] + text[last + 1:]
    if step == 7 and here:
        return text[:at] + encode(rng, here) + text[at + 1:]
    if step == 8:
        marks = [index for index in range(len(text) - 2) if text[index] == '%']
        if marks:
            mark = rng.choice(marks)
            try:
                return text[:mark] + chr(int(text[mark + 1:mark + 3], 16)) + text[mark + 3:]
            except ValueError:
                pass
        return text[:at]
    if step == 9:
        length = rng.randrange(1, 12)
        return text[:at] + text[at:at + length].swapcase() + text[at + length:]
    return text[:at] + rng.choice(ALPHABETS[3]) + text[at:]


def encode(rng, text):
    shape = '%{:02X}' if rng.random() < 0.6 else '%{:02x}'
    return ''.join(shape.format(byte) for byte in text.encode('utf-8', 'surrogatepass'))


def break_bytes(rng, raw):
    at = rng.randrange(len(raw) + 1)
    step = rng.randrange(4)
    if step == 0:
        return raw[:at] + rng.choice(BAD_BYTES) + raw[at:]
    if step == 1:
        return raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1:]
    if step == 2:
        return raw[:at] + 'é中😀'.encode()[rng.randrange(9):][:rng.randrange(1, 4)] + raw[at:]
    return raw[:at] + bytes(rng.randrange(256) for _ in range(rng.randrange(1, 4))) + raw[at:]


def at_limit(rng, scheme):
    """A text whose length, or whose decoded or encoded length, is at or around a limit."""
    head = {'handle': '20.1000/a', 'hdl': 'hdl:20.1000/a', 'cordra': '100/' + 'aB' * 16 + '?', 'info': 'info:x/',
            'urn': 'urn:example:a', 'doi': 'doi:10.1000/a', 'ark': 'ark:12025/a', 'http': 'https://doi.org/20.1/a',
            'any': rng.choice(['hdl:20.1/a', '20.1/a', '10.1/a', 'urn-3:a:', 'https://hdl.handle.net/20.1/a', ' <info:doi/10.1/a',
                               'https://nrs.harvard.edu/urn-3:a:b', 'https://n2t.net/ark:12/b'])}[scheme]
    if scheme == 'doi' and rng.random() < 0.5:
        head = rng.choice(['10.1000/a', 'https://doi.org/10.1/', 'info:doi/10.1/'])
    if scheme == 'urn' and rng.random() < 0.3:
        head = rng.choice(['urn:urn-3:a:', 'urn:example:a?+', 'urn:example:a#'])
    if rng.random() < 0.2:
        head += rng.choice(('?a', '#a', '?=a'))
    limit = rng.choice(LIMITS)
    fill = rng.choice(('a', 'a', 'A', ':', '-', '%41', '%c3%a9', 'é', '中', '/'))
    budget = limit
    if rng.random() < 0.4:           # fill so that the decoded or encoded text is what comes near the limit
        budget = {'é': limit // 3, '中': limit // 3, ':': limit, '%41': limit * 3}.get(fill, limit)
    raw = head.encode()
    unit = fill.encode()
    raw += unit * max(0, (budget - len(raw)) // len(unit))
    raw += b'b' * max(0, budget - len(raw) - (1 if head.startswith(' <') else 0))
    return raw + (b'>' if head.startswith(' <') else b'')


# Valid texts, made by the grammar

def some(rng, alphabet, low, high):
    return ''.join(rng.choice(alphabet) for _ in range(rng.randint(low, high)))


ALNUM = 'abcdefXYZ0123456789'
PCHARS = "abcXYZ0123-._~!$&'()*+,;=:@"


def dotted(rng, alphabet, limit=3):
    return '.'.join(some(rng, alphabet, 1, 4) for _ in range(rng.randint(1, limit)))


def a_prefix(rng):
    return rng.choice((lambda: dotted(rng, '0123456789'), lambda: dotted(rng, '0123456789'),
                       lambda: '10.' + some(rng, '0123456789', 1, 4), lambda: '10', lambda: dotted(rng, 'abZ09-_é@:;中'),
                       lambda: '0.NA'))()


def a_suffix(rng):
    return rng.choice((lambda: some(rng, ALNUM, 1, 8), lambda: some(rng, ALNUM + '/.-_', 1, 10),
                       lambda: some(rng, PCHARS + '/?#% é中\u00a0\u200c"<>', 1, 8),
                       lambda: some(rng, 'abcdefABCDEF0123456789', 32, 32), lambda: rng.choice(('.', '..', '...', '/', '%'))))()


def valid_handle(rng):
    return a_prefix(rng) + '/' + a_suffix(rng)


def some_triplets(rng, text, bare):
    """Encodes what must be, and some characters that need not be."""
    return ''.join(char if char in bare and rng.random() < 0.93 else encode(rng, char) for char in text)


def any_case(rng, text):
    return rng.choice((text, text, text.upper(), text.swapcase(), text.capitalize()))


def a_tail(rng):
    tail = ''
    if rng.random() < 0.3:
        tail += '?' + some_triplets(rng, some(rng, PCHARS + '/?', 0, 8), PCHARS + '/?')
    if rng.random() < 0.3:
        tail += '#' + some_triplets(rng, some(rng, PCHARS + '/?', 0, 8), PCHARS + '/?')
    return tail


def valid_hdl(rng):
    prefix, suffix = a_prefix(rng), a_suffix(rng)
    if rng.random() < 0.5:
        return any_case(rng, 'hdl:') + some_triplets(rng, prefix, PCHARS) + '/' + some_triplets(rng, suffix, PCHARS) + a_tail(rng)
    return (any_case(rng, 'hdl:') + '//' + some_triplets(rng, prefix, PCHARS[:-2]) + '/' + some_triplets(rng, suffix, PCHARS)
            + a_tail(rng))


def valid_cordra(rng):
    return dotted(rng, '0123456789') + '/' + some(rng, 'abcdefABCDEF0123456789', 32, 32) + a_tail(rng)


INFO_IDENTIFIERS = {
    'lccn': ' -/n0123456789-', 'ark': '-./0123xz/', 'fedora': 'AbC:/%', 'oclcnum': '()ocm 0123', 'rlgid': '()- abC09',
    'doi': 'aB1/.-', 'hdl': 'aB1/.-', 'sici': 'aB<>()1-', 'pronom': 'FMTfmt/1', 'rfa': 'aB/?', 'sid': 'aB.:'}


def valid_info(rng):
    namespace = rng.choice(list(INFO_IDENTIFIERS) + ['x', 'a+b-c.d', 'oai', 'pii', 'arxiv'])
    shape = rng.random()
    if namespace in ('hdl', 'doi') and shape < 0.7:
        identifier = (valid_handle(rng) if namespace == 'hdl' or rng.random() < 0.2
                      else '10.' + some(rng, '0123456789', 1, 4) + '/' + a_suffix(rng))
    elif namespace == 'ark' and shape < 0.7:
        identifier = valid_ark(rng)[4:]
    elif namespace == 'lccn' and shape < 0.5:
        identifier = some(rng, 'na ', 0, 2) + some(rng, '0123456789', 2, 4) + rng.choice(('', '-', '--')) + some(rng, '0123456789', 0, 7)
        identifier += rng.choice(('', ' ', '/AC', '//r75'))
    elif namespace == 'oclcnum' and shape < 0.6:
        identifier = rng.choice(('', '(OCoLC)', '(a) ', '()', '(é)', '((a)')) + rng.choice(('', 'ocm', 'OCM')) + some(rng, '0123456789', 0, 6)
    elif namespace == 'rlgid' and shape < 0.6:
        identifier = rng.choice(('', '(CStRLIN)', '(a-b)  ', '(é) ')) + some(rng, 'abC09', 0, 5) + rng.choice(('', '-', ' ')) + some(rng, 'abC09', 0, 5)
    else:
        identifier = some(rng, INFO_IDENTIFIERS.get(namespace, 'aB/%é:') + 'é', 0, 9)
    encoded = some_triplets(rng, identifier, PCHARS + ('/' if rng.random() < 0.8 else '') + ALNUM + 'lmnorstxz')
    if rng.random() < 0.1:
        at = rng.choice([index for index in range(len(encoded) + 1) if '%' not in encoded[max(0, index - 2):index]])
        encoded = encoded[:at] + rng.choice(('%ff', '%C3', '%A9', '%ed%a0%80', '%f0%9f')) + encoded[at:]
    fragment = '#' + some_triplets(rng, some(rng, PCHARS + '/?', 0, 6), PCHARS + '/?') if rng.random() < 0.2 else ''
    return any_case(rng, 'info:') + any_case(rng, namespace) + '/' + encoded + fragment


def valid_urn(rng):
    return any_case(rng, 'urn:') + urn_rest(rng)


def urn_rest(rng):
    if rng.random() < 0.5:
        authority = "abHUL09()+,-=@;$_!*'"
        rest = (any_case(rng, 'urn-3') + ':' + '.'.join(some_triplets(rng, some(rng, authority, 1, 4), authority)
                                                     for _ in range(rng.randint(1, 3)))
                + ':' + some_triplets(rng, some(rng, authority + '.:', 1, 8), authority + '.:'))
    else:
        rest = (any_case(rng, rng.choice(('isbn', 'example', 'uuid', 'urn-7', 'urn-5', 'a1', 'x--y', 'a' * 32))) + ':'
                + some_triplets(rng, some(rng, PCHARS, 1, 3) + some(rng, PCHARS + '/', 0, 8), PCHARS + '/'))
    if rng.random() < 0.2:
        rest += '?+' + some(rng, PCHARS, 1, 1) + some_triplets(rng, some(rng, PCHARS + '/?', 0, 6), PCHARS + '/?')
    if rng.random() < 0.2:
        rest += '?=' + some(rng, PCHARS, 1, 1) + some_triplets(rng, some(rng, PCHARS + '/?', 0, 6), PCHARS + '/?')
    if rng.random() < 0.2:
        rest += '#' + some_triplets(rng, some(rng, PCHARS + '/?', 0, 6), PCHARS + '/?')
    return rest


def valid_ark(rng):
    name = some_triplets(rng, some(rng, 'abXZ019=~*+@_$./-', 1, 12), 'abXZ019=~*+@_$./-')
    return (any_case(rng, 'ark:') + rng.choice(('', '/')) + some(rng, '0123456789bcdxzXZ', 1, 16) + '/' + name
            + (rng.choice(('?', '??', '?info', '#x', '?%', '?é')) if rng.random() < 0.2 else ''))


def doi_name(rng):
    return rng.choice(('10', '10.' + some(rng, '0123456789', 1, 5), '10.1000.' + some(rng, 'aB1', 1, 3))) + '/' + a_suffix(rng)


def valid_doi(rng):
    name = doi_name(rng)
    shape = rng.randrange(4)
    if shape == 0:
        return any_case(rng, 'doi:') + name
    if shape == 1:
        return name
    if shape == 2:
        return any_case(rng, 'info:doi/') + some_triplets(rng, name, PCHARS + '/')
    return (any_case(rng, rng.choice(('http://', 'https://'))) + any_case(rng, rng.choice(('doi.org', 'dx.doi.org'))) + '/'
            + some_triplets(rng, name, PCHARS + '/') + a_tail(rng))


def valid_http(rng):
    shape = rng.random()
    scheme = any_case(rng, rng.choice(('http://', 'https://')))
    port = rng.choice(('', '', '', '', '', '', ':80', ':443', ':8000'))
    if shape < 0.25:
        return scheme + any_case(rng, rng.choice(('hdl.handle.net', 'doi.org', 'dx.doi.org'))) + port + '/' + http_handle(rng)
    if shape < 0.4:
        return scheme + any_case(rng, rng.choice(('doi.org', 'dx.doi.org', 'hdl.handle.net'))) + port + '/' + some_triplets(
            rng, doi_name(rng), PCHARS + '/') + a_tail(rng)
    if shape < 0.5:
        return scheme + any_case(rng, 'nrs.harvard.edu') + port + '/' + rng.choice(('', '', 'urn:', 'URN:')) + urn_rest(rng)
    if shape < 0.6:
        return scheme + any_case(rng, 'n2t.net') + port + '/' + valid_ark(rng)
    base = rng.choice(('arrow.resolver.au.gov:2641/hdl/', 'arrow.resolver.au.gov:2641/hdl/', 'r.example/', 'R.example:443/',
                       'r.example:80/', 'r.example/hdl/', 'arrow.resolver.au.gov/hdl/'))
    name = rng.choice((http_handle, http_handle, valid_urn, urn_rest, valid_ark))(rng)
    return scheme + base + name


def http_handle(rng):
    return (some_triplets(rng, a_prefix(rng), PCHARS) + '/'
            + some_triplets(rng, a_suffix(rng), PCHARS + ('/' if rng.random() < 0.7 else '')) + a_tail(rng))


def valid_any(rng):
    text = rng.choice((valid_handle, valid_hdl, valid_cordra, valid_info, valid_urn, urn_rest, valid_doi, valid_ark,
                       valid_http, valid_http))(rng)
    if text[:4].lower() == 'http':
        if rng.random() < 0.3:
            text = text.partition('://')[2]
        if rng.random() < 0.3:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(('é', '中', '\u200b', '\U0001f600', '\xa0')) + text[at:]
    wrap = rng.random()
    if wrap < 0.08:
        text = '<' + text + '>'
    elif wrap < 0.16:
        text = '"' + text + '"'
    elif wrap < 0.2:
        text = '< ' + text + '\t>'
    elif wrap < 0.22:
        text = '<<' + text + '>>'
    elif wrap < 0.24:
        text = '<' + text + '"'
    if rng.random() < 0.15:
        text = rng.choice((' ', '\t', '\xa0', '\u3000 ', '\u200b', '\u2028')) + text + rng.choice(('', ' ', '\u2003', '\x0c'))
    return text


VALID = {'handle': valid_handle, 'hdl': valid_hdl, 'cordra': valid_cordra, 'info': valid_info, 'urn': valid_urn,
         'doi': valid_doi, 'ark': valid_ark, 'http': valid_http, 'any': valid_any}
