"""A session that has ended by itself: what was typed comes back after signing in again."""

import glob
import re

from chromium import check, contains

import flows

TYPED = 'Ada, who typed for a long time <b>'


def text_comes_back(world):
    library = glob.glob('/usr/lib/*/faketime/libfaketime.so.1')
    if not library:
        return '(not tried: faketime is missing)'

    def later(hours):
        """The server again, some hours later. The command faketime would stay between us and the server."""
        handfast.stop()
        handfast.serve(port, under=['env', f'LD_PRELOAD={library[0]}', f'FAKETIME=+{hours}h'])

    handfast = world.handfast
    handfast('init')
    handfast.serve()
    hand = world.window()
    flows.first_sign_in(world, hand)
    hand.account('Your account')
    hand.fill('title', TYPED)
    # Thirteen hours pass.
    port = int(handfast.base.rsplit(':', 1)[1])
    later(13)
    hand.button('Save')
    check('signed out', hand.heading(), 'Sign in')
    contains('the text is kept', hand.text(), 'Your text is still there')
    hand.fill('account', 'admin')
    hand.fill('password', flows.PASSWORD)
    hand.button(re.compile('^Sign in'))
    check('the text is back', hand.heading(), 'Your text is back')
    check('the text', hand.page.locator('main input[name=title]').input_value(), TYPED)
    hand.button('Send it now')
    check('it was sent', hand.field('title').input_value(), TYPED)
    # A page that was only read is opened again.
    later(40)
    hand.account('Tokens')
    contains('signed out', hand.text(), 'You were signed out')
    hand.fill('account', 'admin')
    hand.fill('password', flows.PASSWORD)
    hand.button(re.compile('^Sign in'))
    check('where they wanted to go', hand.heading(), 'Tokens')
    return ''
