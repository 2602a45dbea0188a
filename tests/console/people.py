"""Accounts of every kind, and a client that is signed in as one of them, without a browser."""

import html.parser
import http.client
import json
import re
import urllib.parse


class Client:
    """Asks a server for pages, as somebody."""

    def __init__(self, base, cookie=None):
        self.base = base
        self.cookie = cookie
        self.connection = http.client.HTTPConnection(base.split('//')[1], timeout=30)

    def ask(self, method, path, form=None, **headers):
        """Sends a request as a browser does; gives status, headers and text."""
        sent = {'Host': self.base.split('//')[1], 'Accept': 'text/html'}
        if self.cookie:
            sent['Cookie'] = self.cookie
        body = None
        if method == 'POST':
            sent['Sec-Fetch-Site'] = 'same-origin'
            sent['Content-Type'] = 'application/x-www-form-urlencoded'
            body = urllib.parse.urlencode(form or [])
        for name, value in headers.items():
            name = name.replace('_', '-')
            sent.pop(name, None)
            if value is not None:
                sent[name] = value
        try:
            self.connection.request(method, path, body, sent)
            answer = self.connection.getresponse()
            text = answer.read().decode('utf-8', 'replace')
        except (http.client.HTTPException, ConnectionError):
            # The server has closed the connection after an error.
            self.connection.close()
            self.connection.request(method, path, body, sent)
            answer = self.connection.getresponse()
            text = answer.read().decode('utf-8', 'replace')
        return Answer(answer.status, dict(answer.getheaders()), text)

    def get(self, path, **headers):
        return self.ask('GET', path, **headers)

    def post(self, path, form=None, **headers):
        return self.ask('POST', path, form, **headers)


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.text = status, text
        self.headers = {name.lower(): value for name, value in headers.items()}

    def __repr__(self):
        return f'{self.status} {self.headers.get("location", "")} {self.text[:300]}'


def link_of(handfast, account):
    """A one-time link, printed by a command."""
    told = json.loads(handfast('user', 'sign-in', account, '--json'))
    return told.get('url') or told.get('link')


def signed_in(handfast, account):
    """A client that has used a one-time link."""
    client = Client(handfast.base)
    path = urllib.parse.urlsplit(link_of(handfast, account)).path
    answer = client.post(path)
    if answer.status != 303:
        raise AssertionError(f'{account} cannot sign in: {answer}')
    client.cookie = answer.headers['set-cookie'].split(';')[0]
    return client


class Forms(html.parser.HTMLParser):
    """The forms of a page: (action, [(name, value, kind)]), with one entry for each button."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.found, self.form, self.select, self.area = [], None, None, None
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        given = dict(pairs)
        if tag == 'form' and given.get('method', '').lower() == 'post':
            self.form = {'action': given.get('action', ''), 'fields': [], 'buttons': []}
        if self.form is None:
            return
        name, kind = given.get('name'), given.get('type', 'text')
        if tag == 'input' and name:
            if kind not in ('radio', 'checkbox') or 'checked' in given:
                self.form['fields'].append((name, given.get('value', ''), kind))
        elif tag == 'select':
            self.select = (name, [])
        elif tag == 'option' and self.select:
            self.select[1].append((given.get('value', ''), 'selected' in given))
        elif tag == 'textarea':
            self.area = (name, '')
        elif tag == 'button':
            self.form['buttons'].append((name, given.get('value', '')) if name else None)

    def handle_data(self, data):
        if self.area:
            self.area = (self.area[0], self.area[1] + data)

    def handle_endtag(self, tag):
        if self.form is None:
            return
        if tag == 'textarea' and self.area:
            self.form['fields'].append((self.area[0], self.area[1].removeprefix('\n'), 'area'))
            self.area = None
        elif tag == 'select' and self.select:
            name, options = self.select
            chosen = [value for value, is_chosen in options if is_chosen] or [value for value, _ in options[:1]]
            self.form['fields'].extend((name, value, 'select') for value in chosen)
            self.select = None
        elif tag == 'form':
            self.found.append(self.form)
            self.form = None


def links_of(text):
    """The paths of this server that a page leads to."""
    return {urllib.parse.unquote(link) and link for link in re.findall(r'(?:href|src|action)="(/[^"#]*)', text)}
