"""What the suites that open pages in Chromium share: windows whose errors are collected, the program on a folder, and counting."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading

passed = 0


def check(what, found, expected):
    """Fails unless two things are the same."""
    global passed
    if found != expected:
        raise AssertionError(f'{what}\n  expected {expected!r}\n  found    {found!r}')
    passed += 1


def contains(what, text, part):
    """Fails unless a text holds another."""
    global passed
    if part not in text:
        raise AssertionError(f'{what}\n  {part!r} is not in {text!r}')
    passed += 1


def lacks(what, text, part):
    """Fails if a text holds another."""
    global passed
    if part in text:
        at = text.index(part)
        raise AssertionError(f'{what}\n  {part!r} is in {text[max(0, at - 200):at + 200]!r}')
    passed += 1


def launch(playwright, chromium):
    """The browser of this system: Playwright loads none."""
    return playwright.chromium.launch(executable_path=chromium, args=['--disable-dev-shm-usage'])


def opened(browser, problems, width=1280, scheme='light', **more):
    """A new window, whose errors are collected: broken policies, failed scripts, and what could not be loaded."""
    context = browser.new_context(viewport={'width': width, 'height': 844}, color_scheme=scheme, **more)
    page = context.new_page()
    watch(page, problems)
    return page


def watch(page, problems):
    """Collects the errors of a window."""

    def note(message):
        # A page that says "not found" is told by its status, which Chromium logs as an error. A wrong date in an address stands in
        # the form again, and Chromium says that it is wrong.
        told = 'the server responded with a status of', 'does not conform to the required format'
        if message.type in ('error', 'warning') and not any(part in message.text for part in told):
            problems.append(f'{page.url}: {message.text}')

    def failed(request):
        # Typing on gives up the question before; leaving a page gives up what it was loading; a download is no page.
        if request.failure != 'net::ERR_ABORTED':
            problems.append(f'{request.url}: {request.failure}')

    page.on('console', note)
    page.on('pageerror', lambda error: problems.append(f'{page.url}: {error}'))
    page.on('requestfailed', failed)


class Program:
    """The program on a folder, and its server."""

    def __init__(self, program, data):
        self.run = [program, '--data', data]
        self.log = data + '.log'
        self.base = self.link = None
        self.server = None

    def __call__(self, *command, text=None):
        """Runs a command; gives what it prints."""
        done = subprocess.run(self.run + [str(part) for part in command], input=text, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f'handfast {" ".join(map(str, command))}: {done.stdout}{done.stderr}')
        return done.stdout

    def serve(self, port=0, under=()):
        """Starts the server, and waits for its address; `under` is a command that runs it."""
        listen = ['serve', '--native', '127.0.0.1:0', '--web', f'127.0.0.1:{port}', '--json']
        with open(self.log, 'a') as log:
            self.server = subprocess.Popen([*under, *self.run, *listen], stdout=subprocess.PIPE, stderr=log, text=True)
        for line in self.server.stdout:
            if line.startswith('{') and '"web"' in line:
                told = json.loads(line)
                self.base = 'http://' + told['web']
                self.link = told.get('signIn')
                break
        else:
            raise AssertionError(f'the server did not start: {self.panics()}')
        # What the server prints later must not fill the pipe.
        threading.Thread(target=self.server.stdout.read, daemon=True).start()
        return self

    def panics(self):
        """What the server says of bugs."""
        with open(self.log) as log:
            return [line for line in log if ' a panic' in line or 'panicked at' in line]

    def stop(self):
        if self.server and self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(30)


@contextlib.contextmanager
def new_folder(program):
    """The program on a folder that does not exist yet."""
    with tempfile.TemporaryDirectory() as folder:
        made = Program(program, os.path.join(folder, 'data'))
        try:
            yield made
        finally:
            made.stop()
