"""Opens the console in Chromium, and does there what people do.

    run.py PROGRAM CHROMIUM AXE [PART…]

AXE is the file axe.min.js. Without PART a short round of all parts runs, two at a time; CONSOLE_ALL=1 runs everything. Pictures of
all pages are written to target/console/shots. See README.md.
"""

import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from playwright.sync_api import sync_playwright  # noqa: E402

import chromium  # noqa: E402
import expired  # noqa: E402
import flows  # noqa: E402
import hostile  # noqa: E402
import look  # noqa: E402
import origins  # noqa: E402
import rights  # noqa: E402
from hands import HANDS  # noqa: E402
from people import link_of  # noqa: E402

SHORT = ['flows mouse 1280', 'flows mouse 390', 'flows no-script 390', 'flows keyboard 1280', 'look even', 'look odd', 'rights', 'hostile', 'origins', 'expired']
ALL = SHORT + ['flows no-script 1280', 'flows keyboard 390']
SHOTS = HERE.parent.parent / 'target' / 'console' / 'shots'


class World:
    """A new folder, its server, and windows of one kind."""

    def __init__(self, handfast, browser, kind, width):
        self.handfast, self.browser = handfast, browser
        self.kind, self.width = kind, width
        self.problems = []

    @property
    def today(self):
        return datetime.datetime.now(datetime.timezone.utc).date().isoformat()

    def window(self):
        """A window of its own, as on another machine."""
        hand = HANDS[self.kind]
        page = chromium.opened(self.browser, self.problems, self.width, java_script_enabled=hand.has_script, accept_downloads=True)
        page.set_default_timeout(10_000)
        return hand(page)

    def link(self, account):
        return link_of(self.handfast, account)


def run_part(part, program, browser_path, axe):
    """Runs one part; gives what it says of itself."""
    is_short = not os.environ.get('CONSOLE_ALL')
    what, *more = part.split()
    kind, width = (more[0], int(more[1])) if len(more) == 2 else ('mouse', 1280)
    with chromium.new_folder(program) as handfast, sync_playwright() as playwright:
        browser = chromium.launch(playwright, browser_path)
        world = World(handfast, browser, kind, width)
        said = ''
        try:
            if what == 'flows':
                handfast('init')
                handfast.serve()
                flows.all_flows(world)
            elif what == 'look':
                SHOTS.mkdir(parents=True, exist_ok=True)
                half = {'even': 0, 'odd': 1}.get(*more) if more else None
                said = f'{look.look(world, pathlib.Path(axe).read_text(), str(SHOTS), is_short, half)} pages'
            elif what == 'rights':
                said = rights.tables(world, program)
            elif what == 'hostile':
                said = hostile.texts(world)
            elif what == 'expired':
                said = expired.text_comes_back(world)
            elif what == 'origins':
                said = origins.tables(world)
        except Exception:
            picture(browser, part)
            print(f'problems of pages: {world.problems}')
            raise
        chromium.check('errors and CSP reports', world.problems, [])
        chromium.check('panics of the server', handfast.panics(), [])
        browser.close()
    return said


def picture(browser, part):
    """What the windows show when a part fails."""
    for at, context in enumerate(browser.contexts):
        for page in context.pages:
            file = SHOTS.parent / f'failed-{part.replace(" ", "-")}-{at}.png'
            try:
                page.screenshot(path=str(file), full_page=True)
                print(f'{page.url} is shown in {file}')
            except Exception as error:
                print(error)


def main(program, browser_path, axe, *parts):
    if len(parts) == 1:
        began = time.monotonic()
        try:
            said = run_part(parts[0], program, browser_path, axe)
        except Exception:
            traceback.print_exc()
            sys.exit(1)
        print(f'{parts[0]}: {chromium.passed} passed in {time.monotonic() - began:.0f} s {said}'.rstrip())
        return
    todo = list(parts) or (ALL if os.environ.get('CONSOLE_ALL') else SHORT)
    running, failed = {}, []
    while todo or running:
        while todo and len(running) < (os.cpu_count() or 2):
            part, said = todo.pop(0), tempfile.TemporaryFile('w+')
            command = [sys.executable, __file__, program, browser_path, axe, part]
            running[part] = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT), said
        time.sleep(0.2)
        for part, (process, said) in list(running.items()):
            if process.poll() is None:
                continue
            said.seek(0)
            print(said.read(), end='', flush=True)
            del running[part]
            if process.returncode:
                failed.append(part)
    if failed:
        sys.exit(f'failed: {", ".join(failed)}')


if __name__ == '__main__':
    main(*sys.argv[1:])
