#!/usr/bin/env python3
"""Every page with a million names: how long it takes, and how much of the processor.

    bench/pages/run.py [--program FILE] [--data FOLDER] [--names NUMBER] [--only TEXT] [--full]

Makes a folder with NUMBER names (1,000,000 by default) in FOLDER, or uses the one that is there, and serves it. Each page is asked for
7 times as an administrator, as an account with `write` on the authority with most names and as one with `read` on a small one; public
pages as nobody. The first time is the one right after the server has started, or right after a commit. The judge is the smallest of
the times and the CPU time of the server for one request, over 20 requests (5 of a page that takes over 50 ms). Without --full only the worst 40 are printed.
"""

import argparse
import http.client
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / 'tests')]

import registry  # noqa: E402
import pages  # noqa: E402
from chromium import Program  # noqa: E402
from people import Forms, signed_in  # noqa: E402

TICKS = os.sysconf('SC_CLK_TCK')
ROUNDS, CPU_ROUNDS, SLOW_CPU_ROUNDS, SLOW = 7, 20, 5, 0.05
# After how many seconds a connection is not used again.
IDLE = 2
PEOPLE = {'administrator': 'root', 'writer': 'person-1', 'reader': 'person-2'}


def used(pid):
    """Seconds of the processor that a process has used."""
    with open(f'/proc/{pid}/stat', encoding='ascii') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return sum(int(field) for field in fields[11:13]) / TICKS


class Asker:
    """Asks for pages and takes the time."""

    def __init__(self, base, cookie=None):
        self.host, self.cookie = base.split('//')[1], cookie
        self.connection = http.client.HTTPConnection(self.host, timeout=60)
        self.last = 0

    def once(self, path):
        """Seconds until the first byte, or all of a page; and the status."""
        headers = {'Accept': 'text/html', 'Host': self.host, **({'Cookie': self.cookie} if self.cookie else {})}
        if time.monotonic() - self.last > IDLE:
            # The server may have closed it.
            self.connection.close()
        began = time.perf_counter()
        self.connection.request('GET', path, headers=headers)
        answer = self.connection.getresponse()
        self.last = time.monotonic()
        if '.csv' in path:
            answer.read(1)
            took = time.perf_counter() - began
            # The rest of a long table is not waited for.
            self.connection.close()
            return took, answer.status
        answer.read()
        return time.perf_counter() - began, answer.status


class Figure:
    def __init__(self, who, path, status, times, cpu):
        self.who, self.path, self.status, self.cpu = who, path, status, cpu
        self.first, self.least, self.median = times[0] * 1000, min(times) * 1000, statistics.median(times) * 1000

    def line(self):
        cpu = '–' if self.cpu is None else f'{self.cpu * 1000:.1f}'
        return f'| {self.who} | {self.status} | `{self.path}` | {self.first:.1f} | {self.median:.1f} | {self.least:.1f} | {cpu} |'


HEAD = '| who | status | page | first, ms | median, ms | least, ms | CPU, ms |\n| --- | --- | --- | --- | --- | --- | --- |'


def measure(who, asker, path, pid):
    asked = [asker.once(path) for _ in range(ROUNDS)]
    times = [took for took, _ in asked]
    cpu = None
    if '.csv' not in path:
        rounds = SLOW_CPU_ROUNDS if min(times) > SLOW else CPU_ROUNDS
        before = used(pid)
        for _ in range(rounds):
            asker.once(path)
        cpu = (used(pid) - before) / rounds
    return Figure(who, path, asked[0][1], times, cpu)


def things(client):
    """What stands for the braces of paths."""
    def found(path, expression):
        return list(dict.fromkeys(re.findall(expression, client.get(path).text)))

    one, reserved, withdrawn = registry.name(registry.BIG, 1), registry.name(registry.BIG, 3), registry.name(registry.BIG, 27)
    events = found(f'/console/names/{pages.quoted(one)}/history', r'/history/(\d+)')
    jobs = found('/console/jobs', r'/console/jobs/(\d+)')
    return {'name': [one, reserved, withdrawn], 'event': events[:1] + events[-1:], 'job': jobs, 'authority': [registry.BIG, registry.TOP, registry.SMALL],
            'account': ['person-1', 'person-2', 'person-7'], 'group': ['group-1', 'group-7'], 'namespace': ['doi'], 'code': ['nosuch'], 'draft': ['nosuch']}


def filled_form(client, path, **values):
    """The form of a page with some fields changed: `do` is the button that is pressed."""
    known = values.keys() - {'do'}
    forms = Forms(client.get(path).text).found
    form = next(form for form in forms if known <= {field for field, _, _ in form['fields']})
    fields = [(field, values.get(field, value)) for field, value, _ in form['fields']]
    return form['action'] or path, fields + [('do', values['do'])]


def sent(who, title, client, pid, forms):
    """Sends forms, one after the other, and takes the times."""
    times, before, status = [], used(pid), None
    for path, fields in forms:
        began = time.perf_counter()
        status = client.post(path, fields).status
        times.append(time.perf_counter() - began)
    return Figure(who, f'POST {title}', status, times, (used(pid) - before) / len(times))


