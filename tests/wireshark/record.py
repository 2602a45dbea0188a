"""Stands between clients and a server, and writes down what they say as a capture file.

No privileges are needed, and the server may be at any port: the capture says 2641, where a dissector looks. What
carries the messages (IP, UDP, TCP) is made up; the messages are as they went over the wire.
"""

import itertools
import selectors
import socket
import struct
import threading

CLIENT, SERVER = b"\x7f\0\0\2", b"\x7f\0\0\1"
PORT = 2641
SEGMENT = 32768
ENVELOPE = 20
STRIDE = 492
# The opcodes by which a mirror asks for a stream.
MIRRORED = (1001, 1002)


class Capture:
    """A capture file, and what the frames of those who are judged have in them."""

    def __init__(self, path, judges_clients=False):
        self.judges_clients = judges_clients
        self.file, self.lock = open(path, "wb"), threading.Lock()
        self.file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 20, 101))  # raw IP
        self.count = 0
        self.messages = {}  # by number of the frame that completes them
        self.parts = set()  # frames that complete nothing
        self.ports = itertools.cycle(range(10000, 65000))
        self.fragments = {}

    def port(self):
        with self.lock:
            return next(self.ports)

    def frame(self, from_server, protocol, segment):
        ends = (SERVER, CLIENT) if from_server else (CLIENT, SERVER)
        total = 20 + len(segment)
        packet = struct.pack(">BBHHHBBH4s4s", 0x45, 0, total, 0, 0, 64, protocol, 0, *ends) + segment
        self.count += 1
        self.file.write(struct.pack("<IIII", self.count, 0, len(packet), len(packet)) + packet)
        return self.count

    def datagram(self, port, from_server, data):
        with self.lock:
            ports = (PORT, port) if from_server else (port, PORT)
            number = self.frame(from_server, 17, struct.pack(">HHHH", *ports, 8 + len(data), 0) + data)
            if not (from_server or self.judges_clients):
                return
            length = struct.unpack(">I", data[16:20])[0]
            if length <= len(data) - ENVELOPE:
                self.messages[number] = data
                return
            self.parts.add(number)
            key = (port, from_server, data[8:12])
            pieces = self.fragments.setdefault(key, {})
            pieces[struct.unpack(">I", data[12:16])[0]] = data
            if len(pieces) == -(-length // STRIDE):
                self.parts.discard(number)
                whole = b"".join(pieces[n][ENVELOPE:] for n in sorted(pieces))
                self.messages[number] = pieces[0][:ENVELOPE] + whole
                del self.fragments[key]


class Conversation:
    """One TCP connection."""

    def __init__(self, capture):
        self.capture, self.port = capture, capture.port()
        self.next = [1000, 1000]  # the next octet of client and server
        self.said = [b"", b""]
        self.is_stream = False
        with capture.lock:
            self.segment(False, 0x02)
            self.segment(True, 0x12)
            self.segment(False, 0x10)

    def segment(self, from_server, flags, data=b""):
        ports = (PORT, self.port) if from_server else (self.port, PORT)
        at, acknowledged = self.next[from_server], self.next[not from_server]
        head = struct.pack(">HHIIBBHHH", *ports, at, acknowledged if flags & 0x10 else 0, 0x50, flags, 65535, 0, 0)
        self.next[from_server] += len(data) + (1 if flags & 3 else 0)
        return self.capture.frame(from_server, 6, head + data)

    def stream(self, from_server, data):
        with self.capture.lock:
            if not (from_server or self.capture.judges_clients):
                for at in range(0, len(data), SEGMENT):
                    self.segment(False, 0x18, data[at : at + SEGMENT])
                return
            # One message after the other, so that each frame completes one at most.
            said = self.said[from_server] + data
            while len(said) >= ENVELOPE and not self.is_stream:
                length = ENVELOPE + struct.unpack(">I", said[16:20])[0]
                if len(said) < length:
                    break
                message, said = said[:length], said[length:]
                for at in range(0, length, SEGMENT):
                    number = self.segment(from_server, 0x18, message[at : at + SEGMENT])
                    self.capture.parts.add(number)
                self.capture.parts.discard(number)
                self.capture.messages[number] = message
                # What follows the reply to a mirror is no message.
                opcode, code = struct.unpack(">II", message[ENVELOPE : ENVELOPE + 8])
                self.is_stream = from_server and code == 1 and opcode in MIRRORED
            self.said[from_server] = said

    def end(self, from_server):
        with self.capture.lock:
            self.segment(from_server, 0x11)


class Relay:
    """Takes what comes to an address of its own to the server, and back."""

    def __init__(self, server, capture):
        self.server, self.capture = server, capture
        while True:
            self.tcp = socket.create_server(("127.0.0.1", 0), backlog=512)
            self.address = self.tcp.getsockname()
            self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                self.udp.bind(self.address)
                break
            except OSError:
                self.tcp.close()
        threading.Thread(target=self.accept, daemon=True).start()
        threading.Thread(target=self.datagrams, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.tcp.accept()
            try:
                server = socket.create_connection(self.server)
            except OSError:
                client.close()
                continue
            talk = Conversation(self.capture)
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ended = []
            for ends in ((client, server, False), (server, client, True)):
                threading.Thread(target=self.pump, args=(*ends, talk, ended), daemon=True).start()

    def pump(self, source, target, from_server, talk, ended):
        try:
            while data := source.recv(65536):
                talk.stream(from_server, data)
                target.sendall(data)
        except OSError:
            pass
        talk.end(from_server)
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        ended.append(from_server)
        if len(ended) == 2:
            source.close()
            target.close()

    def datagrams(self):
        waiting = selectors.DefaultSelector()
        waiting.register(self.udp, selectors.EVENT_READ)
        clients = {}
        while True:
            for key, _ in waiting.select():
                if key.fileobj is self.udp:
                    data, client = self.udp.recvfrom(65535)
                    if client not in clients:
                        out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                        out.connect(self.server)
                        clients[client] = (out, self.capture.port())
                        waiting.register(out, selectors.EVENT_READ, (client, clients[client][1]))
                    out, port = clients[client]
                    self.capture.datagram(port, False, data)
                    out.send(data)
                else:
                    client, port = key.data
                    data = key.fileobj.recv(65535)
                    self.capture.datagram(port, True, data)
                    self.udp.sendto(data, client)
