"""What people do in the console, from the printed link of a new folder to the day when somebody leaves.

Each flow is done with a mouse, by keyboard alone and without script, in a wide and in a narrow window: see hands.py.
"""

import re
import subprocess
import tempfile
import urllib.error
import urllib.request

from chromium import check, contains, lacks

PASSWORD = 'seven plain words are quite long enough'
PREFIX, CHILD = '20.1000', '20.1000.3'
MADE = f'{PREFIX}/map-0412'
TITLE = 'Plan of the harbour, 1871'
URLS = ['https://one.example/map', 'https://two.example/map', 'https://three.example/map']


def all_flows(world):
    """All flows in their order, on one folder."""
    admin = world.window()
    first_sign_in(world, admin)
    colleague = delegate(world, admin)
    create_with_ordered_addresses(world, admin)
    conflict(world, admin)
    history_and_undo(world, admin)
    name = minted(world, colleague)
    change_and_withdraw(world, colleague, name)
    reserve_and_activate(world, colleague)
    withdraw_and_restore(world, admin)
    ask_for_access(world, admin, colleague)
    leaving(world, admin, colleague)


def first_sign_in(world, hand):
    """Flow 1: a new folder, the printed link, a password."""
    hand.open(world.handfast.link)
    check('the link', hand.heading(), 'One-time link')
    hand.button('Sign in')
    check('a password is chosen at once', hand.heading(), 'Choose a password')
    hand.fill('password', 'too short')
    hand.fill('again', 'too short')
    check('a short password', hand.button('Save'), 422)
    contains('what is wrong', hand.page.get_by_role('alert').inner_text(), 'thing to correct')
    choose_password(hand)
    check('after the password', hand.heading(), 'Inbox')
    for text in ('First steps', 'Public address', 'Certificate', 'First prefix', 'Backup'):
        contains('what to do first', hand.text(), text)
    # The link counts once.
    other = world.window()
    other.open(world.handfast.link)
    check('the link again', other.heading(), 'This link cannot be used')
    other.page.context.close()
    # And the password is a way back in.
    hand.account('Sign out')
    check('signed out', hand.heading(), 'Sign in')
    sign_in(hand, 'admin')


def choose_password(hand):
    hand.fill('password', PASSWORD)
    hand.fill('again', PASSWORD)
    hand.button('Save')


def sign_in(hand, account):
    hand.fill('account', account)
    hand.fill('password', PASSWORD)
    hand.button(re.compile('^Sign in'))
    check('signed in', hand.heading(), 'Inbox')


def delegate(world, hand):
    """Flow 2: a prefix, an authority below it, and an invited colleague who sees only theirs."""
    hand.menu('Authorities')
    hand.link('New authority')
    hand.fill('authority', 'not a prefix!')
    check('a wrong prefix', hand.button('Make the authority'), 422)
    check('what was typed stays', hand.field('authority').input_value(), 'not a prefix!')
    hand.fill('authority', PREFIX)
    hand.fill('title', 'Library of the Harbour Town')
    hand.fill('contact', 'names@library.example')
    hand.button('Make the authority')
    check('the new prefix', hand.heading(), 'Library of the Harbour Town')
    hand.link('Below')
    hand.fill('authority', CHILD)
    hand.fill('title', 'Map Collection')
    hand.tick(hand.page.locator('input[name=profile][value=cordra]'))
    hand.button('Make the authority')
    if hand.heading() != 'Map Collection':
        hand.link('Map Collection')
    check('the authority below', hand.heading(), 'Map Collection')
    hand.link('Invite a person')
    hand.fill('account', 'ann')
    hand.fill('title', 'Ann, Map Collection')
    hand.choose('role', 'write')
    hand.button('Make the invitation')
    link = hand.page.locator('copy-text code').inner_text()
    contains('the link of the invitation', link, '/console/enter/')
    colleague = world.window()
    colleague.open(link)
    check('the invitation', colleague.heading(), 'You are invited')
    colleague.button('Sign in')
    choose_password(colleague)
    check('the colleague is in', colleague.heading(), 'Inbox')
    lacks('what only administrators use', colleague.page.content(), 'href="/console/server"')
    colleague.menu('Names')
    contains('their names', colleague.text(), 'No names yet')
    return colleague


