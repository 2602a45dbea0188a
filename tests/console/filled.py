"""A registry with something on every page.

Two authorities below one prefix: OPEN, on which the accounts of the tables have their roles, and OTHER, of which they must learn
nothing that an anonymous visitor does not see. Every text that belongs to OTHER alone has the word SECRET in it.
"""

PREFIX, OPEN, OTHER = '20.1000', '20.1000.1', '20.1000.2'
SECRET = 'zaunkoenig'
# Kinds of accounts, from the weakest; the first is nobody at all.
ROLES = ['anonymous', 'nobody', 'reader', 'writer', 'lead', 'admin', 'administrator']


def plain(text, _kind):
    return text


def fill(handfast, words=plain, with_secrets=True):
    """Fills a new folder by commands. `words` makes the texts that people write."""
    run = handfast
    run('init')
    run('authority', 'create', PREFIX, '--title', words('Library of the Harbour Town', 'authority title'),
        '--meaning', words('Things that the library names.', 'meaning'), '--contact', words('names@library.example', 'contact'))
    for authority, title in ((OPEN, 'Map Collection'), (OTHER, 'Early Prints')):
        run('authority', 'create', authority, '--title', words(title, 'authority title'))
    for account, title in (('nobody', 'Nora Body'), ('reader', 'Rita Reader'), ('writer', 'Walter Writer'), ('lead', 'Lena Lead'),
                           ('admin', 'Adam Admin'), ('root', 'Ruth Root'), ('asker', 'Asta Asker')):
        more = ['--administrator'] if account == 'root' else []
        run('user', 'create', account, '--title', words(title, 'account title'), '--email', f'{account}@library.example', *more)
    for account, role in (('reader', 'read'), ('writer', 'write'), ('lead', 'lead'), ('admin', 'admin')):
        run('authority', 'grant', OPEN, '--to', account, '--role', role)
    run('group', 'create', 'staff', '--title', words('Staff of the maps', 'group title'))
    run('group', 'add', 'staff', 'reader')
    run('authority', 'grant', OPEN, '--to', 'group:staff', '--role', 'read')
    run('token', 'create', 'writer', '--title', words('Nightly upload', 'token title'), '--authority', OPEN, '--role', 'write')
    names(run, words)
    # A value that the public must not read: that there was a change is public, what it was is not.
    note = f'{SECRET} note' if with_secrets else 'a note'
    run('name', 'set', f'{OTHER}/print-1', '--value', f'20:NOTE:{note}', '--permissions', '20:1100')
    registrations(run, words)
    if with_secrets:
        secrets(run)


def names(run, words):
    title = words('Plan of the harbour, 1871', 'title')
    run('name', 'create', f'{OPEN}/map-1', '--as', 'writer', '--url', 'https://one.example/map', '--url', 'https://two.example/map',
        '--value', f'10:TITLE:{title}', '--value', f'11:DESC:{words("Ink on linen.", "value")}')
    run('name', 'set', f'{OPEN}/map-1', '--as', 'writer', '--url', 'https://three.example/map')
    run('name', 'set', f'{OPEN}/map-1', '--as', 'writer', '--value', f'12:{words("NOTE", "type")}:{words("Torn at the edge.", "value")}')
    run('name', 'create', f'{OPEN}/map-2', '--as', 'writer', '--url', 'https://one.example/map-2', '--value',
        '10:TITLE:Chart of the bay')
    run('name', 'withdraw', f'{OPEN}/map-2', '--as', 'writer', '--reason', words('Catalogued twice.', 'reason'), '--successor',
        f'{OPEN}/map-1')
    run('name', 'create', f'{OPEN}/map-3', '--as', 'writer', '--reserve', '--url', 'https://one.example/map-3', '--value',
        f'10:TITLE:{words("A map to come", "title")}')
    run('name', 'create', f'{OPEN}/places', '--value',
        '1:10320/loc:<locations><location href="https://one.example/" country="gb"/><location href="https://two.example/"/></locations>',
        '--value', '100:HS_ADMIN:300:0.SITE/ADMIN')
    run('name', 'create', f'{OTHER}/print-1', '--url', 'https://one.example/print', '--value', '10:TITLE:A print for everybody')
    run('job', 'replace-host', 'one.example', 'new.example', '--authority', OPEN)


def registrations(run, words):
    run('access', 'request', OPEN, '--as', 'asker', '--role', 'write', '--reason', words('I catalogue maps.', 'reason'))
    run('authority', 'request', f'{OPEN}.7', '--as', 'asker', '--title', words('Globes', 'authority title'))
    run('namespace', 'propose', 'harbour', '--as', 'writer', '--title', words('Harbour numbers', 'namespace title'),
        '--organisation', words('Harbour Office', 'organisation'), '--contact', 'https://harbour.example/', '--case', 'lower',
        '--declare', 'in-use', '--why', words('They are on every quay.', 'reason'))
    run('namespace', 'comment', 'harbour', words('We use them, too.', 'comment'), '--as', 'reader')


def secrets(run):
    """What only people of OTHER may know."""
    run('user', 'create', f'{SECRET}-ann', '--title', f'{SECRET} Ann', '--email', f'{SECRET}@library.example')
    run('authority', 'grant', OTHER, '--to', f'{SECRET}-ann', '--role', 'admin')
    run('group', 'create', f'{SECRET}-group', '--title', f'{SECRET} group')
    run('group', 'add', f'{SECRET}-group', f'{SECRET}-ann')
    run('authority', 'grant', OTHER, '--to', f'group:{SECRET}-group', '--role', 'write')
    run('token', 'create', f'{SECRET}-ann', '--title', f'{SECRET} token', '--authority', OTHER)
    for number in range(1, 6):
        run('name', 'create', f'{OTHER}/{SECRET}-{number}', '--as', f'{SECRET}-ann', '--reserve', '--url',
            f'https://{SECRET}.example/{number}', '--value', f'10:TITLE:{SECRET} title {number}')
    run('user', 'create', f'{SECRET}-ben', '--title', f'{SECRET} Ben')
    run('access', 'request', OTHER, '--as', f'{SECRET}-ben', '--role', 'write', '--reason', f'{SECRET} reason')
    run('job', 'replace-host', f'{SECRET}.example', f'{SECRET}2.example', '--authority', OTHER)
