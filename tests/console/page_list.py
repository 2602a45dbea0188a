"""The addresses of all pages, made from the page table of the server and from what a filled registry has."""

import json
import pathlib
import re
import urllib.parse

TABLE = json.loads(pathlib.Path(__file__).with_name('pages.json').read_text())


def routes(method):
    """The paths of the page table, below /console."""
    return [route['path'] for route in TABLE if route['method'] == method]


def is_open(path):
    return any(route['access'] == 'anyone' for route in TABLE if route['path'] == path)


class Things:
    """What stands for the braces of paths: the things of one authority, or things that do not exist."""

    def __init__(self, **values):
        self.values = values

    def paths(self, pattern):
        """The addresses of a page; none if there is nothing to show there."""
        parts = pattern.split('/')
        paths = ['/console']
        for at, part in enumerate(parts[1:], 1):
            if not part.startswith('{'):
                paths = [f'{path}/{part}' for path in paths]
                continue
            kind = kind_of(parts[at - 1], part)
            found = self.values.get(kind, [])
            paths = [f'{path}/{urllib.parse.quote(str(value), safe="")}' for path in paths for value in found]
        return paths


def kind_of(before, part):
    """What stands for braces: `name` in `/names/{id}`."""
    inside = part.strip('{}')
    if before == 'names':
        return 'name'
    if inside == 'id':
        return {'draft': 'draft', 'sessions': 'session', 'tokens': 'token', 'jobs': 'job'}.get(before, before)
    return inside


def pattern_of(path, method):
    """The pattern of the table that an address is like."""
    path = urllib.parse.urlsplit(path).path.removeprefix('/console') or '/'
    for pattern in sorted(routes(method), key=lambda pattern: pattern.count('{')):
        expression = '/'.join('[^/]+' if part.startswith('{') else re.escape(part) for part in pattern.split('/'))
        if re.fullmatch(expression, path):
            return pattern
    return None