def create_with_ordered_addresses(world, hand):
    """Flow 4: a name with three addresses, put in order; it leads there at once."""
    hand.menu('Names')
    hand.link('New name')
    hand.choose('authority', PREFIX)
    hand.fill('name', 'map-0412')
    hand.fill('title', TITLE)
    for place in (1, 2, 3):
        if hand.page.locator('#new-name [data-row]').count() < place:
            hand.step(hand.one('button', 'Add an address'), by_script=True)
        hand.fill(hand.page.get_by_label(f'Address {place}', exact=True), URLS[place - 1])
    # The third becomes the first.
    if hand.kind == 'keyboard':
        hand.reach(hand.page.get_by_label('Address 3', exact=True))
        hand.page.keyboard.press('Alt+Home')
    else:
        hand.step(hand.one('button', 'Move address 3 first'), by_script=True)
    check('the order', rows(hand), [URLS[2], URLS[0], URLS[1]])
    hand.step(hand.one('button', 'Move address 2 down'), by_script=True)
    check('the order', rows(hand), [URLS[2], URLS[1], URLS[0]])
    hand.go(hand.page.locator('main button.primary'))
    check('the new name', hand.heading(), TITLE)
    check('it leads there at once', leads_to(world, MADE), (302, URLS[2]))


def rows(hand):
    fields = hand.page.locator('[data-row] input[name=url]')
    return [fields.nth(at).input_value() for at in range(fields.count())]


def find(hand, text, title):
    """A name, by the list: a whole identifier leads to its page, other words to the names that have them."""
    hand.menu('Names')
    hand.fill('q', text)
    hand.go(hand.page.locator('#filters').get_by_role('button', name='Find'))
    if hand.heading() == 'Names':
        hand.link(title)


def conflict(world, hand):
    """Flow 5: two people change one name; nothing is lost."""
    find(hand, MADE, re.compile(TITLE))
    other = world.window()
    other.open(world.link('admin'))
    other.button('Sign in')
    find(other, MADE, re.compile(TITLE))
    for window in (hand, other):
        window.link('Edit', exact=True)
    hand.fill('url-1', 'https://mine.example/map')
    other.fill('url-1', 'https://theirs.example/map')
    save(other)
    check('theirs', leads_to(world, MADE), (302, 'https://theirs.example/map'))
    save(hand)
    contains('the conflict', hand.text(), 'while you were editing')
    for text in ('https://theirs.example/map', 'https://mine.example/map', URLS[2]):
        contains('nothing is lost', hand.text(), text)
    hand.tick(hand.page.locator('input[type=radio][value=yours]').first)
    hand.button('Save this choice')
    check('the choice', leads_to(world, MADE), (302, 'https://mine.example/map'))
    other.page.context.close()


def save(hand):
    """Saves the form; without script the difference is asked for first."""
    if not hand.has_script:
        hand.button('Show what will change')
    contains('what will change', hand.page.locator('#changes').inner_text(), 'What will change')
    return hand.go(hand.one('button', 'Save changes'))


def history_and_undo(world, hand):
    """Flow 6: the difference, undo, as it was on a day, and a proof that a command verifies."""
    hand.link('History')
    contains('the difference', hand.text(), 'https://mine.example/map')
    hand.go(hand.page.locator('.timeline').get_by_role('link', name=re.compile('Undo')).first)
    contains('what undoing does', hand.text(), 'https://theirs.example/map')
    hand.button('Undo the change')
    check('undone', leads_to(world, MADE), (302, 'https://theirs.example/map'))
    hand.link('History')
    hand.fill('on', world.today)
    hand.button('Show')
    contains('as it was', hand.text(), 'As it was on')
    world.handfast('log', 'checkpoint')
    hand.link('History')
    if hand.page.get_by_role('link', name='Download the proof').count():
        with tempfile.TemporaryDirectory() as folder, hand.page.expect_download() as download:
            hand.click(hand.one('link', 'Download the proof'))
            file = f'{folder}/name.proof'
            download.value.save_as(file)
            told = subprocess.run([*world.handfast.run, 'log', 'verify', MADE, '--proof', file], capture_output=True, text=True)
            check(f'the proof: {told.stdout}{told.stderr}', told.returncode, 0)
    else:
        contains('why there is no proof yet', hand.text(), 'Proof')


def mint(hand, state, count='10'):
    hand.menu('Names')
    hand.link('Mint names')
    hand.choose('authority', CHILD)
    hand.fill('count', count)
    hand.fill('urls', 'https://maps.example/{name}')
    hand.tick(f'state-{state}')
    hand.button('Mint the names')
    check('minted', hand.heading(), 'Minted names')
    check('how many', hand.page.locator('tbody tr').count(), int(count))
    names = hand.page.locator('tbody th .mono, tbody th.mono, tbody th a.mono').all_inner_texts()
    return [name.strip() for name in names]


