"""How a person uses a page: with a mouse, by keyboard alone, or in a browser without script.

A flow is written once, and done by each of these hands. A flow never opens an address by itself: it begins at a link that a person
was given, and goes on by what the pages offer.
"""

import re

# So often at most Tab is pressed to come to a field.
MAX_TABS = 300


class Hand:
    """A mouse; the other hands differ in how they come to an element."""

    kind = 'mouse'
    has_script = True

    def __init__(self, page):
        self.page = page
        self.status = None
        page.on('response', self.note)

    def note(self, response):
        """The status of the page; redirects come before it."""
        if response.request.is_navigation_request():
            self.status = response.status

    def one(self, role, name, exact=False):
        """The element of the page with a role and a name; a text or a pattern."""
        inside = self.page.locator('main') if role in ('button', 'link') else self.page
        found = inside.get_by_role(role, name=name, exact=exact)
        return found.first

    def open(self, url):
        """A link that a person was given."""
        self.page.goto(url)

    def press(self, target):
        """A button that changes the page as it is."""
        self.click(target)

    def go(self, target):
        """A button or a link that leads to another page; gives its status."""
        # Not expect_navigation: a list that was searched changes its address without a new page.
        with self.page.expect_event('load'):
            self.click(target)
        return self.status

    def button(self, name):
        return self.go(self.one('button', name))

    def link(self, name, exact=False):
        return self.go(self.one('link', name, exact))

    def menu(self, word):
        """An item of the menu, which a narrow window hides."""
        item = self.page.locator('nav#menu').get_by_role('link', name=re.compile(rf'^{word}\b'))
        if not item.is_visible():
            self.press(self.page.get_by_role('link', name='Menu', exact=True))
        return self.go(item)

    def account(self, word):
        """A link or button of the menu of the account."""
        who = self.page.locator('details.who')
        if not who.get_attribute('open') is not None:
            self.press(who.locator('summary'))
        return self.go(who.get_by_text(word, exact=True))

    def click(self, target):
        target.click()

    def fill(self, field, text):
        """Writes into a field, in place of what stands there."""
        target = self.field(field)
        target.click()
        target.fill(text)

    def field(self, field):
        return self.page.locator(f'#{field}') if isinstance(field, str) else field

    def choose(self, field, value):
        """Chooses from a list."""
        self.field(field).select_option(value)

    def tick(self, target):
        """A box or a radio button."""
        self.field(target).check()

    def step(self, target, by_script):
        """A button that script answers by itself; without script a page comes."""
        if by_script and self.has_script:
            return self.press(target)
        return self.go(target)

    def heading(self):
        return self.page.locator('h1').inner_text()

    def text(self):
        return self.page.locator('main').inner_text()


class WithoutScript(Hand):
    """A mouse in a browser that runs no script."""

    kind = 'no-script'
    has_script = False


class Keyboard(Hand):
    """Nothing but keys."""

    kind = 'keyboard'

    def reach(self, target):
        """Presses Tab until the focus is there."""
        target.wait_for(state='visible')
        if target.evaluate(IS_FOCUSED):
            return
        for _ in range(MAX_TABS):
            self.page.keyboard.press('Tab')
            where = target.evaluate(WHERE_FOCUS)
            if where == 'here':
                return
            if where == 'group':
                self.along(target)
                return
        raise AssertionError(f'{self.page.url}: Tab does not come to {target}')

    def along(self, radio):
        """Inside a group of radio buttons the arrows lead."""
        for _ in range(50):
            if radio.evaluate(IS_FOCUSED):
                return
            self.page.keyboard.press('ArrowDown')
        raise AssertionError(f'{self.page.url}: the arrows do not come to {radio}')

    def click(self, target):
        self.reach(target)
        self.page.keyboard.press('Enter')

    def fill(self, field, text):
        target = self.field(field)
        self.reach(target)
        if target.get_attribute('type') == 'date':
            year, month, day = text.split('-')
            self.page.keyboard.type(f'{month}{day}{year}')
            return
        self.page.keyboard.press('ControlOrMeta+A')
        self.page.keyboard.press('Delete')
        self.page.keyboard.insert_text(text)

    def choose(self, field, value):
        target = self.field(field)
        self.reach(target)
        at, there = target.evaluate(OPTIONS, value)
        for _ in range(abs(there - at)):
            self.page.keyboard.press('ArrowDown' if there > at else 'ArrowUp')

    def tick(self, target):
        target = self.field(target)
        self.reach(target)
        if not target.is_checked():
            self.page.keyboard.press('Space')


HANDS = {hand.kind: hand for hand in (Hand, WithoutScript, Keyboard)}

IS_FOCUSED = 'element => element === document.activeElement'
WHERE_FOCUS = '''element => {
  const at = document.activeElement;
  if (at === element) return 'here';
  const radio = element.type === 'radio' && at.type === 'radio' && at.name === element.name && at.form === element.form;
  return radio ? 'group' : 'away';
}'''
OPTIONS = '''(select, value) => [
  select.selectedIndex, [...select.options].findIndex((option) => option.value === value),
]'''
