"""What each kind of account must not see or do, tried on every page of the page table.

Seeing: two registries are filled alike, but only one of them has what belongs to the authority OTHER alone. An account without a
role there asks both for every page, list, file, suggestion and form, and must not find a difference. So nothing tells of OTHER: no
row, no count, no error.

Doing: every form that an administrator sees is sent by every weaker account, and must change nothing.
"""

import collections
import difflib
import pathlib
import re

import chromium
from chromium import check

from filled import OPEN, OTHER, PREFIX, ROLES, SECRET, fill
from page_list import Things, is_open, pattern_of, routes
from people import Client, Forms, signed_in

TABLE_FILE = pathlib.Path(__file__).resolve().parents[2] / 'target' / 'console' / 'rights.md'
# Accounts that have no role on OTHER.
WEAK = [role for role in ROLES if role not in ('anonymous', 'administrator')]
ACCOUNTS = {'administrator': 'root'}
# What may differ in two registries that are filled alike.
VARYING = [
    (re.compile(r'<wbr>'), ''),
    (re.compile(r'<svg xmlns.*?</svg>', re.DOTALL), 'QR code'),
    (re.compile(r'<ul class="listing">.*?</ul>', re.DOTALL), 'random names'),
    (re.compile(r'handfast-log-[0-9a-f]+[+\w/=]*'), 'log'),
    (re.compile(r'[\d,]+ events'), 'events'),
    (re.compile(r'\b([0-9a-f]{64}|[0-9a-f]{12})\b'), 'hash'),
    (re.compile(r'(?<=>)[\w+/]{43}=(?=<)'), 'hash'),
    (re.compile(r'nonce="[^"]*"'), 'nonce'),
    (re.compile(r'<time[^>]*>[^<]*</time>'), 'time'),
    (re.compile(r'\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?'), 'time'),
    (re.compile(r'\d+ \w+ \d{4}, \d\d:\d\d'), 'time'),
    (re.compile(r'as of event [\d,]+', re.IGNORECASE), 'as of event'),
    (re.compile(r'127\.0\.0\.1:\d+'), 'host'),
    (re.compile(r'name="once" value="[^"]*"'), 'once'),
    (re.compile(r'/static/[^"]*'), 'static'),
    (re.compile(r'tmp[a-z0-9_]{8}'), 'folder'),
]
# Everybody who is signed in may ask for something; it leaves an event.
MAY_ASK = {'/authorities/{authority}/ask', '/authorities/{authority}/children', '/authorities/new', '/namespaces/new',
           '/namespaces/{namespace}/comment', '/namespaces/{namespace}/claim', '/namespaces/{namespace}/comments'}
# Forms about oneself.
OWN = ('/me', '/password', '/sign-out', '/sign-in', '/again', '/enter', '/draft')
# Forms that a page shows only in a state that passes: while a job runs, or after a conflict.
HIDDEN = [
    *((f'/console/jobs/{job}/{act}', []) for job in (1, 2) for act in ('stop', 'resume')),
    *((f'/console/names/{name.replace("/", "%2F")}/merge',
       [('version', '1'), ('event', '1'), ('theirs', '2'), ('mine', '1 URL https://moved.example/'), ('do', 'save')])
      for name in (f'{OTHER}/print-1', f'{OTHER}/{SECRET}-1', f'{OPEN}/map-1')),
]
FILLING = {
    'reason': 'because', 'title': 'Another title', 'name': 'new-name', 'to': 'writer', 'account': 'writer', 'count': '2', 'why': 'because',
    'text': 'words', 'comment': 'words', 'urls': 'https://moved.example/', 'url': 'https://moved.example/', 'from': 'one.example',
    'successor': f'{OPEN}/map-1', 'names': f'{OTHER}/{SECRET}-1', 'password': 'x' * 20, 'email': 'x@library.example',
}


class Side:
    """One of two registries, and everybody signed in to it."""

    def __init__(self, handfast, with_secrets):
        fill(handfast, with_secrets=with_secrets)
        self.handfast = handfast.serve()
        self.clients = {role: signed_in(handfast, ACCOUNTS.get(role, role)) for role in ROLES if role != 'anonymous'}
        self.clients['anonymous'] = Client(handfast.base)

    def events(self):
        text = self.clients['anonymous'].get('/api/v1/log/checkpoint', Accept='*/*').text
        return int(text.splitlines()[1])


def tables(world, program):
    """Both tables; gives their counts."""
    with chromium.new_folder(program) as second:
        left, right = Side(world.handfast, True), Side(second, False)
        seen = seeing(left, right)
        done = doing(left)
    return f'({seen}; {done})'


