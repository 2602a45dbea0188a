#!/usr/bin/env python3
"""Asks a server of the Handle System native protocol what a conforming one must know to answer.

    conformance.py HOST:PORT --prefix 20.500.12345 --admin 300:20.500.12345/ADMIN --secret PASSWORD

The subject needs to home the prefix, and the administrator to exist: a handle with an HS_SECKEY value (and an
HS_PUBKEY value, for --key) that an HS_ADMIN value of 0.NA/PREFIX with all permissions names. Situations that
need something not given are skipped. Records are made under PREFIX/conf-… and most of them stay: use a
prefix for tests.

Each option can also come from the environment: HANDFAST_TEST_SUBJECT for HOST:PORT, and HANDFAST_TEST_PREFIX,
_ADMIN, _SECRET, _KEY, _KEY_ADMIN, _HTTP, and _PASSPHRASE for a sealed private key.
"""

import argparse
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness
import situations  # noqa: F401  (registers them)
import wire


# A subject that is dead or stuck would cost a timeout for every situation that is left.
GIVE_UP_AFTER = 3


def arguments():
    def given(name):
        return os.environ.get(f"HANDFAST_TEST_{name}") or None

    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("subject", nargs="?", default=given("SUBJECT"), metavar="HOST:PORT")
    p.add_argument("--prefix", default=given("PREFIX"), help="a prefix homed at the subject")
    p.add_argument("--admin", default=given("ADMIN"), metavar="INDEX:HANDLE")
    p.add_argument("--secret", default=given("SECRET"), help="the administrator's secret key")
    p.add_argument("--key", default=given("KEY"), metavar="FILE", help="a private key file (RSA)")
    p.add_argument("--key-admin", default=given("KEY_ADMIN"), metavar="INDEX:HANDLE")
    p.add_argument("--http", default=given("HTTP"), metavar="HOST:PORT", help="where the HTTP tunnel is")
    p.add_argument("--only", metavar="WORD", help="only situations with this word in their name")
    p.add_argument("--reuse", action="store_true", help="deleted names may be created again here")
    p.add_argument("--list", action="store_true", help="print the names of the situations and stop")
    options = p.parse_args()
    if not options.list:
        if not options.subject:
            p.error("no subject: give HOST:PORT or set HANDFAST_TEST_SUBJECT")
        if not options.prefix:
            p.error("no prefix: give --prefix or set HANDFAST_TEST_PREFIX")
    return options


def identity(text, **proof):
    index, _, handle = text.partition(":")
    return harness.Identity(handle, int(index), **proof)


def subject(options):
    admin = key_admin = http = None
    if options.admin and options.secret:
        admin = identity(options.admin, secret=options.secret.encode())
    if options.key and (options.key_admin or options.admin):
        key_admin = identity(options.key_admin or options.admin, key=wire.read_key_file(options.key))
    if options.http:
        http = wire.parse_address(options.http)
    address = wire.parse_address(options.subject)
    return harness.Subject(address, options.prefix, admin, key_admin, http, options.reuse)


def missing(s, needs):
    """Why a situation cannot be tried, or None."""
    if "admin" in needs and s.admin is None:
        return "needs an administrator (--admin and --secret)"
    if "key_admin" in needs and s.key_admin is None:
        return "needs a private key (--key and --key-admin)"
    if "http" in needs and s.http is None:
        return "needs the HTTP tunnel (--http)"
    if "crypto" in needs:
        try:
            import cryptography  # noqa: F401
        except ImportError:
            return "needs the package cryptography"
    if "udp" in needs and not s.has_udp:
        return "needs UDP, which the subject does not offer"
    if "replication" in needs and not s.has_replication:
        return "needs a subject that feeds mirrors"
    return None


def attempt(s, name, needs, function):
    """(`ok`, `FAIL` or `skip`, what to say)"""
    try:
        reason = missing(s, needs)
        if reason:
            return "skip", reason
        function(s)
    except harness.Skipped as e:
        return "skip", str(e)
    except harness.Failed as e:
        return "FAIL", str(e)
    except wire.NoReply as e:
        return "FAIL", f"expected a reply, came none: {e}"
    except (wire.Malformed, UnicodeDecodeError) as e:
        return "FAIL", f"expected a well-formed reply, came one that is not: {e}"
    except OSError as e:
        return "FAIL", f"expected a connection, came {e}"
    return "ok", ""


def answers(s):
    try:
        s.still_answers()
    except (harness.Failed, wire.Malformed):
        return False
    return True


def main():
    options = arguments()
    chosen = [x for x in harness.SITUATIONS if not options.only or options.only in x[0]]
    if options.list:
        print("\n".join(name for name, _, _ in chosen))
        return 0
    if not chosen:
        print(f"error: no situation has {options.only} in its name", file=sys.stderr)
        return 2
    s = subject(options)
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    silent = 0
    for name, needs, function in chosen:
        began = time.monotonic()
        if silent >= GIVE_UP_AFTER:
            verdict, words = "FAIL", "not tried, because the subject no longer answers anything"
        else:
            verdict, words = attempt(s, name, needs, function)
        if verdict == "ok":
            silent = 0
        elif verdict == "FAIL" and silent < GIVE_UP_AFTER:
            silent = 0 if answers(s) else silent + 1
        counts[verdict] += 1
        print(f"{verdict} {name}" + (f": {words}" if words else ""), flush=True)
        took = time.monotonic() - began
        if took > 10:
            print(f"# that took {took:.0f} s", file=sys.stderr)
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
