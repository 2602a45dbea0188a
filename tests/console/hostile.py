"""Texts that mean harm, in every field that is stored, seen through every page.

A page must show them as text: no element of theirs exists, no script of theirs runs, no policy is broken, and marks that turn the
direction of text around are made visible.
"""

import re

from chromium import check, opened

from filled import OPEN, PREFIX, fill
from look import PUBLIC, everything
from people import signed_in

ATTACKS = [
    '"><img src=x data-injected onerror="window.broken=1"><script>window.broken=1</script>',
    "'><svg data-injected onload=window.broken=1></svg>&lt;b data-injected&gt;",
    '</title></textarea></script><b data-injected>bold</b>{{7*7}}${7*7}',
    'javascript:window.broken=1//--><iframe data-injected srcdoc=x>',
]
TURNED = '\u202egpj.exe\u2066\u200f\u061c'
BIDI = re.compile('[\u202a-\u202e\u2066-\u2069]')
LOOK = '''() => ({
  injected: document.querySelectorAll('[data-injected]').length,
  broken: window.broken === undefined ? 0 : 1,
  schemes: [...document.querySelectorAll('a[href], form[action]')].map((each) => each.getAttribute('href') ?? each.getAttribute('action'))
    .filter((place) => /^\\s*(javascript|data|vbscript):/i.test(place)),
  handlers: [...document.querySelectorAll('*')].filter((each) => [...each.attributes].some((one) => one.name.startsWith('on'))).length,
  styles: document.querySelectorAll('[style]').length,
  text: document.body.innerText + ' ' + document.title,
})'''


def hostile_words(count=[0]):
    """Another attack for each text, with the text itself."""
    def words(text, kind):
        if kind in ('type', 'contact'):
            return text
        count[0] += 1
        return f'{text} {ATTACKS[count[0] % len(ATTACKS)]} {TURNED}'
    return words


def texts(world):
    handfast = world.handfast
    fill(handfast, hostile_words())
    handfast('name', 'create', f'{OPEN}/bad-url', '--as', 'writer', '--migrate', '--url', '  JaVaScRiPt&colon;window.broken=1', '--value',
             f'10:TITLE:{"long " * 400}', '--value', '11:DESC:' + '\u05e9\u05dc\u05d5\u05dd ' * 20)
    handfast('name', 'create', f'{PREFIX}/"><img src=x data-injected onerror=window.broken=1>', '--url', 'https://one.example/')
    many = [part for index in range(40) for part in ('--value', f'{200 + index}:KIND-{index}:{ATTACKS[index % len(ATTACKS)]}')]
    handfast('name', 'create', f'{OPEN}/forty', *many)
    handfast('name', 'create', f'{OPEN}/{"l" * 1000}', '--url', 'https://one.example/' + 'u' * 1500)
    handfast.serve()
    client = signed_in(handfast, 'root')
    pages = everything(handfast, client) | PUBLIC
    for name in ('bad-url', 'forty', 'l' * 1000, f'..%2F..%2F{PREFIX}'):
        for part in ('', '/edit', '/history', '/raw', '/withdraw', '/label'):
            pages[f'{name}{part}'] = f'/console/names/{OPEN}%2F{name}{part}'
        pages[f'public {name}'] = f'/{OPEN}/{name}?noredirect'
    pages['a name that is an attack'] = f'/console/names/{PREFIX}%2F%22%3E%3Cimg%20src%3Dx%20data-injected%20onerror%3Dwindow.broken%3D1%3E'
    attack = '%22%3E%3Cimg%20src=x%20data-injected%20onerror=window.broken=1%3E'
    for path in ('names', 'events', 'people', 'authorities', 'namespaces', 'jobs', 'mint', 'names/new', 'sign-in', 'activate'):
        for field in ('q', 'to', 'authority', 'done', 'name', 'account', 'after', 'ended', 'since', 'error'):
            pages[f'{path} {field}'] = f'/console/{path}?{field}={attack}'
    window = opened(world.browser, world.problems, 390)
    key, value = client.cookie.split('=', 1)
    window.context.add_cookies([{'name': key, 'value': value, 'url': handfast.base + '/console'}])
    window.on('dialog', lambda dialog: world.problems.append(f'{window.url}: {dialog.message}'))
    faults, seen = [], 0
    for path in pages.values():
        answer = window.goto(handfast.base + path)
        found = window.evaluate(LOOK)
        text = found.pop('text')
        seen += 'data-injected' in text
        if answer.status >= 500:
            faults.append(f'{path}: status {answer.status}')
        if BIDI.search(text):
            faults.append(f'{path}: {BIDI.search(text)!r} in {text[max(0, BIDI.search(text).start() - 60):][:90]!r}')
        faults += [f'{path}: {what} {how}' for what, how in found.items() if how]
        if '49' in text and '{{7*7}}' not in text and '${7*7}' in text:
            faults.append(f'{path}: a template was evaluated')
    check('hostile texts do something:\n  ' + '\n  '.join(faults[:40]), len(faults), 0)
    check('the texts are seen on many pages', seen > 20, True)
    window.context.close()
    return f'({len(pages)} pages, hostile texts on {seen} of them)'
