"""A client that costs next to nothing: raw sockets, kept open, requests made beforehand. Loopback only."""

import socket
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    status: int
    head: bytes
    body: bytes


class Connection:
    """One HTTP/1.1 connection; opened again when the server closed it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.socket: socket.socket | None = None

    def ask(self, request: bytes) -> Answer:
        """Sends and reads one answer. A kept connection may have been closed meanwhile: then once more."""
        fresh = self.socket is None
        try:
            return self._ask(request)
        except (ConnectionError, TimeoutError):
            self.close()
            if fresh:
                raise
            return self._ask(request)

    def _ask(self, request: bytes) -> Answer:
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._receive()
        head, _, body = received.partition(b"\r\n\r\n")
        fields = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
        }
        parts = [body]
        left = int(fields[b"content-length"]) - len(body)
        while left > 0:
            parts.append(self._receive())
            left -= len(parts[-1])
        if fields.get(b"connection", b"").lower() == b"close":
            self.close()
        return Answer(int(head.split(b" ", 2)[1]), head, b"".join(parts))

    def _receive(self) -> bytes:
        assert self.socket is not None
        piece = self.socket.recv(262144)
        if not piece:
            raise ConnectionError("closed")
        return piece

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None


def get(path: str, **headers: str) -> bytes:
    return _request("GET", path, headers, b"")


def post(path: str, body: bytes, **headers: str) -> bytes:
    return _request("POST", path, {"content_type": "application/json", **headers}, body)


def _request(method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass(frozen=True)
class Load:
    per_s: float
    p95_ms: float


def load(port: int, requests: Sequence[bytes], connections: int, status: int) -> Load:
    """Sends all, `connections` at once. Raises when an answer has another status."""
    share = -(-len(requests) // connections)
    took: list[float] = []

    def send(part: Sequence[bytes]) -> None:
        connection = Connection(port)
        for request in part:
            asked = time.perf_counter()
            answer = connection.ask(request)
            took.append((time.perf_counter() - asked) * 1000)
            if answer.status != status:
                raise RuntimeError(f"{answer.status} instead of {status}: {answer.body[:300]!r}")
        connection.close()

    parts = [requests[start : start + share] for start in range(0, len(requests), share)]
    started = time.perf_counter()
    with ThreadPoolExecutor(connections) as pool:
        list(pool.map(send, parts))
    per_s = len(requests) / (time.perf_counter() - started)
    return Load(per_s, sorted(took)[int(len(took) * 0.95)])


def milliseconds(questions: Sequence[tuple[int, bytes]], times: int) -> list[float]:
    """Median time of each (port, request), asked one after the other in turns on connections kept open.

    In turns, so that a neighbour who takes the processor for a second slows all of them alike.
    """
    connections = [Connection(port) for port, _ in questions]
    took: list[list[float]] = [[] for _ in questions]
    for _ in range(times):
        for number, (_, request) in enumerate(questions):
            started = time.perf_counter()
            answer = connections[number].ask(request)
            took[number].append((time.perf_counter() - started) * 1000)
            if answer.status != 200:
                raise RuntimeError(f"{answer.status}: {answer.body[:300]!r}")
    for connection in connections:
        connection.close()
    return [statistics.median(times) for times in took]
