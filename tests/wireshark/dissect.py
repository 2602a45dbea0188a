#!/usr/bin/env python3
"""Lets Wireshark read what a server says to a client.

    dissect.py HOST:PORT [--client] [--capture FILE] -- COMMAND…

Runs the command with HOST:PORT replaced by an address where everything is written down on its way, and then
Wireshark's dissector on what was written. It fails where a message of the server is malformed to the dissector, and where the
dissector reads another request id, opcode or response code in it than we do; with --client, the client's messages are
judged as well. Cases that the dissector gets wrong itself are counted, and told by what is in the message, not by what
the dissector says. The exit status is 77 if there is no dissector.
"""

import collections
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "native"))
import record
import wire

TSHARK = os.path.join(HERE, "tshark-4.2")
FIELDS = [
    "frame.number", "do-irp.reqid", "do-irp.opcode", "do-irp.responsecode",
    "_ws.malformed", "_ws.expert.severity", "_ws.expert.message",
]
WARNING = 0x600000


def excuse(message):
    """Why the dissector cannot read this one, or None."""
    if message[2] & wire.ENCRYPTED:
        return "encrypted"
    read = wire.Message.decode(message)
    if read.response == 1 and read.opcode == wire.GET_SITE_INFO:
        return "site information"  # expects a length in front of it
    if read.response <= 1 and read.opcode == wire.SESSION_SETUP:
        return "session set up"  # the word for the algorithm, the two octets before the credential
    carries_values = read.opcode == wire.RESOLUTION if read.response else read.opcode in (wire.CREATE, wire.ADD, wire.MODIFY)
    if read.response in (0, 1, 302, 303) and carries_values:
        for value in wire.read_handle_and_values(read.after_digest()[2])[1]:
            if value.type == b"HS_VLIST":
                return "HS_VLIST"
            if value.references:
                return "references"  # overlooks the index
            if value.type == b"HS_ADMIN" and is_legacy(value.data):
                return "HS_ADMIN with two more octets"
    return None


def is_legacy(data):
    try:
        r = wire.Reader(data)
        r.u16(), r.octets(), r.u32()
    except wire.Malformed:
        return False
    return r.rest() == b"\0\0"


def dissected(path):
    """What the dissector says of each frame, by number."""
    command = [TSHARK, "-n", "-r", path, "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=,"]
    for field in FIELDS:
        command += ["-e", field]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(f"error: tshark ended with {run.returncode}: {run.stderr}")
    rows = (line.split("\t") for line in run.stdout.splitlines())
    return {int(row[0]): dict(zip(FIELDS, row)) for row in rows}


def complaint(said):
    """What the dissector itself does not like about a frame, or None."""
    severities = [int(s, 0) for s in said.get("_ws.expert.severity", "").split(",") if s]
    if said.get("_ws.malformed") or any(s >= WARNING for s in severities):
        return said["_ws.expert.message"] or said["_ws.malformed"]
    return None


def problem(message, said):
    """What is wrong with what the dissector says of a message, or None."""
    if not said.get("do-irp.reqid"):
        return "not recognised"
    found = complaint(said)
    if found or message[2] & wire.ENCRYPTED:
        return found
    read = wire.Message.decode(message)
    for field, ours in (("reqid", read.request), ("opcode", read.opcode), ("responsecode", read.response)):
        theirs = {int(number, 0) for number in said[f"do-irp.{field}"].split(",") if number}
        if theirs != {ours}:
            return f"{field} is {theirs}, not {ours}"
    return None


def notices(folder):
    """Whether the dissector finds fault with a reply in which a list claims more than there is."""
    path = os.path.join(folder, "broken.pcap")
    capture = record.Capture(path)
    value = wire.handle_and_values("20.500.12345/abc", [wire.Value(1, "URL", "https://example.org/")])
    good = wire.Message(wire.RESOLUTION, value, response=1).encode()
    bad = wire.Message(wire.RESOLUTION, value.replace(b"\0\0\0\1", b"\0\0\0\7", 1), response=1).encode()
    for data in (good, bad):
        capture.datagram(capture.port(), True, data)
    capture.file.flush()
    said = dissected(path)
    return not problem(good, said[1]) and problem(bad, said[2])


def judge(capture, path):
    """How many messages are not as they should be."""
    with capture.lock:
        capture.file.flush()
        messages, parts = dict(capture.messages), set(capture.parts)
    said = dissected(path)
    counts, failed = collections.Counter(), 0
    for number in sorted(messages | dict.fromkeys(parts)):
        message = messages.get(number)
        found = complaint(said.get(number, {})) if message is None else problem(message, said.get(number, {}))
        why = excuse(message) if found and message else None
        if message:
            counts[f"excused ({why})" if why else "failed" if found else "read"] += 1
        if found and not why:
            failed += 1
            print(f"FAIL frame {number}: {found}: {(message or b'')[:60].hex()}")
    print(f"{len(messages)} messages: " + ", ".join(f"{n} {what}" for what, n in counts.most_common()))
    if len(messages) < 10:
        print("FAIL: hardly anything was said")
        failed += 1
    return failed


def main():
    if "--" not in sys.argv:
        sys.exit(__doc__)
    at = sys.argv.index("--")
    ours, command = sys.argv[1:at], sys.argv[at + 1 :]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if subprocess.run([TSHARK, "--version"], **quiet).returncode:
        print("SKIPPED: Wireshark's dissector (tshark 4.2 or newer) is not to be had on this machine")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if not notices(folder):
            print("FAIL: the dissector does not tell a good reply from a broken one")
            return 1
        path = ours[ours.index("--capture") + 1] if "--capture" in ours else os.path.join(folder, "said.pcap")
        capture = record.Capture(path, "--client" in ours)
        relay = record.Relay(wire.parse_address(ours[0]), capture)
        there = "%s:%d" % relay.address
        run = subprocess.run([there if word == ours[0] else word for word in command], stdout=subprocess.DEVNULL)
        failed = judge(capture, path)
    if run.returncode:
        print(f"FAIL: the command ended with {run.returncode}")
    return 1 if failed or run.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