def minted(world, hand):
    """The colleague mints ten CORDRA names."""
    names = mint(hand, 'active')
    check('CORDRA names', [name for name in names if not re.fullmatch(re.escape(CHILD) + '/[0-9a-fA-F]{32}', name)], [])
    local = names[0].split('/')[1]
    check('it leads there at once', leads_to(world, names[0]), (302, f'https://maps.example/{local}'))
    return names


def change_and_withdraw(world, hand, names):
    """A URL is changed, the change undone, and the name withdrawn with a successor, which a visitor sees."""
    name, successor = names[0], names[1]
    find(hand, name, name)
    hand.link('Edit', exact=True)
    hand.fill('url-1', 'https://moved.example/map')
    save(hand)
    check('changed', leads_to(world, name), (302, 'https://moved.example/map'))
    hand.link('History')
    for text in ('https://maps.example/', 'https://moved.example/map'):
        contains('the difference', hand.text(), text)
    hand.go(hand.page.locator('.timeline').get_by_role('link', name=re.compile('Undo')).first)
    hand.button('Undo the change')
    check('undone', leads_to(world, name)[1].startswith('https://maps.example/'), True)
    hand.link(re.compile('Withdraw'))
    check('a reason is needed', hand.button('Withdraw the name'), 422)
    hand.fill('reason', 'Catalogued twice.')
    hand.fill('successor', successor)
    if hand.has_script:
        hand.page.locator('#tombstone', has_text='Catalogued twice.').wait_for()
    else:
        hand.button('Preview')
    contains('the preview', hand.page.locator('#tombstone').inner_text(), 'Catalogued twice.')
    hand.button('Withdraw the name')
    visitor = world.window()
    visitor.open(f'{world.handfast.base}/{name}')
    for text in ('Catalogued twice.', successor):
        contains('the tombstone', visitor.text(), text)
    visitor.page.context.close()


def reserve_and_activate(world, hand):
    """Flow 7: ten reserved names, their list as a file, and all of them active on the day of publication."""
    names = mint(hand, 'reserved')
    check('nobody sees them', leads_to(world, names[0])[0], 404)
    with hand.page.expect_download() as download:
        hand.click(hand.one('link', 'Download CSV'))
    with open(download.value.path()) as file:
        text = file.read()
    for name in names:
        contains('the list as a file', text, name)
    hand.link(re.compile('^Activate'))
    contains('nothing is done yet', hand.text(), 'Nothing has been changed yet.')
    hand.button(re.compile('^Activate 10'))
    check('all of them are active', {leads_to(world, name)[0] for name in names}, {302})


def withdraw_and_restore(world, hand):
    """Flow 8: withdrawn with a reason, seen by a visitor, and restored."""
    find(hand, MADE, re.compile(TITLE))
    hand.link(re.compile('Withdraw'))
    hand.fill('reason', 'The owner asked for it.')
    hand.button('Withdraw the name')
    check('withdrawn', leads_to(world, MADE)[0], 410)
    hand.link(re.compile('Restore'))
    hand.go(hand.page.locator('main form button.primary'))
    check('restored', leads_to(world, MADE)[0], 302)


def ask_for_access(world, admin, colleague):
    """Flow 11, second part: "I need access", the decision, and why they may now."""
    colleague.menu('Authorities')
    colleague.link(re.compile('Library of the Harbour Town'))
    colleague.link(re.compile('^Ask for'))
    colleague.choose('role', 'write')
    colleague.fill('reason', 'I catalogue <b>prints</b>, too.')
    colleague.button('Ask for it')
    admin.menu('Inbox')
    contains('the inbox', admin.text(), 'I catalogue <b>prints</b>, too.')
    admin.button(re.compile('^Grant'))
    colleague.menu('Authorities')
    colleague.link(re.compile('Library of the Harbour Town'))
    colleague.link('Why', exact=True)
    contains('why', colleague.text(), 'write')
    contains('who granted it', colleague.text(), 'admin')


def leaving(world, admin, colleague):
    """Flow 11, first part: what somebody has is on one page; they are suspended."""
    admin.menu('People')
    admin.link(re.compile('Ann, Map Collection'))
    admin.link(re.compile('leaves'))
    for text in (PREFIX, CHILD, 'write'):
        contains('what they have', admin.text(), text)
    admin.go(admin.page.locator('main form button').last)
    status = colleague.menu('Names')
    check('they are signed out', (status, colleague.heading()), (200, 'Sign in'))


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def leads_to(world, name):
    """What a visitor gets: the status, and where it leads."""
    opener = urllib.request.build_opener(NoRedirects)
    try:
        answer = opener.open(f'{world.handfast.base}/{name}')
        return answer.status, None
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get('Location')
