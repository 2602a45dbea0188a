"""A folder with a million names, made by commands.

Most names stand under BIG, which also has a thousand authorities below it. The last of its names alone has the word LAST_WORD, and
50,000 of its names share one URL. A tenth is reserved and a twentieth is withdrawn.
"""

import json
import os
import subprocess

TOP, BIG, MIDDLE, SMALL, OTHER = '20.500', '20.500.10', '20.500.20', '20.500.25', '20.500.29'
LAST_WORD = 'quokka'
SHARED_URL = 'https://shared.example/landing'
ACCOUNTS, GROUPS, CHILDREN = 200, 40, 1000
# Names with many changes, in turn, by many accounts.
CHANGED = 5000


def name(authority, number):
    return f'{authority}/item-{number:07}'


class Maker:
    """Runs commands on a folder that has no server."""

    def __init__(self, program, folder, names):
        self.program, self.folder, self.names = program, folder, names
        self.data = os.path.join(folder, 'data')

    def run(self, *command, may_fail=False):
        done = subprocess.run([self.program, '--data', self.data, *map(str, command)], capture_output=True, text=True)
        if done.returncode and not (may_fail and done.returncode == 1):
            raise SystemExit(f'{command}: {done.stdout}{done.stderr}')
        return done.stdout

    def file(self, title, lines):
        path = os.path.join(self.folder, title)
        with open(path, 'w', encoding='utf-8') as file:
            file.writelines(line + '\n' for line in lines)
        return path

    def make(self):
        """Makes everything; returns the folder."""
        self.run('init')
        for authority, title in ((TOP, 'Libraries'), (BIG, 'Maps'), (MIDDLE, 'Prints'), (SMALL, 'Globes'), (OTHER, 'Letters')):
            self.run('authority', 'create', authority, '--title', title)
        self.people()
        self.run('import', self.file('children.ndjson', self.children()))
        self.run('import', self.file('names.ndjson', self.lines()))
        self.changes()
        return self.data

    def people(self):
        self.run('user', 'create', 'root', '--title', 'Ruth Root', '--administrator')
        for number in range(ACCOUNTS):
            self.run('user', 'create', f'person-{number}', '--title', f'Person {number}', '--email', f'person-{number}@library.example')
        for number in range(GROUPS):
            self.run('group', 'create', f'group-{number}', '--title', f'Group {number}')
            for member in range(number, ACCOUNTS, GROUPS):
                self.run('group', 'add', f'group-{number}', f'person-{member}')
            if number > 4:
                self.run('authority', 'grant', BIG if number % 2 else SMALL, '--to', f'group:group-{number}', '--role', 'read')
        # One has `write` on the big authority, one little anywhere; groups 1 and 2 have nothing, and these two are in them.
        self.run('authority', 'grant', BIG, '--to', 'person-1', '--role', 'write')
        self.run('authority', 'grant', SMALL, '--to', 'person-2', '--role', 'read')
        for number in range(3, ACCOUNTS, 2):
            self.run('authority', 'grant', BIG, '--to', f'person-{number}', '--role', ['read', 'write', 'lead'][number % 3])

    def children(self):
        for number in range(CHILDREN):
            yield json.dumps({'authority': f'{BIG}.{number}', 'title': f'Collection {number}'})

    def lines(self):
        big = self.names * 9 // 10
        small = self.names // 100
        for authority, many in ((BIG, big), (MIDDLE, self.names - big - 3 * small), (SMALL, small), (OTHER, small)):
            for number in range(many):
                yield json.dumps(self.line(authority, number, number == big - 1))
        for number in range(small):
            yield json.dumps(self.line(f'{BIG}.{number % CHILDREN}', number // CHILDREN, False))

    def line(self, authority, number, is_last):
        url = SHARED_URL if number % 18 == 5 else f'https://one.example/objects/{number}'
        title = f'Sheet {number} of the {LAST_WORD if is_last else "harbour"} survey'
        line = {'id': name(authority, number), 'urls': [url], 'values': [{'index': 10, 'type': 'TITLE', 'data': title}]}
        if number % 10 == 3:
            line['state'] = 'reserved'
        elif number % 20 == 7:
            line['state'] = 'withdrawn'
            line['withdrawn'] = {'reason': 'Catalogued twice.'}
        return line

    def changes(self):
        """Events of other kinds, and jobs."""
        self.run('job', 'replace-host', 'one.example', 'two.example', '--authority', MIDDLE)
        self.run('job', 'set-ttl', '7200', '--authority', SMALL)
        for at in range(5):
            lines = (json.dumps({'id': name(BIG, number * 100), 'urls': [f'https://changed.example/{at}/{number}']})
                     for number in range(CHANGED // 5) if (number * 100) % 20 != 7)
            self.run('import', self.file(f'changed-{at}.ndjson', lines), '--update', '--as', f'person-{5 + 6 * at}', may_fail=True)
        missing = (name(BIG, number + 10 * self.names) for number in range(self.names // 10))
        self.run('job', 'withdraw', self.file('missing.txt', missing), '--reason', 'They do not exist.', may_fail=True)
        bad = (json.dumps({'id': f'{SMALL}/bad-{number}', 'urls': ['javascript:1']}) for number in range(self.names // 10))
        self.run('import', self.file('bad.ndjson', bad), may_fail=True)
        for number in range(100):
            one = name(BIG, number * 20 + 1)
            self.run('name', 'set', one, '--url', f'https://edited.example/{number}', '--as', 'person-1')
            self.run('name', 'set', name(BIG, 1), '--value', f'12:NOTE:note {number}', '--as', 'person-1')
        self.run('mint', '--authority', BIG, '--count', 1000, '--reserve', '--as', 'person-1')
