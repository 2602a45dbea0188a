"""Many connections from one thread: opened from several addresses, given prebuilt octets, read and thrown away.

A generator shares its processors with the server, so it must cost little: one epoll loop for each attack, no thread for each
connection, and nothing that is computed while it runs.
"""

import collections
import errno
import heapq
import select
import socket
import time

SOURCES = [f"127.0.0.{n}" for n in range(2, 7)]
# Lets the system choose the port when the connection is made: thousands of connections share one address.
IP_BIND_ADDRESS_NO_PORT = 24
DISCARD = bytearray(1 << 18)


class Swarm:
    """`count` connections to `address`, each of which sends `request(n)` and reads what comes.

    A connection that ends is opened again after `reopen` seconds. With `hang_up` it is closed as soon as it has sent; with
    `again` it sends the same once more when something was answered; with `drip` it sends those octets every second.
    """

    def __init__(self, address, count, request, *, reopen=0.5, hang_up=False, again=False, drip=None, rate=5000):
        self.address, self.count, self.request = address, count, request
        self.reopen, self.hang_up, self.again, self.drip, self.rate = reopen, hang_up, again, drip, rate
        self.poll = select.epoll()
        self.open, self.left, self.start = {}, {}, {}
        self.waiting = [(0.0, n) for n in range(count)]
        self.did = collections.Counter()

    def run(self, goes_on, ready):
        next_drip = began = time.monotonic()
        opened = 0
        while goes_on():
            now = time.monotonic()
            while self.waiting and self.waiting[0][0] <= now and opened < (now - began + 0.05) * self.rate:
                self.connect(heapq.heappop(self.waiting)[1])
                opened += 1
            if opened >= self.count:
                ready()
            for descriptor, event in self.poll.poll(0.02, 512):
                self.handle(descriptor, event)
            if self.drip and time.monotonic() >= next_drip:
                next_drip += 1
                for descriptor in list(self.open):
                    if not self.left.get(descriptor):
                        self.left[descriptor] = memoryview(self.drip)
                        self.send(descriptor)
        self.did["open at the end"] = len(self.open)
        for one, _ in self.open.values():
            one.close()
        return self.did

    def connect(self, n):
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            one.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
            one.bind((SOURCES[n % len(SOURCES)], 0))
            one.connect(self.address)
        except BlockingIOError:
            pass
        except OSError:
            one.close()
            self.did["not connected"] += 1
            heapq.heappush(self.waiting, (time.monotonic() + self.reopen, n))
            return
        self.did["connections"] += 1
        self.open[one.fileno()] = one, n
        self.left[one.fileno()] = memoryview(self.request(n))
        self.poll.register(one, select.EPOLLIN | select.EPOLLOUT)

    def handle(self, descriptor, event):
        if descriptor not in self.open:
            return
        if event & select.EPOLLOUT:
            self.send(descriptor)
        if descriptor in self.open and event & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
            self.receive(descriptor)

    def send(self, descriptor):
        one, _ = self.open[descriptor]
        left = self.left[descriptor]
        try:
            left = left[one.send(left):] if left else left
        except BlockingIOError:
            pass
        except OSError as e:
            if e.errno not in (errno.ENOTCONN, errno.EINPROGRESS):
                return self.close(descriptor)
        self.left[descriptor] = left
        if left:
            self.poll.modify(descriptor, select.EPOLLIN | select.EPOLLOUT)
        elif self.hang_up:
            self.close(descriptor)
        else:
            self.poll.modify(descriptor, select.EPOLLIN)

    def receive(self, descriptor):
        one, n = self.open[descriptor]
        try:
            count = one.recv_into(DISCARD)
        except BlockingIOError:
            return
        except OSError:
            count = 0
        if not count:
            return self.close(descriptor)
        self.did["octets read"] += count
        if descriptor not in self.start:
            self.start[descriptor] = True
            if DISCARD[:5] == b"HTTP/":
                self.did[f"status {bytes(DISCARD[9:12]).decode()}"] += 1
            else:
                self.did["answered"] += 1
        if self.again and not self.left[descriptor]:
            self.left[descriptor] = memoryview(self.request(n))
            self.send(descriptor)

    def close(self, descriptor):
        one, n = self.open.pop(descriptor)
        self.left.pop(descriptor, None)
        self.start.pop(descriptor, None)
        one.close()
        heapq.heappush(self.waiting, (time.monotonic() + self.reopen, n))
