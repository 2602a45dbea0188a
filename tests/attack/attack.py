#!/usr/bin/env python3
"""Attacks a server as the security review did, one attack at a time and then with all of them, while alice goes on working.

    attack.py HANDFAST [--seconds N] [--only WORD…] [--keep]

See README.md. Exit status: 1 if alice was hindered, or the server took more memory or disk than it may.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types

import attacks
from attacks import ADMIN, LARGE_NAME, LONG_NAME, MAX_COUNTS, PROBES, SECKEY_NAME, SECRET, api, ask, http

MAX_LATENCY = 1.0  # seconds, of 99 creates in 100
MAX_MEMORY = 300 << 20  # private memory of the server
MAX_DISK_GROWTH = 10 << 20  # growth of the folder beyond what alice writes
TOO_MUCH = 1500 << 20  # memory at which an attack has succeeded, and is ended to spare the machine
CREATE_TIMEOUT = 6.0
START_TIMEOUT = 4.0  # seconds until an attack is taken to be in full swing
PACE = 0.03  # seconds between the starts of two creates, if they are quick
VALUE = "x" * 2800

fork = multiprocessing.get_context("fork")


# --- alice -------------------------------------------------------------------------------------------------


def create(s, name, token="alice"):
    value = {"index": 1, "type": "DATA", "data": {"format": "string", "value": VALUE}}
    body = json.dumps({"id": name, "urls": [], "values": [value]}).encode()
    return http("POST", "/api/v1/names", s.tokens[token], body, headers=["Connection: close"])


class Alice:
    """Creates names, one after the other, until she is told to stop."""

    def __init__(self, s, label):
        self.s, self.label, self.times, self.errors = s, label, [], []

    def work(self, until):
        n = 0
        while (began := time.monotonic()) < until:
            n += 1
            try:
                status, body = ask(self.s.web, create(self.s, f"20.1000/{self.label}-{n}"), CREATE_TIMEOUT)
                if status != 201:
                    self.errors.append(f"{status} {body[:100]!r}")
            except (OSError, IndexError, ValueError) as e:
                self.errors.append(f"{type(e).__name__}: {e}")
            took = time.monotonic() - began
            self.times.append(took)
            time.sleep(max(0, PACE - took))

    def at(self, share):
        times = sorted(self.times)
        return times[min(len(times) - 1, int(len(times) * share))] if times else float("inf")


class Disk(threading.Thread):
    """Writes and syncs a few bytes, again and again, beside alice: how long the disk of this machine takes."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.file, self.max_sync, self.is_over = os.path.join(folder, "disk"), 0, False

    def run(self):
        with open(self.file, "wb") as file:
            while not self.is_over:
                began = time.monotonic()
                file.write(b"x" * 4096)
                file.flush()
                os.fsync(file.fileno())
                self.max_sync = max(self.max_sync, time.monotonic() - began)
                time.sleep(0.05)


# --- the server --------------------------------------------------------------------------------------------


