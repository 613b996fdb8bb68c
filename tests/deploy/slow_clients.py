"""Clients that hold a connection as long as they can, from addresses of their own."""

import contextlib
import http.client
import resource
import select
import socket
import threading
from collections.abc import Callable, Iterator

PIECE_EVERY_S = 0.5
ESTABLISHED = 1  # a state of TCP, as Linux counts them
Start = Callable[[socket.socket], None]


def silent(_client: socket.socket) -> None:
    """Connects and says nothing."""


def half_a_head(client: socket.socket) -> None:
    client.sendall(b"GET /accelerators/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")


def half_a_body(client: socket.socket) -> None:
    client.sendall(
        b"POST /api/v1/reports/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer none\r\nContent-Length: 1000000\r\n\r\n{"
    )


def reader_of_nothing(client: socket.socket) -> None:
    """Asks for 4.6 MB and reads none of it."""
    client.sendall(b"GET /static/vendor/plotly/plotly.min.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


# Each from an address of its own; the first and the last send nothing more, the others a byte each half second.
KINDS: dict[str, Start] = {
    "127.0.0.2": silent,
    "127.0.0.3": half_a_head,
    "127.0.0.4": half_a_body,
    "127.0.0.5": reader_of_nothing,
}
DRIPPING = (half_a_head, half_a_body)


@contextlib.contextmanager
def slow_clients(port: int, of_each: int) -> Iterator[list[socket.socket]]:
    """`of_each` clients of each kind; one that is disconnected connects again, as long as the block runs."""
    done = threading.Event()
    clients = [_Slow(port, address, start) for address, start in KINDS.items() for _ in range(of_each)]
    thread = threading.Thread(target=_drip, args=(clients, done), name="slow clients")
    thread.start()
    try:
        yield [slow.client for slow in clients]
    finally:
        done.set()
        thread.join()
        for slow in clients:
            slow.client.close()


def is_held(client: socket.socket) -> bool:
    """Whether the other side holds the connection, and no half request was answered: 200 is what the reader does not read."""
    try:
        if client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != ESTABLISHED:
            return False
        arrived = select.poll()
        arrived.register(client, select.POLLIN)
        return not arrived.poll(0) or client.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 200"
    except OSError:  # closed here too, where `_drip` connects again
        return False


@contextlib.contextmanager
def idle_connections(port: int, count: int) -> Iterator[list[socket.socket]]:
    """So many that asked for something once and stay; one whose time is up is not opened again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * count), hard))
    idle: list[socket.socket] = []
    try:
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port), timeout=10, source_address=("127.0.0.2", 0))
            idle.append(client)
            client.sendall(b"GET /robots.txt HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answer = http.client.HTTPResponse(client)
            answer.begin()
            answer.read()
        yield idle
    finally:
        for client in idle:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class _Slow:
    def __init__(self, port: int, address: str, start: Start) -> None:
        self.port, self.address, self.start = port, address, start
        self.connect()

    def connect(self) -> None:
        self.client = socket.socket()
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.client.settimeout(5)
        self.client.bind((self.address, 0))
        with contextlib.suppress(OSError):  # a site that takes no more: tried again
            self.client.connect(("127.0.0.1", self.port))
            self.start(self.client)

    def go_on(self) -> None:
        try:
            if self.start in DRIPPING:
                self.client.sendall(b"a")
        except OSError:
            self.client.close()
            self.connect()


def _drip(clients: list[_Slow], done: threading.Event) -> None:
    while not done.wait(PIECE_EVERY_S):
        for slow in clients:
            slow.go_on()
