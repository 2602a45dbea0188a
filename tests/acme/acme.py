#!/usr/bin/env python3
"""The program gets, keeps and renews certificates from a real ACME server: Pebble, which really looks for its challenges.

    acme.py PROGRAM

Needs `pebble` and `pebble-challtestsrv` (Debian: pebble), `openssl`, and nothing else.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
NAMES = ['pid.example.org', 'www.pid.example.org']
# Old after two thirds of that: long enough for a slow machine to start twice, short enough to wait for.
LIFE = 24
failed = False


def check(is_so, what):
    global failed
    print('ok  ' if is_so else 'FAIL', what)
    failed |= not is_so


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def until(question, seconds=60):
    """Asks until the answer is not None."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = question()
        if answer is not None:
            return answer
        time.sleep(0.1)
    return None


class Authority:
    """Pebble, and a name server to which every name is this machine."""

    def __init__(self, folder, web_port, life):
        self.folder = folder
        self.api, self.management, dns, self.challenges = (free_port() for _ in range(4))
        if not (folder / 'root.pem').exists():
            openssl(folder, 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', 'root.key',
                    '-out', 'root.pem', '-subj', '/CN=root of a test')
            openssl(folder, 'req', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'api.key', '-out', 'api.csr',
                    '-subj', '/CN=localhost')
            (folder / 'extensions').write_text('subjectAltName=DNS:localhost,IP:127.0.0.1\n')
            openssl(folder, 'x509', '-req', '-in', 'api.csr', '-CA', 'root.pem', '-CAkey', 'root.key', '-days', '2',
                    '-CAcreateserial', '-out', 'api.pem', '-extfile', 'extensions')
        config = {'pebble': {
            'listenAddress': f'127.0.0.1:{self.api}', 'managementListenAddress': f'127.0.0.1:{self.management}',
            'certificate': str(folder / 'api.pem'), 'privateKey': str(folder / 'api.key'),
            'httpPort': web_port, 'tlsPort': web_port, 'certificateValidityPeriod': life}}
        (folder / 'pebble.json').write_text(json.dumps(config))
        self.log = open(folder / 'pebble.log', 'a')
        run = lambda *words, **env: subprocess.Popen(words, stdout=self.log, stderr=self.log, env={**os.environ, **env})
        self.names = run('pebble-challtestsrv', '-dns01', f'127.0.0.1:{dns}', '-management', f'127.0.0.1:{self.challenges}',
                         '-defaultIPv6', '', '-defaultIPv4', '127.0.0.1', '-http01', '', '-https01', '', '-tlsalpn01', '')
        # Each name is looked at anew; some nonces are refused, as Pebble does to see whether clients come back.
        self.server = run('pebble', '-config', str(folder / 'pebble.json'), '-dnsserver', f'127.0.0.1:{dns}',
                          PEBBLE_VA_NOSLEEP='1', PEBBLE_AUTHZREUSE='0', PEBBLE_WFE_NONCEREJECT='5')
        self.directory = f'https://localhost:{self.api}/dir'
        self.trusted = ssl.create_default_context(cafile=str(folder / 'root.pem'))
        assert until(lambda: self.get(self.directory)), 'Pebble does not start'

    def get(self, url):
        try:
            return urllib.request.urlopen(url, context=self.trusted).read()
        except OSError:
            return None

    def roots(self):
        return self.get(f'https://localhost:{self.management}/roots/0').decode()

    def orders(self):
        self.log.flush()
        return (self.folder / 'pebble.log').read_text().count('Issued certificate serial')

    def stop(self):
        for process in (self.server, self.names):
            process.terminate()
            process.wait()
        self.log.close()


def openssl(folder, *words):
    subprocess.run(['openssl', *words], cwd=folder, check=True, capture_output=True)