def things(client):
    """Everything that braces can stand for: things of OPEN, of OTHER, secret ones, and ones that do not exist."""
    def numbers(name):
        return re.findall(r'/history/(\d+)"', client.get(f'/console/names/{name.replace("/", "%2F")}/history').text)

    secret, shown = f'{OTHER}/{SECRET}-1', f'{OTHER}/print-1'
    jobs = sorted(set(re.findall(r'/console/jobs/([^"/?]+)', client.get('/console/jobs').text)) - {'new'})
    return Things(
        name=[secret, shown, f'{OTHER}/none', f'{OPEN}/map-1', f'{OPEN}/map-2', f'{OPEN}/map-3'], authority=[OTHER, OPEN, PREFIX, f'{OPEN}.7'],
        account=[f'{SECRET}-ann', f'{SECRET}-ben', 'writer', 'none'], group=[f'{SECRET}-group', 'staff', 'none'],
        event=[*numbers(secret)[:1], *numbers(shown)[:1], *numbers(f'{OPEN}/map-1')[:1], '999999'], code=['none'], draft=['none'],
        session=['none'], token=['none'], namespace=['harbour', 'none'], job=[*jobs, '999999'], request=['999999'])


def questions(client):
    """Addresses of all pages, and of searches that aim at what is secret."""
    paths = {path for pattern in routes('GET') for path in things(client).paths(pattern)}
    words = [SECRET, f'{OTHER}/{SECRET}-1', f'{OTHER}/{SECRET}-11', f'https://{SECRET}.example/1', OTHER, 'print']
    for path in ('names', 'names.csv', 'events', 'people', 'authorities', 'groups', 'namespaces', 'jobs'):
        paths |= {f'/console/{path}?q={word}' for word in words}
    for path in ('names', 'names.csv', 'events', 'events.csv', 'events.atom', 'jobs', 'mint', 'names/new', 'people'):
        paths |= {f'/console/{path}?authority={authority}' for authority in (OTHER, PREFIX)}
    for state in ('active', 'reserved', 'withdrawn'):
        paths.add(f'/console/names?authority={PREFIX}&children=1&state={state}')
    for account in (f'{SECRET}-ann', f'{SECRET}-ben'):
        paths |= {f'/console/events?account={account}', f'/console/events?by={account}', f'/console/authorities/{OTHER}/why?who={account}'}
    for name in (f'{SECRET}-1', 'none'):
        paths |= {f'/console/names/new/check?authority={OTHER}&name={name}', f'/console/mint/example?authority={OTHER}&style=sequence&start={name}'}
    for authority in (OTHER, PREFIX, OPEN):
        for host in ('one.example', f'{SECRET}2.example'):
            paths.add(f'/console/jobs/new?preview=1&kind=host&authority={authority}&from={host}&to=x.example')
    paths |= {f'/{OTHER}/{SECRET}-1', f'/{OTHER}/{SECRET}-1?noredirect', f'/{OTHER}/{SECRET}-11', f'/{OTHER}/print-1?noredirect',
              f'/registry/authorities/{OTHER}', '/registry/authorities', '/registry/'}
    return sorted(path for path in paths if '/enter/' not in path and not path.endswith('/proof'))


def normal(answer):
    """An answer without what varies."""
    text = f'{answer.status} {answer.headers.get("location", "")}\n{answer.text}'
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return text


def seeing(left, right):
    """No answer differs between the registry with secrets and the one without them."""
    asked = questions(left.clients['administrator'])
    # Everybody was seen in both, on the same day.
    right.clients['administrator'].get('/console/')
    faults, count, statuses = [], 0, collections.Counter()
    table = collections.defaultdict(collections.Counter)
    for role in ['anonymous', *WEAK]:
        for path in asked:
            one, two = (side.clients[role].get(path) for side in (left, right))
            count += 1
            statuses[one.status] += 1
            table[(pattern_of(path, 'GET') or 'public pages', role)][one.status] += 1
            faults += fault(f'{role} GET {path}', one, two)
    for path in asked:
        answer = left.clients['administrator'].get(path)
        table[(pattern_of(path, 'GET') or 'public pages', 'administrator')][answer.status] += 1
    write_table(table)
    sent = [form for form in forms(left.clients['administrator'], asked) if OTHER in str(form) or SECRET in str(form)]
    sent += [('/console/activate', [('names', f'{OTHER}/{SECRET}-1'), ('do', 'preview')]),
             ('/console/names/new', [('authority', OTHER), ('name', f'{SECRET}-1'), ('do', 'create')]),
             (f'/console/names/{OPEN}%2Fmap-1/withdraw',
              [('reason', 'x'), ('successor', f'{OTHER}/{SECRET}-1'), ('do', 'preview'), ('version', '1')]),
             (f'/console/authorities/{OPEN}/people', [('to', f'{SECRET}-ann'), ('role', 'none')]),
             (f'/console/names/{OPEN}%2Fmap-1/transfer', [('to', f'group:{SECRET}-none')])]
    for role in ['anonymous', *WEAK]:
        for path, form in sent:
            if pattern_of(path, 'POST') in MAY_ASK or is_own(path):
                continue
            one, two = (side.clients[role].post(path, form) for side in (left, right))
            count += 1
            statuses[one.status] += 1
            faults += fault(f'{role} POST {path} {form}', one, two)
    different = list({text.split('\n', 1)[-1]: text for text in faults}.values())
    check(f'{len(faults)} answers tell of another authority:\n' + '\n'.join(different[:40]), len(faults), 0)
    return f'{count} questions about {OTHER} by {len(WEAK) + 1} roles, none tells more: {dict(statuses)}'


