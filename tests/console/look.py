"""How pages look and read: axe, headings, width, text size, forced colours, and pictures for people to look at."""

import os
import re

from chromium import check, opened

from filled import OPEN, OTHER, PREFIX, fill
from page_list import Things, routes
from people import Client, link_of, signed_in

TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
WIDTHS, SCHEMES = (1280, 390), ('light', 'dark')
AXE = '''async (tags) => {
  const found = await axe.run(document, {runOnly: tags, resultTypes: ['violations']});
  return found.violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.html).slice(0, 3).join(' | ')}`);
}'''
TOO_WIDE = '''() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  const out = [...document.querySelectorAll('body *')].filter((each) => each.getBoundingClientRect().right > width + 1);
  return [`${document.documentElement.scrollWidth} of ${width} pixels`, ...out.slice(0, 5).map((each) => each.outerHTML.slice(0, 160))];
}'''
# WCAG 1.4.12.
SPACING = '''(isWide) => {
  const sheet = new CSSStyleSheet();
  const rules = '* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }';
  sheet.replaceSync(isWide ? rules : '');
  document.adoptedStyleSheets = [sheet];
}'''
# Files, and parts of pages that script asks for.
NO_PAGES = re.compile(r'\.(csv|atom|json|xml)$|/proof$|/sign-out$|/download$')

PUBLIC = {
    'front': '/', 'refused': '/?id=https%3A%2F%2Fexample.org%2Fa%2Fpage', 'record': f'/{OPEN}/map-1?noredirect',
    'tombstone': f'/{OPEN}/map-2', 'not-found': f'/{OPEN}/map-11', 'other-prefix': '/20.9999/x', 'registry': '/registry/',
    'namespace': '/registry/info/harbour', 'authorities': '/registry/authorities', 'about': '/registry/about',
    'authority': f'/registry/authorities/{OPEN}',
}


def everything(handfast, client):
    """Every page of the console that has something to show, by a name for its picture."""
    events = [number for number in re.findall(r'/history/(\d+)"', client.get(f'/console/names/{OPEN}%2Fmap-1/history').text)]
    things = Things(
        name=[f'{OPEN}/map-1', f'{OPEN}/map-2', f'{OPEN}/map-3', f'{OPEN}/places'], authority=[OPEN, PREFIX], account=['writer', 'root'],
        group=['staff'], event=events[:1], code=['no-such-code'], namespace=['harbour'], job=jobs_of(client), request=[])
    pages = {}
    for pattern in routes('GET'):
        if NO_PAGES.search(pattern):
            continue
        paths = things.paths(pattern)
        # Every state of a name where it shows; otherwise one of a kind is enough.
        is_of_states = pattern in ('/names/{id}', '/names/{id}/edit', '/names/{id}/history', '/names/{id}/activate', '/names/{id}/restore')
        for path in paths if is_of_states else paths[:1]:
            pages.setdefault(picture_name(path), path)
    pages.update(
        {'names-filtered': f'/console/names?q=harbour&authority={OPEN}&state=active', 'names-no-hit': '/console/names?q=xyzzy',
         'no-such-page': '/console/no-such-page', 'no-such-name': f'/console/names/{OPEN}%2Fnone'})
    return pages


def jobs_of(client):
    return sorted(set(re.findall(r'/console/jobs/([^"/?]+)', client.get('/console/jobs').text)) - {'new'})[:2]


def picture_name(path):
    name = re.sub(r'%2F|[^A-Za-z0-9.]+', '-', path.removeprefix('/console')).strip('-')
    return 'console-' + (name or 'inbox')


def look(world, axe, shots, is_short, half=None):
    """Opens every page, or every second one, and checks how it looks and reads."""
    handfast = world.handfast
    fill(handfast)
    handfast.serve()
    client = signed_in(handfast, 'root')
    pages = {name: (path, None) for name, path in PUBLIC.items()}
    pages['sign-in'] = ('/console/sign-in', None)
    pages['enter'] = (link_of(handfast, 'nobody').removeprefix(handfast.base), None)
    pages.update({name: (path, client.cookie) for name, path in everything(handfast, client).items()})
    nobody = signed_in(handfast, 'nobody')
    for name in ('', 'names', 'names/new', 'authorities', f'authorities/{OPEN}', 'people', 'events', 'jobs', 'server', 'namespaces'):
        pages['nobody-' + (name.replace('/', '-') or 'inbox')] = ('/console/' + name, nobody.cookie)
    window = opened(world.browser, world.problems, reduced_motion='reduce')
    faults = []
    if half is not None:
        pages = dict(list(pages.items())[half::2])
    for name, (path, cookie) in pages.items():
        faults += [f'{path}: {fault}' for fault in one_page(window, handfast.base, path, cookie, axe, shots, name, is_short)]
    window.context.close()
    check('faults of pages:\n  ' + '\n  '.join(faults), len(faults), 0)
    return len(pages)


def one_page(window, base, path, cookie, axe, shots, name, is_short):
    """What is wrong with a page, in every width and scheme."""
    window.context.clear_cookies()
    if cookie:
        key, value = cookie.split('=', 1)
        window.context.add_cookies([{'name': key, 'value': value, 'url': base + '/console'}])
    window.set_viewport_size({'width': WIDTHS[0], 'height': 844})
    answer = window.goto(base + path)
    if answer.status >= 500:
        return [f'status {answer.status}']
    faults = []
    headings = window.locator('h1').count()
    if headings != 1:
        faults.append(f'{headings} h1')
    if not window.title():
        faults.append('no title')
    window.evaluate(axe)
    for width in WIDTHS:
        window.set_viewport_size({'width': width, 'height': 844})
        for scheme in SCHEMES:
            # Structure depends on the width, contrast on the scheme: the short round tries each of them once.
            if is_short and (width, scheme) not in ((1280, 'light'), (390, 'dark')):
                continue
            window.emulate_media(color_scheme=scheme)
            faults += [f'axe, {width} {scheme}: {found}' for found in window.evaluate(AXE, TAGS)]
            if shots:
                window.screenshot(path=os.path.join(shots, f'{name}-{width}-{scheme}.png'), full_page=True)
        faults += [f'wider than {width}: {found}' for found in window.evaluate(TOO_WIDE)]
    window.set_viewport_size({'width': 320, 'height': 844})
    faults += [f'wider than 320: {found}' for found in window.evaluate(TOO_WIDE)]
    window.set_viewport_size({'width': 390, 'height': 844})
    window.evaluate(SPACING, True)
    faults += [f'text spacing, wider than 390: {found}' for found in window.evaluate(TOO_WIDE)]
    window.evaluate(SPACING, False)
    window.emulate_media(color_scheme='light', forced_colors='active')
    faults += [f'forced colours, wider than 390: {found}' for found in window.evaluate(TOO_WIDE)]
    window.emulate_media(forced_colors='none')
    window.evaluate("document.documentElement.style.fontSize = '200%'")
    faults += [f'200 % text, wider than 390: {found}' for found in window.evaluate(TOO_WIDE)]
    if shots and not is_short:
        window.screenshot(path=os.path.join(shots, f'{name}-large-text.png'), full_page=True)
    return faults