class Server:
    def __init__(self, data, web_port):
        self.web = web_port
        self.errors = open(data.parent / 'errors', 'a')
        self.process = subprocess.Popen(
            [PROGRAM, '--data', data, 'serve', '--json', '--native', '127.0.0.1:0', '--web', f'127.0.0.1:{web_port}'],
            stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.said = json.loads(self.process.stdout.readline())

    def certificate(self, roots, name):
        """The certificate that is shown, if it and its chain are good for a name; else None."""
        context = ssl.create_default_context(cadata=roots)
        try:
            with socket.create_connection(('127.0.0.1', self.web), timeout=5) as plain, \
                    context.wrap_socket(plain, server_hostname=name) as secure:
                secure.sendall(f'GET /healthz HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n'.encode())
                assert secure.recv(100).startswith(b'HTTP/1.1 200')
                return secure.getpeercert()
        except (ssl.SSLError, OSError):
            return None

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.errors.close()


def configure(data, authority, challenge, more=''):
    shutil.copy(authority.folder / 'root.pem', data / 'root.pem')
    (data / 'handfast.toml').write_text(
        f'version = "v1"\n[web.acme]\ndomains = {json.dumps(NAMES)}\ncontact = ["ops@pid.example.org"]\n'
        f'directory = "{authority.directory}"\nroot-certificate = "root.pem"\nagree-terms = true\n'
        f'challenge = "{challenge}"\n{more}')


def modes(data):
    folder = data / 'acme'
    return {path.name: oct(path.stat().st_mode & 0o777) for path in [folder, *folder.iterdir()]}


def gets_and_keeps(folder, challenge):
    data, port = folder / 'data', free_port()
    subprocess.run([PROGRAM, '--data', data, 'init'], check=True, capture_output=True)
    authority = Authority(folder, port, 86_400)
    configure(data, authority, challenge)
    server = Server(data, port)
    check(server.said['tls'] == 'acme', f'{challenge}: it says where the certificate comes from')
    roots = authority.roots()
    first = until(lambda: server.certificate(roots, NAMES[0]))
    check(first is not None, f'{challenge}: a certificate is got, and shown with its chain')
    if first is None:
        print((folder / 'errors').read_text(), (folder / 'pebble.log').read_text()[-3000:])
        server.stop()
        authority.stop()
        return
    names = sorted(name for _, name in first['subjectAltName'])
    check(names == sorted(NAMES), f'{challenge}: it is for all names, {names}')
    check(server.certificate(roots, NAMES[1]) is not None, f'{challenge}: it is shown for the second name')
    check(modes(data) == {'acme': '0o700', 'account.json': '0o600', 'certificate.pem': '0o600'},
          f'{challenge}: its owner alone can read the files, {modes(data)}')
    answer = urllib.request.Request(f'http://127.0.0.1:{port}/.well-known/acme-challenge/none')
    try:
        status = urllib.request.urlopen(answer).status
    except urllib.error.HTTPError as error:
        status = error.code
    check(status == 404, f'{challenge}: nothing is left of the challenges')
    orders = authority.orders()
    check(orders == 1, f'{challenge}: one was ordered')
    server.stop()
    server = Server(data, port)
    again = until(lambda: server.certificate(roots, NAMES[0]), 5)
    check(again is not None and again['serialNumber'] == first['serialNumber'],
          f'{challenge}: after a restart it is the same')
    check(authority.orders() == orders, f'{challenge}: and no other was ordered')
    server.stop()
    # Without the authority, too.
    authority.stop()
    server = Server(data, port)
    check(server.certificate(roots, NAMES[0]) is not None, f'{challenge}: the authority is not needed for that')
    server.stop()


def renews(folder):
    data, port = folder / 'data', free_port()
    subprocess.run([PROGRAM, '--data', data, 'init'], check=True, capture_output=True)
    authority = Authority(folder, port, LIFE)
    configure(data, authority, 'http-01')
    server = Server(data, port)
    roots = authority.roots()
    first = until(lambda: server.certificate(roots, NAMES[0]))
    check(first is not None, 'renewal: a first certificate is got')
    account = (data / 'acme' / 'account.json').read_text()

    def other():
        now = server.certificate(roots, NAMES[0])
        # Never is there one that has ended.
        return now if now and now['serialNumber'] != first['serialNumber'] else None

    second = first and until(other, 2 * LIFE)
    check(bool(second), 'renewal: another takes its place while the server runs')
    if second:
        left = ssl.cert_time_to_seconds(first['notAfter']) - time.time()
        check(0 < left <= LIFE / 3 + 2, f'renewal: when about a third of its life was left, {left:.0f} s of {LIFE} s')
    check((data / 'acme' / 'account.json').read_text() == account, 'renewal: by the same account')
    server.stop()
    authority.stop()


def denied(folder):
    """A name that leads to another server: the self-signed certificate stays, and the log says why."""
    data, port = folder / 'data', free_port()
    subprocess.run([PROGRAM, '--data', data, 'init'], check=True, capture_output=True)
    authority = Authority(folder, free_port(), 86_400)
    configure(data, authority, 'http-01')
    server = Server(data, port)
    errors = folder / 'errors'
    line = until(lambda: next((line for line in errors.read_text().splitlines() if 'no certificate was got' in line), None))
    check(line is not None and 'again_in_seconds' in line and 'pid.example.org' in line,
          f'denied: the log says so, and when it is tried again: {line}')
    anything = ssl.create_default_context()
    anything.check_hostname, anything.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(('127.0.0.1', port)) as plain, anything.wrap_socket(plain) as secure:
        check(bool(secure.getpeercert(True)), 'denied: TLS works, with the self-signed certificate')
    private = (data / 'acme' / 'account.json').read_text()
    check(all(word not in errors.read_text() for word in private.split('"') if len(word) > 60),
          'denied: nothing secret is in the log')
    server.stop()
    authority.stop()


for number, case in enumerate([
        lambda folder: gets_and_keeps(folder, 'http-01'), lambda folder: gets_and_keeps(folder, 'tls-alpn-01'), renews, denied]):
    with tempfile.TemporaryDirectory() as folder:
        case(pathlib.Path(folder))
sys.exit(failed)