def write_table(table):
    """The table page × role, for people: how often each status was answered."""
    lines = ['| page | ' + ' | '.join(ROLES) + ' |', '| --- ' * (len(ROLES) + 1) + '|']
    for pattern in sorted({pattern for pattern, _ in table}):
        cells = [', '.join(f'{status}: {count}' for status, count in sorted(table[(pattern, role)].items())) for role in ROLES]
        lines.append(f'| `{pattern}` | ' + ' | '.join(cells) + ' |')
    TABLE_FILE.parent.mkdir(parents=True, exist_ok=True)
    TABLE_FILE.write_text('\n'.join(lines) + '\n')


def fault(what, one, two):
    if one.status >= 500 or two.status >= 500:
        return [f'{what}: {one.status} {two.status}']
    left, right = normal(one), normal(two)
    if left == right:
        return []
    changes = [line for line in difflib.unified_diff(right.splitlines(), left.splitlines(), n=0, lineterm='') if line[:1] in '+-']
    return [f'{what}\n    ' + '\n    '.join(around(line) for line in changes[2:6])]


def around(line):
    """A long line as far as it says something."""
    return line if len(line) < 300 else f'{line[:150]} … {line[-150:]}'


def is_own(path):
    return path.removeprefix('/console').startswith(OWN)


def forms(client, paths):
    """All forms that an account sees, filled in: (action, fields)."""
    found = {}
    for path in paths:
        if not path.startswith('/console/'):
            continue
        answer = client.get(path)
        if answer.status != 200 or '<form' not in answer.text:
            continue
        for form in Forms(answer.text).found:
            fields = [(name, value or FILLING.get(name, '')) for name, value, _ in form['fields'] if name]
            for button in form['buttons'] or [None]:
                sent = fields + ([button] if button else [])
                found.setdefault((form['action'], str(sorted(map(str, sent)))), (form['action'], sent))
    return list(found.values())


def doing(side):
    """Every form that an administrator sees, sent by every weaker account, changes nothing that it may not."""
    administrator = side.clients['administrator']
    paths = questions(administrator)
    all_forms = [(action, fields) for action, fields in forms(administrator, paths) if not is_own(action)] + HIDDEN
    tried, faults, statuses = 0, [], collections.Counter()
    covered = {pattern_of(action, 'POST') for action, _ in all_forms}
    for role in ('anonymous', 'nobody', 'reader', 'writer', 'lead', 'admin'):
        for action, fields in all_forms:
            pattern = pattern_of(action, 'POST')
            aimed = f'{action} {fields}'
            # Who has a role on OPEN may do more there: that is what the roles are for.
            if role not in ('anonymous', 'nobody', 'reader') and OTHER not in aimed and SECRET not in aimed:
                continue
            if role != 'anonymous' and pattern in MAY_ASK:
                continue
            before = side.events()
            answer = side.clients[role].post(action, fields)
            tried += 1
            statuses[answer.status] += 1
            if side.events() != before:
                faults.append(f'{role} POST {action} {fields}: {answer.status}, and an event was written')
            if answer.status >= 500:
                faults.append(f'{role} POST {action} {fields}: {answer}')
    for pattern in routes('GET') + routes('POST'):
        method = 'POST' if pattern in routes('POST') else 'GET'
        if is_open(pattern):
            continue
        for path in things(administrator).paths(pattern)[:1]:
            answer = side.clients['anonymous'].ask(method, path)
            place = answer.headers.get('location', '')
            # A form that is sent without a session is given back with the page for signing in.
            is_given_back = method == 'POST' and answer.status == 401 and '<h1>Sign in</h1>' in answer.text
            if not is_given_back and (answer.status != 303 or not place.startswith('/console/sign-in')):
                faults.append(f'anonymous {method} {path}: {answer}')
    check(f'{len(faults)} forms do what they must not:\n' + '\n'.join(faults[:40]), len(faults), 0)
    # The forms do work: an administrator changes something by most of them.
    worked = 0
    for action, fields in all_forms:
        before = side.events()
        worked += side.clients['administrator'].post(action, fields).status in (200, 201, 303) and side.events() > before
    untried = sorted(set(routes('POST')) - covered - {path for path in routes('POST') if path.startswith(OWN)})
    return (f'{tried} forms sent by accounts that must not, none changed anything: {dict(statuses)}; '
            f'{worked} of {len(all_forms)} did when an administrator sent them; without a form: {untried}')
