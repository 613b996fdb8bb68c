"""A real HTTP server that answers as it is told to, well or badly, and writes down what it was asked."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Handle = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """`answers`: path -> what is done with a request; `requests`: method and path of each, in their order."""

    url: str
    answers: dict[str, Handle] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def answer(self, path: str, body: bytes = b"", status: int = 200, **headers: str) -> str:
        """Answer this path so from now on -> its address."""
        self.answers[path] = lambda handler: send(handler, body, status, headers)
        return f"{self.url}{path}"

    def behave(self, path: str, handle: Handle) -> str:
        self.answers[path] = handle
        return f"{self.url}{path}"


def send(
    handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, headers: dict[str, str] | None = None
) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here.requests.append((self.command, self.path))
            here.headers.append({name.lower(): value for name, value in self.headers.items()})
            handle = here.answers.get(self.path)
            with suppress(OSError):  # whoever asked has gone
                handle(self) if handle else send(self, b"nothing here", 404)

        do_HEAD = do_GET  # noqa: N815 - http.server's name

        def log_message(self, *_arguments: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    here = Server(f"http://127.0.0.1:{httpd.server_port}")
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield here
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join(5)


def drip(handler: BaseHTTPRequestHandler) -> None:
    """A byte now and then, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


def hang(_handler: BaseHTTPRequestHandler) -> None:
    time.sleep(30)


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"files": [')