def changes(client, who, pid):
    """What people wait for: forms that change names. Reading the pages with the forms is not measured."""
    stamp, big = int(time.time()), registry.BIG
    new = [filled_form(client, f'/console/names/new?authority={big}', name=f'new-{stamp}-{number}', url=f'https://new.example/{number}', do='create')
           for number in range(ROUNDS)]
    yield sent(who, '/console/names/new', client, pid, new)
    mint = [filled_form(client, f'/console/mint?authority={big}', count='10', do='mint') for number in range(ROUNDS)]
    yield sent(who, '/console/mint, 10 names', client, pid, mint)
    # Each of these numbers is that of an active name, and a run takes others than the one before.
    ids = [registry.name(big, (stamp * ROUNDS + number) % 40_000 * 20 + 1) for number in range(ROUNDS)]
    pages_of = [f'/console/names/{pages.quoted(one)}' for one in ids]
    edits = [filled_form(client, f'{path}/edit', url=f'https://edited.example/{stamp}', do='save') for path in pages_of]
    yield sent(who, '/console/names/{id}/edit', client, pid, edits)
    gone = [filled_form(client, f'{path}/withdraw', reason='Measured.', do='withdraw') for path in pages_of]
    yield sent(who, '/console/names/{id}/withdraw', client, pid, gone)


def after_commits(program, askers):
    """The first time of a page after a commit, and while the derived data follows a big change."""
    paths = ['/console/', '/console/names', f'/console/names?authority={registry.BIG}', '/console/events', f'/console/events?authority={registry.BIG}&account=person-2',
             f'/console/authorities/{registry.BIG}', '/console/authorities', '/console/people', '/console/server', '/', '/registry/authorities']
    number = int(time.time())

    def touch():
        nonlocal number
        number += 1
        program('name', 'set', registry.name(registry.BIG, 21), '--url', f'https://touched.example/{number}')

    for path in paths:
        times = []
        for _ in range(ROUNDS):
            touch()
            times.append(askers['administrator'].once(path)[0])
        yield Figure('administrator', f'{path}, after a commit', 200, times, None)
    program('job', 'set-ttl', str(number % 86400), '--authority', registry.MIDDLE)
    for path in paths + ['/console/events?action=transfer', f'/console/events?authority={registry.SMALL}&account=person-5']:
        times = [askers['administrator'].once(path)[0] for _ in range(3)]
        yield Figure('administrator', f'{path}, while `derived/` follows', 200, times, None)


def after_rebuild(program, clients):
    """Pages right after a start without derived data, which is then read from all events."""
    program.stop()
    shutil.rmtree(os.path.join(program.run[-1], 'derived'))
    program.serve()
    asker = Asker(program.base, clients['administrator'].cookie)
    for path in ('/console/events?account=person-2', f'/console/events?authority={registry.SMALL}&action=revoke', '/console/names',
                 f'/console/names?authority={registry.BIG}&state=withdrawn', '/console/', f'/console/authorities/{registry.BIG}'):
        times, status = zip(*(asker.once(path) for _ in range(3)))
        yield Figure('administrator', f'{path}, while `derived/` is rebuilt', status[0], times, None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--program', default=str(HERE.parent.parent / 'target' / 'release' / 'handfast'))
    parser.add_argument('--data')
    parser.add_argument('--names', type=int, default=1_000_000)
    parser.add_argument('--only', default='')
    parser.add_argument('--full', action='store_true')
    parser.add_argument('--without-changes', action='store_true')
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = given.data or os.path.join(folder, 'data')
        if not os.path.exists(data):
            folder = os.path.dirname(os.path.abspath(data))
            registry.Maker(given.program, folder, given.names).make()
        program = Program(given.program, data)
        program.serve()
        try:
            figures = list(measured(program, given))
        finally:
            program.stop()
    figures.sort(key=lambda figure: -figure.least)
    wrong = [figure for figure in figures if figure.status >= 500]
    print(f'\n{len(figures)} figures; {sum(figure.least > 100 for figure in figures)} over 100 ms, {sum(figure.least > 200 for figure in figures)} over 200 ms; '
          f'{len(wrong)} errors of the server\n\n{HEAD}')
    for figure in figures if given.full else figures[:40]:
        print(figure.line())
    for figure in wrong:
        print('error:', figure.line())


def measured(program, given):
    pid = program.server.pid
    clients = {who: signed_in(program, account) for who, account in PEOPLE.items()}
    askers = {who: Asker(program.base, client.cookie) for who, client in clients.items()}
    nobody = Asker(program.base)
    found = things(clients['administrator'])
    rounds = [('nobody', nobody, pages.public(given.names))]
    rounds += [(who, askers[who], pages.console(given.names, found)) for who in PEOPLE]
    for who, asker, paths in rounds:
        for path in dict.fromkeys(paths):
            if given.only in path:
                figure = measure(who, asker, path, pid)
                print(figure.line(), flush=True)
                yield figure
    if not given.without_changes:
        for figure in (*changes(clients['writer'], 'writer', pid), *after_commits(program, askers), *after_rebuild(program, clients)):
            print(figure.line(), flush=True)
            yield figure


if __name__ == '__main__':
    main()