def private_memory(pid):
    """Anonymous memory of a process: `Pss_Anon` of /proc/PID/smaps_rollup. Pages of the store are mapped from a file, and not in it."""
    try:
        for line in open(f"/proc/{pid}/smaps_rollup"):
            if line.startswith("Pss_Anon:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def disk(folder):
    total = 0
    for path in pathlib.Path(folder).rglob("*"):
        try:
            total += path.lstat().st_blocks * 512
        except OSError:
            pass
    return total


class Memory(threading.Thread):
    """The most private memory of a process, looked at four times a second."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.peak, self.is_over = server, 0, False
        self.first = private_memory(server.pid)

    def run(self):
        while not self.is_over and self.server.poll() is None:
            self.peak = max(self.peak, private_memory(self.server.pid))
            if self.peak > TOO_MUCH:
                self.server.kill()
            time.sleep(0.25)


def setup(handfast, folder):
    """A folder as the review used it: see "Setup" in README.md."""
    s = types.SimpleNamespace(handfast=handfast, data=os.path.join(folder, "d"), folder=folder, tokens={}, notes=[])

    def run(*arguments):
        done = subprocess.run([handfast, "--data", s.data, *arguments], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(arguments)[:200]}: {done.stderr}")
        return done.stdout.strip()

    run("init", "--demo")
    run("authority", "create", "20.1000")
    run("authority", "create", "20.2000")
    for user in ("alice", "bob", "carol"):
        run("user", "create", user)
        s.tokens[user] = run("token", "create", user)
    run("authority", "grant", "20.1000", "--to", "alice", "--role", "write")
    run("authority", "grant", "20.2000", "--to", "bob", "--role", "admin")
    run("name", "create", ADMIN, "--value", f"300:HS_SECKEY:{SECRET.decode()}")
    run("authority", "grant", "20.1000", "--to", f"300:{ADMIN}", "--role", "write")
    start(s)

    def alice(method, path, body, wanted, timeout=60):
        status, answer = ask(s.web, http(method, path, s.tokens["alice"], json.dumps(body).encode(), headers=["Connection: close"]), timeout)
        if status not in wanted:
            s.notes.append(f"{method} {path[:60]} is refused: {status} {answer[:160].decode(errors='replace')}")
        return status in wanted

    def value(index, data, kind="DATA"):
        return {"index": index, "type": kind, "data": {"format": "string", "value": data}}

    # What a create of hers takes on the disk.
    before, count = disk(s.data), 150
    for n in range(count):
        ask(s.web, create(s, f"20.1000/measure-{n}"), 60)
    s.of_a_create = max(0, disk(s.data) - before) / count
    # What a tenant with the role write can make. If there is a limit on it, then as much of it as goes.
    for count in (2000, 500, 100, 20, 4):
        body = {"id": SECKEY_NAME, "values": [value(n + 1, f"a secret of some length {n}", "HS_SECKEY") for n in range(count)]}
        if alice("POST", "/api/v1/names", body, {201}):
            s.secrets = count
            break
    alice("POST", "/api/v1/names", {"id": LARGE_NAME, "values": [value(1, "x" * 249_000)]}, {201})
    alice("POST", "/api/v1/names", {"id": LONG_NAME, "values": [value(1, "0" * 250_000)]}, {201})
    s.edits = 0
    for n in range(300):
        if not alice("PATCH", f"/api/v1/names/{api(LONG_NAME)}", {"values": [value(1, f"{n:<10}" + "y" * 249_990)]}, {200}):
            break
        s.edits += 1
    stop(s)
    return s


def start(s):
    log = open(os.path.join(s.folder, "server.log"), "ab")
    s.server = subprocess.Popen(
        [s.handfast, "--data", s.data, "serve", "--native", "127.0.0.1:0", "--web", "127.0.0.1:0", "--json"],
        stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL,
    )
    line = s.server.stdout.readline()
    if not line:
        sys.exit(f"the server does not start: see {log.name}")
    said = json.loads(line)
    s.native, s.web = ((host, int(port)) for host, port in (said[name].rsplit(":", 1) for name in ("native", "web")))


def stop(s):
    """Ends the server, whatever it still has to do: nothing that was acknowledged is lost."""
    for how, wait in ((signal.SIGTERM, 1.0), (signal.SIGTERM, 0.5), (signal.SIGKILL, 10)):
        if s.server.poll() is None:
            s.server.send_signal(how)
            try:
                s.server.wait(wait)
            except subprocess.TimeoutExpired:
                pass
    s.server.stdout.close()


# --- an attack ---------------------------------------------------------------------------------------------


def attacker(attack, s, prepared, go, ready, over, out):
    """A process that prepares an attack, waits until all have, and runs it until it is over."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        run_attack = attack(s)
        prepared.set()
        go.wait()
        parent, last = os.getppid(), time.monotonic() + 600
        goes_on = lambda: not over.is_set() and os.getppid() == parent and time.monotonic() < last  # noqa: E731
        out.send(dict(run_attack(goes_on, ready.set)))
    except Exception as e:  # noqa: BLE001  (an attack that fails must be seen)
        prepared.set()
        ready.set()
        out.send({f"THE ATTACK FAILED: {type(e).__name__}: {e}": 1})


def probe(s, attack, found):
    """Looks whether those whom an attack is to harm are served."""
    began = time.monotonic()
    try:
        wrong = PROBES[attack](s)
    except Exception as e:  # noqa: BLE001  (whatever it is, they are not served)
        wrong = f"{type(e).__name__}: {e}"
    took = time.monotonic() - began
    found.append((PROBES[attack].__name__, wrong, took))


def run(s, label, chosen, seconds, is_first=True):
    """Runs attacks together, with alice at work; prints a line, and says whether all went well."""
    start(s)
    s.run = time.time_ns() // 1_000_000 % 10**9
    s.idle_native = 10_000 if len(chosen) == 1 else 2_000
    go, over = fork.Event(), fork.Event()
    parties = []
    for attack in chosen:
        prepared, ready, (mine, theirs) = fork.Event(), fork.Event(), fork.Pipe()
        process = fork.Process(target=attacker, args=(attack, s, prepared, go, ready, over, theirs), daemon=True)
        process.start()
        parties.append((attack, process, prepared, ready, mine))
    for _, _, prepared, _, _ in parties:
        prepared.wait(30)
    disk_before = disk(s.data)
    memory = Memory(s.server)
    memory.start()
    go.set()
    began = time.monotonic()
    for _, _, _, ready, _ in parties:
        ready.wait(max(0, began + START_TIMEOUT - time.monotonic()))
    alice = Alice(s, f"{label}-{s.run}")
    found = []
    probing = [threading.Timer(seconds / 2, probe, (s, attack, found)) for attack in chosen if attack in PROBES]
    for one in probing:
        one.start()
    own_disk = Disk(s.folder)
    own_disk.start()
    alice.work(time.monotonic() + seconds)
    own_disk.is_over = True
    own_disk.join(10)
    for one in probing:
        one.join()
    over.set()
    did = {}
    for attack, process, _, _, mine in parties:
        did[attack.__name__] = mine.recv() if mine.poll(5) else {"no report": 1}
        process.join(2)
        if process.is_alive():
            process.kill()
    is_dead = s.server.poll() is not None
    memory.is_over = True
    memory.join(1)
    stop(s)
    growth = disk(s.data) - disk_before - s.of_a_create * len(alice.times)

    wrong = []
    if memory.peak > TOO_MUCH:
        wrong.append(f"the server took {memory.peak >> 20} MB, and was ended")
    elif is_dead:
        wrong.append("the server died")
    if alice.errors:
        wrong.append(f"{len(alice.errors)} creates failed: {alice.errors[0]}")
    if alice.at(0.99) >= MAX_LATENCY:
        wrong.append("p99")
    if memory.peak >= MAX_MEMORY:
        wrong.append("memory")
    if growth >= MAX_DISK_GROWTH:
        wrong.append("disk")
    if len(chosen) == 1:
        wrong += [f"{name}: {problem}" for name, problem, _ in found if problem]
        what, limit = MAX_COUNTS.get(chosen[0], ("", 0))
        if did[label].get(what, 0) > limit:
            wrong.append(f"{what} {did[label][what]}, more than {limit}")
    wrong += [what for counts in did.values() for what in counts if "FAILED" in what]
    print(
        f"{label:24} {len(alice.times) - len(alice.errors):4} creates  p50 {alice.at(0.5):6.3f}  p99 {alice.at(0.99):6.3f}  "
        f"max {alice.at(1):6.3f} s  {len(alice.errors):3} errors  memory {memory.first >> 20:3} to {memory.peak >> 20:4} MB  "
        f"disk {growth / (1 << 20):+7.1f} MB  {'FAILED: ' + '; '.join(wrong) if wrong else 'ok'}"
    )
    for name, counts in did.items():
        print(f"{'':26}{name + ': ' if len(did) > 1 else ''}{', '.join(f'{k} {v}' for k, v in sorted(counts.items()))}")
    for name, problem, took in found:
        print(f"{'':26}{name}: {problem or 'yes'} ({took:.2f} s)")
    sys.stdout.flush()
    # Every create is synced. If the disk itself stood still, as disks of virtual machines do, the figures say nothing.
    if wrong == ["p99"] and own_disk.max_sync >= MAX_LATENCY / 2 and is_first:
        print(f"{'':26}the disk took {own_disk.max_sync:.1f} s for 4 kB: once more")
        return run(s, label, chosen, seconds, is_first=False)
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("handfast")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("ATTACK_SECONDS", "1.5")), help="of each attack, beside some to begin")
    parser.add_argument("--only", nargs="*", default=[], help="only attacks whose name holds one of the words; `together` is all of them")
    parser.add_argument("--keep", action="store_true", help="keep the data folder")
    given = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="handfast-attack-")
    try:
        began = time.monotonic()
        s = setup(os.path.abspath(given.handfast), folder)
        print(f"set up in {time.monotonic() - began:.1f} s: {getattr(s, 'secrets', 0)} secrets, {s.edits} edits; a create of 3 kB takes {s.of_a_create / 1024:.1f} kB")
        for note in s.notes:
            print(f"  {note}")

        def wanted(name):
            return not given.only or any(word in name for word in given.only)

        rounds = [("nothing", [])] + [(attack.__name__, [attack]) for attack in attacks.ALL] + [("together", attacks.ALL)]
        passed = [run(s, label, chosen, given.seconds * (3 if label == "together" else 1)) for label, chosen in rounds if wanted(label)]
        print(f"{sum(passed)} of {len(passed)} passed, in {time.monotonic() - began:.0f} s" + (f"; the folder is {folder}" if given.keep else ""))
    finally:
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if passed and all(passed) else 1)


if __name__ == "__main__":
    main()
