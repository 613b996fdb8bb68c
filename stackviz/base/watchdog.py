"""Ending a connection when its time is up, whatever the other end does.

A socket's time limit bounds each silence, not the whole: a site that sends `100 Continue` for ever, or a byte of a
header now and then, holds a caller as long as it likes.
"""

import http.client
import socket
import threading
import urllib.request
from contextlib import suppress
from types import TracebackType
from typing import Any

__all__ = ["Watchdog", "watched_handlers"]


class Watchdog:
    """While entered, ends the connections it is given `within_s` seconds after the beginning."""

    def __init__(self, within_s: float) -> None:
        self.has_ended_it = False
        self._lock = threading.Lock()
        self._watched: list[socket.socket] = []
        self._timer = threading.Timer(min(within_s, threading.TIMEOUT_MAX), self._end)
        self._timer.daemon = True

    def __enter__(self) -> "Watchdog":
        self._timer.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _at: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            for watched in self._watched:
                watched.close()
            self._watched.clear()

    def connect(self, *arguments: Any, **named: Any) -> socket.socket:  # noqa: ANN401 - socket.create_connection's own
        """A connection that is watched, none once the time is up. By a second handle: TLS takes the first one over."""
        if self._timer.finished.is_set():
            raise TimeoutError
        made = socket.create_connection(*arguments, **named)
        with self._lock:
            self._watched.append(made.dup())
            if self.has_ended_it:
                _shut(made)
        return made

    def _end(self) -> None:
        with self._lock:
            self.has_ended_it = True
            for watched in self._watched:
                _shut(watched)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def watched_handlers(watchdog: Watchdog) -> list[urllib.request.BaseHandler]:
    """What urllib opens http and https addresses with, each connection under this watchdog."""

    def plain(*arguments: Any, **named: Any) -> http.client.HTTPConnection:  # noqa: ANN401 - http.client's own
        return _watched(http.client.HTTPConnection(*arguments, **named))

    def secure(*arguments: Any, **named: Any) -> http.client.HTTPConnection:  # noqa: ANN401
        return _watched(http.client.HTTPSConnection(*arguments, **named))

    def _watched(connection: http.client.HTTPConnection) -> http.client.HTTPConnection:
        connection._create_connection = watchdog.connect  # type: ignore[attr-defined]  # noqa: SLF001 - the only seam
        return connection

    class Plain(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(plain, req)

    class Secure(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
            return self.do_open(secure, req)

    return [Plain(), Secure()]
