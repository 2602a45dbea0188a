"""A session that has ended by itself: what was typed comes back after signing in again."""

import re
import shutil

from chromium import check, contains

import flows

TYPED = 'Ada, who typed for a long time <b>'


def text_comes_back(world):
    if not shutil.which('faketime'):
        return '(not tried: faketime is missing)'
    handfast = world.handfast
    handfast('init')
    handfast.serve()
    hand = world.window()
    flows.first_sign_in(world, hand)
    hand.account('Your account')
    hand.fill('title', TYPED)
    # Thirteen hours pass.
    port = int(handfast.base.rsplit(':', 1)[1])
    handfast.stop()
    handfast.serve(port, under=['faketime', '-f', '+13h'])
    hand.button('Save')
    check('signed out', hand.heading(), 'Sign in')
    contains('the text is kept', hand.text(), 'Your text is kept')
    hand.fill('account', 'admin')
    hand.fill('password', flows.PASSWORD)
    hand.button(re.compile('^Sign in'))
    check('the text is back', hand.heading(), 'Your text is back')
    contains('the text', hand.text(), TYPED)
    hand.button('Send it now')
    check('it was sent', hand.field('title').input_value(), TYPED)
    # A page that was only read is opened again.
    handfast.stop()
    handfast.serve(port, under=['faketime', '-f', '+40h'])
    hand.account('Tokens')
    contains('signed out', hand.text(), 'You were signed out')
    hand.fill('account', 'admin')
    hand.fill('password', flows.PASSWORD)
    hand.button(re.compile('^Sign in'))
    check('where they wanted to go', hand.heading(), 'Tokens')
    return ''
