"""Opens the pages of the program in Chromium, as a visitor does.

    browser.py PROGRAM CHROMIUM

The program serves a new folder with the examples, and a name that leads to a server of this test: Chromium, unlike curl, obeys the
policies that pages are sent with, and a page that breaks one of them fails here. BROWSER_SHOTS=DIR keeps a picture of each page,
1280 and 390 pixels wide, light and dark: for people to look at, they are not compared.
"""

import contextlib
import http.server
import os
import pathlib
import sys
import threading

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import chromium  # noqa: E402
from chromium import check, contains, opened  # noqa: E402

NAME = '10.1045/april2006-paskin'
# A name that shows a page before it leads on, because of its namespace.
PAGE_FIRST, SECURITY = 'info:lccn/2002022641', 'The record may describe another edition.'
LANDING = 'Where the name leads'
class Landing(http.server.BaseHTTPRequestHandler):
    """A page on another host. It redirects once more, as landing pages do."""

    def do_GET(self):
        if self.path == '/moved':
            self.send_response(302)
            self.send_header('Location', '/landing')
            self.send_header('Content-Length', '0')
            self.end_headers()
            return
        page = f'<!doctype html><link rel=icon href="data:,"><title>{LANDING}</title>'.encode()
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.send_header('Content-Length', str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def landing():
    """The landing page: its host is not the host of the pages."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Landing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://localhost:{server.server_port}'
    server.shutdown()


@contextlib.contextmanager
def served(program, target):
    """The program on a new folder with the examples; gives its address."""
    with chromium.new_folder(program) as handfast:
        for command in (
                ['init', '--demo'], ['name', 'set', NAME, '--url', f'{target}/moved'],
                ['authority', 'create', 'info:lccn'], ['name', 'create', PAGE_FIRST, '--url', f'{target}/moved'],
                ['namespace', 'change', 'lccn', '--page-first', 'true', '--contact', 'https://www.example.org/',
                 '--security', SECURITY]):
            handfast(*command)
        yield handfast.serve().base


def typed(page, base, text, press_enter=True):
    """Types a text into the box of the front page; gives the status of the page that follows."""
    page.goto(base + '/')
    page.get_by_role('textbox').fill(text)
    with page.expect_navigation() as navigation:
        if press_enter:
            page.get_by_role('textbox').press('Enter')
        else:
            page.get_by_role('button', name='Go').click()
    return navigation.value.status


def box(browser, base, target, problems):
    """The box leads where the name leads, however it is written."""
    port = base.rsplit(':', 1)[1]
    for script in (True, False):
        page = opened(browser, problems, java_script_enabled=script)
        for text in (f' {NAME} ', NAME.upper(), f'https://doi.org/{NAME}', f'{base}/{NAME}', f' {base}/hdl/{NAME} ',
                     f'127.0.0.1:{port}/{NAME}'):
            check(f'typed {text!r}', (typed(page, base, text), page.url), (200, f'{target}/landing'))
        check('the button', (typed(page, base, NAME, False), page.url), (200, f'{target}/landing'))
        page.context.close()
    # Under another name of this machine, its own URLs have that name.
    page = opened(browser, problems)
    other = f'http://localhost:{port}'
    check('as localhost', (typed(page, other, f'{other}/{NAME}'), page.url), (200, f'{target}/landing'))
    page.goto(base + '/')
    page.get_by_role('textbox').fill(NAME)
    page.get_by_role('button', name='Show the record instead').click()
    page.wait_for_url('**/*noredirect')
    contains('the record', page.inner_text('body'), f'{target}/moved')
    page.context.close()


def refused(browser, base, problems):
    """A visitor learns what is wrong, in words for visitors."""
    page = opened(browser, problems)
    check('an unknown name', typed(page, base, '10.1045/nobody-knows-this'), 404)
    contains('an unknown name', page.inner_text('body'), '10.1045/nobody-knows-this')
    check('what was typed is in the box', page.get_by_role('textbox').input_value(), '10.1045/nobody-knows-this')
    # The box of this page leads where names lead, too.
    page.get_by_role('textbox').fill(NAME)
    with page.expect_navigation():
        page.get_by_role('button', name='Go').click()
    check('from the page of an unknown name', page.title(), LANDING)
    for text in ('https://example.org/a/page', 'mailto:somebody@example.org'):
        check(f'typed {text!r}', typed(page, base, text), 400)
        contains(text, page.get_by_role('alert').inner_text(), 'We do not recognise this as an identifier')
        check('what was typed stays', page.get_by_role('textbox').input_value(), text)
        check('no flags', '--' in page.inner_text('body'), False)
    check('a word', typed(page, base, 'hello'), 400)
    contains('a word', page.get_by_role('alert').inner_text(), 'such as 10.1045/april2006-paskin')
    check('a word stays', page.get_by_role('textbox').input_value(), 'hello')
    field, message = (page.get_by_role(role).bounding_box() for role in ('textbox', 'alert'))
    check('the message is beneath the field', message['y'] >= field['y'] + field['height'], True)
    # From the page that refused a text, the box works as before.
    typed(page, base, 'https://example.org/a/page')
    page.get_by_role('textbox').fill(f'{NAME}')
    with page.expect_navigation():
        page.get_by_role('textbox').press('Enter')
    check('after a refusal', page.title(), LANDING)
    page.context.close()


def shown_first(browser, base, target, problems):
    """A page with the security considerations comes first, and leads on."""
    page = opened(browser, problems)
    check('typed a name with a page', typed(page, base, PAGE_FIRST), 200)
    contains('the page shown first', page.inner_text('body'), SECURITY)
    with page.expect_navigation():
        page.get_by_role('link', name='Go on').click()
    check('from the page shown first', (page.url, page.title()), (f'{target}/landing', LANDING))
    page.context.close()


def recognised(browser, base, problems):
    """While a person types, the page says what the text is, in one region that is read aloud."""
    page = opened(browser, problems)
    page.goto(base + '/')
    field, found = page.get_by_role('textbox'), page.locator('#found')
    for text, words in (
            (f'HDL:{NAME.upper()}', 'written as an hdl URI'), (f'https://doi.org/{NAME}', 'A DOI, written as a web address'),
            (NAME, 'Active'), ('10.1045/nobody-knows-this', 'has no such name'), ('20.9999/x', 'is not registered here'),
            ('10.1045 /x', 'A blank stands in the prefix. Remove it.')):
        field.fill(text)
        found.filter(has_text=words).wait_for()
        contains(f'while typing {text!r}', found.inner_text(), words)
    check('the place is marked', page.locator('#found mark').count(), 1)
    check('read aloud', page.locator('[aria-live=polite] #found').count(), 1)
    field.fill('')
    page.locator('#found:empty').wait_for(state='attached')
    check('the address stays', page.url, base + '/')
    page.context.close()


def copied(browser, base, problems):
    """The citable link is copied by a button, which says so."""
    page = opened(browser, problems)
    page.context.grant_permissions(['clipboard-read', 'clipboard-write'])
    page.goto(f'{base}/{NAME}?noredirect')
    page.get_by_role('button', name='Copy').click()
    page.get_by_role('button', name='Copied').wait_for()
    check('the link', page.evaluate('navigator.clipboard.readText()'), f'{base}/{NAME}')
    check('a name has one QR code', page.get_by_role('img', name='QR code').count(), 1)
    page.context.close()


PAGES = {
    'shown-first': (f'/{PAGE_FIRST}', 200),
    'front': ('/', 200),
    'refused': ('/?id=https%3A%2F%2Fexample.org%2Fa%2Fpage', 400),
    'record': (f'/{NAME}?noredirect', 200),
    'tombstone': ('/12345.1/vase-8', 410),
    'not-found': ('/10.1045/nobody-knows-this', 404),
    'other-prefix': ('/20.9999/x', 400),
    'registry': ('/registry/', 200),
    'namespace': ('/registry/info/lccn', 200),
    'authorities': ('/registry/authorities', 200),
    'authority': ('/registry/authorities/10.1045', 200),
    'prefix': ('/10.1045', 200),
    'label': (f'/{NAME}?action=label', 200),
    'urns': ('/registry/urn', 200),
    'urn': ('/registry/urn/urn-3', 200),
    'changes': ('/registry/changes', 200),
    'policy': ('/registry/policy', 200),
    'about': ('/registry/about', 200),
    'recognised': (f'/registry/recognise?id={NAME}', 200),
    'ark': ('/ark:12025/654xz321', 404),
}


def pages(browser, base, problems, shots):
    """Every public page loads without breaking its own policy."""
    for width in (1280, 390):
        for scheme in ('light', 'dark'):
            page = opened(browser, problems, width, scheme)
            for name, (path, status) in PAGES.items():
                check(path, page.goto(base + path).status, status)
                check(f'headings of {path}', page.locator('h1').count(), 1)
                wide = page.evaluate('document.documentElement.scrollWidth')
                check(f'{path} is not wider than {width}', wide <= width, True)
                if shots:
                    page.screenshot(path=os.path.join(shots, f'{name}-{width}-{scheme}.png'), full_page=True)
            page.context.close()
    # The forms of the registry, too.
    page = opened(browser, problems)
    page.goto(base + '/registry/info/lccn')
    page.get_by_role('textbox').first.fill(' 89-456 ')
    with page.expect_navigation() as navigation:
        page.get_by_role('textbox').first.press('Enter')
    check('a trial', navigation.value.status, 200)
    page.context.close()


def main(program, browser_path):
    shots = os.environ.get('BROWSER_SHOTS')
    if shots:
        os.makedirs(shots, exist_ok=True)
    problems = []
    with landing() as target, served(program, target) as base, sync_playwright() as playwright:
        browser = chromium.launch(playwright, browser_path)
        print('Chromium', browser.version)
        box(browser, base, target, problems)
        refused(browser, base, problems)
        shown_first(browser, base, target, problems)
        recognised(browser, base, problems)
        copied(browser, base, problems)
        pages(browser, base, problems, shots)
        browser.close()
    check('errors of pages', problems, [])
    print(f'{chromium.passed} passed')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
