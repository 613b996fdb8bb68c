"""A site for the agent to send to: a real HTTP server on this machine, whose answers a test writes down."""

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from stackviz.agent.upload import Clock


@dataclass
class Reply:
    """`body` None: the answer an accelweb site gives for the report at hand. THE-ID in it becomes the report's."""

    status: int
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Site:
    """Answers in turn, the last one for ever. `received`: headers and decoded bodies, in order. `key_reply`: to a check
    of the key; `key_checks`: the headers of those. `heartbeat_reply`: to a sign of life; `heartbeats`: their bodies."""

    url: str
    replies: list[Reply]
    key_reply: Reply = field(
        default_factory=lambda: Reply(200, '{"lab": {"name": "North lab"}, "machine": null, "expires_at": null}')
    )
    key_checks: list[dict[str, str]] = field(default_factory=list)
    heartbeat_reply: Reply = field(default_factory=lambda: Reply(200, '{"machine": {"slug": "m", "name": "M"}}'))
    heartbeats: list[dict[str, Any]] = field(default_factory=list)
    received: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)


ACCEPTED = Reply(202)


@contextmanager
def site(*replies: Reply) -> Iterator[Site]:
    made = Site("", list(replies) or [ACCEPTED])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            document = json.loads(body)
            if self.path == "/api/v1/heartbeat/":
                made.heartbeats.append(document)
                self._answer(made.heartbeat_reply, "")
                return
            made.received.append(({name.lower(): value for name, value in self.headers.items()}, document))
            reply = made.replies.pop(0) if len(made.replies) > 1 else made.replies[0]
            self._answer(reply, document["id"])

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            if self.path == "/api/v1/key/":
                made.key_checks.append(headers)
                self._answer(made.key_reply, "")
                return
            made.received.append((headers, {}))
            self._answer(Reply(200, "{}"), "")

        def _answer(self, reply: Reply, report_id: str) -> None:
            said = reply.body if reply.body is not None else json.dumps(_accepted(report_id))
            said = said.replace("THE-ID", report_id)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said.encode())))
            self.end_headers()
            self.wfile.write(said.encode())

        def log_message(self, *_arguments: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _accepted(report_id: str) -> dict[str, str]:
    return {"id": report_id, "status_url": f"/api/v1/reports/{report_id}/", "receipt_url": f"/receipts/{report_id}/"}


class FakeTime:
    """A clock that sleeps by moving on; `slept` tells how long each time."""

    def __init__(self, now: float = 1_000_000.0, jitter: Callable[[], float] = lambda: 1.0) -> None:
        self.at = now
        self.slept: list[float] = []
        self.clock = Clock(monotonic=lambda: self.at, sleep=self._sleep, now=lambda: self.at, jitter=jitter)

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


@contextmanager
def answering(answer, *arguments, scheme="http"):
    """Address of a listener whose connections `answer` serves in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening, *arguments), daemon=True)
        thread.start()
        yield f"{scheme}://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(5)


def answer_only(listening, beginning, times):
    """Answer so many connections with these bytes, and end them."""
    for _ in range(times):
        connection, _ = listening.accept()
        with connection:
            connection.recv(1 << 20)
            connection.sendall(beginning)
