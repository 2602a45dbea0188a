"""Where forms are sent from, and under which host: forms of other sites and names that lead here by deceit change nothing."""

import itertools

from chromium import check

from filled import fill
from page_list import routes
from people import Client, signed_in

SITES = [None, 'same-origin', 'same-site', 'cross-site', 'none', '']
METHODS = ['POST', 'PUT', 'DELETE', 'PATCH', 'GET', 'HEAD', 'OPTIONS']


def tables(world):
    handfast = world.handfast
    fill(handfast)
    handfast.serve()
    return f'({csrf(handfast)} requests of other sites, {rebinding(handfast)} of other hosts)'


def csrf(handfast):
    """Sec-Fetch-Site decides; without it Origin; without both nothing is taken."""
    client = signed_in(handfast, 'writer')
    own = handfast.base
    origins = [None, own, own.upper(), 'https://evil.example', own + '.evil.example', 'null', own.replace('http:', 'https:')]
    tried = 0
    for at, (site, origin, method) in enumerate(itertools.product(SITES, origins, METHODS)):
        title = f'Walter {at}'
        headers = {'Sec_Fetch_Site': site, 'Origin': origin}
        form = [('title', title), ('email', '')]
        answer = client.ask(method, '/console/me', form, **headers) if method == 'POST' else client.ask(method, '/console/me', **headers)
        is_own = site == 'same-origin' or site is None and origin in (own, own.upper())
        what = f'{method} Sec-Fetch-Site {site} Origin {origin}'
        if method in ('GET', 'HEAD'):
            check(what, answer.status, 200)
        elif method == 'POST':
            check(what, answer.status, 303 if is_own else 403)
        else:
            check(what, answer.status in (403, 405), True)
        is_changed = title in client.get('/console/me').text
        check(f'{what}: changed', is_changed, method == 'POST' and is_own)
        tried += 1
    # The same for every form of the table.
    for pattern in routes('POST'):
        path = '/console' + pattern.replace('{', '').replace('}', '')
        for headers in ({'Sec_Fetch_Site': 'cross-site'}, {'Sec_Fetch_Site': None}, {'Sec_Fetch_Site': None, 'Origin': 'https://evil.example'}):
            check(f'POST {path} {headers}', client.post(path, **headers).status, 403)
            tried += 1
    return tried


def rebinding(handfast):
    """A name of another site that leads to this machine gets no page of the console, and takes no cookie."""
    client, tried = signed_in(handfast, 'root'), 0
    port = handfast.base.rsplit(':', 1)[1]
    for host in ('evil.example', f'evil.example:{port}', f'127.0.0.1.evil.example:{port}', f'localhost.evil.example:{port}'):
        for pattern in routes('GET'):
            path = '/console' + pattern.replace('{', '').replace('}', '')
            answer = client.get(path, Host=host)
            check(f'{path} under {host}', answer.status, 421)
            check(f'{path} under {host}: cookie', 'set-cookie' in answer.headers, False)
            tried += 1
        answer = client.post('/console/me', [('title', 'x')], Host=host)
        check(f'a form under {host}', answer.status, 421)
        tried += 1
    for host in (f'localhost:{port}', f'127.0.0.1:{port}'):
        check(host, client.get('/console/', Host=host).status, 200)
    # A session counts at the console alone.
    for path in ('/api/v1/accounts', '/api/v1/tokens', '/20.1000.1/map-3?noredirect'):
        own, other = (each.get(path, Accept='*/*').status for each in (client, Client(handfast.base)))
        check(f'{path} with the cookie of the console', own, other)
        tried += 1
    return tried
